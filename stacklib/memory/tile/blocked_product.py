"""A blocked matrix product that is run: its result, and what it moved.

Three ways to the same numbers. `TiledMatmul` has the closed form. `tiled_product`
copies every tile into a store of its own and counts what it copies. `blocked` copies
nothing where it is compiled: it multiplies tile by tile where the operands lie, as fast
as four rows at a time can go, and leaves the rest to the caches of the machine;
`line_trace` says which lines it touches, in its order, for a `Cache` to judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..warp._fast import compiled, fast
from ._blocked import GROUP, product_loop, trace_loop
from .tiling import TiledMatmul

Floats: TypeAlias = NDArray[Any]


@dataclass(frozen=True, slots=True)
class TiledProduct:
    """A product and the numbers that were copied for it."""

    y: Floats  # (m, n) the product
    read: int  # numbers copied into the store
    written: int  # out of it
    held: int  # numbers the store held at most

    @property
    def moved(self) -> int:
        """Numbers copied either way."""
        return self.read + self.written


def _checked(x: Floats, w: Floats, tiles: TiledMatmul) -> None:
    for name, matrix, shape in (
        ("x", x, (tiles.m, tiles.k)),
        ("w", w, (tiles.k, tiles.n)),
    ):
        if matrix.shape != shape:
            raise ValueError(f"{name} of shape {matrix.shape}: the tiling has {shape}")


def tiled_product(x: Floats, w: Floats, tiles: TiledMatmul) -> TiledProduct:
    """Multiply through a small store: each tile is copied in, each block copied out.

    ``x``, ``w``: (m, k) the operands.
    """
    _checked(x, w, tiles)
    y = np.empty((tiles.m, tiles.n), np.result_type(x, w))
    read = written = held = 0
    for block in tiles.order():
        sums: Any = 0
        for rows, inner, columns in tiles.steps(*block):
            a, b = x[rows, inner].copy(), w[inner, columns].copy()
            read += a.size + b.size
            sums = sums + a @ b
            held = max(held, a.size + b.size + sums.size)
        y[rows, columns] = sums
        written += sums.size
    return TiledProduct(y, read, written, held)


def blocked(x: Floats, w: Floats, tiles: TiledMatmul, *, how: str = "") -> Floats:
    """The product of two matrices, tile by tile, where they lie, (m, n).

    ``x``, ``w``: (m, k) the operands, row by row.
    """
    _checked(x, w, tiles)
    how = how or ("loop" if compiled() else "numpy")
    if how not in ("loop", "numpy"):
        raise ValueError(f"how {how!r}: 'loop' or 'numpy'")
    if how == "numpy":
        return tiled_product(x, w, tiles).y
    dtype = np.result_type(x, w)
    y = np.zeros((tiles.m, tiles.n), dtype)
    x, w = np.ascontiguousarray(x, dtype), np.ascontiguousarray(w, dtype)
    sizes = tiles.tile_m, tiles.tile_n, tiles.tile_k
    fast(product_loop, fused=True)(x, w, y, *sizes)
    return y


def line_trace(
    tiles: TiledMatmul, line: int = 64
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Addresses of the lines that `blocked` touches, and which of them it writes.

    X, W and Y lie one after the other. A line that is touched twice in a row, because
    several numbers of it are, stands here once.

    ``line``: bytes of a line.
    """
    step = line // tiles.width
    for name, each in (
        ("m", GROUP),
        ("k", GROUP),
        ("tile_m", GROUP),
        ("tile_k", GROUP),
        ("n", step),
        ("tile_n", step),
    ):
        value = getattr(tiles, name)
        if value % each:
            raise ValueError(f"{name} = {value}: a multiple of {each} is needed")
    sweeps = tiles.m // GROUP * (tiles.k // GROUP)
    length = sweeps * (2 * GROUP * tiles.n // step + GROUP * tiles.grid[1])
    addresses: Floats = np.zeros(length, np.int64)
    writes: Floats = np.zeros(length, np.bool_)
    sizes = (tiles.m, tiles.n, tiles.k, tiles.tile_m, tiles.tile_n, tiles.tile_k)
    fast(trace_loop)(*sizes, tiles.width, line, addresses, writes)
    return addresses, writes
