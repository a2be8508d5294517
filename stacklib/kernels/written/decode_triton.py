"""Decode: one query a sequence, its keys in pages, the work split along the keys.

A batch of few sequences leaves most of a GPU idle if a program takes a whole sequence
("flash decoding": T. Dao et al., 2023). So the tiles of keys of all sequences stand in
one row, cut into shares of equal length: a program takes a share, which may end in the
middle of a sequence and begin in that of another ("stream-K": M. Osama et al., 2023).
The lengths alone decide, not the width of the table. A second kernel joins the parts of
a sequence: with a part's output o and logarithm of its sum l, the whole is
sum(exp(l - max l) o) / sum(exp(l - max l)).

Pages are found through a table: W. Kwon et al., "PagedAttention", 2023, section 4.1.
The query heads that share keys are the rows of one tile, so that K and V are read once
for all of them.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
# (a kernel's parameters are pointers and numbers of the device)

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .flash_shapes_triton import WIDEST, column_sides, softmax_scale, window_size
from .flash_tiles_triton import decode_tiles
from .host_triton import (
    FLOATS,
    Array,
    cdiv,
    device_of,
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

PROGRAMS = 256  # of a launch, where the keys suffice: about two a unit of a large GPU


@jit
def tiles_in_a_row(
    lengths,
    sequences,
    BLOCK_B: tl.constexpr,
    BLOCK_K: tl.constexpr,
    WINDOW: tl.constexpr,
):
    """Where each sequence's tiles begin and end in the row of all, and how many."""
    number = tl.arange(0, BLOCK_B)
    length = tl.load(lengths + number, mask=number < sequences, other=0)
    tiles = tl.cdiv(length, BLOCK_K)
    if WINDOW > 0:
        tiles -= tl.maximum(length - WINDOW, 0) // BLOCK_K
    ends = tl.cumsum(tiles, 0)
    return ends - tiles, ends, tl.max(ends, axis=0).to(tl.int64)


@jit
def of_one(values, number, BLOCK_B: tl.constexpr):
    """One element of a tile."""
    return tl.sum(tl.where(tl.arange(0, BLOCK_B) == number, values, 0), axis=0)


@jit
def split_kernel(
    q,
    k_pages,
    v_pages,
    table,
    lengths,
    part,
    part_lse,
    sequences,
    heads,
    kv_heads,
    page_size,
    most_pages,
    scale,
    GROUP: tl.constexpr,
    D: tl.constexpr,
    DV: tl.constexpr,
    BLOCK_B: tl.constexpr,
    BLOCK_H: tl.constexpr,
    BLOCK_K: tl.constexpr,
    BLOCK_D: tl.constexpr,
    BLOCK_R: tl.constexpr,
    BLOCK_V: tl.constexpr,
    WINDOW: tl.constexpr,
    WIDE: tl.constexpr,
):
    """A share of all keys, for a tile of the query heads that share them."""
    share, tiles_h = tl.program_id(0), tl.cdiv(GROUP, BLOCK_H)
    kv_head = tl.program_id(1) // tiles_h
    member = tl.program_id(1) % tiles_h * BLOCK_H + tl.arange(0, BLOCK_H)
    column, more = tl.arange(0, BLOCK_D), BLOCK_D + tl.arange(0, BLOCK_R)
    column_v = tl.arange(0, BLOCK_V)
    starts, ends, total = tiles_in_a_row(lengths, sequences, BLOCK_B, BLOCK_K, WINDOW)
    begin = (total * share // tl.num_programs(0)).to(tl.int32)
    stop = (total * (share + 1) // tl.num_programs(0)).to(tl.int32)
    first = tl.sum((ends <= begin).to(tl.int32), axis=0)
    last = tl.sum((starts < stop).to(tl.int32), axis=0)
    for batch in range(first, last):
        head = tl.cast(batch, tl.int64) * heads + kv_head * GROUP + member
        at = q + head[:, None] * D
        mine = member[:, None] < GROUP
        inside = mine & (column[None, :] < D)
        q_tile = tl.load(at + column[None, :], mask=inside, other=0.0)
        q_rest = q_tile
        if D > BLOCK_D:
            inside = mine & (more[None, :] < D)
            q_rest = tl.load(at + more[None, :], mask=inside, other=0.0)
        acc = tl.zeros([BLOCK_H, BLOCK_V], dtype=tl.float32)
        sums = tl.zeros([BLOCK_H], dtype=tl.float32)
        highest = tl.full([BLOCK_H], float("-inf"), dtype=tl.float32)
        length, oldest = tl.load(lengths + batch), 0
        if WINDOW > 0:
            oldest = tl.maximum(length - WINDOW, 0)
        start = of_one(starts, batch, BLOCK_B)
        until = tl.minimum(stop, of_one(ends, batch, BLOCK_B))
        ahead = oldest // BLOCK_K - start
        row = table + tl.cast(batch, tl.int64) * most_pages
        for tile in range(tl.maximum(begin, start), until):
            key = (tile + ahead) * BLOCK_K + tl.arange(0, BLOCK_K)
            seen = (key < length) & (key >= oldest)
            # -- where the keys lie ----------------------------------------------------
            page = tl.load(row + key // page_size, mask=seen, other=0).to(tl.int64)
            slot = (page * page_size + key % page_size) * kv_heads + kv_head
            k_at, v_at = k_pages + slot[:, None] * D, v_pages + slot[:, None] * DV
            # -- scores, softmax so far, values by their powers ------------------------
            there = seen[:, None] & (column[None, :] < D)
            k_tile = tl.load(k_at + column[None, :], mask=there, other=0.0)
            scores = tl.zeros([BLOCK_H, BLOCK_K], dtype=tl.float32)
            scores = product(q_tile, tl.trans(k_tile), scores, WIDE)
            if D > BLOCK_D:
                there = seen[:, None] & (more[None, :] < D)
                k_rest = tl.load(k_at + more[None, :], mask=there, other=0.0)
                scores = product(q_rest, tl.trans(k_rest), scores, WIDE)
            scores = tl.where(seen[None, :], scores * scale, float("-inf"))
            new = tl.maximum(highest, tl.max(scores, axis=1))
            level = tl.where(new == float("-inf"), 0.0, new)
            powers = tl.exp(scores - level[:, None])
            shrink = tl.exp(highest - level)
            sums = sums * shrink + tl.sum(powers, axis=1)
            there = seen[:, None] & (column_v[None, :] < DV)
            v_tile = tl.load(v_at + column_v[None, :], mask=there, other=0.0)
            acc = acc * shrink[:, None]
            acc = product(narrow(powers, v_tile.dtype, WIDE), v_tile, acc, WIDE)
            highest = new
        # -- the part; shares and sequences only rise: their sum is a place of its own
        empty = sums == 0.0
        sums = tl.where(empty, 1.0, sums)
        place = tl.cast(share + batch, tl.int64) * heads + kv_head * GROUP + member
        inside = mine & (column_v[None, :] < DV)
        part_at = part + place[:, None] * DV + column_v[None, :]
        tl.store(part_at, acc / sums[:, None], mask=inside)
        log = tl.where(empty, float("-inf"), highest + tl.log(sums))
        tl.store(part_lse + place, log, mask=member < GROUP)


@jit
def merge_kernel(
    part,
    part_lse,
    lengths,
    out,
    lse,
    sequences,
    heads,
    splits,
    DV: tl.constexpr,
    BLOCK_B: tl.constexpr,
    BLOCK_K: tl.constexpr,
    BLOCK_S: tl.constexpr,
    BLOCK_V: tl.constexpr,
    WINDOW: tl.constexpr,
    WIDE: tl.constexpr,
):
    """The parts of one head of one sequence, weighed by their sums."""
    batch, head = tl.program_id(0), tl.program_id(1)
    turn, column = tl.arange(0, BLOCK_S), tl.arange(0, BLOCK_V)
    starts, ends, total = tiles_in_a_row(lengths, sequences, BLOCK_B, BLOCK_K, WINDOW)
    start, end = of_one(starts, batch, BLOCK_B), of_one(ends, batch, BLOCK_B)
    # the shares in which its first and its last tile lie
    total = tl.maximum(total, 1)
    first = ((start.to(tl.int64) + 1) * splits - 1) // total
    parts = (end.to(tl.int64) * splits - 1) // total - first + 1
    parts = tl.where(end > start, parts, 0)
    acc = tl.zeros([BLOCK_V], dtype=tl.float32)
    sums = tl.sum(acc, axis=0)
    highest = sums + float("-inf")
    for at in range(0, parts.to(tl.int32), BLOCK_S):
        inside = at + turn < parts
        place = (first + batch + at + turn) * heads + head
        log = tl.load(part_lse + place, mask=inside, other=float("-inf"))
        new = tl.maximum(highest, tl.max(log, axis=0))
        level = tl.where(new == float("-inf"), 0.0, new)
        weight = tl.exp(log - level)
        shrink = tl.exp(highest - level)
        inside = inside[:, None] & (column[None, :] < DV)
        part_at = part + place[:, None] * DV + column[None, :]
        tile = tl.load(part_at, mask=inside, other=0.0)
        acc = acc * shrink + tl.sum(tile * weight[:, None], axis=0)
        sums = sums * shrink + tl.sum(weight, axis=0)
        highest = new
    empty = sums == 0.0
    sums = tl.where(empty, 1.0, sums)
    place = batch.to(tl.int64) * heads + head
    joined = narrow(acc / sums, out.dtype.element_ty, WIDE)
    tl.store(out + place * DV + column, joined, mask=column < DV)
    tl.store(lse + place, tl.where(empty, float("-inf"), highest + tl.log(sums)))


def decode_with_lse(
    q: Array,
    k_pages: Array,
    v_pages: Array,
    table: Array,
    lengths: Array,
    scale: float | None = None,
    window: int | None = None,
    *,
    splits: int | None = None,
    block: int | None = None,
) -> tuple[Array, Array]:
    """Attention of one new token a sequence over keys and values that lie in pages.

    - ``q``: array (batch, heads, head_dim).
    - ``k_pages``: array (pages, page_size, kv_heads, head_dim).
    - ``v_pages``: array (pages, page_size, kv_heads, v_dim).
    - ``table``: array (batch, most_pages), int32; page of each run of ``page_size``
      tokens of a sequence; what lies past its length is not read.
    - ``lengths``: array (batch,), int32; tokens of each sequence; the query stands at
      the last. One of none gives zeros.
    - ``scale``: float, optional; of the scores, above zero; 1 / sqrt(head_dim) if left
      out.
    - ``window``: int, optional; how many of the last keys are seen.
    - ``splits``: int, optional; programs that all sequences' keys are shared among, for
      each tile of heads. By default as many as fill a GPU and have a tile of keys
      each; lengths that lie on a GPU are not waited for: there the table's width says
      how many tiles there may be, and `splits_for` what a host knows.
    - ``block``: int, optional; keys of a tile; a power of two from 16. By default what
      fits the GPU: 64 for heads of up to 128 columns.
    - gives ``out``, array (batch, heads, v_dim), as q.
    - gives ``lse``, array (batch, heads), float32: logarithm of the sum of a head's
      powers; -inf for a sequence of none.
    - raises ``ValueError, TypeError`` for shapes and formats that do not fit, and for
      lengths on a CPU that the table cannot hold.
    """
    rules = {
        "q": (q, ("batch", "heads", "head_dim")),
        "k_pages": (k_pages, ("pages", "page_size", "kv_heads", "head_dim")),
        "v_pages": (v_pages, ("pages", "page_size", "kv_heads", "v_dim")),
    }
    sizes = look(rules, FLOATS)
    whole = {
        "table": (table, (sizes["batch"], "most_pages")),
        "lengths": (lengths, (sizes["batch"],)),
    }
    most_pages = look(whole, ("int32",))["most_pages"]
    batch, heads, kv_heads = sizes["batch"], sizes["heads"], sizes["kv_heads"]
    dim, dim_v, page_size = sizes["head_dim"], sizes["v_dim"], sizes["page_size"]
    if heads % kv_heads or max(dim, dim_v) > WIDEST:
        raise ValueError(
            f"q {tuple(q.shape)}, k_pages {tuple(k_pages.shape)}: heads must divide "
            f"among those of keys, and head_dim be at most {WIDEST}"
        )
    q, k_pages, v_pages = (in_one_piece(x) for x in (q, k_pages, v_pages))
    table, lengths = in_one_piece(table), in_one_piece(lengths)
    group = heads // kv_heads
    most_h, own_block, warps, stages = decode_tiles(q, dim, dim_v)
    block_h = min(max(16, next_power_of_2(group)), most_h)
    block = own_block if block is None else tile_side("block", block, 16)
    tiles_h = kv_heads * cdiv(group, block_h)
    seen = window_size(window)
    most = most_pages * page_size
    held = lengths.tolist() if device_of(lengths) == "cpu" else [most] * batch
    if min(held) < 0 or max(held) > most:
        raise ValueError(
            f"lengths from {min(held)} to {max(held)}: the table has {most_pages} "
            f"pages of {page_size} tokens for each sequence"
        )
    if device_of(lengths) == device_of(table) == "cpu":
        for row, n in zip(table, held, strict=True):
            first = max(n - (seen or n), 0) // page_size
            read = row[first : cdiv(n, page_size)].tolist()
            if read and not 0 <= min(read) <= max(read) < sizes["pages"]:
                raise ValueError(f"pages {read}: the pool has {sizes['pages']}")
    if splits is None:
        splits = splits_for(held, tiles_h, window, block=block)
    if type(splits) is not int or splits < 1:
        raise ValueError(f"splits = {splits!r}: a whole number from 1")
    part = empty(q, (splits + batch - 1, heads, dim_v), "float32")
    part_lse = empty(q, (splits + batch - 1, heads), "float32")
    out, lse = empty(q, (batch, heads, dim_v)), empty(q, (batch, heads), "float32")
    rows = {"BLOCK_B": next_power_of_2(batch), "BLOCK_K": block, "WINDOW": seen}
    rows |= {"DV": dim_v, "BLOCK_V": max(16, next_power_of_2(dim_v))}
    rows["WIDE"] = interpreted()
    own = {"GROUP": group, "D": dim, "BLOCK_H": block_h, **column_sides(dim)}
    own |= {"num_warps": warps, "num_stages": stages}
    arrays = [q, k_pages, v_pages, table, lengths, part, part_lse]
    counts = [batch, heads, kv_heads, page_size, most_pages, softmax_scale(scale, dim)]
    launch(split_kernel, (splits, tiles_h), *arrays, *counts, **rows, **own)
    arrays, counts = [part, part_lse, lengths, out, lse], [batch, heads, splits]
    launch(merge_kernel, (batch, heads), *arrays, *counts, **rows, BLOCK_S=16)
    return out, lse


def paged_decode(*asked: Any, **chosen: Any) -> Array:
    """The first that `decode_with_lse` gives, whose parameters it takes."""
    return decode_with_lse(*asked, **chosen)[0]


def splits_for(
    lengths: Sequence[int],
    kv_heads: int,
    window: int | None = None,
    *,
    block: int = 64,
) -> int:
    """Shares that fill a GPU, and no more than there are tiles: none stays idle.

    - ``lengths``: sequence of int; tokens of each sequence.
    - ``kv_heads``: int; heads of keys, times the tiles of query heads that share one.
    - ``window``, ``block``: as `decode_with_lse`.
    """
    tile_side("block", block)
    if kv_heads < 1 or min(lengths, default=0) < 0:
        raise ValueError(f"lengths {lengths}, kv_heads = {kv_heads}: from 0 and 1")
    near = window_size(window) or max(lengths, default=0)
    tiles = sum(cdiv(n, block) - max(n - near, 0) // block for n in lengths)
    return max(1, min(tiles, PROGRAMS // kv_heads))
