"""Set-associative caches that are run, not estimated: hits, misses and write-backs.

A trace of addresses goes through one cache or a chain of them. Lines may be sectored:
the tag is kept for the line and data for the sectors that were asked for. Stores
allocate and are written back when their line is evicted, or are written through and
allocate nothing. A chain passes each level's misses and stores on to the next; levels
that keep track of each other's lines are a `hierarchy.Hierarchy`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stacklib.quantity.bounds import whole

from ._cache_kernel import POLICIES, run, run_reads

__all__ = ["WRITES", "Cache", "Traffic", "chain", "checked_trace"]

WRITES = ("back", "through")

Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Traffic:
    """What a cache did with a trace."""

    hit: NDArray[np.bool_]  # (accesses,) whether the data was there
    evicted: Ints  # (accesses,) byte address of the dirty line that an access drove out
    passed: NDArray[np.bool_]
    evictions: int  # lines driven out, dirty or not
    line: int  # bytes of a line
    sector: int  # of what a miss brings in

    @property
    def accesses(self) -> int:
        """Length of the trace."""
        return len(self.hit)

    @property
    def hits(self) -> int:
        """Accesses whose data was there."""
        return int(self.hit.sum())

    @property
    def misses(self) -> int:
        """Accesses whose data was not there."""
        return self.accesses - self.hits

    @property
    def filled(self) -> NDArray[np.bool_]:
        """Accesses that read a line or sector from the next level, (accesses,)."""
        return ~(self.hit | self.passed)

    @property
    def fills(self) -> int:
        """Lines or sectors read from the next level."""
        return int(self.filled.sum())

    @property
    def hit_rate(self) -> float:
        """Share of the accesses that hit."""
        return self.hits / self.accesses

    @property
    def writebacks(self) -> int:
        """Dirty lines written to the next level; those still inside are not."""
        return int((self.evicted >= 0).sum())

    @property
    def bytes_in(self) -> int:
        """Bytes read from the next level."""
        return self.fills * self.sector

    @property
    def bytes_out(self) -> int:
        """Bytes written back to the next level, whole lines."""
        return self.writebacks * self.line


@dataclass(frozen=True, slots=True)
class Cache:
    """A cache, empty before every trace.

    Parameters
    ----------
    size : int
        Bytes of data.
    ways : int
        Lines of a set; ``size // line`` for a fully associative cache.
    line : int
        Bytes of a line.
    sector : int, optional
        Bytes that a miss brings in; the whole line by default.
    policy : str
        ``lru``, ``fifo``, ``plru`` (a binary tree of bits a set) or ``random``.
    seed : int
        Of the random policy.
    stores_renew : bool
        Whether a store that hits makes its line the most recently used. Hardware does;
        pycachesim does not, and is equalled without.
    write : str
        ``back``: a store fetches its line, which is written out when it is evicted.
        ``through``: every store goes on to the next level, and takes no place here.
    hashed : bool
        Whether the set is taken from all bits of the line's number, combined by XOR in
        groups, as large caches do against strides of powers of two; else from the
        lowest.

    Raises
    ------
    ValueError
        When the sizes do not divide, the policy is unknown, a tree is asked for over a
        number of ways that is no power of two, or a hash over such a number of sets.
    """

    size: int
    ways: int
    line: int = 128
    sector: int | None = None
    policy: str = "lru"
    seed: int = 1
    stores_renew: bool = True
    write: str = "back"
    hashed: bool = False

    def __post_init__(self) -> None:
        whole(size=self.size, ways=self.ways, line=self.line)
        if self.policy not in POLICIES:
            raise ValueError(
                f"policy {self.policy!r}: use one of {', '.join(POLICIES)}"
            )
        if self.write not in WRITES:
            raise ValueError(f"write = {self.write!r}: one of {', '.join(WRITES)}")
        if self.size % (self.ways * self.line):
            raise ValueError(
                f"{self.size} bytes do not divide into {self.ways} ways of "
                f"{self.line}-byte lines"
            )
        sector = self.line if self.sector is None else self.sector
        if sector < 1 or self.line % sector or self.line // sector > 62:
            raise ValueError(f"sector = {sector}: it divides the line of {self.line}")
        if self.hashed and self.sets & (self.sets - 1):
            raise ValueError(
                f"hashed over {self.sets} sets: a power of two is needed; other "
                "numbers spread strides as they are"
            )
        if self.policy == "plru" and self.ways & (self.ways - 1):
            raise ValueError(f"plru over {self.ways} ways: a power of two is needed")

    @property
    def sets(self) -> int:
        """Sets that addresses are spread over, by their line number."""
        return self.size // (self.ways * self.line)

    def run(self, addresses: ArrayLike, stores: ArrayLike | None = None) -> Traffic:
        """Send a trace through.

        Parameters
        ----------
        addresses : int array (accesses,)
            Byte addresses; an access lies within one sector.
        stores : bool array (accesses,), optional
            Which accesses write; none by default.

        Raises
        ------
        ValueError
            For an empty trace, an address below zero or no whole number, or stores
            of another length.
        """
        trace, writes = checked_trace(addresses, stores)
        sector = self.sector or self.line
        loads_only = writes is None or not writes.any()
        passed: NDArray[np.bool_] = np.broadcast_to(np.False_, len(trace))
        plain = self.policy == "lru" and sector == self.line and not self.hashed
        if loads_only and plain:
            hit, evicted, driven = run_reads(trace, self.line, self.sets, self.ways)
            return Traffic(hit, evicted, passed, driven, self.line, sector)
        writes = np.zeros(len(trace), np.bool_) if writes is None else writes
        if self.write == "through":
            passed = writes
        hit, evicted, driven = run(
            trace,
            writes,
            self.line,
            sector,
            self.sets,
            self.ways,
            POLICIES.index(self.policy),
            self.seed,
            self.stores_renew,
            self.write == "through",
            (self.sets - 1).bit_length() if self.hashed else 0,
        )
        return Traffic(hit, evicted, passed, driven, self.line, sector)


def checked_trace(
    addresses: ArrayLike, stores: ArrayLike | None = None
) -> tuple[Ints, NDArray[np.bool_] | None]:
    """A trace as the simulators take it."""
    trace = np.asarray(addresses)
    if trace.ndim != 1 or not len(trace) or trace.dtype.kind not in "iu":
        raise ValueError(f"a trace {trace.shape} of {trace.dtype}: whole numbers")
    if trace.min() < 0:
        raise ValueError(f"address {trace.min()} is below zero")
    trace = trace.astype(np.int64, copy=False)
    if stores is None:
        return trace, None
    writes = np.asarray(stores)
    if writes.shape != trace.shape:
        raise ValueError(f"{writes.size} stores for {len(trace)} addresses")
    if writes.dtype != np.bool_:
        raise ValueError(f"stores of {writes.dtype}: True or False for each access")
    return trace, writes


def chain(
    levels: Sequence[Cache], addresses: ArrayLike, stores: ArrayLike | None = None
) -> list[Traffic]:
    """A trace through several levels: each sees the misses of the one before.

    A miss loads from the next level; then the dirty line it drove out is stored
    there, then what is written through. Levels keep no account of each other: a line
    may leave an outer level and stay inside.

    Parameters
    ----------
    levels : sequence of Cache
        From the nearest outwards.
    addresses, stores
        As `Cache.run` takes them.

    Raises
    ------
    ValueError
        For no level, or what `Cache.run` refuses.
    """
    if not levels:
        raise ValueError("a chain needs at least one cache")
    found: list[Traffic] = []
    trace, writes = checked_trace(addresses, stores)
    for cache in levels:
        traffic = cache.run(trace, writes)
        found.append(traffic)
        # At most three events an access: the load of a miss, a write-back, a store.
        events = np.stack(
            (
                np.where(traffic.filled, trace, -1),
                traffic.evicted,
                np.where(traffic.passed, trace, -1),
            ),
            axis=1,
        ).ravel()
        kept = events >= 0
        writes = np.tile([False, True, True], len(trace))[kept]
        trace = events[kept]
        if not len(trace):
            break
    return found
