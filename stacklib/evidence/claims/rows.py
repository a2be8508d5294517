"""The ledger as rows, for the command line and the page."""

from __future__ import annotations

from typing import Any

from .judge import VERDICTS, Judgement, judge
from .ledger import CHAPTERS, DOCUMENTS, load


def _row(j: Judgement) -> dict[str, Any]:
    row = j.as_dict()
    condition = row.pop("condition")
    if condition:
        row["why"] = f"Right if {condition}. {row['why']}"
    row["computed"] = j.computed_text
    return row


def table(
    chapter: int | str | None = None,
    source: str | None = None,
    verdict: str | None = None,
    search: str | None = None,
) -> list[dict[str, Any]]:
    """The ledger as plain rows, filtered; filters combine.

    Parameters
    ----------
    chapter : int or str, optional
        1 to 10.
    source : str, optional
        A document, ``000`` to ``004``.
    verdict : str, optional
        One of ``VERDICTS``.
    search : str, optional
        Words that must all occur in id, claim or reason, in any case.

    Returns
    -------
    list of dict
        ``id, chapter, source, document, claim, claimed, verdict, ratio,
        computed, why, first_review``; ``computed`` is empty and ``ratio`` None
        where nothing was computed.

    Raises
    ------
    ValueError
        For a chapter, a document or a verdict that does not exist, or for a
        search without a word.
    """
    if chapter is not None and str(chapter) not in map(str, CHAPTERS):
        raise ValueError(f"no chapter {chapter!r}: 1 to {CHAPTERS[-1]}")
    if source is not None and source not in DOCUMENTS:
        raise ValueError(f"no document {source!r}: {', '.join(DOCUMENTS)}")
    if verdict is not None and verdict not in VERDICTS:
        raise ValueError(f"no verdict {verdict!r}: {', '.join(VERDICTS)}")
    words = [] if search is None else search.casefold().split()
    if search is not None and not words:
        raise ValueError(f"search {search!r}: write a word")
    chosen = [
        judge(claim.id)
        for claim in load()
        if chapter in (None, claim.chapter, str(claim.chapter))
        and source in (None, claim.source)
    ]
    rows = [_row(j) for j in chosen if verdict in (None, j.verdict)]
    return [row for row in rows if all(word in _searched(row) for word in words)]


def _searched(row: dict[str, Any]) -> str:
    texts = (row["id"], row["claim"], row["claimed"], row["document"], row["why"])
    return " ".join(texts).casefold()
