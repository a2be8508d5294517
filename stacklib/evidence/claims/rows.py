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
    unit = j.claim.quantity().unit if j.computed is not None else None
    row["computed"] = "" if j.computed is None else j.computed.text(unit, 4)
    return row


def table(
    chapter: int | str | None = None,
    source: str | None = None,
    verdict: str | None = None,
) -> list[dict[str, Any]]:
    """The ledger as plain rows, filtered.

    Returns
    -------
    list of dict
        ``id, chapter, source, document, claim, claimed, verdict, ratio,
        computed, why``; ``computed`` is empty and ``ratio`` None where nothing
        was computed.

    Raises
    ------
    ValueError
        For a chapter, a document or a verdict that does not exist.
    """
    if chapter is not None and str(chapter) not in map(str, CHAPTERS):
        raise ValueError(f"no chapter {chapter!r}: 1 to {CHAPTERS[-1]}")
    if source is not None and source not in DOCUMENTS:
        raise ValueError(f"no document {source!r}: {', '.join(DOCUMENTS)}")
    if verdict is not None and verdict not in VERDICTS:
        raise ValueError(f"no verdict {verdict!r}: {', '.join(VERDICTS)}")
    chosen = [
        judge(claim.id)
        for claim in load()
        if chapter in (None, claim.chapter, str(claim.chapter))
        and source in (None, claim.source)
    ]
    return [_row(j) for j in chosen if verdict in (None, j.verdict)]
