"""Rows of a matrix: softmax, RMS norm, matrix times vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .reductions import halving, warp_sum

T = Any  # a Thread; what a kernel indexes and computes differs by lane
Kernel = Callable[..., None]
LEAST = -3.4e38


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
