"""Section 3.5: How few bytes can a product move?"""

from __future__ import annotations

from stacklib.memory.tile.tiling import TiledMatmul, hong_kung, tile_intensity
from stacklib.plots.live.parts import stand
from stacklib.quantity import (
    Quantity,
    bytes_per_element,
    chosen,
    constant,
    counted,
    one_of,
)

from . import sweep

N = chosen(8192, label="rows, columns and steps of the product")
TILE = 128, 256


def sides() -> tuple[Quantity, ...]:
    """Rows and columns of the tile."""
    named = zip(("tile_m", "tile_n"), TILE, strict=True)
    return tuple(stand(__name__, *one).named("side of the tile") for one in named)


def uses() -> Quantity:
    """Bytes if every use of a bf16 number came from memory: 2 n³ of them."""
    operands = chosen(2, label="operands of a multiply-add")
    return (operands * N * N * N * bytes_per_element("bf16")).named("bytes, every use")


def once() -> Quantity:
    """Bytes if every number of the three matrices crossed once: 3 n² numbers."""
    matrices = chosen(3, label="matrices")
    return (matrices * N * N * bytes_per_element("bf16")).named("bytes, once each")


def work() -> Quantity:
    """Arithmetic of the product: n³ multiply-adds."""
    return N * N * N * constant("multiply_add")


def over_least(side: int) -> Quantity:
    """What square tiles that fill a store move, over the least there can be."""
    held = side * side + 2 * side
    square = (N, N, N, side, side, 1)
    moved = counted(TiledMatmul, *square, take="numbers_moved", label="numbers moved")
    return moved / counted(hong_kung, N, N, N, held, label="least numbers moved")


def together(rows: int, columns: int, label: str) -> Quantity:
    """Operations a byte of several tiles that share what they read."""
    each = bytes_per_element("bf16")
    down = chosen(TILE[0] * rows, label="rows together")
    across = chosen(TILE[1] * columns, label="columns together")
    found = tile_intensity(down, across, each, each) * one_of("FLOP", "operation")
    return found.named(label)


# -- the sweep ---------------------------------------------------------------------


def over_best(n: int, tile: str) -> Quantity:
    """Time of a tile over that of the fastest."""
    fastest = sweep.best(n).run.measured
    return sweep.point(n, tile).run.measured / fastest


def loop_share() -> Quantity:
    """Share of the smallest tile's predicted time that is the innermost loop."""
    point = sweep.point(2048, "16x16x16")
    return point.core / point.run.predicted


def regret() -> Quantity:
    """Most that choosing the tile predicted to be best costs, over the fastest one."""
    told = {n: sweep.best(n, predicted=True).tile for n in sweep.sizes()}
    return max((over_best(n, tile) for n, tile in told.items()), key=lambda q: q.si)


def whole_over() -> Quantity:
    """Predicted over measured time untiled, the median of three sizes that fit."""
    told = [sweep.point(n, "whole").run for n in (768, 1024, 1040)]
    return sorted((r.predicted / r.measured for r in told), key=lambda q: q.si)[1]


def pitch_bytes() -> Quantity:
    """L1 misses of a tile of 64, rows a power of two apart over rows that are not."""
    near, odd = (sweep.point(n, "64x64x64") for n in (1024, 1040))
    return (near.from_l2 / near.run.operations) / (odd.from_l2 / odd.run.operations)


def pitch(tile: str) -> Quantity:
    """Time of a multiply-add, rows a power of two apart over rows that are not."""
    near, odd = (sweep.point(n, tile).run for n in (1024, 1040))
    return (odd.rate / near.rate).named("slower by the power of two")
