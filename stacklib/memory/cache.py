"""Set-associative caches that are run, not estimated: hits, misses and write-backs.

A trace of addresses goes through one cache or a chain of them. Lines may be sectored:
the tag is kept for the line and data for the sectors that were asked for. Stores
allocate and are written back when their line is evicted; a chain passes each level's
misses and write-backs on to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._cache_kernel import POLICIES, run

__all__ = ["Cache", "Traffic", "chain"]

Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Traffic:
    """What a cache did with a trace.

    Attributes
    ----------
    hit : bool array (accesses,)
        Whether the data was there.
    evicted : int array (accesses,)
        Byte address of the dirty line that an access drove out, -1 where none was.
    line, sector : int
        Bytes of a line, and of what a miss brings in.
    """

    hit: NDArray[np.bool_]
    evicted: Ints
    line: int
    sector: int

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
        """Accesses whose data came from the next level."""
        return self.accesses - self.hits

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
        return self.misses * self.sector

    @property
    def bytes_out(self) -> int:
        """Bytes written to the next level, whole lines."""
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

    Raises
    ------
    ValueError
        When the sizes do not divide, the policy is unknown, or a tree is asked for
        over a number of ways that is no power of two.
    """

    size: int
    ways: int
    line: int = 128
    sector: int | None = None
    policy: str = "lru"
    seed: int = 1
    stores_renew: bool = True

    def __post_init__(self) -> None:
        for name in ("size", "ways", "line"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} = {value!r}: a whole number from 1 is needed")
        if self.policy not in POLICIES:
            raise ValueError(
                f"policy {self.policy!r}: use one of {', '.join(POLICIES)}"
            )
        if self.size % (self.ways * self.line):
            raise ValueError(
                f"{self.size} bytes do not divide into {self.ways} ways of "
                f"{self.line}-byte lines"
            )
        sector = self.line if self.sector is None else self.sector
        if sector < 1 or self.line % sector or self.line // sector > 62:
            raise ValueError(f"sector = {sector}: it divides the line of {self.line}")
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
        trace = np.asarray(addresses)
        if trace.ndim != 1 or not len(trace) or trace.dtype.kind not in "iu":
            raise ValueError(f"a trace {trace.shape} of {trace.dtype}: whole numbers")
        if trace.min() < 0:
            raise ValueError(f"address {trace.min()} is below zero")
        writes: NDArray[np.bool_] = np.zeros(len(trace), np.bool_)
        if stores is not None:
            writes = np.asarray(stores, dtype=np.bool_)
            if writes.shape != trace.shape:
                raise ValueError(f"{len(writes)} stores for {len(trace)} addresses")
        sector = self.sector or self.line
        hit, evicted = run(
            trace.astype(np.int64),
            writes,
            self.line,
            sector,
            self.sets,
            self.ways,
            POLICIES.index(self.policy),
            self.seed,
            self.stores_renew,
        )
        return Traffic(hit, evicted, self.line, sector)


def chain(
    levels: Sequence[Cache], addresses: ArrayLike, stores: ArrayLike | None = None
) -> list[Traffic]:
    """A trace through several levels: each sees the misses of the one before.

    A miss loads from the next level; then the dirty line it drove out is stored
    there. Levels are not inclusive: a line may leave an outer level and stay inside.

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
    trace = np.asarray(addresses)
    writes = None if stores is None else np.asarray(stores, dtype=np.bool_)
    for cache in levels:
        traffic = cache.run(trace, writes)
        found.append(traffic)
        # At most two events an access: the load of a miss, and a write-back.
        events = np.stack((np.where(traffic.hit, -1, trace), traffic.evicted), axis=1)
        kept = events.ravel() >= 0
        trace = events.ravel()[kept]
        writes = np.tile([False, True], len(traffic.hit))[kept]
        if not len(trace):
            break
    return found
