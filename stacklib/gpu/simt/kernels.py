"""Kernels as a GPU programmer writes them, for `launch`.

Each is a plain function of a thread's context and its arrays. The names are those of
CUDA's samples and of CUB; `tests/gpu/simt/test_kernels.py` holds each result to NumPy
and each count to a closed form.
"""

from __future__ import annotations

from typing import Any

import numpy as np

T = Any  # a Thread; what a kernel indexes and computes differs by lane
TILE, ROWS = 32, 8  # of a transpose: a tile, and the rows a block of threads covers


def copy(t: T, src: T, dst: T, n: int) -> None:
    """``dst = src``, one element a thread."""
    i = t.block.x * t.block_dim.x + t.thread.x
    if i < n:
        dst[i] = src[i]


def whereabouts(t: T, thread: T, warp: T, lane: T, block: T) -> None:
    """Every thread writes where it is, at its number in the grid."""
    across, down = t.block_dim.x, t.block_dim.y
    number = t.thread.x + across * (t.thread.y + down * t.thread.z)
    of_block = t.block.x + t.grid_dim.x * (t.block.y + t.grid_dim.y * t.block.z)
    i = of_block * across * down * t.block_dim.z + number
    thread[i] = number
    warp[i] = t.warp
    lane[i] = t.lane
    block[i] = of_block


def one_lane(t: T, x: T, steps: int) -> None:
    """A loop of additions; launched as one thread, all that the chip does."""
    total = x[0]
    for _ in range(steps):
        total = total + 1
    x[0] = total


def strided_copy(t: T, src: T, dst: T, n: int, stride: int) -> None:
    """``dst[i] = src[i * stride]``: loads that do not coalesce."""
    i = t.block.x * t.block_dim.x + t.thread.x
    if i < n:
        dst[i] = src[i * stride]


def vector_add(t: T, a: T, b: T, out: T, n: int) -> None:
    """``out = a + b``."""
    i = t.block.x * t.block_dim.x + t.thread.x
    if i < n:
        out[i] = a[i] + b[i]


def transpose_naive(t: T, src: T, dst: T) -> None:
    """Rows are read along, columns written across."""
    x = t.block.x * TILE + t.thread.x
    y = t.block.y * TILE + t.thread.y
    for k in range(0, TILE, ROWS):
        dst[x, y + k] = src[y + k, x]


def transpose_tiled(t: T, src: T, dst: T, pad: int) -> None:
    """Through a tile in shared memory, ``pad`` columns wider than it need be."""
    tile = t.shared((TILE, TILE + pad))
    x = t.block.x * TILE + t.thread.x
    y = t.block.y * TILE + t.thread.y
    for k in range(0, TILE, ROWS):
        tile[t.thread.y + k, t.thread.x] = src[y + k, x]
    t.sync()
    x = t.block.y * TILE + t.thread.x
    y = t.block.x * TILE + t.thread.y
    for k in range(0, TILE, ROWS):
        dst[y + k, x] = tile[t.thread.x, t.thread.y + k]


def transpose_swizzled(t: T, src: T, dst: T) -> None:
    """Through a tile whose columns are exchanged row by row: nothing is padded."""
    tile = t.shared((TILE, TILE))
    x = t.block.x * TILE + t.thread.x
    y = t.block.y * TILE + t.thread.y
    for k in range(0, TILE, ROWS):
        row = t.thread.y + k
        tile[row, t.thread.x ^ row] = src[y + k, x]
    t.sync()
    x = t.block.y * TILE + t.thread.x
    y = t.block.x * TILE + t.thread.y
    for k in range(0, TILE, ROWS):
        column = t.thread.y + k
        dst[y + k, x] = tile[t.thread.x, column ^ t.thread.x]


def reduce_interleaved(t: T, src: T, out: T) -> None:
    """Sum of a block; every other thread adds, then every fourth: it diverges."""
    s = t.shared(1024, np.float64)
    i = t.thread.x
    s[i] = src[t.block.x * t.block_dim.x + i]
    t.sync()
    k = 1
    while k < t.block_dim.x:
        if i % (2 * k) == 0:
            s[i] += s[i + k]
        t.sync()
        k = 2 * k
    if i == 0:
        out[t.block.x] = s[0]


def reduce_sequential(t: T, src: T, out: T) -> None:
    """Sum of a block; the first half adds, then the first quarter."""
    s = t.shared(1024, np.float64)
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


def reduce_shuffled(t: T, src: T, out: T) -> None:
    """Sum of a block: within warps by shuffles, between them through shared memory."""
    s = t.shared(32, np.float64)
    total = src[t.block.x * t.block_dim.x + t.thread.x]
    for k in (16, 8, 4, 2, 1):
        total = total + t.shuffle_down(total, k)
    if t.lane == 0:
        s[t.warp] = total
    t.sync()
    if t.thread.x == 0:
        total = 0.0
        for warp in range(t.block_dim.x // 32):
            total = total + s[warp]
        out[t.block.x] = total


def scan(t: T, src: T, dst: T) -> None:
    """Sums of all elements up to and with each (W. Hillis and G. Steele, 1986)."""
    s = t.shared((2, 1024), np.int64)
    i, at = t.thread.x, 0
    s[0, i] = src[t.block.x * t.block_dim.x + i]
    t.sync()
    k = 1
    while k < t.block_dim.x:
        if i >= k:
            s[1 - at, i] = s[at, i] + s[at, i - k]
        else:
            s[1 - at, i] = s[at, i]
        at = 1 - at
        t.sync()
        k = 2 * k
    dst[t.block.x * t.block_dim.x + i] = s[at, i]


def radix_pass(t: T, keys: T, dst: T, bit: int) -> None:
    """One pass of a radix sort of a block: zeros of a bit first, in order."""
    s = t.shared((2, 1024), np.int64)
    i, at, n = t.thread.x, 0, t.block_dim.x
    key = keys[t.block.x * n + i]
    zero = 1 - ((key >> bit) & 1)
    s[0, i] = zero
    t.sync()
    k = 1
    while k < n:
        if i >= k:
            s[1 - at, i] = s[at, i] + s[at, i - k]
        else:
            s[1 - at, i] = s[at, i]
        at = 1 - at
        t.sync()
        k = 2 * k
    before = s[at, i] - zero  # zeros in front of me
    zeros = s[at, n - 1]
    place = before if zero == 1 else zeros + i - before
    dst[t.block.x * n + place] = key


def two_ways(t: T, src: T, dst: T, period: int) -> None:
    """Lanes take one of two paths, ``period`` lanes of the same kind in a row."""
    i = t.block.x * t.block_dim.x + t.thread.x
    x = src[i]
    if i // period % 2 == 0:
        x = x * 2 + 1
    else:
        x = x * 3 - 1
    dst[i] = x


def many_ways(t: T, src: T, path: T, dst: T, ways: int, work: int) -> None:
    """A switch: a thread takes path ``p`` of ``ways`` and does ``x = 3 x + p``."""
    i = t.block.x * t.block_dim.x + t.thread.x
    x, mine = src[i], path[i]
    for p in range(ways):
        if mine == p:
            for _ in range(work):
                x = 3 * x + p
    dst[i] = x


def matvec(t: T, w: T, x: T, y: T, k: int) -> None:
    """``y = w @ x``, a warp a row; ``k`` is a multiple of 64."""
    row = t.block.x * (t.block_dim.x // 32) + t.warp
    total = 0.0
    for first in range(0, k, 64):
        near = first + t.lane
        far = near + 32
        a, b = w[row, near], w[row, far]
        total = total + a * x[near] + b * x[far]
    for step in (16, 8, 4, 2, 1):
        total = total + t.shuffle_down(total, step)
    if t.lane == 0:
        y[row] = total


def matmul_tiled(t: T, x: T, w: T, y: T, k: int, tile: int) -> None:
    """``y = x @ w`` by tiles in shared memory; a thread computes one element."""
    xs, ws = t.shared((tile, tile)), t.shared((tile, tile))
    row = t.block.y * tile + t.thread.y
    column = t.block.x * tile + t.thread.x
    total = 0.0
    for first in range(0, k, tile):
        xs[t.thread.y, t.thread.x] = x[row, first + t.thread.x]
        ws[t.thread.y, t.thread.x] = w[first + t.thread.y, column]
        t.sync()
        for j in range(tile):
            total = total + xs[t.thread.y, j] * ws[j, t.thread.x]
        t.sync()
    y[row, column] = total
