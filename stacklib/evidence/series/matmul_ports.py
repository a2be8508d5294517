"""Series of matrix products: which kernel each row is of."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from stacklib.kernels.series import matmul, matmul_warps
from stacklib.kernels.series.matmul import Kernel

from .port import Port, Shape, Size, Step, Steps, floats

MARGIN = 30  # registers for addresses, counters and what a kernel is given


def _inputs(shape: Shape) -> tuple[Any, Any, Any]:
    m, n, k = shape
    return floats(m, k, seed=1), floats(k, n, seed=2), floats(m, n, seed=3)


def _product(
    kernel: Kernel,
    tile: tuple[int, int],
    block: Size,
    small: Shape,
    numbers: int,
    *,
    published: int,
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


SMALL, MIDDLE, LARGE = (32, 32), (64, 64), (128, 128)  # tiles of a block
FEW, SOME, MORE = (64, 96, 64), (64, 128, 32), (128, 128, 48)  # shapes for values
ONE = (1.0, 0.0)  # alpha and beta


def _siboehm() -> dict[str, Port]:
    port = partial(_product, published=4096)
    down = partial(port, blocks_down=True)
    m, w = matmul, matmul_warps
    return {
        "naive": down(m.rows_along, SMALL, (32, 32), FEW, 2),
        "gmem coalescing": down(m.columns_along_blocks_down, SMALL, 1024, FEW, 2),
        "smem caching": down(m.tiles_of_32(True), SMALL, 1024, FEW, 8),
        "1D blocktiling": port(m.strips(64, 64, 8, 8), MIDDLE, 512, SOME, 18),
        "2D blocktiling": port(m.squares(128, 128, 8, 8, 8), LARGE, 256, MORE, 90),
        "vectorized": port(m.wide_squares(128, 128, 8, 8, 8), LARGE, 256, MORE, 90),
        "bank conflicts, linearized": port(
            m.spread(128, 128, 8, 0), LARGE, 256, MORE, 90
        ),
        "bank conflicts, offset": port(m.spread(128, 128, 8, 5), LARGE, 256, MORE, 90),
        "autotuned": port(m.wide_squares(128, 128, 16, 8, 8), LARGE, 256, MORE, 90),
        "warptiling": port(
            w.warp_tiles(128, 128, 16, 64, 64, 4, 8, 4), LARGE, 128, MORE, 138
        ),
        "double buffering": port(
            w.halves(128, 256, 16, 128, 32, 8, 8), (128, 256), 256, (128, 256, 64), 160
        ),
    }


def _leimao() -> dict[str, Port]:
    port = partial(_product, published=4096, by=ONE)
    down = partial(port, blocks_down=True)
    m, w = matmul, matmul_warps
    return {
        "V00": down(m.rows_along, SMALL, (32, 32), FEW, 2),
        "V01": port(m.columns_along, SMALL, (32, 32), FEW, 2),
        "V02": port(m.tiles_of_32(False), SMALL, (32, 32), FEW, 8),
        "V02 vectorized": port(w.wasteful(32, 32, 32, 1), SMALL, (32, 32), FEW, 10),
        "V03": port(m.strips(64, 64, 8, 8), MIDDLE, 512, SOME, 18),
        "V03 vectorized": port(w.wasteful(64, 64, 8, 8), MIDDLE, 512, SOME, 26),
        "V04": port(m.squares(128, 128, 16, 8, 8), LARGE, 256, MORE, 90),
        "V04 vectorized": port(
            m.squares(128, 128, 16, 8, 8, wide=True), LARGE, 256, MORE, 90
        ),
        "V05": port(
            m.wide_squares(128, 128, 16, 8, 8, plain=True), LARGE, 256, MORE, 90
        ),
        "V05 vectorized": port(
            m.wide_squares(128, 128, 16, 8, 8), LARGE, 256, MORE, 90
        ),
        "V06": port(w.warps_of_32x64(True), LARGE, 256, MORE, 90),
        "V06 vectorized": port(w.warps_of_32x64(False), LARGE, 256, MORE, 90),
    }


def _wangzyon() -> dict[str, Port]:
    port = partial(_product, published=5120)
    m, w = matmul, matmul_warps
    return {
        "kernel_1": port(m.columns_along, SMALL, (32, 32), FEW, 2),
        "kernel_2": port(m.tiles_of_32(False), SMALL, 1024, FEW, 8),
        "kernel_3": port(m.strips(64, 64, 8, 8), MIDDLE, 512, SOME, 18),
        "kernel_4": port(m.squares(128, 128, 8, 8, 8), LARGE, 256, MORE, 90),
        "kernel_5": port(m.squares(128, 128, 8, 8, 8), LARGE, 256, MORE, 90),
        "kernel_6": port(m.wide_squares(128, 128, 8, 8, 8), LARGE, 256, MORE, 90),
        "kernel_7": port(w.two_buffers(128, 128, 8), LARGE, 256, MORE, 98),
    }


def _annanyapr() -> dict[str, Port]:
    down = partial(_product, published=4096, blocks_down=True)
    m = matmul
    return {
        "naive": down(m.rows_along, SMALL, (32, 32), FEW, 2),
        "memory coalesce": down(m.columns_along_blocks_down, SMALL, (32, 32), FEW, 2),
        "memory blocking": down(m.tiles_of_32(True), SMALL, 1024, FEW, 8),
        "memory block tiling": down(
            m.squares(64, 64, 8, 8, 8, blocks_down=True), MIDDLE, 64, SOME, 90
        ),
    }


def _ymlin() -> dict[str, Port]:
    port = partial(_product, published=1024, by=ONE)
    m, w = matmul, matmul_warps
    return {
        "naive": port(m.columns_along, SMALL, (32, 32), FEW, 2),
        "v2": port(m.tiles_of_32(False), SMALL, (32, 32), FEW, 8),
        "v3": port(m.strips(64, 64, 8, 8), MIDDLE, 512, SOME, 18),
        "v4": port(m.squares(64, 64, 8, 8, 8), MIDDLE, 64, SOME, 90),
        "v5": port(m.squares(64, 64, 8, 8, 8), MIDDLE, 64, SOME, 90),
        "v6": port(m.wide_squares(128, 128, 8, 8, 8), LARGE, 256, MORE, 90),
        "v7": port(w.two_buffers(128, 128, 8), LARGE, 256, MORE, 98),
    }


PORTS = {
    "siboehm-sgemm": _siboehm(),
    "leimao-sgemm": _leimao(),
    "wangzyon-sgemm": _wangzyon(),
    "annanyapr-sgemm": _annanyapr(),
    "ymlin-sgemm": _ymlin(),
}
