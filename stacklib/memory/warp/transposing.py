"""A matrix transposed warp by warp, through memories that count what they move.

Straight through, either the loads or the stores go down a column. By way of a tile in
shared memory both go along rows, and the column is walked where it is cheap: if the
tile lies so that its columns have no conflicts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from sys import byteorder

from stacklib.quantity.bounds import whole

from .banked import BankedMemory
from .lanes import WARP
from .sectored import SectoredMemory
from .swizzle import Place, matching_swizzle, padded

WIDTH = 4  # bytes of an element
ROW = WARP * WIDTH
PLACES: dict[str, Place] = {
    "tile": lambda offset: offset,
    "padded tile": padded(ROW, WIDTH),
    "swizzled tile": matching_swizzle(ROW, WIDTH),
}
WAYS = ("straight", *PLACES)


@dataclass(frozen=True, slots=True)
class Transposed:
    """A transposed matrix and what it cost."""

    way: str
    values: tuple[int, ...]  # the transposed matrix, row by row
    read: int  # sectors of global memory
    written: int
    passes: int  # passes over the banks of shared memory
    shared_bytes: int  # of the tile


def transpose(side: int, way: str) -> Transposed:
    """Transpose the square matrix 0, 1, 2, ... of four-byte numbers.

    Parameters
    ----------
    side : int
        Rows and columns, a multiple of 32.
    way : str
        ``straight``, or through a ``tile``, a ``padded tile``, a ``swizzled tile``.

    Raises
    ------
    ValueError
        For another side or way.
    """
    whole(side=side)
    if side % WARP:
        raise ValueError(f"side = {side}: a multiple of {WARP} is needed")
    if way not in WAYS:
        raise ValueError(f"way = {way!r}: one of {', '.join(WAYS)}")
    numbers = (n.to_bytes(WIDTH, byteorder) for n in range(side * side))
    source = SectoredMemory(b"".join(numbers))
    target = SectoredMemory(bytes(WIDTH * side * side))
    size = ROW * WARP + (WIDTH * WARP if way == "padded tile" else 0)
    shared = BankedMemory(size)
    for row in range(0, side, WARP):
        for column in range(0, side, WARP):
            corner = _corner(side, row, column)
            mirrored = _corner(side, column, row)
            if way == "straight":
                _straight(source, target, corner, mirrored)
            else:
                _by_tile(source, target, corner, mirrored, shared, PLACES[way])
    values = memoryview(target.data).cast("I").tolist()
    used = 0 if way == "straight" else size
    return Transposed(
        way, tuple(values), source.read, target.written, shared.passes, used
    )


Corner = Callable[[int, int], int]


def _corner(side: int, row: int, column: int) -> Corner:
    """Addresses within the tile that begins there."""
    return lambda i, j: WIDTH * ((row + i) * side + column + j)


def _straight(
    source: SectoredMemory, target: SectoredMemory, corner: Corner, mirrored: Corner
) -> None:
    """Each row is read along and written down."""
    for i in range(WARP):
        values = source.load([corner(i, lane) for lane in range(WARP)])
        target.store([mirrored(lane, i) for lane in range(WARP)], values)


def _by_tile(
    source: SectoredMemory,
    target: SectoredMemory,
    corner: Corner,
    mirrored: Corner,
    shared: BankedMemory,
    place: Place,
) -> None:
    """Rows come in, columns go out, both along rows of global memory."""
    for i in range(WARP):
        values = source.load([corner(i, lane) for lane in range(WARP)])
        shared.store([place(ROW * i + WIDTH * lane) for lane in range(WARP)], values)
    for j in range(WARP):
        column = [place(ROW * lane + WIDTH * j) for lane in range(WARP)]
        target.store(
            [mirrored(j, lane) for lane in range(WARP)], shared.load(column).values
        )
