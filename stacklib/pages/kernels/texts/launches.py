"""What each text is launched on, and what is right: plain sums over plain lists."""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from stacklib.gpu import interpreter as tl
from stacklib.gpu.interpreter import Array, Counts

Kernels = Sequence[Callable[..., Any]]
Found = tuple[Sequence[float | None], list[Counts]]
SEEDS = 300  # draws


def normal(seed: int, many: int, mean: float = 0.0, spread: float = 1.0) -> list[float]:
    """Numbers as float32 holds them."""
    draw = random.Random(seed).gauss
    return [float(x) for x in Array([draw(mean, spread) for _ in range(many)]).values]  # type: ignore[arg-type]


def rows_of(values: Sequence[float], wide: int) -> list[Sequence[float]]:
    """A matrix, row by row."""
    return [values[i : i + wide] for i in range(0, len(values), wide)]


def empty(many: int) -> Array:
    """An array that nothing was written to."""
    return Array([None] * many)


def dot(x: Sequence[float], y: Sequence[float]) -> float:
    """Sum of products."""
    return sum(map(operator.mul, x, y))


# -- norm --------------------------------------------------------------------------

ROWS, COLUMNS, EPS = 3, 768, 1e-5
NORM = normal(1, ROWS * COLUMNS, 1.0), normal(2, COLUMNS, 1.0, 0.1)


def launch_norm(kernels: Kernels, BLOCK: int) -> Found:
    out = empty(ROWS * COLUMNS)
    given = (*map(Array, NORM), out, ROWS, COLUMNS, EPS)
    return out.values, [tl.run(kernels[0], 2, *given, BLOCK=BLOCK)]


def right_norm() -> list[float]:
    found: list[float] = []
    for row in rows_of(NORM[0], COLUMNS):
        mean = math.fsum(row) / COLUMNS
        variance = math.fsum((x - mean) ** 2 for x in row) / COLUMNS
        pairs = zip(row, NORM[1], strict=True)
        found += [(x - mean) / math.sqrt(variance + EPS) * w for x, w in pairs]
    return found


# -- product -----------------------------------------------------------------------

M, N, K = 40, 24, 40
PRODUCT = normal(3, M * K), normal(4, K * N)


def launch_product(kernels: Kernels, SIDE: int, STEP: int) -> Found:
    c, grid = empty(M * N), (tl.cdiv(M, SIDE), tl.cdiv(N, SIDE))
    given = (*map(Array, PRODUCT), c, M, N, K)
    return c.values, [tl.run(kernels[0], grid, *given, SIDE=SIDE, STEP=STEP)]


def right_product() -> list[float]:
    columns = [PRODUCT[1][j::N] for j in range(N)]
    return [dot(row, column) for row in rows_of(PRODUCT[0], K) for column in columns]


# -- attention, causal and of one query ------------------------------------------------

S, D = 72, 16
QUERIES, KEYS, VALUES = normal(5, S * D, 0.0, 3.0), normal(6, S * D), normal(7, S * D)


def launch_attend(kernels: Kernels, TILE: int) -> Found:
    out = empty(S * D)
    given = (*map(Array, (QUERIES, KEYS, VALUES)), out, S)
    return out.values, [tl.run(kernels[0], 2, *given, D=D, TILE=TILE)]


def softmax_times(query: Sequence[float], seen: int) -> list[float]:
    """One query against the first keys: its weights' mean of the values."""
    scores = [dot(query, key) / math.sqrt(D) for key in rows_of(KEYS, D)[:seen]]
    weights = [math.exp(s - max(scores)) for s in scores]
    total = math.fsum(weights)
    return [dot(weights, VALUES[j : seen * D : D]) / total for j in range(D)]


def right_attend() -> list[float]:
    queries = enumerate(rows_of(QUERIES, D), 1)
    return [x for seen, query in queries for x in softmax_times(query, seen)]


def launch_pieces(kernels: Kernels, TILE: int) -> Found:
    pieces = tl.cdiv(S, TILE)
    most, total, part = (empty(n) for n in (pieces, pieces, pieces * D))
    given = map(Array, (QUERIES[:D], KEYS, VALUES))
    first = tl.run(kernels[0], pieces, *given, most, total, part, S, D=D, TILE=TILE)
    out, side = empty(D), 1 << (pieces - 1).bit_length()
    last = tl.run(kernels[1], 1, most, total, part, out, pieces, D=D, MOST=side)
    return out.values, [first, last]


def right_pieces() -> list[float]:
    return softmax_times(QUERIES[:D], S)


# -- scaled ------------------------------------------------------------------------

WIDE, LONG, GROUP, TOP = 64, 64, 32, 448.0  # columns; depth; a group; largest of E4M3


@cache
def quantized() -> tuple[Array, Array, Array, Array]:
    """Codes and scales: a by groups of a row, b by square blocks."""
    a, b = (
        [
            x * 4.0 ** (i % LONG // GROUP)
            for i, x in enumerate(normal(seed, rows * LONG))
        ]
        for seed, rows in ((8, 32), (9, WIDE))
    )
    groups = LONG // GROUP
    a_scale, b_scale = [0.0] * (32 * groups), [0.0] * (WIDE // GROUP * groups)
    for numbers, scales, tall in ((a, a_scale, 1), (b, b_scale, GROUP)):
        for i, x in enumerate(numbers):
            at = i // LONG // tall * groups + i % LONG // GROUP
            scales[at] = max(scales[at], abs(x) / TOP)
        for i in range(len(numbers)):
            numbers[i] /= scales[i // LONG // tall * groups + i % LONG // GROUP]
    a_codes, b_codes = Array(a, "e4m3fn"), Array(b, "e4m3fn")
    return a_codes, Array(a_scale), b_codes, Array(b_scale)


def launch_scaled(kernels: Kernels, SIDE: int) -> Found:
    c, grid = empty(32 * WIDE), (32 // SIDE, WIDE // SIDE)
    given = (*quantized(), c, WIDE, LONG)
    return c.values, [tl.run(kernels[0], grid, *given, SIDE=SIDE, GROUP=GROUP)]


def right_scaled() -> list[float]:
    a, a_scale, b, b_scale = (array.values for array in quantized())
    groups = LONG // GROUP

    def true(codes: Any, scales: Any, tall: int) -> list[float]:
        at = range(len(codes))
        return [
            codes[i] * scales[i // LONG // tall * groups + i % LONG // GROUP]
            for i in at
        ]

    mine, other = (
        rows_of(true(a, a_scale, 1), LONG),
        rows_of(true(b, b_scale, GROUP), LONG),
    )
    return [dot(x, y) for x in mine for y in other]


# -- draw ----------------------------------------------------------------------------

VOCAB, STATE = 7, 4
HIDDEN, HEAD = normal(10, STATE, 0.0, 0.5), normal(11, VOCAB * STATE)


def launch_draw(kernels: Kernels, TILE: int) -> Found:
    tiles, found, counts = tl.cdiv(VOCAB, TILE), [], []
    hidden, head = Array(HIDDEN), Array(HEAD)
    for seed in range(SEEDS):
        best, token, out = (
            empty(tiles),
            Array([None] * tiles, "int32"),
            Array([None], "int32"),
        )
        given = (hidden, head, best, token, VOCAB, seed)
        first = tl.run(kernels[0], 2, *given, D=STATE, TILE=TILE)
        side = 1 << (tiles - 1).bit_length()
        last = tl.run(kernels[1], 1, best, token, out, tiles, MOST=side)
        found += out.values
        counts = [first, last]  # of a draw
    return found, counts


def logits() -> list[float]:
    """Of the row that tokens are drawn from."""
    return [dot(HIDDEN, row) for row in rows_of(HEAD, STATE)]


@cache
def right_draw() -> list[float]:
    found = []
    for seed in range(SEEDS):
        u = (max(tl.rand(seed, token), 1e-10) for token in range(VOCAB))
        scores = [z - math.log(-math.log(x)) for z, x in zip(logits(), u, strict=True)]
        found.append(float(scores.index(max(scores))))
    return found
