"""Series of transposes: a tile comes to shared memory in rows and leaves in columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stacklib import gpu

from .port import Port, Shape, Step, Steps, T, floats

Kernel = Callable[..., None]
REGISTERS = 24


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


def _port(
    kernel: Kernel, tile: int, block: tuple[int, int], n: int, turned: bool = False
) -> Port:
    def steps(shape: Shape) -> Steps:
        rows, columns = shape
        along, down = columns // tile, rows // tile
        args = (floats(rows, columns), gpu.empty(rows * columns), rows, columns)
        grid = (down, along) if turned else (along, down)
        left = yield Step(kernel, grid, block, args, REGISTERS)
        return left["dst"].reshape(columns, rows)

    def expected(shape: Shape) -> Any:
        return np.ascontiguousarray(floats(*shape).reshape(shape).T)

    def work(shape: Shape) -> float:
        return 8.0 * shape[0] * shape[1]

    return Port(steps, expected, work, ((n, n),), (64, 128))


def _yencal() -> dict[str, Port]:
    n = 32768
    made = {
        "Naive": _port(reads_along, 32, (32, 32), n),
        "Tiled": _port(tiled(0), 32, (32, 32), n),
        "TiledPadded": _port(tiled(1), 32, (32, 32), n),
        "Vec2": _port(coarse(32, 32, 2), 32, (16, 32), n),
        "Vec4": _port(coarse(32, 32, 4), 32, (8, 32), n),
    }
    for width in (1, 2, 4):
        for factor in (2, 4, 8):
            word = "Coarsen" if width == 1 else f"Vec{width}Coarsen"
            high = 32 // factor
            made[f"{word}{factor}"] = _port(
                coarse(32, high, width), 32, (32 // width, high), n
            )
    for width in (2, 4):
        for end, high in (("", 32), ("_Coarsen2", 16), ("_Coarsen4", 8)):
            made[f"Vec{width}_T64{end}"] = _port(
                coarse(64, high, width), 64, (64 // width, high), n
            )
    return made


def _ymlin() -> dict[str, Port]:
    block, n = (32, 32), 4096
    return {
        "v0": _port(writes_along, 32, block, n, turned=True),
        "v1": _port(reads_along, 32, block, n),
        "v2": _port(reads_along, 32, block, n),
        "v3": _port(tiled(0), 32, block, n),
        "v4": _port(tiled(1), 32, block, n),
    }


PORTS = {"yencal-transpose": _yencal(), "ymlin-transpose": _ymlin()}
