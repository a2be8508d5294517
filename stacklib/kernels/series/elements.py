"""Elements one by one, and counts of values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

T = Any  # a Thread; what a kernel indexes and computes differs by lane
Kernel = Callable[..., None]
BINS = 512  # of the histograms of equal values
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


def added(t: T, given: list[T]) -> T:
    return given[0] + given[1]


def sigmoid(t: T, given: list[T]) -> T:
    return 1.0 / (1.0 + t.exp(-given[0]))


def relu(t: T, given: list[T]) -> T:
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


def counted_once(t: T, src: T, bins: T, n: int) -> None:
    """One number a thread, counted in global memory."""
    i = t.block.x * t.block_dim.x + t.thread.x
    while i < n:
        t.atomic_add(bins, src[i], 1)
        i = i + t.block_dim.x * t.grid_dim.x


def counted_and_merged(t: T, src: T, bins: T, n: int) -> None:
    """One number a thread, counted in shared memory; blocks merge bins, zeros too."""
    own = t.shared(BINS, np.int32)
    for k in range(t.thread.x, BINS, t.block_dim.x):
        own[k] = 0
    t.sync()
    i = t.block.x * t.block_dim.x + t.thread.x
    while i < n:
        t.atomic_add(own, src[i], 1)
        i = i + t.block_dim.x * t.grid_dim.x
    t.sync()
    for k in range(t.thread.x, BINS, t.block_dim.x):
        t.atomic_add(bins, k, own[k])
