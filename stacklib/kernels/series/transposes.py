"""Transposes: a tile comes to shared memory in rows and leaves in columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

T = Any  # a Thread; what a kernel indexes and computes differs by lane
Kernel = Callable[..., None]


def reads_along(t: T, src: T, dst: T, rows: int, columns: int) -> None:
    """Lanes read a row and write a column."""
    x = t.block.x * t.block_dim.x + t.thread.x
    y = t.block.y * t.block_dim.y + t.thread.y
    if x < columns and y < rows:
        dst[x * rows + y] = src[y * columns + x]


def writes_along(t: T, src: T, dst: T, rows: int, columns: int) -> None:
    """Lanes read a column and write a row."""
    y = t.block.x * t.block_dim.x + t.thread.x
    x = t.block.y * t.block_dim.y + t.thread.y
    if y < rows and x < columns:
        dst[x * rows + y] = src[y * columns + x]


def tiled(pad: int, swizzled: bool = False) -> Kernel:
    """A tile of 32x32, one element a thread."""

    def kernel(t: T, src: T, dst: T, rows: int, columns: int) -> None:
        own = t.shared((32, 32 + pad))
        x, y = t.thread.x, t.thread.y
        at, to = t.block.x * 32 + x, t.block.y * 32 + y
        if at < columns and to < rows:
            if swizzled:
                own[y, x ^ y] = src[to * columns + at]
            else:
                own[y, x] = src[to * columns + at]
        t.sync()
        at, to = t.block.y * 32 + x, t.block.x * 32 + y
        if at < rows and to < columns:
            if swizzled:
                dst[to * rows + at] = own[x, x ^ y]
            else:
                dst[to * rows + at] = own[x, y]

    return kernel


def coarse(tile: int, rows_at_once: int, width: int) -> Kernel:
    """``width`` neighbours a load, ``tile / rows_at_once`` rows a thread."""

    def kernel(t: T, src: T, dst: T, rows: int, columns: int) -> None:
        own = t.shared((tile, tile + 1))
        x, y = t.thread.x * width, t.thread.y
        at = (t.block.y * tile + y) * columns + t.block.x * tile + x
        for j in range(0, tile, rows_at_once):
            several = t.load(src, at + j * columns, width)
            for e in range(width):
                own[y + j, x + e] = several[e]
        t.sync()
        to = (t.block.x * tile + y) * rows + t.block.y * tile + x
        for j in range(0, tile, rows_at_once):
            t.store(dst, to + j * rows, [own[x + e, y + j] for e in range(width)])

    return kernel
