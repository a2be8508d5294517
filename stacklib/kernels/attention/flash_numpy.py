"""FlashAttention in NumPy: tiles of queries outside, tiles of keys inside, one pass.

Of the score matrix a tile of at most `tiles.NUMBERS` exists at a time. A row carries a
reference height and, measured from it, the sum of its weights and of its weighted
values. What makes it fast: heights are left out where no score can be high; sums are a
product with ones; small heads go together; everything is written in place; tiles that a
mask leaves empty are never touched.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from math import log, prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .mask import Call, Mask
from .tiles import Tiles, tiles_of

Floats: TypeAlias = NDArray[Any]


def attend(q: Any, k: Any, v: Any, call: Call) -> tuple[Floats, Floats]:
    """Attention and, for each row, the log of the sum of its weights.

    - ``q``: array, (batch, heads, queries, head_dim).
    - ``k``: array, (batch, kv_heads, keys, head_dim).
    - ``v``: array, (batch, kv_heads, keys, value_dim).
    - ``call``: Call; from `mask.checked`.
    - gives ``out``, array, (batch, heads, queries, value_dim): in the type of ``q``.
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
    lse = np.empty(q.shape[:3], q.dtype)
    out = np.empty((*q.shape[:3], v.shape[3]), q.dtype)
    tiles, rise = tiles_of(k, v, call), _rise(v)
    low = _farthest(q, k, call.scale) < rise  # not where either is NaN
    # Heads that share keys and values get an axis of their own.
    shared = tiles.batch, tiles.kv_heads, call.group
    q, to, lse_to = (x.reshape(*shared, *x.shape[2:]) for x in (q, out, lse))
    memory = np.empty(tiles.numbers, q.dtype)
    cover = cache(partial(_cover, call.mask))
    for block in tiles.blocks():
        keys, values = k[block[:2]], v[block[:2]]
        for top, bottom in tiles.steps():
            at = (*block, slice(top, bottom))
            ins = q[at], keys, values, tiles, top
            to[at], lse_to[at] = _rows(*ins, rise, low, cover, memory)
    return out, lse


def _rise(v: Floats) -> float:
    """How far from a row's height its scores may be before it is measured from another.

    Until then neither a weight nor a sum of weighed values leaves the normal numbers,
    nor loses a digit: the result is the same. FlashAttention-4 waits for a factor of
    256; float32 has room for more, as far as values are ordinary.
    """
    largest, about = float(max(v.max(), -v.min())), np.finfo(v.dtype)
    if not 0 < largest < np.inf:
        return log(256)
    room = -(about.minexp + about.nmant) * log(2) - log(v.shape[2])
    return max(log(256), room - abs(log(largest)))


def _farthest(q: Floats, k: Floats, scale: float) -> float:
    """No score is further from 0 than the longest query times the longest key."""
    squares = (float(np.einsum("...d,...d", x, x).max()) for x in (q, k))
    return abs(scale) * prod(squares) ** 0.5


def _rows(
    q: Floats,  # (b, h, g, rows, d)
    k: Floats,  # (b, h, keys, d)
    v: Floats,
    tiles: Tiles,
    top: int,
    rise: float,
    low: bool,  # no row needs a height
    cover: Callable[[int, int, int], Floats],
    memory: Floats,
) -> tuple[Floats, Floats]:
    """A tile of queries over all keys that it sees: its result, and log sum exp."""
    mask, (*heads, rows, _) = tiles.call.mask, q.shape
    q, k, v = q * q.dtype.type(tiles.call.scale), k[:, :, None], v[:, :, None]
    # Rows are measured from their height; from 0 while they have seen nothing.
    height = np.full((*heads, rows, 1), -np.inf, q.dtype)
    base, total = np.zeros_like(height), np.zeros_like(height)
    sums = np.zeros((*heads, rows, v.shape[-1]), q.dtype)
    product, ones = np.empty_like(sums), np.ones((tiles.keys, 1), q.dtype)
    with np.errstate(invalid="ignore", divide="ignore"):
        for left, right in mask.runs(top, top + rows, tiles.keys):
            shape = (*heads, rows, right - left)
            scores = memory[: prod(shape)].reshape(shape)
            # -- scores ----
            np.matmul(q, k[..., left:right, :].swapaxes(-1, -2), out=scores)
            if mask.cut(top, top + rows, left, right):
                hidden = cover(top + mask.behind - left, rows, right - left)
                np.copyto(scores, -np.inf, where=hidden)
            # -- heights, seldom raised ----
            if not low:
                height = np.fmax(height, scores.max(axis=-1, keepdims=True))
                if (abs(height - base) > rise).any():
                    before, base = base, np.where(height == -np.inf, base, height)
                    shrink = np.exp(np.minimum(before - base, 0))
                    total *= shrink
                    sums *= shrink
            # -- weights ----
            if base.any():
                np.subtract(scores, base, out=scores)
            np.exp(scores, out=scores)
            # -- what they weigh ----
            total += np.matmul(scores, ones[: right - left])
            np.matmul(scores, v[..., left:right, :], out=product)
            sums += product
        lse = base + np.log(total)  # -inf where a row sees nothing
        total[total == 0] = 1
        sums /= total
    return sums, lse[..., 0]


def _cover(mask: Mask, place: int, rows: int, keys: int) -> NDArray[np.bool_]:
    """Which pairs of a tile do not count, (rows, keys).

    - ``place``: of the first row, counted from the first key of the tile.
    """
    away = np.arange(keys) - (np.arange(rows)[:, None] + place)
    hidden: NDArray[np.bool_] = away >= mask.ahead
    return hidden if mask.window is None else hidden | (away <= -mask.window)
