"""Bisection: the least bandwidth from one half of the chips to the other.

A bisection splits the chips in halves (of an odd number, one half is smaller by one);
switches stand on whichever side costs less. To find the least of all is hard (it is
the NP-complete *minimum bisection*), so a shape names the splits which its make-up
suggests, and three things tell whether the least of them is the least there is: a
proof that comes with the shape; a search of all splits, for few chips; or a floor, from
traffic between all pairs: what must cross is known, and no link is used for longer than
the busiest, so that bandwidth >= (bytes across) / (time of the busiest link).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise

Pair = tuple[int, int]
SEARCHED = 10  # chips up to which all splits are tried: 252 maximum flows
NEAR = 1e-9  # relative: rounding


@dataclass(frozen=True, slots=True)
class Bisection:
    """The narrowest split that was found, and what is known of narrower ones."""

    bandwidth: float  # B/s, from one half to the other
    side: tuple[int, ...]  # nodes of the half that sends
    floor: float  # B/s; no split has less
    why: str  # it is known to be no less
    chips: int  # in the smaller half

    @property
    def exact(self) -> bool:
        """Whether no split can be narrower."""
        return self.bandwidth <= self.floor * (1 + NEAR)

    @property
    def per_chip(self) -> float:
        """B/s that each chip of a half can send to the other at once."""
        return self.bandwidth / self.chips


def crossing(side: Iterable[int], capacity: Mapping[Pair, float]) -> float:
    """Bandwidth of the links that lead out of a set of nodes."""
    inside = set(side)
    return sum(
        (width for (a, b), width in capacity.items() if a in inside and b not in inside)
    )


def narrowest(
    sources: Iterable[int], targets: Iterable[int], capacity: Mapping[Pair, float]
) -> tuple[float, set[int]]:
    """The least cut between two sets of nodes, by a maximum flow, and its side.

    Shortest augmenting paths (J. Edmonds and R. M. Karp, 1972).
    """
    left: dict[int, dict[int, float]] = {}
    for (a, b), width in capacity.items():
        left.setdefault(a, {})[b] = left.get(a, {}).get(b, 0.0) + width
        left.setdefault(b, {}).setdefault(a, 0.0)
    start, goal = list(sources), set(targets)
    flow, tiny = 0.0, NEAR * max(capacity.values(), default=0.0)
    while True:
        came: dict[int, int] = dict.fromkeys(start, -1)
        queue, end = list(start), -1
        for node in queue:
            if node in goal:
                end = node
                break
            for other, width in left.get(node, {}).items():
                if width > tiny and other not in came:
                    came[other] = node
                    queue.append(other)
        if end < 0:
            return flow, set(came)
        path = [end]
        while came[path[-1]] >= 0:
            path.append(came[path[-1]])
        steps = [(b, a) for a, b in pairwise(path)]
        most = min(left[a][b] for a, b in steps)
        for a, b in steps:
            left[a][b] -= most
            left[b][a] += most
        flow += most


def search(ranks: int, capacity: Mapping[Pair, float]) -> Bisection:
    """Try every split of the chips; a maximum flow places the switches."""
    everyone = set(range(ranks))
    best: tuple[float, set[int]] | None = None
    for half in combinations(range(ranks), ranks // 2):
        rest = everyone - set(half)
        for one, other in ((half, rest), (rest, half)):
            found = narrowest(one, other, capacity)
            if best is None or found[0] < best[0]:
                best = found
            if ranks % 2 == 0:
                break  # the other way is the split of the other half
    assert best is not None
    width, side = best
    return Bisection(
        width, tuple(sorted(side)), width, "all splits tried", max(1, ranks // 2)
    )


def least(
    ranks: int,
    capacity: Mapping[Pair, float],
    sides: Iterable[Iterable[int]],
    proof: str,
    floor: float,
) -> Bisection:
    """The least of some splits, each taken in the direction that has less.

    - ``sides``: nodes of one half each.
    - ``proof``: why one of them is the least of all; empty if that is not known.
    - ``floor``: B/s that any split has, where there is no proof.
    """
    everyone = set(range(max(max(pair) for pair in capacity) + 1))
    best: tuple[float, set[int]] | None = None
    for given in sides:
        side = set(given)
        for one in (side, everyone - side):
            width = crossing(one, capacity)
            if best is None or width < best[0]:
                best = width, one
    assert best is not None
    width, found = best
    if proof:
        floor = width
    why = proof or "the busiest link of all pairs' traffic"
    return Bisection(width, tuple(sorted(found)), floor, why, ranks // 2)
