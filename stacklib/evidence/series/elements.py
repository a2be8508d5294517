"""Series element by element, and counts of values: what each row is launched on."""

from __future__ import annotations

from typing import Any

import numpy as np

from stacklib import gpu
from stacklib.kernels.series import elements as k
from stacklib.kernels.series.elements import Kernel

from .port import Port, Shape, Step, Steps, floats, whole

UNITS = 132  # of the device of the histograms; the author launches 32 blocks on each


def _elements(kernel: Kernel, width: int, inputs: int, result: Any, n: int) -> Port:
    def given(shape: Shape) -> list[Any]:
        return [floats(shape[0], seed=7 + i) - np.float32(0.5) for i in range(inputs)]

    def steps(shape: Shape) -> Steps:
        (n,) = shape
        args = (*given(shape), gpu.empty(n), n)
        left = yield Step(kernel, -(-n // (256 * width)), 256, args, 20)
        return left["y"]

    def expected(shape: Shape) -> Any:
        return result(*(x.astype(np.float64) for x in given(shape)))

    def work(shape: Shape) -> float:
        return 4.0 * (inputs + 1) * shape[0]

    return Port(steps, expected, work, ((n,),), (256 * width * 3,))


def _histogram(kernel: Kernel, width: int) -> Port:
    def steps(shape: Shape) -> Steps:
        (n,) = shape
        grid = min(-(-n // 512), 32 * UNITS)
        args: tuple[Any, ...] = (whole(n, 256, np.uint8), np.zeros(256, np.int32), n)
        left = yield Step(kernel, grid, 512, args, 16 + 2 * width)
        return left["bins"]

    def expected(shape: Shape) -> Any:
        return np.bincount(whole(shape[0], 256, np.uint8), minlength=256)

    return Port(steps, expected, _bytes, ((1 << 30,),), (1 << 14,))


def _equal_values(kernel: Kernel) -> Port:
    """The author fills no input: every number is the same."""

    def steps(shape: Shape) -> Steps:
        (n,) = shape
        args: tuple[Any, ...] = (np.zeros(n, np.int32), np.zeros(k.BINS, np.int32), n)
        left = yield Step(kernel, -(-n // 512), 512, args, 16)
        return left["bins"]

    def expected(shape: Shape) -> Any:
        return np.array([shape[0], *[0] * (k.BINS - 1)])

    return Port(steps, expected, lambda s: 4.0 * s[0], ((1 << 26,),), (1 << 13,))


def _bytes(shape: Shape) -> float:
    return float(shape[0])


def _sigmoids(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


_MANY = 1 << 25
PORTS = {
    "liu-elementwise": {
        "add, float": _elements(k.each(1, 2, k.added), 1, 2, np.add, _MANY),
        "add, float2": _elements(k.each(2, 2, k.added), 2, 2, np.add, _MANY),
        "add, float4": _elements(k.each(4, 2, k.added), 4, 2, np.add, _MANY),
    },
    "ymlin-elementwise": {
        "add, float4": _elements(k.each(4, 2, k.added), 4, 2, np.add, _MANY),
        "sigmoid, float4": _elements(k.each(4, 1, k.sigmoid), 4, 1, _sigmoids, _MANY),
        "relu, float4": _elements(
            k.each(4, 1, k.relu), 4, 1, lambda x: np.maximum(x, 0), _MANY
        ),
    },
    "yencal-histogram": {
        "Global Atomic": _histogram(k.counted_globally, 1),
        "Shared Atomic": _histogram(k.counted_by_blocks(1), 1),
        "Shared Atomic (vectorized)": _histogram(k.counted_by_blocks(16), 16),
    },
    "r100001-histogram": {
        "Simple Histogram": _equal_values(k.counted_once),
        "Histogram Shared Bins": _equal_values(k.counted_and_merged),
    },
}
