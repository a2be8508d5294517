"""Products of matrices by tiles of warps, and with the next tile on its way."""

from __future__ import annotations

from .matmul import Kernel, T, four_by_four, multiply, stored, turned


def _tile(
    t: T,
    own: T,
    other: T,
    a: T,
    b: T,
    at: T,
    to: T,
    put: T,
    x: T,
    k: int,
    n: int,
    sizes: tuple[int, int, int],
    threads: int,
    base: tuple[int, int] = (0, 0),
) -> None:
    """A tile of ``a``, turned, and one of ``b`` into shared memory by 16 bytes."""
    bm, bn, bk = sizes
    across, over = bk // 4, bn // 4
    for i in range(0, bm, threads // across):
        turned(t, own, put + (i + base[0]), bm, t.load(a, at + i * k, 4))
    for i in range(bk * over // threads):
        four = t.load(b, to + i * (threads // over) * n, 4)
        t.store(other, x * 4 + (i * threads * 4 + base[1]), four)


def _several(t: T, array: T, first: T, parts: int, apart: int, count: int) -> list[T]:
    """``count`` neighbours at each of ``parts`` places, ``apart`` from one another."""
    return [
        one
        for part in range(parts)
        for one in four_by_four(t, array, first + part * apart, count)
    ]


def _by_parts(
    t: T,
    c: T,
    out: T,
    n: int,
    total: list[T],
    parts: tuple[int, int],
    apart: tuple[int, int],
    size: tuple[int, int],
    by: T,
) -> None:
    """Every subtile of a thread into ``c``."""
    (down, along), (tm, tn) = parts, size
    for p in range(down):
        for q in range(along):
            own = [
                total[(p * tm + i) * (along * tn) + q * tn + j]
                for i in range(tm)
                for j in range(tn)
            ]
            at = out + (p * apart[0] * n + q * apart[1])
            stored(t, c, at, n, own, tn, by, True)


def warp_tiles(
    bm: int, bn: int, bk: int, wm: int, wn: int, along: int, tm: int, tn: int
) -> Kernel:
    """A tile of ``wm x wn`` a warp, in ``along`` parts along a row (S. Boehm's 10)."""
    threads = bm * bn // (wm * wn) * 32
    down = wm * wn // (32 * tm * tn * along)
    high, wide = wm // down, wn // along

    def kernel(
        t: T, a: T, b: T, c: T, m: int, n: int, k: int, alpha: float, beta: float
    ) -> None:
        x, lane = t.thread.x, t.lane
        row = t.warp // (bn // wn) * wm + lane // (wide // tn) * tm
        col = t.warp % (bn // wn) * wn + lane % (wide // tn) * tn
        own, other = t.shared(bk * bm), t.shared(bk * bn)
        across, over = bk // 4, bn // 4
        at = (t.block.y * bm + x // across) * k + x % across * 4
        to = x // over * n + t.block.x * bn + x % over * 4
        put = x % across * 4 * bm + x // across
        total = [0.0] * (down * tm * along * tn)
        for _ in range(0, k, bk):
            _tile(t, own, other, a, b, at, to, put, x, k, n, (bm, bn, bk), threads)
            t.sync()
            for d in range(bk):
                left = _several(t, own, row + d * bm, down, high, tm)
                right = _several(t, other, col + d * bn, along, wide, tn)
                multiply(t, total, left, right)
            at = at + bk
            to = to + bk * n
            t.sync()
        out = (t.block.y * bm + row) * n + t.block.x * bn + col
        _by_parts(
            t, c, out, n, total, (down, along), (high, wide), (tm, tn), (alpha, beta)
        )

    return kernel


def halves(bm: int, bn: int, bk: int, wm: int, wn: int, tm: int, tn: int) -> Kernel:
    """Half of the threads loads while the other computes (S. Boehm's 11)."""
    threads = bm * bn // (wm * wn) * 32
    down = wm * wn // (32 * tm * tn)
    high, loaders = wm // down, threads // 2
    sizes = (bm, bn, bk)

    def compute(
        t: T, own: T, other: T, row: T, col: T, total: list[T], half: int
    ) -> None:
        for d in range(bk):
            left = _several(t, own, row + (half * bm * bk + d * bm), down, high, tm)
            right = four_by_four(t, other, col + (half * bn * bk + d * bn), tn)
            multiply(t, total, left, right)

    def kernel(
        t: T, a: T, b: T, c: T, m: int, n: int, k: int, alpha: float, beta: float
    ) -> None:
        lane, x = t.lane, t.thread.x % loaders
        second = t.thread.x >= loaders
        row = t.warp // (bn // wn) * wm + lane // (wn // tn) * tm
        col = t.warp % (bn // wn) * wn + lane % (wn // tn) * tn
        own, other = t.shared(2 * bk * bm), t.shared(2 * bk * bn)
        across, over = bk // 4, bn // 4
        at = (t.block.y * bm + x // across) * k + x % across * 4
        to = x // over * n + t.block.x * bn + x % over * 4
        put = x % across * 4 * bm + x // across
        base = (bm * bk, bn * bk)
        total = [0.0] * (down * tm * tn)
        if not second:
            _tile(t, own, other, a, b, at, to, put, x, k, n, sizes, loaders)
        t.sync()
        for k0 in range(0, k, 2 * bk):
            if second:
                if k0 + bk < k:
                    _tile(
                        t,
                        own,
                        other,
                        a,
                        b,
                        at + bk,
                        to + bk * n,
                        put,
                        x,
                        k,
                        n,
                        sizes,
                        loaders,
                        base,
                    )
            else:
                compute(t, own, other, row, col, total, 0)
            t.sync()
            if second:
                compute(t, own, other, row, col, total, 0)
            elif k0 + bk < k:
                compute(t, own, other, row, col, total, 1)
            t.sync()
            if second:
                if k0 + bk < k:
                    compute(t, own, other, row, col, total, 1)
            elif k0 + 2 * bk < k:
                _tile(
                    t,
                    own,
                    other,
                    a,
                    b,
                    at + 2 * bk,
                    to + 2 * bk * n,
                    put,
                    x,
                    k,
                    n,
                    sizes,
                    loaders,
                )
            at = at + 2 * bk
            to = to + 2 * bk * n
            t.sync()
        out = (t.block.y * bm + row) * n + t.block.x * bn + col
        _by_parts(t, c, out, n, total, (down, 1), (high, wn), (tm, tn), (alpha, beta))

    return kernel


def fetched(t: T, array: T, index: T, into: list[T]) -> None:
    """Neighbours in shared memory into registers, 16 bytes at a time."""
    for i in range(0, len(into), 4):
        four = t.load(array, index + i, 4)
        for e in range(4):
            into[i + e] = four[e]


def two_buffers(bm: int, bn: int, bk: int) -> Kernel:
    """Tiles of 8x8; the next tile comes to registers while this one is used."""
    threads = bm * bn // 64

    def kernel(
        t: T, a: T, b: T, c: T, m: int, n: int, k: int, alpha: float, beta: float
    ) -> None:
        x = t.thread.x
        row, col = x // (bn // 8) * 8, x % (bn // 8) * 8
        own, other = t.shared(2 * bk * bm), t.shared(2 * bk * bn)
        across, over = bk // 4, bn // 4
        at = (t.block.y * bm + x // across) * k + x % across * 4
        to = x // over * n + t.block.x * bn + x % over * 4
        put = x % across * 4 * bm + x // across
        total = [0.0] * 64
        rows = range(0, bm, threads // across)
        turns = range(bk * over // threads)
        _tile(t, own, other, a, b, at, to, put, x, k, n, (bm, bn, bk), threads)
        t.sync()
        left, right = [[0.0] * 8, [0.0] * 8], [[0.0] * 8, [0.0] * 8]
        fetched(t, own, row, left[0])
        fetched(t, other, col, right[0])
        use = 0
        for k0 in range(bk, k + bk, bk):
            at = at + bk
            to = to + bk * n
            ours, theirs = [0.0] * (4 * len(rows)), [0.0] * (4 * len(turns))
            if k0 < k:
                for i in range(len(rows)):
                    four = t.load(a, at + rows[i] * k, 4)
                    for e in range(4):
                        ours[4 * i + e] = four[e]
                for i in turns:
                    four = t.load(b, to + i * (threads // over) * n, 4)
                    for e in range(4):
                        theirs[4 * i + e] = four[e]
            mine = row + use * (bk * bm)
            yours = col + use * (bk * bn)
            for d in range(1, bk):
                fetched(t, own, mine + d * bm, left[d % 2])
                fetched(t, other, yours + d * bn, right[d % 2])
                multiply(t, total, left[1 - d % 2], right[1 - d % 2])
            use = 1 - use
            if k0 < k:
                free, lay = put + use * (bk * bm), x * 4 + use * (bk * bn)
                for i in range(len(rows)):
                    turned(t, own, free + rows[i], bm, ours[4 * i : 4 * i + 4])
                for i in turns:
                    four = theirs[4 * i : 4 * i + 4]
                    t.store(other, lay + i * threads * 4, four)
                t.sync()
                fetched(t, own, row + use * (bk * bm), left[0])
                fetched(t, other, col + use * (bk * bn), right[0])
            multiply(t, total, left[1], right[1])
        out = (t.block.y * bm + row) * n + t.block.x * bn + col
        stored(t, c, out, n, total, 8, (alpha, beta), True)

    return kernel


def wasteful(bm: int, bn: int, bk: int, tm: int) -> Kernel:
    """Loads of 16 bytes by all threads, of which the tile takes a part (L. Mao).

    With ``tm`` = 1 a thread has one element, else a strip of rows.
    """

    def kernel(
        t: T, a: T, b: T, c: T, m: int, n: int, k: int, alpha: float, beta: float
    ) -> None:
        x = t.thread.y * t.block_dim.x + t.thread.x
        own, other = t.shared(bm * bk), t.shared(bk * bn)
        across, over = bk // 4, bn // 4
        top, deep = x // across, x // over
        high = t.block.y * bm + top
        at = high * k + x % across * 4
        to = deep * n + t.block.x * bn + x % over * 4
        row, col = x // bn * tm, x % bn
        total = [0.0] * tm
        for k0 in range(0, k, bk):
            ours = (0.0, 0.0, 0.0, 0.0)
            if high < m:
                ours = t.load(a, at, 4)
            if top < bm:
                t.store(own, x * 4, ours)
            theirs = (0.0, 0.0, 0.0, 0.0)
            if k0 + deep < k:
                theirs = t.load(b, to, 4)
            if deep < bk:
                t.store(other, x * 4, theirs)
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


def warps_of_32x64(plain: bool) -> Kernel:
    """Blocks of 128x128x16, 32x64 a warp, 8x8 a thread (L. Mao's V06).

    The author's loads name eight parts of a warp's tile where there is one; as they
    are, they read beyond the arrays of registers. Here is the one that is meant.
    """
    bm, bn, bk = 128, 128, 16

    def kernel(
        t: T, a: T, b: T, c: T, m: int, n: int, k: int, alpha: float, beta: float
    ) -> None:
        x, lane = t.thread.x, t.lane
        row = t.warp // 4 * 64 + lane // 4 * 8
        col = t.warp % 4 * 32 + lane % 4 * 8
        own, other = t.shared(bk * bm), t.shared(bk * bn)
        width = 1 if plain else 4
        across, over = bk // width, bn // width
        at = (t.block.y * bm + x // across) * k + x % across * width
        to = x // over * n + t.block.x * bn + x % over * width
        put = x % across * width * bm + x // across
        total = [0.0] * 64
        for _ in range(0, k, bk):
            if plain:
                for i in range(0, bm, 256 // across):
                    own[put + i] = a[at + i * k]
                for i in range(bk * bn // 256):
                    other[x + i * 256] = b[to + i * (256 // over) * n]
            else:
                _tile(t, own, other, a, b, at, to, put, x, k, n, (bm, bn, bk), 256)
            t.sync()
            at = at + bk
            to = to + bk * n
            for d in range(bk):
                left = four_by_four(t, own, row + d * bm, 8)
                multiply(t, total, left, four_by_four(t, other, col + d * bn, 8))
            t.sync()
        out = (t.block.y * bm + row) * n + t.block.x * bn + col
        stored(t, c, out, n, total, 8, (alpha, beta), not plain)

    return kernel
