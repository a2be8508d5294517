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

from dataclasses import dataclass
from typing import Any

from .host_triton import (
    FLOATS,
    FP8,
    INTERPRETED,
    Array,
    cdiv,
    dtype_of,
    empty,
    in_one_piece,
    interpreted,
    jit,
    launch,
    look,
    narrow,
    next_power_of_2,
    product,
    tile_side,
    tl,
    tuned,
    tunes,
)

LOG2_E = 1.4426950408889634
WIDEST = 256  # columns of a head
SIDES, KEY = ("BLOCK_Q", "BLOCK_K"), ("D", "CAUSAL", "WINDOW", "BOOST")
Tiles = tuple[tuple[int, int, int, int], ...]
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


@dataclass(frozen=True, slots=True)
class Lengths:
    """Sequences of different lengths, packed: (tokens, heads, head_dim)."""

    q_starts: Array  # int32, one more than sequences: where each one's queries start
    k_starts: Array
    most_queries: int  # of any of them

    def __post_init__(self) -> None:
        shapes = tuple(self.q_starts.shape), tuple(self.k_starts.shape)
        if len(shapes[0]) != 1 or shapes[0] != shapes[1] or shapes[0][0] < 2:
            raise ValueError(
                f"q_starts {shapes[0]}, k_starts {shapes[1]}: two lists of one length, "
                "one more than there are sequences"
            )
        for name, starts in (("q", self.q_starts), ("k", self.k_starts)):
            if dtype_of(starts) != "int32":
                raise TypeError(f"{name}_starts is {dtype_of(starts)}: int32 is needed")


@dataclass(frozen=True, slots=True)
class Places:
    """Where heads and tokens of an operand lie: steps in elements."""

    batch: int
    head: int
    token: int


@dataclass(frozen=True, slots=True)
class Shapes:
    """Sizes of a call, and the steps through its operands."""

    batch: int
    heads: int
    kv_heads: int
    queries: int  # of the longest sequence
    keys: int
    dim: int
    q: Places
    k: Places
    lse: Places
    lse_shape: tuple[int, ...]  # without the two planes

    @property
    def rows(self) -> int:
        """Rows of scores: elements of a plane of the logarithms."""
        found = 1
        for size in self.lse_shape:
            found *= size
        return found

    @property
    def block_d(self) -> int:
        """Columns of a tile."""
        return max(16, next_power_of_2(self.dim))


def shapes_of(q: Array, k: Array, v: Array, lengths: Lengths | None = None) -> Shapes:
    """Sizes of q, k and v, held against one another.

    Raises
    ------
    ValueError, TypeError
        For shapes and formats that do not fit; the message has all of them.
    """
    packed = lengths is not None
    lead = () if packed else ("batch",)
    axes = ("queries", "heads") if packed else ("heads", "queries")
    kv_axes = ("keys", "kv_heads") if packed else ("kv_heads", "keys")
    rules = {
        "q": (q, (*lead, *axes, "head_dim")),
        "k": (k, (*lead, *kv_axes, "head_dim")),
        "v": (v, (*lead, *kv_axes, "head_dim")),
    }
    sizes = look(rules, (*FLOATS, *FP8))
    heads, kv_heads, dim = sizes["heads"], sizes["kv_heads"], sizes["head_dim"]
    if heads % kv_heads:
        raise ValueError(
            f"q {tuple(q.shape)}, k {tuple(k.shape)}: {heads} query heads do not "
            f"divide among {kv_heads} heads of keys"
        )
    if dim > WIDEST:
        raise ValueError(f"q {tuple(q.shape)}: head_dim is at most {WIDEST}")
    S, T = sizes["queries"], sizes["keys"]
    if lengths is not None:
        batch = int(lengths.q_starts.shape[0]) - 1
        steps = Places(0, dim, heads * dim), Places(0, dim, kv_heads * dim)
        most, lse = lengths.most_queries, Places(0, S, 1)
        return Shapes(batch, heads, kv_heads, most, T, dim, *steps, lse, (heads, S))
    batch = sizes["batch"]
    q_steps = Places(heads * S * dim, S * dim, dim)
    k_steps = Places(kv_heads * T * dim, T * dim, dim)
    lse, shape = Places(heads * S, S, 1), (batch, heads, S)
    return Shapes(batch, heads, kv_heads, S, T, dim, q_steps, k_steps, lse, shape)


def rows_for(table: dict[int, Tiles], dim: int) -> Tiles:
    """The tiles for heads of so many columns."""
    return next(rows for most, rows in table.items() if dim <= most)


def tiles_for(
    table: dict[int, Tiles],
    dim: int,
    queries: int,
    keys: int,
    blocks: tuple[int, int] | None,
) -> dict[str, int]:
    """Sides of the tiles and how a program is built, from a table or as asked."""
    block_q, block_k, warps, stages = rows_for(table, dim)[0]
    if blocks is not None:
        block_q, block_k = (tile_side("blocks", side, 16) for side in blocks)
    elif INTERPRETED:  # no registers there: fewer, larger tiles are sooner done
        block_q, block_k = 128, 128
    block_q = min(block_q, max(16, next_power_of_2(queries)))
    block_k = min(block_k, max(16, next_power_of_2(keys)))
    sides = {"BLOCK_Q": block_q, "BLOCK_K": block_k}
    return {**sides, "num_warps": warps, "num_stages": stages}


def spread(
    kernel: Any,
    table: dict[int, Tiles],
    key: tuple[str, ...],
    sizes: Shapes,
    along: str,
    many: int,
    blocks: tuple[int, int] | None,
    args: tuple[Any, ...],
    meta: dict[str, Any],
) -> None:
    """Start a kernel on ``many`` heads times the tiles along one side.

    The tiles are those asked for; else a GPU measures the table's; else the first.
    """
    length = sizes.queries if along == "BLOCK_Q" else sizes.keys
    if blocks is None and tunes(args[0]):
        kernel = tuned(kernel, SIDES, rows_for(table, sizes.dim), key)
        launch(kernel, lambda m: (cdiv(length, m[along]), many), *args, **meta)
        return
    held = tiles_for(table, sizes.dim, sizes.queries, sizes.keys, blocks)
    launch(kernel, (cdiv(length, held[along]), many), *args, **held, **meta)


def softmax_scale(scale: float | None, dim: int) -> float:
    """What scores are multiplied by; 1 / sqrt(head_dim) if left out."""
    found = dim**-0.5 if scale is None else float(scale)
    if not 0 < found < float("inf"):
        raise ValueError(f"scale = {scale!r}: a finite number above zero is needed")
    return found


def window_size(window: int | None) -> int:
    """A window as kernels take it; 0 is none."""
    if window is None:
        return 0
    if int(window) != window or window < 1:
        raise ValueError(f"window = {window!r}: a whole number from 1")
    return int(window)


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

    Parameters
    ----------
    q : array (batch, heads, queries, head_dim)
    k, v : array (batch, kv_heads, keys, head_dim)
        Fewer heads than q for GQA and MQA. With ``lengths`` all are packed:
        (tokens, heads, head_dim). float32, float16, bfloat16 or an FP8 format.
    causal : bool
    window : int, optional
        Keys less than so many places away are seen.
    scale : float, optional
        Of the scores, above zero; 1 / sqrt(head_dim) if left out.
    lengths : Lengths, optional
        Where each sequence starts.
    fp8_scale, v_scale : float
        What one unit of q times k, and of v, stands for: FP8 operands are scaled.
    blocks : tuple of int, optional
        Rows of a tile of queries and of keys; powers of two from 16.

    Returns
    -------
    out : array, as q; bfloat16 for FP8
    lse : array (2, batch, heads, queries), float32
        The logarithms, -inf in a row that sees no key; and what is left of each beyond
        float32, by which the gradients of float32 are as good as those without it.
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
    steps = (*_steps(sizes.q), *_steps(sizes.k), *lse_steps(sizes))
    args = (q, k, v, out, lse, *starts, *counts, *steps)
    many = sizes.batch * sizes.heads
    spread(forward_kernel, TILES, KEY, sizes, "BLOCK_Q", many, blocks, args, meta)
    return out, lse


def lse_steps(sizes: Shapes) -> tuple[int, int, int]:
    """Steps through the logarithms: batch, head, plane."""
    return sizes.lse.batch, sizes.lse.head, sizes.rows


def _steps(places: Places) -> tuple[int, int, int]:
    return places.batch, places.head, places.token
