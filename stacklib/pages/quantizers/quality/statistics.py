"""Whether two schemes differ: pairs of documents, pairs of answers, ranks.

Plain Python; the bootstrap of the package is `tinylm.perplexity.difference`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import comb


def mcnemar(lost: int, gained: int) -> float:
    """Chance of a split as uneven as this if each flip were a fair coin.

    Exact and two-sided (McNemar, Psychometrika 12, 1947, with the binomial in place of
    its normal approximation). Answers that agree say nothing and are left out.
    """
    if min(lost, gained) < 0:
        raise ValueError(f"mcnemar({lost}, {gained}): counts are needed")
    flips = lost + gained
    tail = sum(comb(flips, k) for k in range(min(lost, gained) + 1))
    return min(1.0, 2 * tail / 2**flips)


def ranks(values: Sequence[float]) -> list[float]:
    """Places from one up; equal values share the mean of theirs."""
    order = sorted(values)
    return [order.index(value) + (order.count(value) + 1) / 2 for value in values]


def spearman(first: Sequence[float], second: Sequence[float]) -> float:
    """Rank correlation: the correlation of the places (Spearman, 1904)."""
    if len(first) != len(second) or len(first) < 2:
        raise ValueError(f"spearman: {len(first)} and {len(second)} values")
    a, b = ranks(first), ranks(second)
    mean = (len(a) + 1) / 2
    both = sum((x - mean) * (y - mean) for x, y in zip(a, b, strict=True))
    spread = [sum((x - mean) ** 2 for x in each) for each in (a, b)]
    if not spread[0] or not spread[1]:
        raise ValueError("spearman: all values are equal, there is no order")
    return both / (spread[0] * spread[1]) ** 0.5


def front(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points that no other beats in both, by the first; less is better."""
    kept: list[tuple[float, float]] = []
    for x, y in sorted(points):
        if not kept or y < kept[-1][1]:
            kept.append((x, y))
    return kept
