"""Shared memory: how often a warp's request has to be repeated.

Thirty-two banks give one word of four bytes each at a time. Lanes that want the same
word share it; lanes that want different words of one bank take turns. A request of 8
bytes a lane runs as two half-warps, of 16 as four quarter-warps, each on its own.

``bank_access`` counts any request; ``strided_ways`` is the closed form where every
lane is the same distance from the last.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import gcd

from .lanes import WARP, check_lanes, check_width, lane_addresses

BANKS, WORD = 32, 4  # banks, bytes of a word


@dataclass(frozen=True, slots=True)
class BankAccess:
    """One request to shared memory."""

    ways: tuple[int, ...]  # for each phase, most distinct words that one bank must give

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


def phases(lanes: list[int | None], width: int) -> list[list[int | None]]:
    """Lanes that are served together: all, half a warp, or a quarter.

    ``width``: bytes each accesses.
    """
    together = WARP * WORD // max(width, WORD)
    return [lanes[i : i + together] for i in range(0, len(lanes), together)]


def words_of(address: int, width: int) -> range:
    """The words that an access touches."""
    return range(address // WORD, address // WORD + max(1, width // WORD))


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
    return BankAccess(tuple(_ways(phase, width) for phase in phases(lanes, width)))


def _ways(phase: list[int | None], width: int) -> int:
    """Most distinct words of one bank that some lanes want."""
    wanted = {w for a in phase if a is not None for w in words_of(a, width)}
    asked = [0] * BANKS
    for word in wanted:
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


def strided_ways(
    stride: int, *, width: int = 4, base: int = 0, lanes: int = WARP
) -> int:
    """The conflict of lanes at equal distances: the closed form.

    Elements of a word or more come round after ``n / gcd(stride, n)`` lanes, where
    ``n`` of them fill the banks. Smaller elements fall into classes of lanes, each a
    walk of its own over the banks; how the walks overlap gives the answer, and there
    are no more of them than elements in a word.

    ``width``: bytes of an element: 1, 2, 4, 8 or 16; ``base``: byte address of the
    first lane, a multiple of the width.
    """
    stride, base, lanes = check_lanes(stride, base, lanes)
    if base % check_width(width):
        raise ValueError(f"base = {base}: no multiple of {width} bytes")
    if stride == 0:
        return 1
    if width < WORD:
        return _sub_word(stride, WORD // width, base // width, lanes)
    together = BANKS * WORD // width
    comes_round = together // gcd(stride, together)
    return -(-min(lanes, together) // comes_round)


def _sub_word(stride: int, in_word: int, first: int, lanes: int) -> int:
    """The conflict of elements of which several share a word."""
    if abs(stride) < in_word:
        return 1  # a run of words without gaps, never more than the banks
    classes = in_word // gcd(stride, in_word)
    step = stride * classes // in_word  # words from lane to lane of one class
    walks = [
        ((first + stride * c) // in_word, -(-(lanes - c) // classes))
        for c in range(min(classes, lanes))
    ]
    if classes == 1:
        return -(-lanes // (BANKS // gcd(step, BANKS)))
    # With two classes or more the step is odd, so it can be divided out: every walk
    # becomes a run of neighbouring banks, and runs are easy to lay over each other.
    back = pow(step, -1, BANKS)
    runs = [(start * back % BANKS, length) for start, length in walks]
    return max(
        sum((at - start) % BANKS < length for start, length in runs) for at, _ in runs
    )
