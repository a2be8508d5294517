"""Global memory: how many sectors a warp's request touches.

A request moves whole sectors of 32 bytes, four to a cache line of 128. Lanes that ask
for the same sector share it; a lane that uses four bytes of a sector pays for all of
it. (CUDA C++ Best Practices Guide, section "Coalesced Access to Global Memory".)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .lanes import lane_addresses

__all__ = ["LINE", "SECTOR", "Request", "coalesce", "sectors"]

SECTOR, LINE = 32, 128  # bytes


@dataclass(frozen=True, slots=True)
class Request:
    """One load or store of a warp, as global memory sees it.

    Attributes
    ----------
    sectors : tuple of int
        Numbers of the sectors touched, ascending.
    lines : int
        Cache lines they are in.
    asked : int
        Distinct bytes that lanes asked for.
    """

    sectors: tuple[int, ...]
    lines: int
    asked: int

    @property
    def moved(self) -> int:
        """Bytes of the sectors."""
        return SECTOR * len(self.sectors)

    @property
    def efficiency(self) -> float:
        """Share of the moved bytes that somebody asked for; 0 if nobody did."""
        return self.asked / self.moved if self.sectors else 0.0


def coalesce(addresses: Iterable[int | None], width: int = 4) -> Request:
    """A warp's request as sectors and lines.

    Parameters
    ----------
    addresses : iterable of int or None
        Byte address of each lane; None for a lane that is masked off.
    width : int
        Bytes each lane accesses: 1, 2, 4, 8 or 16.

    Raises
    ------
    ValueError
        See `lanes.lane_addresses`.
    """
    distinct = {a for a in lane_addresses(addresses, width) if a is not None}
    # An aligned access never straddles two sectors.
    touched = tuple(sorted({address // SECTOR for address in distinct}))
    lines = len({sector * SECTOR // LINE for sector in touched})
    return Request(touched, lines, width * len(distinct))


def sectors(addresses: Iterable[int | None], width: int = 4) -> int:
    """How many 32-byte sectors a warp's request touches.

    Parameters
    ----------
    addresses : iterable of int or None
        Byte address of each lane; None for a lane that is masked off.
    width : int
        Bytes each lane accesses: 1, 2, 4, 8 or 16.

    Examples
    --------
    >>> sectors(4 * lane for lane in range(32))
    4
    >>> sectors(128 * lane for lane in range(32))
    32
    """
    return len(coalesce(addresses, width).sectors)
