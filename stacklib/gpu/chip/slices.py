"""Clusters and slices: blocks that share what they load, and a GPU cut in pieces.

A cluster is a group of blocks that are resident at the same time in one GPC, the
group of units that shares a way to the L2; they can read each other's shared memory.
A cluster fits only if one GPC has room for all of it, so units are left over. What it
saves: blocks of one row of the result need the same rows of X, those of a column the
same columns of W, and each has to come from the L2 only once a cluster.

A multi-instance GPU (MIG) is cut into seven slices of units and eight of memory. An
instance takes some of both at certain places (NVIDIA MIG User Guide, supported
profiles, A100 and H100).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from stacklib.quantity.bounds import above_zero, whole

COMPUTE_SLICES, MEMORY_SLICES = 7, 8


def clusters_that_fit(units: Sequence[int], size: int, blocks: int = 1) -> int:
    """Clusters that are resident at once."""
    whole(size=size, blocks=blocks)
    for each in units:
        whole(units=each)
    return sum(u * blocks // size for u in units)


def place_clusters(units: Sequence[int], size: int, blocks: int = 1) -> list[list[int]]:
    """The GPC and unit of every block, filled one cluster at a time."""
    clusters_that_fit(units, size, blocks)  # refuses what is no number of blocks
    placed, first = [], 0
    for many in units:
        free = [first + i for i in range(many) for _ in range(blocks)]
        while len(free) >= size:
            placed.append([free.pop(0) for _ in range(size)])
        first += many
    return placed


def cluster_bytes(
    tile_m: Any, tile_n: Any, k: Any, rows: Any = 1, columns: Any = 1, width: Any = 2
) -> Any:
    """Bytes that one block of a matrix product draws from the L2."""
    above_zero(
        tile_m=tile_m, tile_n=tile_n, k=k, rows=rows, columns=columns, width=width
    )
    # A row of blocks shares X, a column shares W.
    return (tile_m * k / columns + k * tile_n / rows) * width


def cluster_bytes_counted(
    tile_m: int, tile_n: int, k: int, rows: int, columns: int, width: int = 2
) -> float:
    """The same, block by block: who loads what, once a cluster."""
    above_zero(
        tile_m=tile_m, tile_n=tile_n, k=k, rows=rows, columns=columns, width=width
    )
    loaded = {("X", row) for row in range(rows) for _ in range(columns)}
    loaded |= {("W", column) for _ in range(rows) for column in range(columns)}
    sizes = {"X": tile_m * k * width, "W": tile_n * k * width}
    return sum(sizes[name] for name, _ in loaded) / (rows * columns)


@dataclass(frozen=True, slots=True)
class Profile:
    """An instance of a MIG: slices of units and memory, and where it may begin."""

    name: str
    compute: int
    memory: int
    starts: tuple[int, ...]  # memory slices

    @property
    def share(self) -> tuple[Fraction, Fraction]:
        """Of the units that MIG hands out, and of the memory and its bandwidth."""
        return Fraction(self.compute, COMPUTE_SLICES), Fraction(
            self.memory, MEMORY_SLICES
        )


PROFILES = {
    p.name: p
    for p in (
        Profile("1g", 1, 1, (0, 1, 2, 3, 4, 5, 6)),
        Profile("2g", 2, 2, (0, 2, 4)),
        Profile("3g", 3, 4, (0, 4)),
        Profile("4g", 4, 4, (0,)),
        Profile("7g", 7, 8, (0,)),
    )
}


def placements(wanted: Iterable[str]) -> list[tuple[str, int]] | None:
    """Where instances go so that none overlap; None if they do not fit."""
    names = list(wanted)
    for name in names:
        if name not in PROFILES:
            raise ValueError(f"profile {name!r}: one of {', '.join(PROFILES)}")
    order = sorted(names, key=lambda n: -PROFILES[n].memory)
    return next(_placed(order, frozenset(), 0), None)


def _placed(
    names: list[str], taken: frozenset[int], compute: int
) -> Iterator[list[tuple[str, int]]]:
    if not names:
        yield []
        return
    profile = PROFILES[names[0]]
    if compute + profile.compute > COMPUTE_SLICES:
        return
    for start in profile.starts:
        mine = frozenset(range(start, start + profile.memory))
        if not mine & taken:
            for rest in _placed(names[1:], taken | mine, compute + profile.compute):
                yield [(profile.name, start), *rest]


def unused(wanted: Iterable[str]) -> tuple[Fraction, Fraction]:
    """Shares of units and memory that no instance of a set has."""
    shares = [PROFILES[name].share for name in wanted]
    return 1 - sum((c for c, _ in shares), Fraction(0)), 1 - sum(
        (m for _, m in shares), Fraction(0)
    )
