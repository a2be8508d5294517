"""Decode: one query a sequence, its keys in pages, the work split along the keys.

A batch of few sequences leaves most of a GPU idle if a program takes a whole sequence;
so each takes a run of pages ("flash decoding": T. Dao et al., 2023), and a second
kernel joins the parts: with a part's output o and logarithm of its sum l, the whole is
sum(exp(l - max l) o) / sum(exp(l - max l)). Pages are found through a table: W. Kwon et
al., "PagedAttention", 2023, section 4.1. The query heads that share keys are the rows
of one tile, so that K and V are read once for all of them.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
# (a kernel's parameters are pointers and numbers of the device)

from __future__ import annotations

from .flash_shapes_triton import WIDEST, softmax_scale, window_size
from .host_triton import (
    FLOATS,
    Array,
    cdiv,
    empty,
    in_one_piece,
    interpreted,
    jit,
    launch,
    look,
    next_power_of_2,
    tile_side,
    tl,
)
from .parts_triton import narrow, product

MOST_SPLITS = 64


@jit
def split_kernel(
    q,
    k_pages,
    v_pages,
    table,
    lengths,
    part,
    part_lse,
    heads,
    kv_heads,
    page_size,
    most_pages,
    tiles_a_split,
    scale,
    GROUP: tl.constexpr,
    D: tl.constexpr,
    BLOCK_H: tl.constexpr,
    BLOCK_K: tl.constexpr,
    BLOCK_D: tl.constexpr,
    WINDOW: tl.constexpr,
    WIDE: tl.constexpr,
):
    """One run of keys of one sequence, for the query heads that share them."""
    batch, kv_head, split = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    length = tl.load(lengths + batch)
    member, column = tl.arange(0, BLOCK_H), tl.arange(0, BLOCK_D)
    head = batch.to(tl.int64) * heads + kv_head * GROUP + member
    mine = (member[:, None] < GROUP) & (column[None, :] < D)
    q_tile = tl.load(q + head[:, None] * D + column[None, :], mask=mine, other=0.0)
    acc = tl.zeros([BLOCK_H, BLOCK_D], dtype=tl.float32)
    total = tl.zeros([BLOCK_H], dtype=tl.float32)
    highest = tl.full([BLOCK_H], float("-inf"), dtype=tl.float32)
    oldest = 0
    if WINDOW > 0:
        oldest = tl.maximum(length - WINDOW, 0)
    begin = split * tiles_a_split * BLOCK_K
    end = tl.minimum(length, begin + tiles_a_split * BLOCK_K)
    begin = tl.maximum(begin, oldest // BLOCK_K * BLOCK_K)
    for start in range(begin, end, BLOCK_K):
        key = start + tl.arange(0, BLOCK_K)
        seen = (key < length) & (key >= oldest)
        # -- where the keys lie ------------------------------------------------------
        entry = table + batch.to(tl.int64) * most_pages + key // page_size
        page = tl.load(entry, mask=seen, other=0).to(tl.int64)
        slot = (page * page_size + key % page_size) * kv_heads + kv_head
        at = slot[:, None] * D + column[None, :]
        there = seen[:, None] & (column[None, :] < D)
        # -- scores, softmax so far, values by their powers ----------------------------
        k_tile = tl.load(k_pages + at, mask=there, other=0.0)
        scores = tl.zeros([BLOCK_H, BLOCK_K], dtype=tl.float32)
        scores = product(q_tile, tl.trans(k_tile), scores, WIDE) * scale
        scores = tl.where(seen[None, :], scores, float("-inf"))
        new = tl.maximum(highest, tl.max(scores, axis=1))
        level = tl.where(new == float("-inf"), 0.0, new)
        powers = tl.exp(scores - level[:, None])
        shrink = tl.exp(highest - level)
        total = total * shrink + tl.sum(powers, axis=1)
        v_tile = tl.load(v_pages + at, mask=there, other=0.0)
        acc = acc * shrink[:, None]
        acc = product(narrow(powers, v_tile.dtype, WIDE), v_tile, acc, WIDE)
        highest = new
    empty = total == 0.0
    total = tl.where(empty, 1.0, total)
    place = head * tl.num_programs(2) + split
    tl.store(
        part + place[:, None] * D + column[None, :], acc / total[:, None], mask=mine
    )
    log = tl.where(empty, float("-inf"), highest + tl.log(total))
    tl.store(part_lse + place, log, mask=member < GROUP)


@jit
def merge_kernel(
    part,
    part_lse,
    out,
    splits,
    D: tl.constexpr,
    BLOCK_S: tl.constexpr,
    BLOCK_D: tl.constexpr,
    WIDE: tl.constexpr,
):
    """The parts of one head of one sequence, weighed by their sums."""
    head = tl.program_id(0).to(tl.int64)
    split, column = tl.arange(0, BLOCK_S), tl.arange(0, BLOCK_D)
    place = head * splits + split
    log = tl.load(part_lse + place, mask=split < splits, other=float("-inf"))
    highest = tl.max(log, axis=0)
    weight = tl.exp(log - tl.where(highest == float("-inf"), 0.0, highest))
    total = tl.sum(weight, axis=0)
    inside = (split[:, None] < splits) & (column[None, :] < D)
    parts = tl.load(part + place[:, None] * D + column[None, :], mask=inside, other=0.0)
    joined = tl.sum(parts * weight[:, None], axis=0) / tl.where(
        total == 0.0, 1.0, total
    )
    joined = narrow(joined, out.dtype.element_ty, WIDE)
    tl.store(out + head * D + column, joined, mask=column < D)


def paged_decode(
    q: Array,
    k_pages: Array,
    v_pages: Array,
    table: Array,
    lengths: Array,
    scale: float | None = None,
    window: int | None = None,
    *,
    splits: int | None = None,
    block: int = 64,
) -> Array:
    """Attention of one new token a sequence over keys and values that lie in pages.

    - ``q``: array (batch, heads, head_dim).
    - ``k_pages``, ``v_pages``: array (pages, page_size, kv_heads, head_dim).
    - ``table``: array (batch, most_pages), int32; page of each run of ``page_size``
      tokens of a sequence.
    - ``lengths``: array (batch,), int32; tokens of each sequence; the query stands at
      the last. One of none gives zeros.
    - ``scale``: float, optional; of the scores, above zero; 1 / sqrt(head_dim) if left
      out.
    - ``window``: int, optional; how many of the last keys are seen.
    - ``splits``: int, optional; parts that the keys are cut into, at most 64; by
      default as many as make 256 programs, or one a tile.
    - ``block``: int; keys of a tile; a power of two from 16.
    - gives array (batch, heads, head_dim), as q.
    """
    rules = {
        "q": (q, ("batch", "heads", "head_dim")),
        "k_pages": (k_pages, ("pages", "page_size", "kv_heads", "head_dim")),
        "v_pages": (v_pages, ("pages", "page_size", "kv_heads", "head_dim")),
    }
    sizes = look(rules, FLOATS)
    whole = {
        "table": (table, (sizes["batch"], "most_pages")),
        "lengths": (lengths, (sizes["batch"],)),
    }
    most_pages = look(whole, ("int32",))["most_pages"]
    batch, heads, kv_heads = sizes["batch"], sizes["heads"], sizes["kv_heads"]
    dim, page_size = sizes["head_dim"], sizes["page_size"]
    if heads % kv_heads or dim > WIDEST:
        raise ValueError(
            f"q {tuple(q.shape)}, k_pages {tuple(k_pages.shape)}: heads must divide "
            f"among those of keys, and head_dim be at most {WIDEST}"
        )
    q, k_pages, v_pages = (in_one_piece(x) for x in (q, k_pages, v_pages))
    table, lengths = in_one_piece(table), in_one_piece(lengths)
    tiles = cdiv(most_pages * page_size, tile_side("block", block, 16))
    if splits is None:
        splits = min(tiles, MOST_SPLITS, max(1, 256 // (batch * kv_heads)))
    if not 1 <= splits <= MOST_SPLITS:
        raise ValueError(f"splits = {splits}: from 1 to {MOST_SPLITS}")
    group, block_d = heads // kv_heads, max(16, next_power_of_2(dim))
    part = empty(q, (batch, heads, splits, dim), "float32")
    part_lse = empty(q, (batch, heads, splits), "float32")
    out = empty(q, q.shape)
    meta = {"D": dim, "BLOCK_D": block_d, "WIDE": interpreted()}
    own = {"GROUP": group, "BLOCK_H": max(16, next_power_of_2(group))}
    own |= {"BLOCK_K": block, "WINDOW": window_size(window)}
    arrays = (q, k_pages, v_pages, table, lengths, part, part_lse)
    counts = (heads, kv_heads, page_size, most_pages, cdiv(tiles, splits))
    factor = softmax_scale(scale, dim)
    grid = (batch, kv_heads, splits)
    launch(split_kernel, grid, *arrays, *counts, factor, **meta, **own)
    side = next_power_of_2(splits)
    launch(
        merge_kernel,
        (batch * heads,),
        part,
        part_lse,
        out,
        splits,
        **meta,
        BLOCK_S=side,
    )
    return out
