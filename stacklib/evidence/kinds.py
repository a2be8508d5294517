"""Kinds of claims, and by which rule each gets its word: one table.

A claim and what we compute are one number or two ends. The ends that belong together
are held to each other, and the worse decides: a number inside a claimed range is not
the range. What a kind compares is its row here, and nothing else chooses a word.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

End = TypeVar("End", float, "Number")
REPRODUCED, CLOSE, WRONG = "reproduced", "close", "wrong"
TRUTHS = ("true", "false", "depends")
# Ways to count that differ by two, and what each counts twice.
CONVENTIONS = ("both directions", "sparse", "multiply and add apart", "per pair")
REPRODUCED_WITHIN, CLOSE_WITHIN = 0.10, 1.5
LAW_WITHIN, TWO_WITHIN = 0.1, 0.02
SLACK = 1e-9  # of a bound that is met exactly, in floating point


@dataclass(frozen=True)
class Number:
    """A claimed number in its own unit, and the digits that its text prints."""

    value: float
    digits: int = 15

    def prints(self, ours: float) -> bool:
        """Whether ours, rounded as the claim is, is the claimed number."""
        rounded = float(f"{ours:.{self.digits - 1}e}")
        near = abs(ours - self.value) <= (REPRODUCED_WITHIN + SLACK) * abs(self.value)
        return near and math.isclose(rounded, self.value, rel_tol=SLACK)


def _ratio(ours: float, claimed: Number) -> float | None:
    return None if claimed.value == 0 else ours / claimed.value


def _share(ours: float, claimed: Number) -> float | None:
    """On the rarer side, as percentages: 97 % idle is 3 % at work."""
    if claimed.value <= 50:
        return _ratio(ours, claimed)
    return _ratio(100 - ours, Number(100 - claimed.value))


def _band(ratio: float | None, ours: float, claimed: Number) -> str:
    if ratio is None:
        return REPRODUCED if math.isclose(ours, claimed.value) else WRONG
    if abs(ratio - 1) <= REPRODUCED_WITHIN + SLACK:
        return REPRODUCED
    near = 1 / CLOSE_WITHIN - SLACK <= ratio <= CLOSE_WITHIN + SLACK
    return CLOSE if near else WRONG


def _equal(ratio: float | None, ours: float, claimed: Number) -> str:
    return REPRODUCED if claimed.prints(_whole(ours, claimed)) else WRONG


def _whole(ours: float, claimed: Number) -> float:
    """Half a thing is none: a count that was divided out is rounded."""
    return float(round(ours)) if claimed.value == int(claimed.value) else ours


def _law(ratio: float | None, ours: float, claimed: Number) -> str:
    return REPRODUCED if abs(ours - claimed.value) <= LAW_WITHIN + SLACK else WRONG


@dataclass(frozen=True)
class Kind:
    """A row: its rule in words, what is compared, and the word of one pair."""

    rule: str
    compare: Callable[[float, Number], float | None] = _ratio
    word: Callable[[float | None, float, Number], str] = _band

    def judge(
        self, ours: list[float], claimed: list[Number]
    ) -> tuple[str, float | None]:
        """The word of the pair of ends that is farthest apart, and its ratio."""
        pairs = [(self.compare(a, b), a, b) for a, b in paired(ours, claimed)]
        words = [self.word(*pair) for pair in pairs]
        worst = max(words, key=(REPRODUCED, CLOSE, WRONG).index)
        return worst, max((r for r, *_ in pairs), key=_apart)


def paired(ours: list[float], claimed: list[Number]) -> list[tuple[float, Number]]:
    """Low end with low end, high with high; one number with both."""
    ours, claimed = sorted(ours), sorted(claimed, key=lambda end: end.value)
    ends = max(len(ours), len(claimed))
    return list(zip(_twice(ours, ends), _twice(claimed, ends), strict=True))


def _twice(ends: list[End], many: int) -> list[End]:
    return ends if len(ends) == many else ends * many


def _apart(ratio: float | None) -> float:
    if ratio is None:
        return 0.0
    return abs(math.log(ratio)) if ratio > 0 else math.inf


def off_by_two(ratio: float | None) -> bool:
    """Two, or a half, within two in a hundred."""
    return ratio is not None and any(
        abs(r / 2 - 1) <= TWO_WITHIN for r in (ratio, 1 / ratio if ratio else 0.0)
    )


KINDS = {
    "quantity": Kind("within 10 % reproduced, within 1.5 times close, else wrong"),
    "count": Kind("equal, rounded as the claim is, or wrong", word=_equal),
    "law": Kind("an exponent, equal within 0.1 or wrong", word=_law),
    "range": Kind("as a quantity at both ends, and the worse decides"),
    "share": Kind("as a quantity, on the rarer side of the whole", _share),
    "proposition": Kind("true, false, or depends on what is named"),
}
