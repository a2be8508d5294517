"""Products of matrices: from one element a thread to tiles of warps.

All compute ``c = alpha * a @ b + beta * c`` on matrices stored row by row. Tests of
bounds that always hold in the published shapes are left out of the tiled kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

T = Any  # a Thread; what a kernel indexes and computes differs by lane
Kernel = Callable[..., None]
UNROLLED = 4  # rounds of a plain loop that nvcc unrolls


def _dot(t: T, a: T, b: T, at: T, to: T, n: int, k: int) -> T:
    """Row of ``a`` from ``at``, column of ``b`` from ``to``."""
    total = 0.0
    for _ in range(0, k, UNROLLED):
        for i in range(UNROLLED):
            total = t.fma(a[at + i], b[to + i * n], total)
        at = at + UNROLLED
        to = to + UNROLLED * n
    return total


def _element(
    t: T, a: T, b: T, c: T, row: T, col: T, sizes: tuple[int, int, int], by: T
) -> None:
    m, n, k = sizes
    alpha, beta = by
    if row < m and col < n:
        total = _dot(t, a, b, row * k, col, n, k)
        c[row * n + col] = alpha * total + beta * c[row * n + col]


def rows_along(
    t: T, a: T, b: T, c: T, m: int, n: int, k: int, alpha: float, beta: float
) -> None:
    """One element a thread; the lanes of a warp lie in one column: not coalesced."""
    row = t.block.x * t.block_dim.x + t.thread.x
    col = t.block.y * t.block_dim.y + t.thread.y
    _element(t, a, b, c, row, col, (m, n, k), (alpha, beta))


def columns_along(
    t: T, a: T, b: T, c: T, m: int, n: int, k: int, alpha: float, beta: float
) -> None:
    """One element a thread; lanes and neighbouring blocks lie in one row."""
    col = t.block.x * t.block_dim.x + t.thread.x
    row = t.block.y * t.block_dim.y + t.thread.y
    _element(t, a, b, c, row, col, (m, n, k), (alpha, beta))


def columns_along_blocks_down(
    t: T, a: T, b: T, c: T, m: int, n: int, k: int, alpha: float, beta: float
) -> None:
    """Lanes lie in one row, neighbouring blocks below one another; a block of 32x32."""
    x = t.thread.y * t.block_dim.x + t.thread.x
    row = t.block.x * 32 + x // 32
    col = t.block.y * 32 + x % 32
    _element(t, a, b, c, row, col, (m, n, k), (alpha, beta))


def tiles_of_32(blocks_down: bool) -> Kernel:
    """Tiles of 32x32 in shared memory, one element a thread."""

    def kernel(
        t: T, a: T, b: T, c: T, m: int, n: int, k: int, alpha: float, beta: float
    ) -> None:
        x = t.thread.y * t.block_dim.x + t.thread.x
        row, col = x // 32, x % 32
        down = t.block.x if blocks_down else t.block.y
        along = t.block.y if blocks_down else t.block.x
        own, other = t.shared(32 * 32), t.shared(32 * 32)
        at = (down * 32 + row) * k + col
        to = row * n + along * 32 + col
        total = 0.0
        for _ in range(0, k, 32):
            own[x] = a[at]
            other[x] = b[to]
            t.sync()
            at = at + 32
            to = to + 32 * n
            for i in range(0, 32, 4):
                four = t.load(own, row * 32 + i, 4)
                for j in range(4):
                    total = t.fma(four[j], other[col + (i + j) * 32], total)
            t.sync()
        out = (down * 32 + row) * n + along * 32 + col
        c[out] = alpha * total + beta * c[out]

    return kernel


def strips(bm: int, bn: int, bk: int, tm: int) -> Kernel:
    """A strip of ``tm`` rows a thread; its column of ``b`` is read once a step."""

    def kernel(
        t: T, a: T, b: T, c: T, m: int, n: int, k: int, alpha: float, beta: float
    ) -> None:
        x = t.thread.x
        row, col = x // bn * tm, x % bn
        own, other = t.shared(bm * bk), t.shared(bk * bn)
        at = (t.block.y * bm + x // bk) * k + x % bk
        to = x // bn * n + t.block.x * bn + col
        total = [0.0] * tm
        for _ in range(0, k, bk):
            own[x] = a[at]
            other[x] = b[to]
            t.sync()
            at = at + bk
            to = to + bk * n
            for d in range(bk):
                right = other[col + d * bn]
                for i in range(tm):
                    total[i] = t.fma(own[row * bk + (i * bk + d)], right, total[i])
            t.sync()
        out = (t.block.y * bm + row) * n + t.block.x * bn + col
        for i in range(tm):
            c[out + i * n] = alpha * total[i] + beta * c[out + i * n]

    return kernel


def four_by_four(t: T, array: T, index: T, count: int) -> list[T]:
    """``count`` neighbours, 16 bytes at a time."""
    return [one for i in range(0, count, 4) for one in t.load(array, index + i, 4)]


def multiply(t: T, total: list[T], left: list[T], right: list[T]) -> None:
    """Every number of ``left`` with every one of ``right``."""
    for i in range(len(left)):
        for j in range(len(right)):
            at = i * len(right) + j
            total[at] = t.fma(left[i], right[j], total[at])


def stored(
    t: T, c: T, out: T, n: int, total: list[T], width: int, by: T, wide: bool
) -> None:
    """A thread's tile into ``c``, four numbers at a time where ``wide``."""
    alpha, beta = by
    for i in range(len(total) // width):
        for j in range(0, width, 4):
            row = total[i * width + j : i * width + j + 4]
            at = out + (i * n + j)
            if wide:
                old = t.load(c, at, 4)
                t.store(c, at, [alpha * row[e] + beta * old[e] for e in range(4)])
            else:
                for e in range(4):
                    c[at + e] = alpha * row[e] + beta * c[at + e]


def squares(
    bm: int,
    bn: int,
    bk: int,
    tm: int,
    tn: int,
    blocks_down: bool = False,
    wide: bool = False,
) -> Kernel:
    """A tile of ``tm x tn`` a thread; ``a`` lies in rows of ``bk`` in shared memory.

    Its numbers come one by one, those of ``b`` by fours, as nvcc joins them.
    """
    threads = bm * bn // (tm * tn)

    def kernel(
        t: T, a: T, b: T, c: T, m: int, n: int, k: int, alpha: float, beta: float
    ) -> None:
        x = t.thread.x
        down = t.block.x if blocks_down else t.block.y
        along = t.block.y if blocks_down else t.block.x
        row, col = x // (bn // tn) * tm, x % (bn // tn) * tn
        own, other = t.shared(bm * bk), t.shared(bk * bn)
        at = (down * bm + x // bk) * k + x % bk
        to = x // bn * n + along * bn + x % bn
        total = [0.0] * (tm * tn)
        for _ in range(0, k, bk):
            for i in range(0, bm, threads // bk):
                own[x + i * bk] = a[at + i * k]
            for i in range(bk * bn // threads):
                other[x + i * threads] = b[to + i * (threads // bn) * n]
            t.sync()
            at = at + bk
            to = to + bk * n
            for d in range(bk):
                left = [own[row * bk + (i * bk + d)] for i in range(tm)]
                multiply(t, total, left, four_by_four(t, other, col + d * bn, tn))
            t.sync()
        out = (down * bm + row) * n + along * bn + col
        stored(t, c, out, n, total, tn, (alpha, beta), wide)

    return kernel


def turned(t: T, own: T, at: T, bm: int, four: T) -> None:
    """Four neighbours of a row of ``a``, stored down a column."""
    for e in range(4):
        own[at + e * bm] = four[e]


def wide_squares(
    bm: int, bn: int, bk: int, tm: int, tn: int, plain: bool = False
) -> Kernel:
    """As `squares`; ``a`` is turned on its way, all loads are of 16 bytes.

    ``plain``: numbers come from memory one by one, and go back so.
    """
    threads = bm * bn // (tm * tn)

    def kernel(
        t: T, a: T, b: T, c: T, m: int, n: int, k: int, alpha: float, beta: float
    ) -> None:
        x = t.thread.x
        row, col = x // (bn // tn) * tm, x % (bn // tn) * tn
        own, other = t.shared(bk * bm), t.shared(bk * bn)
        width = 1 if plain else 4
        across, over = bk // width, bn // width  # threads to a row of a, of b
        at = (t.block.y * bm + x // across) * k + x % across * width
        to = x // over * n + t.block.x * bn + x % over * width
        put = x % across * width * bm + x // across
        total = [0.0] * (tm * tn)
        for _ in range(0, k, bk):
            for i in range(0, bm, threads // across):
                if plain:
                    own[put + i] = a[at + i * k]
                else:
                    turned(t, own, put + i, bm, t.load(a, at + i * k, 4))
            for i in range(bk * bn // (threads * width)):
                step = i * (threads // over) * n
                if plain:
                    other[x + i * threads] = b[to + step]
                else:
                    t.store(other, x * 4 + i * threads * 4, t.load(b, to + step, 4))
            t.sync()
            at = at + bk
            to = to + bk * n
            for d in range(bk):
                left = four_by_four(t, own, row + d * bm, tm)
                multiply(t, total, left, four_by_four(t, other, col + d * bn, tn))
            t.sync()
        out = (t.block.y * bm + row) * n + t.block.x * bn + col
        stored(t, c, out, n, total, tn, (alpha, beta), not plain)

    return kernel


def spread(bm: int, bn: int, bk: int, extra: int) -> Kernel:
    """As `wide_squares` of 8x8, with ``b`` laid out against bank conflicts.

    ``extra`` = 0: in columns of 16 threads; else in rows with so many more columns.
    """

    def kernel(
        t: T, a: T, b: T, c: T, m: int, n: int, k: int, alpha: float, beta: float
    ) -> None:
        x = t.thread.x
        row, col = x // (bn // 8), x % (bn // 8)
        own, other = t.shared(bk * bm), t.shared(bk * (bn + extra))
        across, over = bk // 4, bn // 4
        at = (t.block.y * bm + x // across) * k + x % across * 4
        to = x // over * n + t.block.x * bn + x % over * 4
        put = x % across * 4 * bm + x // across
        if extra:
            lay = x // over * (bn + extra) + x % over * 4
        else:
            lay = (x % over % 2 * 4 + x // over * 8) * 16 + x % over // 2
        total = [0.0] * 64
        for _ in range(0, k, bk):
            turned(t, own, put, bm, t.load(a, at, 4))
            four = t.load(b, to, 4)
            for e in range(4):
                other[lay + e * (1 if extra else 16)] = four[e]
            t.sync()
            at = at + bk
            to = to + bk * n
            for d in range(bk):
                left = four_by_four(t, own, row * 8 + d * bm, 8)
                if extra:
                    right = [other[col * 8 + (d * (bn + extra) + j)] for j in range(8)]
                else:
                    right = [other[col + (d * 8 + j) * 16] for j in range(8)]
                multiply(t, total, left, right)
            t.sync()
        out = (t.block.y * bm + row * 8) * n + t.block.x * bn + col * 8
        stored(t, c, out, n, total, 8, (alpha, beta), True)

    return kernel
