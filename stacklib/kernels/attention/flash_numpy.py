"""FlashAttention in NumPy: tiles of queries outside, tiles of keys inside, one pass.

Of the score matrix a tile of at most `SCORES` numbers exists at a time. A row carries a
reference height and, measured from it, the sum of its weights and of its weighted
values. What makes it fast: the exponential is a power of two, its factor in the
queries; tiles stand with keys down and queries across, so that heights and sums are
taken along contiguous rows; everything is written in place; tiles that a mask leaves
empty are never touched.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import e, log, log2, prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .mask import Call, Mask

TILE_Q, TILE_K = 512, 512
TILE_CUT = 256  # queries where a mask cuts: less is computed only to be masked
SCORES = TILE_Q * TILE_K  # numbers of the scores that exist at a time
# A row is rescaled only where its height has risen by a factor of 256: until then its
# weights stay in range, and the result is the same, as FlashAttention-4 has it.
RISE = 8.0  # log2 of it

Floats: TypeAlias = NDArray[Any]


def attend(q: Any, k: Any, v: Any, call: Call) -> Floats:
    """Attention of a checked call; see `flash.flash_attention`."""
    return forward(q, k, v, call)[0]


def forward(q: Any, k: Any, v: Any, call: Call) -> tuple[Floats, Floats]:
    """Attention and, for each row, the log of the sum of its weights.

    - ``q``: array, (batch, heads, queries, head_dim).
    - ``k``, ``v``: array, (batch, kv_heads, keys, head_dim).
    - ``call``: Call; from `mask.checked`.
    - gives ``out``, array, (batch, heads, queries, head_dim): in the type of ``q``.
    - gives ``lse``, array, (batch, heads, queries): log sum exp of a row's scores; -inf
      where it sees no key.
    - raises ``TypeError`` for numbers that are neither float32 nor float64.
    """
    q, k, v = np.asarray(q), np.asarray(k), np.asarray(v)
    if q.dtype not in (np.float32, np.float64):
        raise TypeError(
            f"q of {q.dtype}: the NumPy backend computes in float32 and float64; "
            "convert with q.astype(np.float32)"
        )
    (batch, _, queries, wide), kv_heads = q.shape, k.shape[1]
    out, lse = np.empty(q.shape, q.dtype), np.empty(q.shape[:3], q.dtype)
    # Heads that share keys and values get an axis of their own.
    shared = (batch, kv_heads, call.group, queries)
    q, to = q.reshape(*shared, wide), out.reshape(*shared, wide)
    lse_to = lse.reshape(shared)
    tile_q = _even(queries, TILE_Q if call.mask.all else TILE_CUT)
    tile_k = min(k.shape[2], TILE_K)
    together = max(1, SCORES // (tile_q * tile_k))
    far = _far(q, k, call.scale)
    memory = np.empty(max(SCORES, tile_q * tile_k), q.dtype)
    for one in range(batch):
        for pairs, members in _heads(kv_heads, call.group, together):
            keys, values = k[one, pairs, None], v[one, pairs, None]
            for top in range(0, queries, tile_q):
                rows = slice(top, top + tile_q)
                at = (one, pairs, members, rows)
                to[at], lse_to[at] = _rows(q[at], keys, values, call, top, far, memory)
    return out, lse


def _even(length: int, most: int) -> int:
    """A tile, so that the last of them is not much smaller: in steps of 16 numbers."""
    tiles = -(-length // most)
    return min(length, most, -(-length // tiles // 16) * 16)


def _far(q: Floats, k: Floats, scale: float) -> bool:
    """Whether a weight could be less than the least normal number.

    A power of two below it takes a hundred times as long. No two scores of a row are
    further apart than twice the product of the longest query and the longest key.
    """
    lengths = (np.einsum("...d,...d", x, x).max() ** 0.5 for x in (q, k))
    apart = 2 * abs(scale) * log2(e) * float(prod(lengths))
    return not apart + RISE < -np.finfo(q.dtype).minexp  # NaN is far too


def _heads(kv_heads: int, group: int, together: int) -> Iterator[tuple[slice, slice]]:
    """Heads of keys and values, and of the queries that share one, a few at a time."""
    members = min(group, together)
    pairs = max(1, together // group)
    for pair in range(0, kv_heads, pairs):
        for member in range(0, group, members):
            yield slice(pair, pair + pairs), slice(member, member + members)


def _rows(
    q: Floats,  # (p, g, rows, d)
    k: Floats,  # (p, 1, keys, d)
    v: Floats,
    call: Call,
    top: int,
    far: bool,
    memory: Floats,
) -> tuple[Floats, Floats]:
    """A tile of queries over all keys that it sees: its result, and log sum exp."""
    *heads, rows, wide = q.shape
    factor = q.dtype.type(call.scale * log2(e))
    turned = np.multiply(q.swapaxes(-1, -2), factor, order="C")  # (p, g, d, rows)
    # Rows are measured from their height; from 0 while they have seen nothing.
    height = np.full((*heads, 1, rows), -np.inf, q.dtype)
    base = np.zeros_like(height)
    total = np.zeros_like(height)
    sums = np.zeros((*heads, rows, wide), q.dtype)
    product = np.empty_like(sums)
    ones = np.ones((1, TILE_K), q.dtype)
    least = np.full(rows, np.finfo(q.dtype).minexp, q.dtype)  # a row: twice as fast
    with np.errstate(invalid="ignore"):
        for left, right in call.mask.runs(top, top + rows, TILE_K):
            shape = (*heads, right - left, rows)
            scores = memory[: prod(shape)].reshape(shape)
            cover = _cover_of(call.mask, top, rows, left, right, q.dtype)
            # -- scores ----
            np.matmul(k[..., left:right, :], turned, out=scores)
            if cover is not None:
                np.fmin(scores, cover[0], out=scores)
            # -- heights, seldom raised ----
            highest = scores.max(axis=-2, keepdims=True)
            if (highest > height + RISE).any():
                highest = np.fmax(height, highest)
                base = np.where(highest == -np.inf, 0, highest)
                shrink = np.exp2(height - base)
                total *= shrink
                sums *= shrink.swapaxes(-1, -2)
                height = highest
            # -- weights ----
            np.subtract(scores, base, out=scores)
            if far or cover is not None:
                np.maximum(scores, least, out=scores)
            np.exp2(scores, out=scores)
            if cover is not None:
                np.minimum(scores, cover[1], out=scores)
            # -- what they weigh ----
            total += np.matmul(ones[:, : right - left], scores)
            np.matmul(scores.swapaxes(-1, -2), v[..., left:right, :], out=product)
            sums += product
        blind = (height == -np.inf) & (total == total)  # rows that see nothing
        total[blind] = 1
        sums /= total.swapaxes(-1, -2)
        sums[blind[..., 0, :]] = 0
        lse = (height + np.log2(total)) * log(2)
    return sums, lse[..., 0, :]


def _cover_of(
    mask: Mask, top: int, rows: int, left: int, right: int, dtype: Any
) -> tuple[Floats, Floats] | None:
    """A tile's mask as `_cover` gives it; None where all of its pairs count."""
    if not mask.cut(top, top + rows, left, right):
        return None
    reach = mask.ahead, mask.window or mask.queries + mask.keys
    return _cover(top + mask.behind - left, rows, right - left, *reach, dtype)


@lru_cache(maxsize=4)  # the tiles along a diagonal share one
def _cover(
    place: int, rows: int, keys: int, ahead: int, behind: int, dtype: Any
) -> tuple[Floats, Floats]:
    """The most that scores and weights of a tile may be, (keys, rows) each.

    inf where a pair counts; where it does not, -inf for a score and 0 for a weight.
    ``place``: of the first row, counted from the first key of the tile.
    """
    away = np.arange(keys)[:, None] - (np.arange(rows) + place)
    cover = np.where((away < ahead) & (away > -behind), np.inf, -np.inf).astype(dtype)
    return cover, np.maximum(cover, 0)
