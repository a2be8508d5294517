"""``C = A @ B``: tiles through shared memory, in an order that the cache likes.

A program makes one tile of C. Programs are numbered along K's other sides in groups
(``GROUP`` tiles down, then one across), so that those that run together read few
different rows and columns: W. Tillet, the Triton tutorial "Matrix Multiplication",
section L2 cache optimizations. On a GPU the sides of the tile are tuned once a shape;
elsewhere they are given.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
# (a kernel's parameters are pointers and numbers of the device)

from __future__ import annotations

from typing import Any

from .host_triton import (
    FLOATS,
    SHARED,
    Array,
    capability_of,
    cdiv,
    dtype_of,
    empty,
    generation,
    in_one_piece,
    interpreted,
    is_tensor,
    jit,
    launch,
    look,
    next_power_of_2,
    tile_side,
    tl,
    tuned,
    tunes,
)
from .parts_triton import narrow, product

FIXED = (64, 64, 64, 8)  # sides of a tile and tiles in a group, where none are tuned
SIDES, KEY = ("BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP"), ("N", "K", "B_ALONG_K")
# Sides, group, warps, stages; of Hopper, where four warps are one warpgroup. Elsewhere
# those that fit; and of float32, which no tensor core multiplies whole.
WIDE_TUNED = ((64, 64, 32, 8, 8, 2), (32, 64, 32, 8, 4, 2))
TUNED = (
    (128, 256, 64, 8, 8, 3),
    (128, 256, 64, 8, 8, 4),
    (256, 128, 64, 8, 8, 3),
    (128, 128, 64, 8, 8, 4),
    (128, 128, 64, 8, 4, 4),
    (128, 128, 32, 8, 4, 4),
    (64, 256, 32, 8, 4, 4),
    (64, 128, 64, 8, 4, 4),
    (64, 64, 64, 8, 4, 4),
)


@jit
def grouped(number, down, across, GROUP: tl.constexpr):
    """Tile (row, column) of a program's number: down a group, then one across."""
    in_group = GROUP * across
    first = number // in_group * GROUP
    height = tl.minimum(down - first, GROUP)
    row = first + (number % in_group) % height
    return row, (number % in_group) // height


@jit
def matmul_kernel(
    a,
    b,
    c,
    M,
    N,
    K,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
    B_ALONG_K: tl.constexpr,  # B is stored (N, K), each column in one piece
    WIDE: tl.constexpr,
):
    down, across = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    tile_m, tile_n = grouped(tl.program_id(0), down, across, GROUP)
    row = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    column = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    deep = tl.arange(0, BLOCK_K)
    # Rows past the edge are read from the start again: what they make is not stored,
    # and the loads of the loop need no mask but that of K.
    a_at = a + (row % M).to(tl.int64)[:, None] * K + deep[None, :]
    if B_ALONG_K:
        b_at = b + (column % N).to(tl.int64)[None, :] * K + deep[:, None]
        b_step = BLOCK_K
    else:
        b_at = b + deep.to(tl.int64)[:, None] * N + (column % N)[None, :]
        b_step = tl.cast(N, tl.int64) * BLOCK_K
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K)):
        left = K - k * BLOCK_K
        a_tile = tl.load(a_at, mask=deep[None, :] < left, other=0.0)
        b_tile = tl.load(b_at, mask=deep[:, None] < left, other=0.0)
        acc = product(a_tile, b_tile, acc, WIDE)
        a_at += BLOCK_K
        b_at += b_step
    place = c + row.to(tl.int64)[:, None] * N + column[None, :]
    inside = (row[:, None] < M) & (column[None, :] < N)
    tl.store(place, narrow(acc, c.dtype.element_ty, WIDE), mask=inside)


def matmul(
    a: Array, b: Array, *, blocks: tuple[int, int, int, int] | None = None
) -> Array:
    """``a @ b`` with sums in float32.

    - ``a``: array (M, K).
    - ``b``: array (K, N); the transpose of an array (N, K) in one piece, as a linear
      layer's weight is, is read as it lies.
    - ``blocks``: tuple of int, optional; sides of a tile along M, N and K, powers of
      two from 16, and the tiles a group is high. By default tuned on a GPU, else
      `FIXED`.
    - gives array (M, N): in the operands' format: float32, float16 or bfloat16.
    """
    sizes = look({"a": (a, ("M", "K")), "b": (b, ("K", "N"))}, FLOATS)
    M, N, K = (sizes[n] for n in "MNK")
    along_k = _turned(b)
    a = in_one_piece(a)
    b = b.T if along_k else in_one_piece(b)
    c = empty(a, (M, N))
    meta: dict[str, Any] = {"B_ALONG_K": along_k, "WIDE": interpreted()}
    if blocks is None and tunes(a):

        def grid(chosen: dict[str, Any]) -> tuple[int]:
            return (cdiv(M, chosen["BLOCK_M"]) * cdiv(N, chosen["BLOCK_N"]),)

        rows = tuned_rows(dtype_of(a), capability_of(a))
        kernel = tuned(matmul_kernel, SIDES, rows, KEY, (next_power_of_2(M),))
        launch(kernel, grid, a, b, c, M, N, K, **meta)
        return c
    m, n, k, group = blocks or FIXED
    for side in (m, n, k):
        tile_side("blocks", side, 16)
    meta |= zip(SIDES, (m, n, k, tile_side("GROUP", group)), strict=True)
    launch(matmul_kernel, (cdiv(M, m) * cdiv(N, n),), a, b, c, M, N, K, **meta)
    return c


def tuned_rows(dtype: str, capability: int) -> tuple[tuple[int, ...], ...]:
    """What is measured on a GPU: tiles whose operands fit its shared memory."""
    rows, size = (WIDE_TUNED, 4) if dtype == "float32" else (TUNED, 2)
    room = 1024 * SHARED[generation(capability)]
    return tuple(
        row for row in rows if (row[0] + row[1]) * row[2] * row[5] * size <= room
    )


def _turned(b: Array) -> bool:
    """Whether a matrix is the transpose of one in one piece."""
    if is_tensor(b):
        return not b.is_contiguous() and b.T.is_contiguous()
    return not b.flags.c_contiguous and b.T.flags.c_contiguous
