"""Shared memory: how often a warp's request has to be repeated.

Thirty-two banks give one word of four bytes each at a time. Lanes that want the same
word share it; lanes that want different words of one bank take turns. A request of 8
bytes a lane runs as two half-warps, of 16 as four quarter-warps, each on its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .lanes import WARP, lane_addresses

__all__ = ["BANKS", "WORD", "BankAccess", "bank_access", "bank_conflicts"]

BANKS, WORD = 32, 4  # banks, bytes of a word


@dataclass(frozen=True, slots=True)
class BankAccess:
    """One request to shared memory.

    Attributes
    ----------
    ways : tuple of int
        For each phase, most distinct words that one bank must give; 0 in a phase
        where every lane is masked off.
    """

    ways: tuple[int, ...]

    @property
    def degree(self) -> int:
        """Of the worst phase: 1 is free of conflicts, 32 the worst."""
        return max(self.ways)

    @property
    def passes(self) -> int:
        """Passes over the banks in all."""
        return sum(self.ways)

    @property
    def extra(self) -> int:
        """Passes beyond one a phase: what profilers count as bank conflicts."""
        return sum(max(0, ways - 1) for ways in self.ways)


def bank_access(addresses: Iterable[int | None], width: int = 4) -> BankAccess:
    """A warp's request, phase by phase.

    Parameters
    ----------
    addresses : iterable of int or None
        Byte address of each lane in shared memory; None for one masked off.
    width : int
        Bytes each lane accesses: 1, 2, 4, 8 or 16.

    Raises
    ------
    ValueError
        See `lanes.lane_addresses`.
    """
    lanes = lane_addresses(addresses, width)
    together = WARP * WORD // max(width, WORD)  # lanes of one phase
    phases = (lanes[i : i + together] for i in range(0, len(lanes), together))
    return BankAccess(tuple(_ways(phase, width) for phase in phases))


def _ways(phase: list[int | None], width: int) -> int:
    """Most distinct words of one bank that some lanes want."""
    words = {
        address // WORD + extra
        for address in phase
        if address is not None
        for extra in range(max(1, width // WORD))
    }
    asked = [0] * BANKS
    for word in words:
        asked[word % BANKS] += 1
    return max(asked)


def bank_conflicts(addresses: Iterable[int | None], width: int = 4) -> int:
    """How many-way the bank conflict of a warp's request is: 1 is none.

    Parameters
    ----------
    addresses : iterable of int or None
        Byte address of each lane in shared memory; None for one masked off.
    width : int
        Bytes each lane accesses: 1, 2, 4, 8 or 16.

    Examples
    --------
    A column of a 32 x 32 matrix of fp32, and of one with a column of padding:

    >>> bank_conflicts(32 * 4 * row for row in range(32))
    32
    >>> bank_conflicts(33 * 4 * row for row in range(32))
    1
    """
    return bank_access(addresses, width).degree
