"""FlashAttention, forward: tiles of Q stay, tiles of K and V pass, scores never leave.

One program holds a tile of queries of one head and reads the keys that any of them may
see, tile by tile, with the online softmax: T. Dao, "FlashAttention-2", 2023, algorithm
1; M. Milakov and N. Gimelshein, 2018. Tiles that every query sees whole are taken
without a mask; only those on an edge of the mask are compared element by element.

The last query stands at the last key (``place = row + keys - queries``). It sees keys
up to its own place if causal, and those less than ``window`` places from it. A row that
sees nothing gives zeros, and ``-inf`` as the logarithm of its sum. In FP8 powers are
multiplied by 2**8, so that small ones are not lost under 2**-9 (J. Shah et al.,
"FlashAttention-3", 2024, section 3.3, has per-block scales for the same reason).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
# (a kernel's parameters are pointers and numbers of the device)

from __future__ import annotations

from typing import Any

from .flash_shapes_triton import (
    Lengths,
    Tiles,
    lse_steps,
    shapes_of,
    softmax_scale,
    spread,
    window_size,
)
from .host_triton import (
    FP8,
    Array,
    dtype_of,
    empty,
    in_one_piece,
    interpreted,
    jit,
    tl,
)
from .parts_triton import narrow, product

KEY = ("D", "CAUSAL", "WINDOW", "BOOST")
# Columns of a head up to -> rows of a tile of Q and of K, warps, stages: the first
# where nothing is measured, all where a GPU can choose. The first spill nothing.
TILES: dict[int, Tiles] = {
    64: ((128, 64, 4, 3), (128, 128, 8, 3), (64, 64, 4, 3)),
    128: ((128, 128, 8, 3), (128, 64, 8, 3), (64, 64, 4, 3)),
    256: ((128, 32, 8, 2), (128, 64, 8, 2)),
}


@jit
def visible(place, key, keys, CAUSAL: tl.constexpr, WINDOW: tl.constexpr):
    """Which keys the queries at these places see; WINDOW = 0 is none."""
    seen = key < keys
    if CAUSAL:
        seen = seen & (key <= place)
    if WINDOW > 0:
        seen = seen & (place - key < WINDOW)
        if not CAUSAL:
            seen = seen & (key - place < WINDOW)
    return seen


@jit
def key_edges(
    first,
    keys,
    ROWS: tl.constexpr,
    BLOCK_K: tl.constexpr,
    CAUSAL: tl.constexpr,
    WINDOW: tl.constexpr,
):
    """Where the keys of ROWS queries from place ``first`` begin, are whole, and end.

    Four ends: from the first to the second, and from the third to the last, tiles of
    keys cross an edge of the mask; between them every query sees every key.
    """
    last = first + ROWS - 1
    begin, whole = 0, 0
    end, whole_end = keys, keys // BLOCK_K * BLOCK_K
    if CAUSAL:
        end = tl.minimum(end, last + 1)
        whole_end = tl.minimum(whole_end, tl.maximum(first + 1, 0) // BLOCK_K * BLOCK_K)
    if WINDOW > 0:
        begin = tl.maximum(first - WINDOW + 1, 0) // BLOCK_K * BLOCK_K
        whole = tl.cdiv(tl.maximum(last - WINDOW + 1, 0), BLOCK_K) * BLOCK_K
        if not CAUSAL:
            end = tl.minimum(end, last + WINDOW)
            up_to = tl.maximum(first + WINDOW, 0) // BLOCK_K * BLOCK_K
            whole_end = tl.minimum(whole_end, up_to)
    whole = tl.minimum(whole, tl.cdiv(tl.maximum(end, 0), BLOCK_K) * BLOCK_K)
    return begin, whole, tl.maximum(whole, whole_end), end


@jit
def span(starts, number, size):
    """First row and rows of a sequence: packed ones say where each starts."""
    first = 0
    if starts is not None:
        first = tl.load(starts + number)
        size = tl.load(starts + number + 1) - first
    return first, size


@jit
def pass_keys(
    acc,
    total,
    highest,
    q_tile,
    k_head,
    v_head,
    place,
    keys,
    factor,
    begin,
    end,
    k_token,
    D: tl.constexpr,
    BLOCK_K: tl.constexpr,
    BLOCK_D: tl.constexpr,
    CAUSAL: tl.constexpr,
    WINDOW: tl.constexpr,
    BOOST: tl.constexpr,
    MASKED: tl.constexpr,
    WIDE: tl.constexpr,
):
    """One run of tiles of keys; ``highest`` and ``total`` are the softmax so far."""
    turn, column = tl.arange(0, BLOCK_K), tl.arange(0, BLOCK_D)
    for start in range(begin, end, BLOCK_K):
        key = start + turn
        here = tl.cast(start, tl.int64) * k_token
        k_at = k_head + here + (turn[None, :] * k_token + column[:, None])
        v_at = v_head + here + (turn[:, None] * k_token + column[None, :])
        # -- scores of the tile ------------------------------------------------------
        if MASKED or D < BLOCK_D:
            there = (key[None, :] < keys) & (column[:, None] < D)
            k_tile = tl.load(k_at, mask=there, other=0.0)
        else:
            k_tile = tl.load(k_at)
        scores = tl.zeros([q_tile.shape[0], BLOCK_K], dtype=tl.float32)
        scores = product(q_tile, k_tile, scores, WIDE)
        if MASKED:
            seen = visible(place[:, None], key[None, :], keys, CAUSAL, WINDOW)
            scores = tl.where(seen, scores, float("-inf"))
        # -- the largest so far, and what it makes of the sums so far ----------------
        new = tl.maximum(highest, tl.max(scores, axis=1))
        level = new
        if MASKED:  # a row that has seen nothing yet keeps zeros
            level = tl.where(new == float("-inf"), 0.0, new)
        if q_tile.dtype == tl.float32:  # the difference first: it is nearly exact
            powers = tl.exp2((scores - level[:, None]) * factor)
        else:  # one fused multiply-add an element
            powers = tl.exp2(scores * factor - (level * factor - BOOST)[:, None])
        shrink = tl.exp2((highest - level) * factor)
        total = total * shrink + tl.sum(powers, axis=1)
        acc = acc * shrink[:, None]
        # -- values by their powers --------------------------------------------------
        if MASKED or D < BLOCK_D:
            there = (key[:, None] < keys) & (column[None, :] < D)
            v_tile = tl.load(v_at, mask=there, other=0.0)
        else:
            v_tile = tl.load(v_at)
        acc = product(narrow(powers, v_tile.dtype, WIDE), v_tile, acc, WIDE)
        highest = new
    return acc, total, highest


@jit
def forward_kernel(
    q,
    k,
    v,
    out,
    lse,
    q_starts,
    k_starts,
    heads,
    group,
    queries,
    keys,
    scale,
    v_scale,
    q_batch,
    q_head,
    q_token,
    k_batch,
    k_head,
    k_token,
    lse_batch,
    lse_head,
    lse_plane,
    D: tl.constexpr,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
    BLOCK_D: tl.constexpr,
    CAUSAL: tl.constexpr,
    WINDOW: tl.constexpr,
    BOOST: tl.constexpr,
    WIDE: tl.constexpr,
):
    batch, head = tl.program_id(1) // heads, tl.program_id(1) % heads
    q_first, queries = span(q_starts, batch, queries)
    k_first, keys = span(k_starts, batch, keys)
    # Under a causal mask late rows see most keys: they start first.
    tile = tl.num_programs(0) - 1 - tl.program_id(0)
    row = tile * BLOCK_Q + tl.arange(0, BLOCK_Q)
    if tile * BLOCK_Q < queries:
        column = tl.arange(0, BLOCK_D)
        q_offset = batch.to(tl.int64) * q_batch + head * q_head + q_first * q_token
        k_offset = batch.to(tl.int64) * k_batch + head // group * k_head
        k_offset += k_first * k_token
        at = q_offset + row.to(tl.int64)[:, None] * q_token + column[None, :]
        inside = (row[:, None] < queries) & (column[None, :] < D)
        q_tile = tl.load(q + at, mask=inside, other=0.0)
        acc = tl.zeros([BLOCK_Q, BLOCK_D], dtype=tl.float32)
        total = tl.zeros([BLOCK_Q], dtype=tl.float32)
        highest = tl.full([BLOCK_Q], float("-inf"), dtype=tl.float32)
        factor = scale * 1.4426950408889634
        first = tile * BLOCK_Q + keys - queries
        place = row + (keys - queries)
        begin, whole, whole_end, end = key_edges(
            first, keys, BLOCK_Q, BLOCK_K, CAUSAL, WINDOW
        )
        for part in tl.static_range(3):  # masked, whole, masked
            start, stop = begin, whole
            if part == 1:
                start, stop = whole, whole_end
            if part == 2:
                start, stop = whole_end, end
            if part > 0 or WINDOW > 0:
                acc, total, highest = pass_keys(
                    acc,
                    total,
                    highest,
                    q_tile,
                    k + k_offset,
                    v + k_offset,
                    place,
                    keys,
                    factor,
                    start,
                    stop,
                    k_token,
                    D,
                    BLOCK_K,
                    BLOCK_D,
                    CAUSAL,
                    WINDOW,
                    BOOST,
                    part != 1,
                    WIDE,
                )
        # -- shares, and the logarithm of each row's sum -----------------------------
        empty = total == 0.0
        total = tl.where(empty, 1.0, total)
        shared = acc * (v_scale / total)[:, None]
        tl.store(out + at, narrow(shared, out.dtype.element_ty, WIDE), mask=inside)
        # the logarithm, and what its rounding to float32 leaves (D. Knuth's two-sum)
        high = tl.where(empty, 0.0, highest * scale)
        sum_log = (tl.log2(total) - BOOST) * 0.6931471805599453
        log = high + sum_log
        part = log - high
        low = (high - (log - part)) + (sum_log - part)
        log = tl.where(empty, float("-inf"), log)
        lse_at = lse + batch.to(tl.int64) * lse_batch + head * lse_head + q_first + row
        tl.store(lse_at, log, mask=row < queries)
        tl.store(lse_at + lse_plane, low, mask=row < queries)


def forward_with_lse(
    q: Array,
    k: Array,
    v: Array,
    causal: bool = False,
    window: int | None = None,
    scale: float | None = None,
    *,
    lengths: Lengths | None = None,
    fp8_scale: float = 1.0,
    v_scale: float = 1.0,
    blocks: tuple[int, int] | None = None,
) -> tuple[Array, Array]:
    """softmax(scale q k^T) v, and the logarithm of each row's sum of exponentials.

    - ``q``: array (batch, heads, queries, head_dim).
    - ``k``, ``v``: array (batch, kv_heads, keys, head_dim); fewer heads than q for GQA
      and MQA. With ``lengths`` all are packed: (tokens, heads, head_dim). float32,
      float16, bfloat16 or an FP8 format.
    - ``causal``: bool.
    - ``window``: int, optional; keys less than so many places away are seen.
    - ``scale``: float, optional; of the scores, above zero; 1 / sqrt(head_dim) if left
      out.
    - ``lengths``: Lengths, optional; where each sequence starts.
    - ``fp8_scale``, ``v_scale``: float; what one unit of q times k, and of v, stands
      for: FP8 operands are scaled.
    - ``blocks``: tuple of int, optional; rows of a tile of queries and of keys; powers
      of two from 16.
    - gives ``out``, array, as q; bfloat16 for FP8.
    - gives ``lse``, array (2, batch, heads, queries), float32: the logarithms, -inf in
      a row that sees no key; and what is left of each beyond float32, by which the
      gradients of float32 are as good as those without it.
    """
    sizes = shapes_of(q, k, v, lengths)
    q, k, v = (in_one_piece(x) for x in (q, k, v))
    fp8 = dtype_of(q) in FP8
    out = empty(q, q.shape, "bfloat16" if fp8 else None)
    lse = empty(q, (2, *sizes.lse_shape), "float32")
    meta: dict[str, Any] = {
        "D": sizes.dim,
        "BLOCK_D": sizes.block_d,
        "CAUSAL": bool(causal),
    }
    meta |= {"WINDOW": window_size(window), "BOOST": 8.0 if fp8 else 0.0}
    meta["WIDE"] = interpreted()
    starts = (lengths.q_starts, lengths.k_starts) if lengths else (None, None)
    factor = softmax_scale(scale, sizes.dim) * fp8_scale
    group = sizes.heads // sizes.kv_heads
    counts = (sizes.heads, group, sizes.queries, sizes.keys, factor, v_scale)
    steps = (*sizes.q.steps, *sizes.k.steps, *lse_steps(sizes))
    args = (q, k, v, out, lse, *starts, *counts, *steps)
    many = sizes.batch * sizes.heads
    spread(forward_kernel, TILES, KEY, sizes, "BLOCK_Q", many, blocks, args, meta)
    return out, lse
