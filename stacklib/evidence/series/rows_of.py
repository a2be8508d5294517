"""Series over the rows of a matrix: what each row is launched on."""

from __future__ import annotations

from typing import Any

import numpy as np

from stacklib import gpu
from stacklib.kernels.series import rows_of as k
from stacklib.kernels.series.rows_of import Kernel

from .port import Port, Shape, Step, Steps, floats

EPSILON = 1e-5


def _both(shape: Shape) -> float:
    return 8.0 * shape[0] * shape[1]


def _matrix(shape: Shape) -> Any:
    return floats(*shape, seed=4) * np.float32(8)


def _softmax(
    kernel: Kernel,
    threads: int,
    published: Shape,
    small: Shape,
    axis: int = 1,
    alone: bool = False,
) -> Port:
    def steps(shape: Shape) -> Steps:
        rows, columns = shape
        grid = -(-rows // threads) if alone else (rows if axis else columns)
        args = (_matrix(shape), gpu.empty(rows * columns), rows, columns)
        left = yield Step(kernel, grid, threads, args, 32)
        return left["dst"].reshape(shape)

    def expected(shape: Shape) -> Any:
        given = _matrix(shape).astype(np.float64).reshape(shape)
        made = np.exp(given - given.max(axis=axis, keepdims=True))
        return made / made.sum(axis=axis, keepdims=True)

    return Port(steps, expected, _both, (published,), small)


def _rms(kernel: Kernel) -> Port:
    def steps(shape: Shape) -> Steps:
        tokens, hidden = shape
        args = (floats(*shape), floats(hidden, seed=5), gpu.empty(tokens * hidden))
        left = yield Step(kernel, tokens, 512, (*args, hidden, EPSILON), 32)
        return left["y"].reshape(shape)

    def expected(shape: Shape) -> Any:
        given = floats(*shape).astype(np.float64).reshape(shape)
        mean = (given**2).mean(axis=1, keepdims=True)
        return given / np.sqrt(mean + EPSILON) * floats(shape[1], seed=5)

    return Port(steps, expected, _both, ((1 << 18, 4096),), (3, 2048))


def _product(kernel: Kernel, rows: int, columns: int) -> Port:
    """``rows``: of a block."""

    def steps(shape: Shape) -> Steps:
        m, n = shape
        args = (floats(m, n), floats(n, seed=6), gpu.empty(m), m, n)
        left = yield Step(kernel, m // rows, (32, 4), args, 24)
        return left["y"]

    def expected(shape: Shape) -> Any:
        return floats(*shape).astype(np.float64).reshape(shape) @ floats(
            shape[1], seed=6
        )

    return Port(
        steps,
        expected,
        lambda s: 4.0 * s[0] * s[1],
        ((16384, columns),),
        (rows * 4, columns),
    )


PORTS = {
    "annanyapr-softmax": {
        "online naive": _softmax(
            k.online_alone, 256, (1024, 65536), (300, 96), alone=True
        ),
        "online shared memory": _softmax(
            k.online_shared, 256, (1024, 65536), (3, 1024)
        ),
        "shuffle instructions": _softmax(
            k.online_shuffled, 256, (1024, 65536), (3, 1024)
        ),
    },
    "ymlin-softmax": {
        "row, shared": _softmax(k.through_shared, 1024, (4096, 1024), (3, 1024)),
        "row, shfl_xor": _softmax(k.crossed(False), 1024, (4096, 1024), (3, 1024)),
        "column, shfl_xor": _softmax(k.crossed(True), 256, (4096, 1024), (512, 4), 0),
    },
    "simveit-rmsnorm": {
        "rms_naive": _rms(k.rms(False, False, 1)),
        "rms_smem": _rms(k.rms(True, False, 1)),
        "rms_warp": _rms(k.rms(True, True, 1)),
        "rms_smem_float4": _rms(k.rms(True, False, 4)),
        "rms_warp_float4": _rms(k.rms(True, True, 4)),
    },
    "liu-sgemv": {
        "v0": _product(k.row_of_warp(1, 1), 4, 32),
        "v1": _product(k.row_of_warp(4, 1), 4, 128),
        "v2": _product(k.row_of_warp(1, 2), 8, 16),
    },
}
