"""Set-associative caches that are run, not estimated: hits, misses and write-backs.

A trace of addresses goes through a cache. Lines may be sectored: the tag is kept for
the line and data for the sectors that were asked for. Stores allocate, and the sectors
that they made dirty are written back when their line is evicted; or they are written
through and allocate nothing. Levels behind each other are a `chain.chain`; levels that
keep track of each other's lines are a `hierarchy.Hierarchy`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from stacklib.quantity.bounds import whole

from ._cache_kernel import POLICIES, Shape, run
from .traffic import Bools, Ints, Traffic

WRITES = ("back", "through")
ON_STORE = ("fetch", "validate")


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
        Bytes that a miss brings in, and that are written back if a store met them; the
        whole line by default.
    policy : str
        ``lru``, ``fifo``, ``plru`` (a binary tree of bits a set) or ``random``.
    seed : int
        Of the random policy.
    stores_renew : bool
        Whether a store that hits makes its line the most recently used. Hardware does;
        pycachesim does not, and is equalled without.
    write : str
        ``back``: a store takes a place, and is written out when its line is evicted.
        ``through``: every store goes on to the next level, and takes no place here.
    hashed : bool
        Whether the set is taken from all bits of the line's number, combined by XOR in
        groups, as large caches do against strides of powers of two; else from the
        lowest.
    on_store : str
        What a store that misses brings in. ``fetch``: its sector. ``validate``:
        nothing, since it brings the bytes itself (Jouppi, ISCA 1993); a sector stored
        in part is fetched when it is read. So the L2 of a GPU is modelled in GPGPU-Sim
        (``wr_miss_wa_lazy_fetch_on_read`` of its gpu-cache.cc).

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
    on_store: str = "fetch"

    def __post_init__(self) -> None:
        whole(size=self.size, ways=self.ways, line=self.line)
        if self.policy not in POLICIES:
            raise ValueError(
                f"policy {self.policy!r}: use one of {', '.join(POLICIES)}"
            )
        if self.write not in WRITES:
            raise ValueError(f"write = {self.write!r}: one of {', '.join(WRITES)}")
        if self.on_store not in ON_STORE:
            known = ", ".join(ON_STORE)
            raise ValueError(f"on_store = {self.on_store!r}: one of {known}")
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

    @property
    def granule(self) -> int:
        """Bytes that a miss brings in."""
        return self.line if self.sector is None else self.sector

    def run(
        self,
        addresses: ArrayLike,
        stores: ArrayLike | None = None,
        sizes: ArrayLike | None = None,
    ) -> Traffic:
        """Send a trace through.

        Parameters
        ----------
        addresses : int array (accesses,)
            Byte addresses; an access lies within one sector.
        stores : bool array (accesses,), optional
            Which accesses write; none by default.
        sizes : int or int array (accesses,), optional
            Bytes of each access from its address on; by default each is all of the
            sector that it lies in.

        Raises
        ------
        ValueError
            For an empty trace, an address below zero or no whole number, stores or
            sizes of another length, or an access that reaches beyond its sector.
        """
        trace, writes = checked_trace(addresses, stores)
        parts = None
        if sizes is not None:
            room = checked_sizes(sizes, len(trace))
            beyond = trace % self.granule + room > self.granule
            if beyond.any():
                at = int(np.flatnonzero(beyond)[0])
                raise ValueError(
                    f"{room[at]} bytes from {trace[at]} on reach beyond their sector "
                    f"of {self.granule}: a chain cuts them"
                )
            parts = room < self.granule
        return traffic_of(self, trace, writes, parts)


def traffic_of(
    cache: Cache, trace: Ints, writes: Bools | None, parts: Bools | None
) -> Traffic:
    """As `Cache.run` of what was checked; ``parts``: accesses to less than a sector."""
    if writes is not None and not writes.any():
        writes = None
    never: Bools = np.broadcast_to(np.False_, len(trace))
    nothing: Bools = np.zeros(0, np.bool_)
    through, validate = cache.write == "through", cache.on_store == "validate"
    hit, backs, counts = run(
        trace,
        nothing if writes is None else writes,
        parts if validate and parts is not None else nothing,
        Shape(
            cache.line,
            cache.granule,
            cache.sets,
            cache.ways,
            POLICIES.index(cache.policy),
            cache.seed,
            cache.stores_renew,
            through,
            validate,
            (cache.sets - 1).bit_length() if cache.hashed else 0,
        ),
    )
    return Traffic(
        hit,
        writes if through and writes is not None else never,
        writes if validate and writes is not None else never,
        backs,
        int(counts[1]),
        int(counts[2]),
        cache.line,
        cache.granule,
    )


def checked_sizes(sizes: ArrayLike, accesses: int) -> Ints:
    """Bytes of each access, one number for all or one each."""
    room = np.asarray(sizes)
    if room.dtype.kind not in "iu" or room.shape not in ((), (accesses,)):
        raise ValueError(f"{room.size} sizes of {room.dtype} for {accesses} accesses")
    if room.min() < 1:
        raise ValueError(f"size {room.min()} is below one")
    return np.array(np.broadcast_to(room, accesses), np.int64)


def checked_trace(
    addresses: ArrayLike, stores: ArrayLike | None = None
) -> tuple[Ints, Bools | None]:
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
