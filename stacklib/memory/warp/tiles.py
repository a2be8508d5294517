"""Tiles in shared memory, and the requests that read them.

A tile lies row after row. A warp reads it along a row, down a column, or in blocks
of eight rows of 16 bytes each, which is what ``ldmatrix`` hands to the tensor cores.
Offsets are in bytes, before padding or swizzle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stacklib.quantity.bounds import whole

from .banks import BANKS, WORD, bank_access, bank_conflicts, phases, words_of
from .lanes import WARP, check_width
from .swizzle import Place

MATRIX_ROW = 16  # bytes of a row of an ldmatrix block: eight numbers of 16 bits


@dataclass(frozen=True, slots=True)
class Pattern:
    """All requests of one kind."""

    name: str  # what it reads
    width: int  # bytes each lane takes
    requests: tuple[tuple[int, ...], ...]  # byte offsets in the tile, lane by lane


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile in shared memory, row-major.

    Parameters
    ----------
    rows, columns : int
        Its elements.
    width : int
        Bytes of one: 1, 2, 4, 8 or 16.

    Raises
    ------
    ValueError
        For an empty tile or another width.

    Examples
    --------
    >>> worst(Tile(32, 64, 2).down(), lambda offset: offset)
    32
    """

    rows: int
    columns: int
    width: int

    def __post_init__(self) -> None:
        whole(rows=self.rows, columns=self.columns)
        check_width(self.width)

    @property
    def pitch(self) -> int:
        """Bytes from one row to the next."""
        return self.columns * self.width

    @property
    def bytes(self) -> int:
        """Bytes of all rows."""
        return self.rows * self.pitch

    def along(self) -> Pattern:
        """Every row, a warp's worth of elements at a time."""
        runs = [
            range(start, start + self.pitch, self.width)
            for start in range(0, self.bytes, self.pitch)
        ]
        return Pattern("row", self.width, _warps(runs))

    def down(self) -> Pattern:
        """Every column, a warp's worth of rows at a time."""
        runs = [
            range(start, self.bytes, self.pitch)
            for start in range(0, self.pitch, self.width)
        ]
        return Pattern("column", self.width, _warps(runs))

    def matrices(self) -> Pattern:
        """Every ``ldmatrix`` of four blocks: 16 bytes a lane, down the rows.

        Raises
        ------
        ValueError
            When the rows do not divide into 16 bytes.
        """
        if self.pitch % MATRIX_ROW:
            raise ValueError(
                f"rows of {self.pitch} bytes do not divide into {MATRIX_ROW}"
            )
        runs = [
            range(start, self.bytes, self.pitch)
            for start in range(0, self.pitch, MATRIX_ROW)
        ]
        return Pattern("ldmatrix", MATRIX_ROW, _warps(runs))


def _warps(runs: Sequence[range]) -> tuple[tuple[int, ...], ...]:
    """Runs cut into warps."""
    return tuple(
        tuple(run[i : i + WARP]) for run in runs for i in range(0, len(run), WARP)
    )


def worst(pattern: Pattern, place: Place) -> int:
    """The worst conflict of a pattern under a placement of its bytes."""
    return max(
        bank_conflicts(map(place, request), pattern.width)
        for request in pattern.requests
    )


def extra(pattern: Pattern, place: Place) -> int:
    """Passes beyond one a phase, all requests of a pattern together."""
    return sum(
        bank_access(map(place, request), pattern.width).extra
        for request in pattern.requests
    )


def least_ways(pattern: Pattern, together: int) -> int:
    """What no placement can beat that keeps some bytes together and aligned.

    A word keeps its place among those that stay together, so it can only reach the
    banks of that place. Where many lanes want words of one place, they must share
    those banks, wherever the placement puts them.
    """
    if together not in (4, 8, 16, 32, 64, 128):
        raise ValueError(f"together = {together!r}: a power of two from 4 to 128 bytes")
    places = together // WORD
    most = 1
    for request in pattern.requests:
        for phase in phases(list(request), pattern.width):
            words = {
                w for a in phase if a is not None for w in words_of(a, pattern.width)
            }
            for place in range(places):
                here = sum(word % places == place for word in words)
                most = max(most, -(-here // (BANKS // places)))
    return most
