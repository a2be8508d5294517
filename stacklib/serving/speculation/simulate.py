"""Tokens a pass by drawing: the rule run many times over, and what was kept counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from stacklib.quantity.bounds import whole
from stacklib.tinylm.sampling import draw

from .rule import Row, checked


@dataclass(frozen=True, slots=True)
class Tally:
    """How many passes kept no, one, two, ... of their drafted tokens."""

    kept: tuple[int, ...]

    @property
    def passes(self) -> int:
        """All of them."""
        return sum(self.kept)

    @property
    def tokens_per_pass(self) -> float:
        """What was kept, and the one token that follows it."""
        return 1 + sum(k * n for k, n in enumerate(self.kept)) / self.passes

    @property
    def reached(self) -> tuple[int, ...]:
        """Passes in which the first, second, ... drafted token was asked about."""
        return tuple(sum(self.kept[k:]) for k in range(len(self.kept) - 1))

    @property
    def by_position(self) -> tuple[float, ...]:
        """Share of these in which it was kept; NaN where none got there."""
        asked = (*self.reached, self.kept[-1])
        return tuple(b / a if a else float("nan") for a, b in pairwise(asked))

    @property
    def rate(self) -> float:
        """Share of the drafted tokens that were asked about and kept."""
        return sum(k * n for k, n in enumerate(self.kept)) / sum(self.reached)


def tally(kept: Iterable[int], draft_tokens: int) -> Tally:
    """Counts of passes by what they kept of as many drafted tokens each."""
    counts = np.bincount(list(kept), minlength=draft_tokens + 1)
    if len(counts) > draft_tokens + 1:
        raise ValueError(f"{len(counts) - 1} kept of {draft_tokens} drafted tokens")
    return Tally(tuple(map(int, counts)))


def simulate(
    kinds: Sequence[tuple[Row, Row]],
    draft_tokens: int,
    *,
    passes: int,
    random: np.random.Generator,
) -> Tally:
    """The rule over passes, each in a passage of one kind.

    - ``kinds``: the target's and the draft's distribution of each kind, as likely as
      each other; with one kind each token is kept or not independently of the rest, as
      the formula has it
    """
    whole(passes=passes)
    whole(0, draft_tokens=draft_tokens)
    if not kinds:
        raise ValueError("no kinds: a pair of distributions is needed")

    def kept() -> Iterable[int]:
        for kind in random.integers(len(kinds), size=passes):
            p, q = kinds[kind]
            drafted = [draw(q, random) for _ in range(draft_tokens)]
            rows = [p] * (draft_tokens + 1), [q] * draft_tokens
            yield len(checked(*rows, drafted, random)) - 1

    return tally(kept(), draft_tokens)
