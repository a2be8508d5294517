"""Series element by element, and counts of values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stacklib import gpu

from .port import Port, Shape, Step, Steps, T, floats, whole

Kernel = Callable[..., None]
UNITS = 132  # of the device of the histograms; the author launches 32 blocks on each
Of = Callable[[T, list[T]], T]  # a result from the numbers of all arrays


def each(width: int, inputs: int, of: Of) -> Kernel:
    """``width`` neighbours a thread, by one load of each array."""

    def one(t: T, x: T, y: T, n: int) -> None:
        i = (t.block.x * t.block_dim.x + t.thread.x) * width
        if i < n:
            given = t.load(x, i, width)
            t.store(y, i, [of(t, [given[e]]) for e in range(width)])

    def two(t: T, x: T, z: T, y: T, n: int) -> None:
        i = (t.block.x * t.block_dim.x + t.thread.x) * width
        if i < n:
            a, b = t.load(x, i, width), t.load(z, i, width)
            t.store(y, i, [of(t, [a[e], b[e]]) for e in range(width)])

    return one if inputs == 1 else two


def _added(t: T, given: list[T]) -> T:
    return given[0] + given[1]


def _sigmoid(t: T, given: list[T]) -> T:
    return 1.0 / (1.0 + t.exp(-given[0]))


def _relu(t: T, given: list[T]) -> T:
    return t.max(0.0, given[0])


def counted_globally(t: T, src: T, bins: T, n: int) -> None:
    """Every thread adds in global memory."""
    i = t.block.x * t.block_dim.x + t.thread.x
    while i < n:
        t.atomic_add(bins, t.to(np.int32, src[i]), 1)
        i = i + t.block_dim.x * t.grid_dim.x


def counted_by_blocks(width: int) -> Kernel:
    """Every block counts in shared memory, ``width`` bytes a load."""

    def kernel(t: T, src: T, bins: T, n: int) -> None:
        own = t.shared(256, np.int32)
        x = t.thread.x
        if x < 256:
            own[x] = 0
        t.sync()
        i = t.block.x * t.block_dim.x + x
        while i < n // width:
            if width == 1:
                t.atomic_add(own, t.to(np.int32, src[i]), 1)
            else:
                several = t.load(src, i * width, width)
                for e in range(width):
                    t.atomic_add(own, t.to(np.int32, several[e]), 1)
            i = i + t.block_dim.x * t.grid_dim.x
        t.sync()
        if x < 256:
            count = own[x]
            if count > 0:
                t.atomic_add(bins, x, count)

    return kernel


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


def _bytes(shape: Shape) -> float:
    return float(shape[0])


def _sigmoids(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


_MANY = 1 << 25
PORTS = {
    "liu-elementwise": {
        "add, float": _elements(each(1, 2, _added), 1, 2, np.add, _MANY),
        "add, float2": _elements(each(2, 2, _added), 2, 2, np.add, _MANY),
        "add, float4": _elements(each(4, 2, _added), 4, 2, np.add, _MANY),
    },
    "ymlin-elementwise": {
        "add, float4": _elements(each(4, 2, _added), 4, 2, np.add, _MANY),
        "sigmoid, float4": _elements(each(4, 1, _sigmoid), 4, 1, _sigmoids, _MANY),
        "relu, float4": _elements(
            each(4, 1, _relu), 4, 1, lambda x: np.maximum(x, 0), _MANY
        ),
    },
    "yencal-histogram": {
        "Global Atomic": _histogram(counted_globally, 1),
        "Shared Atomic": _histogram(counted_by_blocks(1), 1),
        "Shared Atomic (vectorized)": _histogram(counted_by_blocks(16), 16),
    },
}
