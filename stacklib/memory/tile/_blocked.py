"""Loops of the blocked product and of its trace; `blocked` calls them.

The innermost loop walks along four rows of a tile of Y and adds four products to each
of its numbers, so sixteen multiply-adds share eight loads. No tile is copied anywhere:
what is near is what the caches kept. That is the point of it.
"""

from __future__ import annotations

from typing import Any

GROUP = 4  # rows of Y, and steps of the sum, that one pass takes in


def product_loop(x: Any, w: Any, y: Any, tile_m: int, tile_n: int, tile_k: int) -> None:
    """Add x @ w to ``y``, tile by tile."""
    m, k = x.shape
    n = w.shape[1]
    for i0 in range(0, m, tile_m):
        i1 = min(i0 + tile_m, m)
        for j0 in range(0, n, tile_n):
            j1 = min(j0 + tile_n, n)
            for p0 in range(0, k, tile_k):
                p1 = min(p0 + tile_k, k)
                fours_i = i0 + (i1 - i0) // 4 * 4
                fours_p = p0 + (p1 - p0) // 4 * 4
                for i in range(i0, fours_i, 4):
                    # Slices of rows, so that the compiler sees they are contiguous.
                    y0, y1 = y[i, j0:j1], y[i + 1, j0:j1]
                    y2, y3 = y[i + 2, j0:j1], y[i + 3, j0:j1]
                    for p in range(p0, fours_p, 4):
                        a0, a1, a2, a3 = x[i, p], x[i, p + 1], x[i, p + 2], x[i, p + 3]
                        b0, b1 = x[i + 1, p], x[i + 1, p + 1]
                        b2, b3 = x[i + 1, p + 2], x[i + 1, p + 3]
                        c0, c1 = x[i + 2, p], x[i + 2, p + 1]
                        c2, c3 = x[i + 2, p + 2], x[i + 2, p + 3]
                        d0, d1 = x[i + 3, p], x[i + 3, p + 1]
                        d2, d3 = x[i + 3, p + 2], x[i + 3, p + 3]
                        r0, r1 = w[p, j0:j1], w[p + 1, j0:j1]
                        r2, r3 = w[p + 2, j0:j1], w[p + 3, j0:j1]
                        for j in range(len(y0)):
                            w0, w1, w2, w3 = r0[j], r1[j], r2[j], r3[j]
                            y0[j] += a0 * w0 + a1 * w1 + a2 * w2 + a3 * w3
                            y1[j] += b0 * w0 + b1 * w1 + b2 * w2 + b3 * w3
                            y2[j] += c0 * w0 + c1 * w1 + c2 * w2 + c3 * w3
                            y3[j] += d0 * w0 + d1 * w1 + d2 * w2 + d3 * w3
                for i in range(i0, i1):  # what no group of four covers
                    out = y[i, j0:j1]
                    for p in range(fours_p if i < fours_i else p0, p1):
                        a, row = x[i, p], w[p, j0:j1]
                        for j in range(len(out)):
                            out[j] += a * row[j]


def trace_loop(
    m: int,
    n: int,
    k: int,
    tile_m: int,
    tile_n: int,
    tile_k: int,
    width: int,
    line: int,
    addresses: Any,
    writes: Any,
) -> None:
    """Fill in the lines that `product_loop` touches, in its order.

    X, W and Y lie one after the other, row by row; sizes are multiples of four.
    """
    w_base, y_base = m * k * width, (m * k + k * n) * width
    step = line // width
    at = 0
    for i0 in range(0, m, tile_m):
        for j0 in range(0, n, tile_n):
            j1 = min(j0 + tile_n, n)
            for p0 in range(0, k, tile_k):
                for i in range(i0, min(i0 + tile_m, m), 4):
                    for p in range(p0, min(p0 + tile_k, k), 4):
                        for row in range(i, i + 4):
                            addresses[at] = (row * k + p) * width
                            at += 1
                        for j in range(j0, j1, step):
                            for row in range(p, p + 4):
                                addresses[at] = w_base + (row * n + j) * width
                                at += 1
                            for row in range(i, i + 4):
                                addresses[at] = y_base + (row * n + j) * width
                                writes[at] = True
                                at += 1
