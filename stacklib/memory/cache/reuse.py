"""Reuse distance: one pass over a trace tells the hits of every size of LRU cache.

The distance of an access is the number of other lines touched since the same line was
touched last. An LRU cache of C lines hits exactly the accesses whose distance is below
C (Mattson et al., 1970). A set-associative cache does the same in each of its sets:
exactly, by distances within the set, or expected, by the distances of the whole trace
and a chance for each (`associative.hit_chance`).
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..warp._fast import fast
from .associative import hit_chance

Ints: TypeAlias = NDArray[np.int64]
FIRST = -1  # the distance of a line that was never touched before


def loop(lines: Any, before: Any, distance: Any) -> None:
    """Fill ``distance``; ``before`` holds where each line stood last, -1 if nowhere.

    A tree of sums (Fenwick, 1994) marks the last place of every line seen so far: the
    marks between two touches of a line are the others.
    """
    n = len(lines)
    marks: Any = np.zeros(n + 1, np.int64)
    for at in range(n):
        last = before[at]
        if last >= 0:
            between = 0
            place = at  # marks before `at` ...
            while place > 0:
                between += marks[place]
                place -= place & -place
            place = last + 1  # ... less those up to the last touch
            while place > 0:
                between -= marks[place]
                place -= place & -place
            distance[at] = between
            place = last + 1
            while place <= n:
                marks[place] -= 1
                place += place & -place
        place = int(at) + 1
        while place <= n:
            marks[place] += 1
            place += place & -place


def checked(lines: ArrayLike) -> Ints:
    """A trace of line numbers; raises for an empty one or no whole numbers."""
    trace = np.asarray(lines)
    if trace.ndim != 1 or not len(trace) or trace.dtype.kind not in "iu":
        raise ValueError(f"a trace {trace.shape} of {trace.dtype}: whole numbers")
    return trace.astype(np.int64)


def reuse_distances(lines: ArrayLike) -> Ints:
    """Other lines touched since each access's line was touched last, (accesses, ).

    ``lines``: (accesses,) line numbers, that is addresses over the bytes of a line.
    """
    trace = checked(lines)
    order = np.argsort(trace, kind="stable")
    before: Ints = np.full(len(trace), -1, np.int64)
    same = trace[order][1:] == trace[order][:-1]
    before[order[1:][same]] = order[:-1][same]
    distance: Ints = np.full(len(trace), FIRST, np.int64)
    fast(loop)(trace, before, distance)
    return distance


def hit_curve(lines: ArrayLike) -> NDArray[np.float64]:
    """Hit rate of a fully associative LRU cache by its number of lines.

    ``lines``: (accesses,) line numbers.
    """
    distance = reuse_distances(lines)
    seen = distance[distance >= 0]
    first = int((distance == FIRST).sum())
    counts = np.bincount(seen, minlength=first)
    return np.concatenate(([0], counts.cumsum())) / len(distance)


def predicted_hits(lines: ArrayLike, sets: int, ways: int) -> int:
    """Hits of a set-associative LRU cache, by distances within each set.

    ``lines``: (accesses,) line numbers; a line's set is its number modulo ``sets``.
    """
    if sets < 1 or ways < 1:
        raise ValueError(f"{sets} sets of {ways} ways: at least 1 of each")
    trace = checked(lines)
    hits = 0
    order = np.argsort(trace % sets, kind="stable")
    ends = np.cumsum(np.bincount(trace % sets, minlength=sets))
    for part in np.split(trace[order], ends[:-1]):
        if len(part):
            distance = reuse_distances(part)
            hits += int(((distance >= 0) & (distance < ways)).sum())
    return hits


def expected_hits(lines: ArrayLike, sets: int, ways: int) -> float:
    """Hits of a set-associative LRU cache if lines fell into its sets by chance.

    ``lines``: (accesses,) line numbers; only their reuse distances count.
    """
    distance = reuse_distances(lines)
    found, count = np.unique(distance[distance >= 0], return_counts=True)
    chance = [hit_chance(d, sets, ways) for d in found.tolist()]
    return float(np.dot(count, chance)) if chance else 0.0
