"""FlashAttention, backward: scores are made again, tile by tile, never stored.

Two kernels, so that no sum is shared: one holds a tile of keys and passes over the
queries that see it (dK, dV), one holds a tile of queries and passes over its keys (dQ).
T. Dao, "FlashAttention-2", 2023, algorithm 2, whose names these are: with P the shares
and D = rowsum(dO * O), dV = P^T dO, dS = P * (dO V^T - D), dQ = scale dS K and
dK = scale dS^T Q. Heads that share keys are summed by the program that holds the keys.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
# (a kernel's parameters are pointers and numbers of the device)

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .flash_forward_triton import first_row, key_edges, place_of, span, visible
from .flash_shapes_triton import (
    Lengths,
    lse_steps,
    shapes_of,
    softmax_scale,
    window_size,
)
from .flash_tiles_triton import spread, tiles_for
from .host_triton import (
    FLOATS,
    Array,
    cdiv,
    dtype_of,
    empty,
    in_one_piece,
    interpreted,
    jit,
    launch,
    tl,
)
from .parts_triton import narrow, product

KEY = ("D", "DV", "CAUSAL", "WINDOW")


@jit
def query_edges(
    first,
    queries,
    behind,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
    CAUSAL: tl.constexpr,
    WINDOW: tl.constexpr,
):
    """The mirror of `key_edges`: queries that see the keys from ``first`` on."""
    last = first + BLOCK_K - 1
    begin, whole = 0, 0
    end, whole_end = queries, queries // BLOCK_Q * BLOCK_Q
    if CAUSAL:
        begin = tl.maximum(first - behind, 0) // BLOCK_Q * BLOCK_Q
        whole = tl.cdiv(tl.maximum(last - behind, 0), BLOCK_Q) * BLOCK_Q
    if WINDOW > 0:
        end = tl.minimum(end, last + WINDOW - behind)
        up_to = tl.maximum(first + WINDOW - behind, 0) // BLOCK_Q * BLOCK_Q
        whole_end = tl.minimum(whole_end, up_to)
        if not CAUSAL:
            begin = tl.maximum(first - WINDOW + 1 - behind, 0) // BLOCK_Q * BLOCK_Q
            of_last = tl.maximum(last - WINDOW + 1 - behind, 0)
            whole = tl.cdiv(of_last, BLOCK_Q) * BLOCK_Q
    whole = tl.minimum(whole, tl.cdiv(tl.maximum(end, 0), BLOCK_Q) * BLOCK_Q)
    return begin, whole, tl.maximum(whole, whole_end), end


@jit
def row_sums_kernel(
    out,
    d_out,
    delta,
    q_starts,
    heads,
    queries,
    q_batch,
    q_head,
    q_token,
    lse_batch,
    lse_head,
    DV: tl.constexpr,
    BLOCK_Q: tl.constexpr,
    BLOCK_V: tl.constexpr,
):
    """D = rowsum(dO * O), for every query."""
    tile, head, batch = place_of(queries, heads, BLOCK_Q)
    q_first, queries = span(q_starts, batch, queries)
    row = tile * BLOCK_Q + tl.arange(0, BLOCK_Q)
    column = tl.arange(0, BLOCK_V)
    rows = first_row(batch, head, q_first, q_batch, q_head, q_token)
    rows += row.to(tl.int64)[:, None] * q_token
    at = rows * DV + column[None, :]
    inside = (row[:, None] < queries) & (column[None, :] < DV)
    o = tl.load(out + at, mask=inside, other=0.0).to(tl.float32)
    d_o = tl.load(d_out + at, mask=inside, other=0.0).to(tl.float32)
    place = delta + first_row(batch, head, q_first, lse_batch, lse_head, 1)
    tl.store(place + row, tl.sum(o * d_o, axis=1), mask=row < queries)


@jit
def pass_queries(
    dk,
    dk_rest,
    dv,
    k_tile,
    k_rest,
    v_tile,
    q_head,
    do_head,
    lse_head,
    delta_head,
    key,
    keys,
    queries,
    scale,
    lse_plane,
    begin,
    end,
    q_token,
    D: tl.constexpr,
    DV: tl.constexpr,
    BLOCK_Q: tl.constexpr,
    BLOCK_D: tl.constexpr,
    BLOCK_R: tl.constexpr,
    BLOCK_V: tl.constexpr,
    CAUSAL: tl.constexpr,
    WINDOW: tl.constexpr,
    MASKED: tl.constexpr,
    WIDE: tl.constexpr,
):
    """One run of tiles of queries; scores stand as (keys, queries)."""
    turn, column = tl.arange(0, BLOCK_Q), tl.arange(0, BLOCK_D)
    more, column_v = BLOCK_D + tl.arange(0, BLOCK_R), tl.arange(0, BLOCK_V)
    apart = turn.to(tl.int64)[:, None] * q_token
    for start in range(begin, end, BLOCK_Q):
        row = start + turn
        here = tl.cast(start, tl.int64) * q_token
        q_row = q_head + here * D + apart * D
        inside = (row[:, None] < queries) & (column[None, :] < D)
        q_tile = tl.load(q_row + column[None, :], mask=inside, other=0.0)
        # rows past the end, and rows that see nothing, have no shares: 2**-inf
        lse = tl.load(lse_head + row, mask=row < queries, other=float("inf"))
        lse = tl.where(lse == float("-inf"), float("inf"), lse)
        delta = tl.load(delta_head + row, mask=row < queries, other=0.0)
        # -- S^T and P^T -------------------------------------------------------------
        scores = tl.zeros([k_tile.shape[0], BLOCK_Q], dtype=tl.float32)
        scores = product(k_tile, tl.trans(q_tile), scores, WIDE)
        if D > BLOCK_D:
            inside = (row[:, None] < queries) & (more[None, :] < D)
            q_rest = tl.load(q_row + more[None, :], mask=inside, other=0.0)
            scores = product(k_rest, tl.trans(q_rest), scores, WIDE)
        if q_tile.dtype == tl.float32:
            low = tl.load(lse_head + lse_plane + row, mask=row < queries, other=0.0)
            shares = tl.exp((scores * scale - lse[None, :]) - low[None, :])
        else:  # one fused multiply-add an element
            log = (lse * 1.4426950408889634)[None, :]
            shares = tl.exp2(scores * (scale * 1.4426950408889634) - log)
        if MASKED:
            place = row + (keys - queries)
            seen = visible(place[None, :], key[:, None], keys, CAUSAL, WINDOW)
            shares = tl.where(seen, shares, 0.0)
        # -- dV += P^T dO ------------------------------------------------------------
        do_row = do_head + here * DV + apart * DV
        inside = (row[:, None] < queries) & (column_v[None, :] < DV)
        do_tile = tl.load(do_row + column_v[None, :], mask=inside, other=0.0)
        dv = product(narrow(shares, do_tile.dtype, WIDE), do_tile, dv, WIDE)
        # -- dS^T, and dK += dS^T Q --------------------------------------------------
        d_shares = tl.zeros([k_tile.shape[0], BLOCK_Q], dtype=tl.float32)
        d_shares = product(v_tile, tl.trans(do_tile), d_shares, WIDE)
        d_scores = shares * (d_shares - delta[None, :])
        d_scores = narrow(d_scores, q_tile.dtype, WIDE)
        dk = product(d_scores, q_tile, dk, WIDE)
        if D > BLOCK_D:
            dk_rest = product(d_scores, q_rest, dk_rest, WIDE)
    return dk, dk_rest, dv


@jit
def keys_kernel(
    q,
    k,
    v,
    d_out,
    lse,
    delta,
    dk,
    dv,
    q_starts,
    k_starts,
    kv_heads,
    group,
    queries,
    keys,
    scale,
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
    WIDE: tl.constexpr,
):
    """dK and dV of a tile of keys."""
    tile, kv_head, batch = place_of(keys, kv_heads, BLOCK_K)
    q_first, queries = span(q_starts, batch, queries)
    k_first, keys = span(k_starts, batch, keys)
    first = tile * BLOCK_K
    if first < keys:
        key, column = first + tl.arange(0, BLOCK_K), tl.arange(0, BLOCK_D)
        more, column_v = BLOCK_D + tl.arange(0, BLOCK_R), tl.arange(0, BLOCK_V)
        rows = first_row(batch, kv_head, k_first, k_batch, k_head, k_token)
        rows += key.to(tl.int64)[:, None] * k_token
        at, rest_at = rows * D + column[None, :], rows * D + more[None, :]
        v_at = rows * DV + column_v[None, :]
        inside = (key[:, None] < keys) & (column[None, :] < D)
        rest_in = (key[:, None] < keys) & (more[None, :] < D)
        v_in = (key[:, None] < keys) & (column_v[None, :] < DV)
        k_tile = tl.load(k + at, mask=inside, other=0.0)
        k_rest = k_tile
        if D > BLOCK_D:
            k_rest = tl.load(k + rest_at, mask=rest_in, other=0.0)
        v_tile = tl.load(v + v_at, mask=v_in, other=0.0)
        d_key = tl.zeros([BLOCK_K, BLOCK_D], dtype=tl.float32)
        d_rest = tl.zeros([BLOCK_K, BLOCK_R], dtype=tl.float32)
        d_value = tl.zeros([BLOCK_K, BLOCK_V], dtype=tl.float32)
        begin, whole, whole_end, end = query_edges(
            first, queries, keys - queries, BLOCK_Q, BLOCK_K, CAUSAL, WINDOW
        )
        for member in range(group):
            head = kv_head * group + member
            q_row = first_row(batch, head, q_first, q_batch, q_head, q_token)
            lse_at = first_row(batch, head, q_first, lse_batch, lse_head, 1)
            for part in tl.static_range(3):  # masked, whole, masked
                start, stop = begin, whole
                if part == 1:  # rows past the end have no shares: no mask for them
                    start, stop = whole, end
                    if WINDOW > 0:
                        stop = whole_end
                if part == 2:
                    start = whole_end
                    stop = end
                if part == 1 or WINDOW > 0 or (part == 0 and CAUSAL):
                    d_key, d_rest, d_value = pass_queries(
                        d_key,
                        d_rest,
                        d_value,
                        k_tile,
                        k_rest,
                        v_tile,
                        q + q_row * D,
                        d_out + q_row * DV,
                        lse + lse_at,
                        delta + lse_at,
                        key,
                        keys,
                        queries,
                        scale,
                        lse_plane,
                        start,
                        stop,
                        q_token,
                        D,
                        DV,
                        BLOCK_Q,
                        BLOCK_D,
                        BLOCK_R,
                        BLOCK_V,
                        CAUSAL,
                        WINDOW,
                        part != 1,
                        WIDE,
                    )
        d_key = narrow(d_key * scale, dk.dtype.element_ty, WIDE)
        tl.store(dk + at, d_key, mask=inside)
        if D > BLOCK_D:
            d_rest = narrow(d_rest * scale, dk.dtype.element_ty, WIDE)
            tl.store(dk + rest_at, d_rest, mask=rest_in)
        tl.store(dv + v_at, narrow(d_value, dv.dtype.element_ty, WIDE), mask=v_in)


@jit
def queries_kernel(
    q,
    k,
    v,
    d_out,
    lse,
    delta,
    dq,
    q_starts,
    k_starts,
    heads,
    group,
    queries,
    keys,
    scale,
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
    WIDE: tl.constexpr,
):
    """dQ of a tile of queries."""
    nth, head, batch = place_of(queries, heads, BLOCK_Q)
    tile = tl.cdiv(queries, BLOCK_Q) - 1 - nth
    q_first, queries = span(q_starts, batch, queries)
    k_first, keys = span(k_starts, batch, keys)
    if tile * BLOCK_Q < queries:
        row, column = tile * BLOCK_Q + tl.arange(0, BLOCK_Q), tl.arange(0, BLOCK_D)
        more, column_v = BLOCK_D + tl.arange(0, BLOCK_R), tl.arange(0, BLOCK_V)
        rows = first_row(batch, head, q_first, q_batch, q_head, q_token)
        rows += row.to(tl.int64)[:, None] * q_token
        at, rest_at = rows * D + column[None, :], rows * D + more[None, :]
        inside = (row[:, None] < queries) & (column[None, :] < D)
        rest_in = (row[:, None] < queries) & (more[None, :] < D)
        q_tile = tl.load(q + at, mask=inside, other=0.0)
        q_rest = q_tile
        if D > BLOCK_D:
            q_rest = tl.load(q + rest_at, mask=rest_in, other=0.0)
        v_in = (row[:, None] < queries) & (column_v[None, :] < DV)
        do_at = d_out + rows * DV + column_v[None, :]
        do_tile = tl.load(do_at, mask=v_in, other=0.0)
        lse_at = first_row(batch, head, q_first, lse_batch, lse_head, 1) + row
        level = tl.load(lse + lse_at, mask=row < queries, other=float("inf"))
        level = tl.where(level == float("-inf"), float("inf"), level)
        low = tl.load(lse + lse_plane + lse_at, mask=row < queries, other=0.0)
        row_sum = tl.load(delta + lse_at, mask=row < queries, other=0.0)
        d_query = tl.zeros([BLOCK_Q, BLOCK_D], dtype=tl.float32)
        d_rest = tl.zeros([BLOCK_Q, BLOCK_R], dtype=tl.float32)
        place = row + (keys - queries)
        k_row = first_row(batch, head // group, k_first, k_batch, k_head, k_token)
        turn = tl.arange(0, BLOCK_K)
        apart = turn.to(tl.int64)[:, None] * k_token
        begin, whole, whole_end, end = key_edges(
            tile * BLOCK_Q + keys - queries, keys, BLOCK_Q, BLOCK_K, CAUSAL, WINDOW
        )
        for part in tl.static_range(3):  # masked, whole, masked
            start, stop = begin, whole
            if part == 1:
                start, stop = whole, whole_end
            if part == 2:
                start, stop = whole_end, end
            if part == 0 and WINDOW == 0:  # no window: nothing is hidden on this side
                stop = start
            for first in range(start, stop, BLOCK_K):
                key = first + turn
                here = k_row + tl.cast(first, tl.int64) * k_token
                k_at = k + here * D + apart * D
                v_at = v + here * DV + apart * DV
                there = (key[:, None] < keys) & (column[None, :] < D)
                k_tile = tl.load(k_at + column[None, :], mask=there, other=0.0)
                there = (key[:, None] < keys) & (column_v[None, :] < DV)
                v_tile = tl.load(v_at + column_v[None, :], mask=there, other=0.0)
                # -- S and P -----------------------------------------------------------
                scores = tl.zeros([BLOCK_Q, BLOCK_K], dtype=tl.float32)
                scores = product(q_tile, tl.trans(k_tile), scores, WIDE)
                if D > BLOCK_D:
                    there = (key[:, None] < keys) & (more[None, :] < D)
                    k_rest = tl.load(k_at + more[None, :], mask=there, other=0.0)
                    scores = product(q_rest, tl.trans(k_rest), scores, WIDE)
                if q_tile.dtype == tl.float32:
                    shares = tl.exp((scores * scale - level[:, None]) - low[:, None])
                else:  # one fused multiply-add an element
                    log = (level * 1.4426950408889634)[:, None]
                    shares = tl.exp2(scores * (scale * 1.4426950408889634) - log)
                if part != 1:
                    seen = visible(place[:, None], key[None, :], keys, CAUSAL, WINDOW)
                    shares = tl.where(seen, shares, 0.0)
                # -- dS, and dQ += dS K ------------------------------------------------
                d_shares = tl.zeros([BLOCK_Q, BLOCK_K], dtype=tl.float32)
                d_shares = product(do_tile, tl.trans(v_tile), d_shares, WIDE)
                d_scores = shares * (d_shares - row_sum[:, None])
                d_scores = narrow(d_scores, k_tile.dtype, WIDE)
                d_query = product(d_scores, k_tile, d_query, WIDE)
                if D > BLOCK_D:
                    d_rest = product(d_scores, k_rest, d_rest, WIDE)
        d_query = narrow(d_query * scale, dq.dtype.element_ty, WIDE)
        tl.store(dq + at, d_query, mask=inside)
        if D > BLOCK_D:
            d_rest = narrow(d_rest * scale, dq.dtype.element_ty, WIDE)
            tl.store(dq + rest_at, d_rest, mask=rest_in)


def backward(
    q: Array,
    k: Array,
    v: Array,
    out: Array,
    lse: Array,
    d_out: Array,
    causal: bool = False,
    window: int | None = None,
    scale: float | None = None,
    *,
    lengths: Lengths | None = None,
    most_keys: int | None = None,
    blocks: tuple[int, int] | None = None,
) -> tuple[Array, Array, Array]:
    """Gradients of q, k and v from that of the output.

    - ``q``, ``k``, ``v``, ``causal``, ``window``, ``scale``, ``lengths``: As
      `forward_with_lse` was given them; no FP8.
    - ``out``, ``lse``: array; as it returned them.
    - ``d_out``: array, as out.
    - ``most_keys``: int, optional; keys of the longest packed sequence; by default all
      tokens.
    - ``blocks``: tuple of int, optional; rows of a tile of queries and of keys; powers
      of two from 16.
    - gives ``dq, dk, dv``, array, as q, k and v.
    """
    sizes = shapes_of(q, k, v, lengths)
    if dtype_of(q) not in FLOATS or dtype_of(d_out) != dtype_of(q):
        raise TypeError(
            f"q is {dtype_of(q)}, d_out {dtype_of(d_out)}: one of {', '.join(FLOATS)}"
        )
    shape = (*q.shape[:-1], sizes.dim_v)
    for name, x in (("out", out), ("d_out", d_out)):
        if tuple(x.shape) != shape:
            raise ValueError(f"{name} {tuple(x.shape)}: {shape} is needed")
    if tuple(lse.shape) != (2, *sizes.lse_shape):
        raise ValueError(f"lse {tuple(lse.shape)}: {(2, *sizes.lse_shape)} is needed")
    q, k, v, out, d_out, lse = map(in_one_piece, (q, k, v, out, d_out, lse))
    delta = empty(lse, sizes.lse_shape)
    dq, dk, dv = (empty(x, x.shape) for x in (q, k, v))
    starts = (lengths.q_starts, lengths.k_starts) if lengths else (None, None)
    if lengths is not None and most_keys is not None:
        lengths.hold(q.shape[0], k.shape[0], most_keys)
        sizes = replace(sizes, keys=most_keys)
    own: dict[str, Any] = sizes.columns
    mask = {"CAUSAL": bool(causal), "WINDOW": window_size(window)}
    mask["WIDE"] = interpreted()
    q_steps, k_steps = sizes.q.steps, sizes.k.steps
    own_steps = lse_steps(sizes)
    heads, kv_heads = sizes.batch * sizes.heads, sizes.batch * sizes.kv_heads

    side = tiles_for(queries_kernel, q, sizes, bool(window) or sizes.packed, blocks)
    rows = {name: {**side, **own}[name] for name in ("BLOCK_Q", "DV", "BLOCK_V")}
    grid = (cdiv(sizes.queries, side["BLOCK_Q"]) * heads,)
    arrays = (out, d_out, delta, starts[0], sizes.heads, sizes.queries)
    launch(row_sums_kernel, grid, *arrays, *q_steps, *own_steps[:2], **rows)

    group = sizes.heads // sizes.kv_heads
    counts = (group, sizes.queries, sizes.keys, softmax_scale(scale, sizes.dim))
    steps = (*q_steps, *k_steps, *own_steps)
    given, meta = (q, k, v, d_out, lse, delta), {**own, **mask}
    args = (*given, dq, *starts, sizes.heads, *counts, *steps)
    way = (KEY, sizes, "BLOCK_Q", heads, blocks)
    spread(queries_kernel, *way, args, meta)
    args = (*given, dk, dv, *starts, sizes.kv_heads, *counts, *steps)
    way = (KEY, sizes, "BLOCK_K", kv_heads, blocks)
    spread(keys_kernel, *way, args, meta)
    return dq, dk, dv
