"""The rows of the ledger that are asked for, judged by the checks at hand."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from .checks import Check
from .judge import NOT_JUDGED, VERDICTS, Judgement, judge, unjudged
from .ledger import CHAPTERS, DOCUMENTS, Claim, load


def claims(
    checks: Mapping[str, Check] | None = None,
    *,
    chapter: int | str | None = None,
    source: str | None = None,
    verdict: str | None = None,
    search: str | None = None,
) -> list[Judgement]:
    """The ledger in file order, filtered; filters combine.

    Only rows of the chapter, the document and the words asked for are judged.

    Parameters
    ----------
    checks : mapping of str to callable, optional
        The check of each claim that has one, by id; ``stacklib.pages.claims`` gives
        those of the book. Without it no row is judged, and each says so.
    chapter : int or str, optional
        1 to 10.
    source : str, optional
        A document, ``000`` to ``004``.
    verdict : str, optional
        One of ``VERDICTS``; case, ``-`` and ``_`` are ignored.
    search : str, optional
        Words that must all occur in id, claim, value or document, in any case: the
        words of the ledger, which need no verdict.

    Raises
    ------
    ValueError
        For a chapter, a document or a verdict that does not exist, or for a
        search without a word.
    """
    verdicts = (NOT_JUDGED,) if checks is None else VERDICTS
    verdict = None if verdict is None else re.sub("[-_]", " ", verdict.casefold())
    _refuse("chapter", chapter, tuple(map(str, CHAPTERS)))
    _refuse("document", source, tuple(DOCUMENTS))
    _refuse("verdict", verdict, verdicts)
    words = [] if search is None else search.casefold().split()
    if search is not None and not words:
        raise ValueError(f"search {search!r}: write a word")
    rows = (
        unjudged(claim) if checks is None else judge(claim, checks.get(claim.id))
        for claim in load()
        if _asked(claim, chapter, source) and all(w in _searched(claim) for w in words)
    )
    return [row for row in rows if verdict in (None, row.verdict)]


def _refuse(what: str, asked: object, known: tuple[str, ...]) -> None:
    if asked is not None and str(asked) not in known:
        listed = f"1 to {known[-1]}" if what == "chapter" else ", ".join(known)
        raise ValueError(f"no {what} {asked!r}: {listed}")


def _asked(claim: Claim, chapter: int | str | None, source: str | None) -> bool:
    own = chapter is None or str(chapter) == str(claim.chapter)
    return own and source in (None, claim.source)


def _searched(claim: Claim) -> str:
    texts = (claim.id, claim.text, claim.claimed, claim.document)
    return " ".join(texts).casefold()


def counted(rows: Iterable[Judgement]) -> str:
    """``34 claims: 14 reproduced, 17 close``: how many, by verdict in usual order.

    Parameters
    ----------
    rows : iterable of Judgement
        Rows of the ledger.
    """
    count = Counter(row.verdict for row in rows)
    parts = [f"{count[v]} {v}" for v in (*VERDICTS, NOT_JUDGED) if count[v]]
    return f"{count.total()} claims: {', '.join(parts) or 'none'}"
