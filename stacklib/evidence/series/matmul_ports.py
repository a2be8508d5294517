"""Series of matrix products: which kernel each row is of."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import matmul, matmul_warps
from .matmul import Kernel
from .port import Port, Shape, Size, Step, Steps, floats

MARGIN = 30  # registers for addresses, counters and what a kernel is given


def _inputs(shape: Shape) -> tuple[Any, Any, Any]:
    m, n, k = shape
    return floats(m, k, seed=1), floats(k, n, seed=2), floats(m, n, seed=3)


def _product(
    kernel: Kernel,
    tile: tuple[int, int],
    block: Size,
    published: int,
    small: Shape,
    numbers: int,
    by: tuple[float, float] = (0.5, 3.0),
    blocks_down: bool = False,
) -> Port:
    """``tile``: rows and columns of a block; ``numbers``: registers beside `MARGIN`."""

    def steps(shape: Shape) -> Steps:
        m, n, k = shape
        down, along = m // tile[0], n // tile[1]
        grid = (down, along) if blocks_down else (along, down)
        args = (*_inputs(shape), m, n, k, *by)
        left = yield Step(kernel, grid, block, args, numbers + MARGIN)
        return left["c"].reshape(m, n)

    def expected(shape: Shape) -> Any:
        m, n, k = shape
        a, b, c = (x.astype(np.float64) for x in _inputs(shape))
        product = a.reshape(m, k) @ b.reshape(k, n)
        return by[0] * product + by[1] * c.reshape(m, n)

    def work(shape: Shape) -> float:
        return 2.0 * shape[0] * shape[1] * shape[2]

    return Port(steps, expected, work, ((published,) * 3,), small)


FEW, MORE = (64, 96, 64), (128, 128, 48)  # shapes for values
_ONE = (1.0, 0.0)  # alpha and beta


def _siboehm() -> dict[str, Port]:
    def port(
        kernel: Kernel, tile: Size, block: Size, small: Shape, n: int, **also: Any
    ):
        return _product(kernel, tile, block, 4096, small, n, **also)

    m, w = matmul, matmul_warps
    big = ((128, 128), 256, MORE)
    return {
        "naive": port(m.rows_along, (32, 32), (32, 32), FEW, 2, blocks_down=True),
        "gmem coalescing": port(
            m.columns_along_blocks_down, (32, 32), 1024, FEW, 2, blocks_down=True
        ),
        "smem caching": port(
            m.tiles_of_32(True), (32, 32), 1024, FEW, 8, blocks_down=True
        ),
        "1D blocktiling": port(
            m.strips(64, 64, 8, 8), (64, 64), 512, (64, 128, 32), 18
        ),
        "2D blocktiling": port(m.squares(128, 128, 8, 8, 8), *big, 90),
        "vectorized": port(m.wide_squares(128, 128, 8, 8, 8), *big, 90),
        "bank conflicts, linearized": port(m.spread(128, 128, 8, 0), *big, 90),
        "bank conflicts, offset": port(m.spread(128, 128, 8, 5), *big, 90),
        "autotuned": port(m.wide_squares(128, 128, 16, 8, 8), *big, 90),
        "warptiling": port(
            w.warp_tiles(128, 128, 16, 64, 64, 4, 8, 4), (128, 128), 128, MORE, 138
        ),
        "double buffering": port(
            w.halves(128, 256, 16, 128, 32, 8, 8), (128, 256), 256, (128, 256, 64), 160
        ),
    }


def _leimao() -> dict[str, Port]:
    def port(
        kernel: Kernel, tile: Size, block: Size, small: Shape, n: int, **also: Any
    ):
        return _product(kernel, tile, block, 4096, small, n, _ONE, **also)

    m, w = matmul, matmul_warps
    big = ((128, 128), 256, MORE)
    strip = ((64, 64), 512, (64, 128, 32))
    square = ((32, 32), (32, 32), FEW)
    return {
        "V00": port(m.rows_along, *square, 2, blocks_down=True),
        "V01": port(m.columns_along, *square, 2),
        "V02": port(m.tiles_of_32(False), *square, 8),
        "V02 vectorized": port(w.wasteful(32, 32, 32, 1), *square, 10),
        "V03": port(m.strips(64, 64, 8, 8), *strip, 18),
        "V03 vectorized": port(w.wasteful(64, 64, 8, 8), *strip, 26),
        "V04": port(m.squares(128, 128, 16, 8, 8), *big, 90),
        "V04 vectorized": port(m.squares(128, 128, 16, 8, 8, wide=True), *big, 90),
        "V05": port(m.wide_squares(128, 128, 16, 8, 8, plain=True), *big, 90),
        "V05 vectorized": port(m.wide_squares(128, 128, 16, 8, 8), *big, 90),
        "V06": port(w.warps_of_32x64(True), *big, 90),
        "V06 vectorized": port(w.warps_of_32x64(False), *big, 90),
    }


def _wangzyon() -> dict[str, Port]:
    m, w = matmul, matmul_warps
    big = ((128, 128), 256, 5120, MORE, 90)
    return {
        "kernel_1": _product(m.columns_along, (32, 32), (32, 32), 5120, FEW, 2),
        "kernel_2": _product(m.tiles_of_32(False), (32, 32), 1024, 5120, FEW, 8),
        "kernel_3": _product(
            m.strips(64, 64, 8, 8), (64, 64), 512, 5120, (64, 128, 32), 18
        ),
        "kernel_4": _product(m.squares(128, 128, 8, 8, 8), *big),
        "kernel_5": _product(m.squares(128, 128, 8, 8, 8), *big),
        "kernel_6": _product(m.wide_squares(128, 128, 8, 8, 8), *big),
        "kernel_7": _product(w.two_buffers(128, 128, 8), *big[:-1], 98),
    }


def _annanyapr() -> dict[str, Port]:
    m = matmul
    square = ((32, 32), (32, 32), 4096, FEW)
    down = {"blocks_down": True}
    return {
        "naive": _product(m.rows_along, *square, 2, **down),
        "memory coalesce": _product(m.columns_along_blocks_down, *square, 2, **down),
        "memory blocking": _product(
            m.tiles_of_32(True), (32, 32), 1024, 4096, FEW, 8, **down
        ),
        "memory block tiling": _product(
            m.squares(64, 64, 8, 8, 8, blocks_down=True),
            (64, 64),
            64,
            4096,
            (64, 128, 32),
            90,
            **down,
        ),
    }


def _ymlin() -> dict[str, Port]:
    m, w = matmul, matmul_warps
    square = ((32, 32), (32, 32), 1024, FEW)
    mid = ((64, 64), 64, 1024, (64, 128, 32))
    big = ((128, 128), 256, 1024, MORE)
    return {
        "naive": _product(m.columns_along, *square, 2, _ONE),
        "v2": _product(m.tiles_of_32(False), *square, 8, _ONE),
        "v3": _product(
            m.strips(64, 64, 8, 8), (64, 64), 512, 1024, (64, 128, 32), 18, _ONE
        ),
        "v4": _product(m.squares(64, 64, 8, 8, 8), *mid, 90, _ONE),
        "v5": _product(m.squares(64, 64, 8, 8, 8), *mid, 90, _ONE),
        "v6": _product(m.wide_squares(128, 128, 8, 8, 8), *big, 90, _ONE),
        "v7": _product(w.two_buffers(128, 128, 8), *big, 98, _ONE),
    }


PORTS = {
    "siboehm-sgemm": _siboehm(),
    "leimao-sgemm": _leimao(),
    "wangzyon-sgemm": _wangzyon(),
    "annanyapr-sgemm": _annanyapr(),
    "ymlin-sgemm": _ymlin(),
}
