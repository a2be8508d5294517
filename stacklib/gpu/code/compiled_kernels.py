"""The kernels of ``data/compiled`` once more, in Python for `launch`.

Same names, same order of parameters, same arithmetic. Where ``nvcc`` fuses a product
and a sum, so does `fused`: one rounding, not two.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..simt.kernels import ROWS, TILE

T = Any


def fused(t: T, a: T, b: T, c: T) -> T:
    """``a * b + c`` in FP64, rounded to FP32: the product is exact there."""
    return t.to(np.float32, t.to(np.float64, a) * b + c)


def twice(t: T, src: T, dst: T, n: int) -> None:
    """``dst = 2 src``."""
    i = t.block.x * t.block_dim.x + t.thread.x
    if i < n:
        dst[i] = src[i] + src[i]


def saxpy(t: T, a: float, x: T, y: T, n: int) -> None:
    """``y = a x + y``."""
    i = t.block.x * t.block_dim.x + t.thread.x
    if i < n:
        y[i] = fused(t, x[i], a, y[i])


def two_ways(t: T, src: T, dst: T, period: int, steps: int) -> None:
    """Lanes take one of two paths, ``period`` lanes of the same kind in a row."""
    i = t.block.x * t.block_dim.x + t.thread.x
    x = src[i]
    if i // period % 2 == 0:
        for _ in range(steps):
            x = fused(t, x, 2.0, 1.0)
    else:
        for _ in range(steps):
            x = fused(t, x, 3.0, -1.0)
    dst[i] = x


def reduce(t: T, src: T, out: T) -> None:
    """Sum of a block; the first half adds, then the first quarter."""
    s = t.shared(1024)
    i = t.thread.x
    s[i] = src[t.block.x * t.block_dim.x + i]
    t.sync()
    k = t.block_dim.x // 2
    while k > 0:
        if i < k:
            s[i] += s[i + k]
        t.sync()
        k = k // 2
    if i == 0:
        out[t.block.x] = s[0]


def shuffled(t: T, src: T, out: T) -> None:
    """Sum of each warp, by shuffles."""
    i = t.block.x * t.block_dim.x + t.thread.x
    total = src[i]
    for k in (16, 8, 4, 2, 1):
        total = total + t.shuffle_down(total, k)
    if t.lane == 0:
        out[i // 32] = total


def transpose(t: T, src: T, dst: T, n: int) -> None:
    """Transpose of a square, row by row in memory, through a padded tile."""
    tile = t.shared((TILE, TILE + 1))
    x = t.block.x * TILE + t.thread.x
    y = t.block.y * TILE + t.thread.y
    for k in range(0, TILE, ROWS):
        tile[t.thread.y + k, t.thread.x] = src[(y + k) * n + x]
    t.sync()
    x = t.block.y * TILE + t.thread.x
    y = t.block.x * TILE + t.thread.y
    for k in range(0, TILE, ROWS):
        dst[(y + k) * n + x] = tile[t.thread.x, t.thread.y + k]


def histogram(t: T, src: T, bins: T, n: int) -> None:
    """Counts by value, every thread adding in global memory."""
    i = t.block.x * t.block_dim.x + t.thread.x
    if i < n:
        t.atomic_add(bins, src[i], 1)


def polynomial(t: T, x: T, c: T, y: T, terms: int, n: int) -> None:
    """A polynomial by Horner's rule, in steps of the grid."""
    i = t.block.x * t.block_dim.x + t.thread.x
    while i < n:
        total = x[i] * 0.0
        for k in range(terms):
            total = fused(t, total, x[i], c[k])
        y[i] = total
        i = i + t.grid_dim.x * t.block_dim.x
