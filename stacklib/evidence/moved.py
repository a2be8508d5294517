"""Words that moved when the rules of kinds replaced one ratio, and by which rule.

``data/former_words.toml`` holds the word that each claim had while anything within
twice or half of a claim was *close*; a claim that it does not list had today's.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from .judge import CLOSE, MEANING, REPRODUCED, WRONG, Judgement
from .kinds import KINDS
from .ledger import DATA, LedgerError, load


@dataclass(frozen=True)
class Moved:
    """A claim whose word is another now."""

    judgement: Judgement
    before: str

    @property
    def why(self) -> str:
        """The rule that made the word: of the claim's kind, or of the word itself."""
        kind, word = self.judgement.claim.kind, self.judgement.verdict
        if word in (REPRODUCED, CLOSE, WRONG):
            return f"{kind}: {KINDS[kind].rule}"
        return MEANING[word]


@lru_cache(maxsize=1)
def former() -> dict[str, str]:
    """The former word of every claim that the file lists, by id."""
    return read((DATA / "former_words.toml").read_text("utf-8"))


def read(text: str) -> dict[str, str]:
    """Former words by id; LedgerError for an id that is none, or is listed twice."""
    listed = [(id, w) for w, ids in tomllib.loads(text).items() for id in ids.split()]
    known = {claim.id for claim in load()}
    for id, count in Counter(id for id, _ in listed).items():
        if id not in known or count > 1:
            raise LedgerError(f"former_words.toml: {id!r} stands there {count} times")
    return dict(listed)


def moved(rows: Iterable[Judgement]) -> list[Moved]:
    """The claims whose word is no longer the former one, in file order."""
    words = former()
    found = (Moved(row, words.get(row.claim.id, row.verdict)) for row in rows)
    return [one for one in found if one.before != one.judgement.verdict]


def words(rows: Iterable[Judgement]) -> Counter[tuple[int, str, str]]:
    """How many claims of a chapter and a kind have a word."""
    return Counter((row.claim.chapter, row.claim.kind, row.verdict) for row in rows)
