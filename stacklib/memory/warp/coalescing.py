"""Global memory: how many sectors a warp's request touches.

A request moves whole sectors of 32 bytes, four to a cache line of 128. Lanes that ask
for the same sector share it; a lane that uses four bytes of a sector pays for all of
it. (CUDA C++ Best Practices Guide, section "Coalesced Access to Global Memory".)

``coalesce`` counts any request; ``strided_pieces`` is the closed form where every
lane is the same distance from the last.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from stacklib.quantity import ceil, maximum, minimum
from stacklib.quantity.bounds import whole

from .lanes import WARP, lane_addresses

SECTOR, LINE = 32, 128  # bytes


@dataclass(frozen=True, slots=True)
class Request:
    """One load or store of a warp, as global memory sees it."""

    sectors: tuple[int, ...]  # numbers of the sectors touched, ascending
    lines: int  # cache lines they are in
    asked: int  # distinct bytes that lanes asked for

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


def pieces(addresses: Iterable[int | None], width: int = 4, size: int = SECTOR) -> int:
    """How many aligned pieces of memory a request touches, whatever their size.

    ``width``: bytes each lane accesses: 1, 2, 4, 8 or 16; ``size``: bytes of a piece: a
    sector, a line, what a cache fetches at once.
    """
    whole(size=size)
    if size % width:
        raise ValueError(f"size = {size}: not a whole number of {width}-byte accesses")
    lanes = lane_addresses(addresses, width)
    return len({address // size for address in lanes if address is not None})


def strided_pieces(
    step: Any, *, first: Any = 0, lanes: Any = WARP, size: Any = SECTOR
) -> Any:
    """Aligned pieces touched by lanes at equal distances: the closed form.

    Steps shorter than a piece skip none between the first and the last; longer ones
    put every lane into a piece of its own. The smaller count is the answer, exactly,
    for any alignment and either direction.

    ``step``: bytes from one lane to the next; 0 and negative ones too; ``first``: byte
    address of the first lane; ``size``: bytes of a piece, in the unit of ``step``.
    """
    last = first + step * (lanes - 1)
    low, high = minimum(first, last), maximum(first, last)
    # floor(x) is -ceil(-x).
    return minimum(lanes, ceil(-(low / size)) - ceil(-(high / size)) + 1)
