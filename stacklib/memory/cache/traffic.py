"""What a cache did with a trace: hits, fills, write-backs, and the bytes of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Traffic:
    """What a cache did with a trace."""

    hit: Bools  # (accesses,) whether the data was there
    passed: Bools  # (accesses,) stores written through
    spared: Bools  # (accesses,) stores for which nothing is fetched, hit or miss
    backs: Ints  # (write-backs, 3) access that drove the line out, line, dirty sectors
    evictions: int  # lines driven out, dirty or not
    dirtied: int  # times that a sector became dirty
    line: int  # bytes of a line
    sector: int  # of what a miss brings in
    origin: Ints | None = None  # (accesses,) access of the chain that each stems from

    @property
    def accesses(self) -> int:
        """Length of the trace."""
        return len(self.hit)

    @property
    def hits(self) -> int:
        """Accesses whose data was there."""
        return int(np.count_nonzero(self.hit))

    @property
    def misses(self) -> int:
        """Accesses whose data was not there."""
        return self.accesses - self.hits

    @property
    def filled(self) -> Bools:
        """Accesses that read a line or sector from the next level, (accesses,)."""
        found = ~self.hit
        for kept in (self.passed, self.spared):
            if some(kept):
                found &= ~kept
        return found

    @property
    def fills(self) -> int:
        """Lines or sectors read from the next level."""
        return int(np.count_nonzero(self.filled))

    @property
    def hit_rate(self) -> float:
        """Share of the accesses that hit."""
        return self.hits / self.accesses

    @property
    def evicted(self) -> Ints:
        """Address of the dirty line that each access drove out, or -1; (accesses,)."""
        found: Ints = np.full(self.accesses, -1, np.int64)
        found[self.backs[:, 0]] = self.backs[:, 1] * self.line
        return found

    @property
    def writebacks(self) -> int:
        """Dirty lines written to the next level; those still inside are not."""
        return len(self.backs)

    @property
    def bytes_in(self) -> int:
        """Bytes read from the next level."""
        return self.fills * self.sector

    @property
    def bytes_touched(self) -> int:
        """Bytes of the sectors asked for, once for each access: at least `bytes_in`."""
        return self.accesses * self.sector

    @property
    def bytes_out(self) -> int:
        """Bytes written back to the next level: the dirty sectors of evicted lines."""
        return int(np.bitwise_count(self.backs[:, 2]).sum()) * self.sector

    @property
    def bytes_dirtied(self) -> int:
        """Bytes of sectors that became dirty: `bytes_out` and what is still inside."""
        return self.dirtied * self.sector


def some(mask: Bools) -> bool:
    """Whether a mask may hold anything: one that holds nothing is a single False."""
    return mask.strides != (0,)
