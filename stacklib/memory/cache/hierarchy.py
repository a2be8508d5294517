"""Levels of cache that keep account of each other: inclusive, or exclusive.

An *inclusive* outer level holds everything that lies further in, so that one look
into it tells whether any inner cache has a line. The price: when it drives a line out,
the inner levels lose theirs too (back-invalidation; Baer and Wang, 1988). In an
*exclusive* hierarchy a line lies in one level only, and the outer ones are filled by
what the inner ones drive out: victim caches (Jouppi, 1990). Levels that do neither are
a `cache.chain`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._hierarchy_kernel import LOOPS, run
from .cache import Cache, checked_trace

INCLUSIONS = tuple(LOOPS)
_POLICIES = ("lru", "fifo")


@dataclass(frozen=True, slots=True)
class LevelCounts:
    """What one level did."""

    hits: int  # accesses that reached the level and found their line there, or not
    misses: int
    fills: int
    evictions: int  # lines driven out to make room
    writebacks: int  # those among them that were dirty, here or further in
    invalidations: int  # lines lost because an outer level drove them out

    @property
    def accesses(self) -> int:
        """Accesses that reached the level."""
        return self.hits + self.misses


@dataclass(frozen=True, slots=True)
class Flow:
    """Where each access was answered, and what every level did."""

    served: NDArray[np.int64]  # (accesses,) index of the level that had the line
    levels: tuple[LevelCounts, ...]  # from the nearest outwards

    @property
    def memory_reads(self) -> int:
        """Lines read from memory."""
        return self.levels[-1].misses

    @property
    def memory_writes(self) -> int:
        """Lines written to memory; dirty ones still inside are not."""
        return self.levels[-1].writebacks


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Two or more levels, empty before every trace.

    Parameters
    ----------
    levels : tuple of Cache
        From the nearest outwards: equal whole lines, ``lru`` or ``fifo``, written back.
    inclusion : str
        ``inclusive`` or ``exclusive``.

    Raises
    ------
    ValueError
        For fewer than two levels, another inclusion, lines that differ, sectors, or
        a policy or way to write that the loops do not know.
    """

    levels: tuple[Cache, ...]
    inclusion: str

    def __post_init__(self) -> None:
        if self.inclusion not in INCLUSIONS:
            known = ", ".join(INCLUSIONS)
            raise ValueError(
                f"inclusion {self.inclusion!r}: one of {known}; levels that keep no "
                "account of each other are a chain"
            )
        if len(self.levels) < 2:
            raise ValueError(f"{len(self.levels)} levels: two at least")
        for cache in self.levels:
            if cache.line != self.levels[0].line or cache.sector not in (
                None,
                cache.line,
            ):
                raise ValueError(
                    f"{cache}: all levels of a hierarchy hold whole lines of one size"
                )
            if cache.policy not in _POLICIES or cache.write != "back":
                raise ValueError(
                    f"{cache}: a hierarchy is {' or '.join(_POLICIES)} and written back"
                )
            if not cache.stores_renew or cache.hashed or cache.on_store != "fetch":
                raise ValueError(
                    f"{cache}: in a hierarchy stores fetch and renew their line, and "
                    "its set is its number modulo the sets"
                )

    def run(self, addresses: ArrayLike, stores: ArrayLike | None = None) -> Flow:
        """Send a trace through.

        Parameters
        ----------
        addresses, stores
            As `Cache.run` takes them.

        Raises
        ------
        ValueError
            For what `Cache.run` refuses.
        """
        trace, writes = checked_trace(addresses, stores)
        if writes is None:
            writes = np.zeros(len(trace), np.bool_)
        shape = [(c.sets, c.ways, c.policy == "lru") for c in self.levels]
        lines = trace // self.levels[0].line
        served, counts = run(self.inclusion, lines, writes, shape)
        return Flow(served, tuple(LevelCounts(*row) for row in counts.tolist()))
