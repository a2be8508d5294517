"""Series over the rows of a matrix: softmax, RMS norm, matrix times vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stacklib import gpu

from .port import Port, Shape, Step, Steps, T, floats
from .reductions import halving, warp_sum

Kernel = Callable[..., None]
LEAST = -3.4e38
EPSILON = 1e-5


def warp_max(t: T, value: T, crossed: bool) -> T:
    """The largest of a warp; in every lane where ``crossed``."""
    for k in (16, 8, 4, 2, 1):
        other = t.shuffle_xor(value, k) if crossed else t.shuffle_down(value, k)
        value = t.max(value, other)
    return value


def crossed_sum(t: T, value: T) -> T:
    """The sum of a warp in every lane."""
    for k in (16, 8, 4, 2, 1):
        value = value + t.shuffle_xor(value, k)
    return value


def _widest(t: T, src: T, first: T, step: int, count: int) -> T:
    found = LEAST
    for i in range(0, count, t.block_dim.x):
        found = t.max(found, src[first + i * step])
    return found


def _exponentials(t: T, src: T, first: T, step: int, count: int, top: T) -> T:
    total = 0.0
    for i in range(0, count, t.block_dim.x):
        total = total + t.exp(src[first + i * step] - top)
    return total


def through_shared(t: T, src: T, dst: T, rows: int, columns: int) -> None:
    """Largest, sum and quotient; the first warp ends each reduction of a row."""
    found, ends = t.shared(64), t.shared(2)
    warps = t.block_dim.x // 32
    first = t.block.x * columns + t.thread.x
    top = warp_max(t, _widest(t, src, first, 1, columns), False)
    if t.lane == 0:
        found[t.warp] = top
    t.sync()
    if t.warp == 0:
        top = found[t.lane] if t.lane < warps else LEAST
        top = warp_max(t, top, False)
        if t.lane == 0:
            ends[0] = top
    t.sync()
    top = ends[0]
    total = warp_sum(t, _exponentials(t, src, first, 1, columns, top))
    if t.lane == 0:
        found[32 + t.warp] = total
    t.sync()
    if t.warp == 0:
        total = found[32 + t.lane] if t.lane < warps else 0.0
        total = warp_sum(t, total)
        if t.lane == 0:
            ends[1] = total
    t.sync()
    total = ends[1]
    for i in range(0, columns, t.block_dim.x):
        dst[first + i] = t.exp(src[first + i] - top) / total


def crossed(down: bool) -> Kernel:
    """Warps by exchange; every thread ends each reduction. ``down``: of columns."""

    def kernel(t: T, src: T, dst: T, rows: int, columns: int) -> None:
        found = t.shared(64)
        warps = t.block_dim.x // 32
        step = columns if down else 1
        count = rows if down else columns
        line = t.block.x if down else t.block.x * columns
        first = line + t.thread.x * step
        top = warp_max(t, _widest(t, src, first, step, count), True)
        if t.lane == 0:
            found[t.warp] = top
        t.sync()
        top = LEAST
        for i in range(warps):
            top = t.max(top, found[i])
        total = crossed_sum(t, _exponentials(t, src, first, step, count, top))
        if t.lane == 0:
            found[32 + t.warp] = total
        t.sync()
        total = 0.0
        for i in range(warps):
            total = total + found[32 + i]
        for i in range(0, count, t.block_dim.x):
            at = first + i * step
            dst[at] = t.exp(src[at] - top) / total

    return kernel


def _online(t: T, src: T, first: T, count: int, step: int) -> tuple[T, T]:
    """Largest and sum of exponentials in one pass."""
    top, total = src[first], 1.0
    for i in range(step, count, step):
        value = src[first + i]
        more = t.max(top, value)
        total = total * t.exp(top - more) + t.exp(value - more)
        top = more
    return top, total


def online_alone(t: T, src: T, dst: T, rows: int, columns: int) -> None:
    """A row a thread."""
    row = t.block.x * t.block_dim.x + t.thread.x
    if row < rows:
        first = row * columns
        top, total = _online(t, src, first, columns, 1)
        for i in range(columns):
            dst[first + i] = t.exp(src[first + i] - top) / total


def _joined(t: T, top: T, total: T, other: T, more: T) -> tuple[T, T]:
    high = t.max(top, other)
    return high, total * t.exp(top - high) + more * t.exp(other - high)


def online_shared(t: T, src: T, dst: T, rows: int, columns: int) -> None:
    """A row a block; partial results meet in a tree in shared memory."""
    wide, x = t.block_dim.x, t.thread.x
    s = t.shared(2 * wide)
    first = t.block.x * columns + x
    top, total = _online(t, src, first, columns, wide)
    s[x] = top
    s[x + wide] = total
    t.sync()
    length = wide
    while length > 1:
        old = length
        length = (length + 1) // 2
        if x < length and old - x - 1 > x:
            high, sum_ = _joined(
                t, s[x], s[x + wide], s[old - x - 1], s[old - x - 1 + wide]
            )
            s[x] = high
            s[x + wide] = sum_
        t.sync()
    for i in range(0, columns, wide):
        dst[first + i] = t.exp(src[first + i] - s[0]) / s[wide]


def _joined_in_warp(t: T, top: T, total: T) -> tuple[T, T]:
    for k in (16, 8, 4, 2, 1):
        other, more = t.shuffle_down(top, k), t.shuffle_down(total, k)
        top, total = _joined(t, top, total, other, more)
    return top, total


def online_shuffled(t: T, src: T, dst: T, rows: int, columns: int) -> None:
    """A row a block; every warp joins its own and then all warps' results."""
    wide, x = t.block_dim.x, t.thread.x
    s = t.shared(2 * wide // 32)
    first = t.block.x * columns + x
    top, total = _online(t, src, first, columns, wide)
    top, total = _joined_in_warp(t, top, total)
    if t.lane == 0:
        s[2 * t.warp] = top
        s[2 * t.warp + 1] = total
    t.sync()
    top, total = LEAST, 0.0
    if t.lane < wide // 32:
        top = s[2 * t.lane]
        total = s[2 * t.lane + 1]
    top, total = _joined_in_warp(t, top, total)
    top, total = t.shuffle(top, 0), t.shuffle(total, 0)
    for i in range(0, columns, wide):
        dst[first + i] = t.exp(src[first + i] - top) / total


def rms(kept: bool, by_warps: bool, width: int) -> Kernel:
    """RMS norm of a row a block; ``kept``: the row stays in shared memory."""

    def kernel(t: T, x: T, w: T, y: T, hidden: int, epsilon: float) -> None:
        wide, i = t.block_dim.x, t.thread.x
        part, one = t.shared(wide), t.shared(1)
        row = t.shared(hidden if kept else 1)
        first = t.block.x * hidden
        total = 0.0
        for at in range(0, hidden, wide * width):
            values = t.load(x, first + at + i * width, width)
            if kept:
                t.store(row, at + i * width, values)
            for value in values:
                total = t.fma(value, value, total)
        part[i] = total
        t.sync()
        if by_warps:
            sums = t.shared(32)
            total = warp_sum(t, part[i])
            if t.lane == 0:
                sums[t.warp] = total
            t.sync()
            if i < 32:
                total = 0.0
                if i < wide // 32:
                    total = sums[i]
                total = warp_sum(t, total)
                if i == 0:
                    one[0] = t.rsqrt(total / hidden + epsilon)
        else:
            halving(t, part, 0)
            if i == 0:
                one[0] = t.rsqrt(part[0] / hidden + epsilon)
        t.sync()
        scale = one[0]
        for at in range(0, hidden, wide * width):
            place = at + i * width
            if kept:
                values = t.load(row, place, width)
            else:
                values = t.load(x, first + place, width)
            weights = t.load(w, place, width)
            made = [values[e] * scale * weights[e] for e in range(width)]
            t.store(y, first + place, made)

    return kernel


def row_of_warp(width: int, rows: int) -> Kernel:
    """Matrix times vector: ``rows`` rows a warp, ``width`` numbers a load."""

    def kernel(t: T, a: T, x: T, y: T, m: int, n: int) -> None:
        lanes = 32 // rows
        row = (t.block.x * t.block_dim.y + t.thread.y) * rows + t.thread.x // lanes
        lane = t.thread.x % lanes
        if row < m:
            total = 0.0
            for i in range(0, n, lanes * width):
                at = i + lane * width
                ours, theirs = t.load(a, row * n + at, width), t.load(x, at, width)
                for e in range(width):
                    total = t.fma(ours[e], theirs[e], total)
            total = warp_sum(t, total, lanes)
            if lane == 0:
                y[row] = total

    return kernel


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
            online_alone, 256, (1024, 65536), (300, 96), alone=True
        ),
        "online shared memory": _softmax(online_shared, 256, (1024, 65536), (3, 1024)),
        "shuffle instructions": _softmax(
            online_shuffled, 256, (1024, 65536), (3, 1024)
        ),
    },
    "ymlin-softmax": {
        "row, shared": _softmax(through_shared, 1024, (4096, 1024), (3, 1024)),
        "row, shfl_xor": _softmax(crossed(False), 1024, (4096, 1024), (3, 1024)),
        "column, shfl_xor": _softmax(crossed(True), 256, (4096, 1024), (512, 4), 0),
    },
    "simveit-rmsnorm": {
        "rms_naive": _rms(rms(False, False, 1)),
        "rms_smem": _rms(rms(True, False, 1)),
        "rms_warp": _rms(rms(True, True, 1)),
        "rms_smem_float4": _rms(rms(True, False, 4)),
        "rms_warp_float4": _rms(rms(True, True, 4)),
    },
    "liu-sgemv": {
        "v0": _product(row_of_warp(1, 1), 4, 32),
        "v1": _product(row_of_warp(4, 1), 4, 128),
        "v2": _product(row_of_warp(1, 2), 8, 16),
    },
}
