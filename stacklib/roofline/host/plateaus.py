"""Levels in a curve of bandwidth by working set: how many, how fast, ending where.

Nothing is known beforehand. The curve is cut into the pieces that fit it best, as
logarithms, each a constant, and each further piece has a price that follows the
noise. Plain Python: the book runs it in the page.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

LEAST_STEP = 1.4  # a level is slower than the one before by this much or more
LEAST_SPAN = 2.0  # and holds over sizes that differ by this factor


@dataclass(frozen=True)
class Plateau:
    """Sizes over which one level serves: first and last point, and its rate.

    ``ends`` is the size at which the bandwidth is half-way, in ratio, to the next
    level: the capacity as the data show it; None for the last level.
    """

    first: int
    last: int
    rate: float
    ends: float | None = None


def plateaus(
    at: Sequence[float],  # working sets in bytes, growing
    rates: Sequence[float],  # bandwidth at each, in B/s
    step: float = LEAST_STEP,
    span: float = LEAST_SPAN,
) -> list[Plateau]:
    """Find the levels in a curve of bandwidth by working set.

    The curve is cut into the pieces that fit it best, as logarithms, each piece a
    constant and each further piece at a price that follows the noise. Pieces too
    much alike are one level; what then spans too few sizes is a ramp between two.
    """
    if not (1 < step < math.inf and 1 <= span < math.inf):
        raise ValueError(f"step = {step!r}, span = {span!r}: above 1, and 1 or more")
    if len(at) != len(rates) or len(at) < 4:
        raise ValueError(f"{len(at)} sizes and {len(rates)} rates: give four or more")
    if any(b <= a for a, b in pairwise(at)):
        raise ValueError("working sets must grow from point to point")
    if not all(0 < r < math.inf for r in rates):
        raise ValueError(f"rates {list(rates)!r}: give finite numbers above zero")
    y = [math.log(r) for r in rates]
    # A curve with little noise bears a small step between two levels.
    alike = _merged(_pieces(y), y, step)
    # A level must hold over a ratio of sizes; what spans less is a ramp between two.
    flat = [(i, j) for i, j, _ in alike if at[j] / at[i] >= span * 0.99]
    return _with_ends(_falling(_merged(flat, y, step)), at, rates)


def _pieces(y: Sequence[float]) -> list[tuple[int, int]]:
    """First and last index of each piece of the best piecewise constant fit."""
    n = len(y)
    steps = sorted(abs(b - a) for a, b in pairwise(y))
    noise = max(steps[len(steps) // 2], 0.01)
    price = 3 * noise
    best, cut = [0.0], [0]  # cost of the first j points; where their last piece starts
    for j in range(1, n + 1):
        costs = [best[i] + _misfit(y[i:j]) + price for i in range(j)]
        i = min(range(j), key=costs.__getitem__)
        best.append(costs[i])
        cut.append(i)
    pieces, j = [], n
    while j:
        pieces.append((cut[j], j - 1))
        j = cut[j]
    return pieces[::-1]


def _misfit(y: Sequence[float]) -> float:
    """Distance of the points from their median: one bad point weighs little."""
    middle = median(y)
    return sum(abs(v - middle) for v in y)


Level = tuple[int, int, float]  # first, last, logarithm of the rate


def _merged(
    pieces: Sequence[tuple[int, int]], y: Sequence[float], step: float
) -> list[Level]:
    """Neighbours less than ``step`` apart become one, the closest first."""
    found = [(i, j, median(y[i : j + 1])) for i, j in pieces]
    while len(found) > 1:
        gaps = [abs(a[2] - b[2]) for a, b in pairwise(found)]
        k = min(range(len(gaps)), key=gaps.__getitem__)
        if gaps[k] >= math.log(step):
            break
        i, j = found[k][0], found[k + 1][1]
        found[k : k + 2] = [(i, j, median(y[i : j + 1]))]
    return found


def _falling(found: Sequence[Level]) -> list[Level]:
    """Without pieces that a larger size beats: loops too short to reach speed."""
    kept: list[Level] = []
    for level in found:
        while kept and kept[-1][2] <= level[2]:
            kept.pop()
        kept.append(level)
    return kept


def _with_ends(
    found: Sequence[Level], at: Sequence[float], rates: Sequence[float]
) -> list[Plateau]:
    levels = []
    for k, (i, j, y) in enumerate(found):
        ends = None
        if k + 1 < len(found):
            half = math.exp((y + found[k + 1][2]) / 2)
            ends = _crossing(at, rates, range(j, found[k + 1][0]), half)
        levels.append(Plateau(i, j, math.exp(y), ends))
    return levels


def _crossing(
    at: Sequence[float], rates: Sequence[float], between: range, half: float
) -> float:
    """Size at which the rate first falls through ``half``, between two points."""
    for i in between:
        high, low = rates[i], rates[i + 1]
        if high >= half > low:
            share = math.log(high / half) / math.log(high / low)
            return float(at[i] * (at[i + 1] / at[i]) ** share)
    return float(at[between.stop])
