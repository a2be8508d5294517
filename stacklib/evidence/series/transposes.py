"""Series of transposes: what each row is launched on."""

from __future__ import annotations

from typing import Any

import numpy as np

from stacklib import gpu
from stacklib.kernels.series import transposes as k
from stacklib.kernels.series.transposes import Kernel

from .port import Port, Shape, Step, Steps, floats

REGISTERS = 24


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
        "Naive": _port(k.reads_along, 32, (32, 32), n),
        "Tiled": _port(k.tiled(0), 32, (32, 32), n),
        "TiledPadded": _port(k.tiled(1), 32, (32, 32), n),
        "Vec2": _port(k.coarse(32, 32, 2), 32, (16, 32), n),
        "Vec4": _port(k.coarse(32, 32, 4), 32, (8, 32), n),
    }
    for width in (1, 2, 4):
        for factor in (2, 4, 8):
            word = "Coarsen" if width == 1 else f"Vec{width}Coarsen"
            high = 32 // factor
            made[f"{word}{factor}"] = _port(
                k.coarse(32, high, width), 32, (32 // width, high), n
            )
    for width in (2, 4):
        for end, high in (("", 32), ("_Coarsen2", 16), ("_Coarsen4", 8)):
            made[f"Vec{width}_T64{end}"] = _port(
                k.coarse(64, high, width), 64, (64 // width, high), n
            )
    return made


def _ymlin() -> dict[str, Port]:
    block, n = (32, 32), 4096
    return {
        "v0": _port(k.writes_along, 32, block, n, turned=True),
        "v1": _port(k.reads_along, 32, block, n),
        "v2": _port(k.reads_along, 32, block, n),
        "v3": _port(k.tiled(0), 32, block, n),
        "v4": _port(k.tiled(1), 32, block, n),
    }


PORTS = {"yencal-transpose": _yencal(), "ymlin-transpose": _ymlin()}
