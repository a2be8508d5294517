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
    lse_steps,
    shapes_of,
    softmax_scale,
    window_size,
)
from .flash_tiles_triton import spread
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

KEY = ("D", "DV", "CAUSAL", "WINDOW", "BOOST")


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
    first = tl.cast(number, tl.int64) * 0
    if starts is not None:
        first = tl.load(starts + number).to(tl.int64)
        size = (tl.load(starts + number + 1) - first).to(tl.int32)
    return first, size


@jit
def place_of(length, heads, BLOCK: tl.constexpr):
    """Tile, head and sequence of a program: one axis, as the others end at 65,535."""
    tiles = tl.cdiv(length, BLOCK)
    number = tl.program_id(0) // tiles
    return tl.program_id(0) % tiles, number % heads, number // heads


@jit
def first_row(batch, head, row, batch_step, head_step, row_step):
    """Where a head's rows begin, in rows: numbers of a server pass 2**31."""
    found = tl.cast(batch, tl.int64) * batch_step
    return found + tl.cast(head, tl.int64) * head_step + row * row_step


@jit
def pass_keys(
    acc,
    total,
    highest,
    q_tile,
    q_rest,
    k_head,
    v_head,
    place,
    keys,
    factor,
    begin,
    end,
    k_token,
    D: tl.constexpr,
    DV: tl.constexpr,
    BLOCK_K: tl.constexpr,
    BLOCK_D: tl.constexpr,
    BLOCK_R: tl.constexpr,
    BLOCK_V: tl.constexpr,
    CAUSAL: tl.constexpr,
    WINDOW: tl.constexpr,
    BOOST: tl.constexpr,
    MASKED: tl.constexpr,
    WIDE: tl.constexpr,
):
    """One run of tiles of keys; ``highest`` and ``total`` are the softmax so far."""
    turn, column = tl.arange(0, BLOCK_K), tl.arange(0, BLOCK_D)
    more, column_v = BLOCK_D + tl.arange(0, BLOCK_R), tl.arange(0, BLOCK_V)
    apart = turn.to(tl.int64) * k_token
    for start in range(begin, end, BLOCK_K):
        key = start + turn
        here = tl.cast(start, tl.int64) * k_token
        k_row = k_head + here * D + apart[None, :] * D
        v_row = v_head + here * DV + apart[:, None] * DV
        # -- scores of the tile ------------------------------------------------------
        if MASKED or D < BLOCK_D:
            there = (key[None, :] < keys) & (column[:, None] < D)
            k_tile = tl.load(k_row + column[:, None], mask=there, other=0.0)
        else:
            k_tile = tl.load(k_row + column[:, None])
        scores = tl.zeros([q_tile.shape[0], BLOCK_K], dtype=tl.float32)
        scores = product(q_tile, k_tile, scores, WIDE)
        if D > BLOCK_D:
            there = (key[None, :] < keys) & (more[:, None] < D)
            k_rest = tl.load(k_row + more[:, None], mask=there, other=0.0)
            scores = product(q_rest, k_rest, scores, WIDE)
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
        if MASKED or DV < BLOCK_V:
            there = (key[:, None] < keys) & (column_v[None, :] < DV)
            v_tile = tl.load(v_row + column_v[None, :], mask=there, other=0.0)
        else:
            v_tile = tl.load(v_row + column_v[None, :])
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
    DV: tl.constexpr,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
    BLOCK_D: tl.constexpr,
    BLOCK_R: tl.constexpr,
    BLOCK_V: tl.constexpr,
    CAUSAL: tl.constexpr,
    WINDOW: tl.constexpr,
    BOOST: tl.constexpr,
    WIDE: tl.constexpr,
):
    nth, head, batch = place_of(queries, heads, BLOCK_Q)
    # Under a causal mask late rows see most keys: they start first.
    tile = tl.cdiv(queries, BLOCK_Q) - 1 - nth
    q_first, queries = span(q_starts, batch, queries)
    k_first, keys = span(k_starts, batch, keys)
    row = tile * BLOCK_Q + tl.arange(0, BLOCK_Q)
    if tile * BLOCK_Q < queries:
        column, more = tl.arange(0, BLOCK_D), BLOCK_D + tl.arange(0, BLOCK_R)
        column_v = tl.arange(0, BLOCK_V)
        q_row = first_row(batch, head, q_first, q_batch, q_head, q_token)
        k_row = first_row(batch, head // group, k_first, k_batch, k_head, k_token)
        rows = q_row + row.to(tl.int64)[:, None] * q_token
        inside = (row[:, None] < queries) & (column[None, :] < D)
        q_tile = tl.load(q + rows * D + column[None, :], mask=inside, other=0.0)
        q_rest = q_tile
        if D > BLOCK_D:
            inside = (row[:, None] < queries) & (more[None, :] < D)
            q_rest = tl.load(q + rows * D + more[None, :], mask=inside, other=0.0)
        acc = tl.zeros([BLOCK_Q, BLOCK_V], dtype=tl.float32)
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
                    q_rest,
                    k + k_row * D,
                    v + k_row * DV,
                    place,
                    keys,
                    factor,
                    start,
                    stop,
                    k_token,
                    D,
                    DV,
                    BLOCK_K,
                    BLOCK_D,
                    BLOCK_R,
                    BLOCK_V,
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
        shared = narrow(shared, out.dtype.element_ty, WIDE)
        inside = (row[:, None] < queries) & (column_v[None, :] < DV)
        tl.store(out + rows * DV + column_v[None, :], shared, mask=inside)
        # the logarithm, and what its rounding to float32 leaves (D. Knuth's two-sum)
        high = tl.where(empty, 0.0, highest * scale)
        sum_log = (tl.log2(total) - BOOST) * 0.6931471805599453
        log = high + sum_log
        part = log - high
        low = (high - (log - part)) + (sum_log - part)
        log = tl.where(empty, float("-inf"), log)
        lse_at = lse + first_row(batch, head, q_first, lse_batch, lse_head, 1)
        tl.store(lse_at + row, log, mask=row < queries)
        tl.store(lse_at + lse_plane + row, low, mask=row < queries)


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
    - ``k``: array (batch, kv_heads, keys, head_dim); fewer heads than q for GQA and
      MQA.
    - ``v``: array (batch, kv_heads, keys, v_dim). With ``lengths`` all are packed:
      (tokens, heads, head_dim). float32, float16, bfloat16 or an FP8 format.
    - ``causal``: bool.
    - ``window``: int, optional; keys less than so many places away are seen.
    - ``scale``: float, optional; of the scores, above zero; 1 / sqrt(head_dim) if left
      out.
    - ``lengths``: Lengths, optional; where each sequence starts.
    - ``fp8_scale``, ``v_scale``: float; what one unit of q times k, and of v, stands
      for: FP8 operands are scaled.
    - ``blocks``: tuple of int, optional; rows of a tile of queries and of keys; powers
      of two from 16.
    - gives ``out``, array, as q, of v_dim columns; bfloat16 for FP8.
    - gives ``lse``, array (2, batch, heads, queries), float32: the logarithms, -inf in
      a row that sees no key; and what is left of each beyond float32, by which the
      gradients of float32 are as good as those without it.
    """
    sizes = shapes_of(q, k, v, lengths)
    q, k, v = (in_one_piece(x) for x in (q, k, v))
    fp8 = dtype_of(q) in FP8
    out = empty(q, (*q.shape[:-1], sizes.dim_v), "bfloat16" if fp8 else None)
    lse = empty(q, (2, *sizes.lse_shape), "float32")
    meta: dict[str, Any] = {**sizes.columns, "CAUSAL": bool(causal)}
    meta |= {"WINDOW": window_size(window), "BOOST": 8.0 if fp8 else 0.0}
    meta["WIDE"] = interpreted()
    starts = (lengths.q_starts, lengths.k_starts) if lengths else (None, None)
    factor = softmax_scale(scale, sizes.dim) * fp8_scale
    group = sizes.heads // sizes.kv_heads
    counts = (sizes.heads, group, sizes.queries, sizes.keys, factor, v_scale)
    steps = (*sizes.q.steps, *sizes.k.steps, *lse_steps(sizes))
    args = (q, k, v, out, lse, *starts, *counts, *steps)
    many = sizes.batch * sizes.heads
    spread(forward_kernel, KEY, sizes, "BLOCK_Q", many, blocks, args, meta)
    return out, lse
