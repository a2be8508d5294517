"""Attention in tiles that is computed while every load and store is recorded.

The same two orders of loops as `count.io_count`, run on arrays that lie in one stretch
of memory: what is counted is what the run really touched.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stacklib.memory.cache.attention_trace import Trace
from stacklib.memory.cache.recorded import Recorder
from stacklib.quantity import resolve
from stacklib.quantity.bounds import whole

from .count import ORDERS
from .mask import Mask

Floats: TypeAlias = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Recorded:
    """A run: its result and every line it touched."""

    out: Floats  # (tokens, head_dim)
    trace: Trace
    read: dict[str, int]  # bytes of the lines, by tensor
    written: dict[str, int]


def record(
    q: Floats,
    k: Floats,
    v: Floats,
    *,
    tile_q: int,
    tile_k: int,
    causal: bool = False,
    order: str = "fa2",
    line: int | None = None,
) -> Recorded:
    """One head's attention in tiles, and what it asked for.

    - ``q``, ``k``, ``v``: array, (tokens, head_dim).
    - ``tile_q``, ``tile_k``: int; rows of a tile; the last may be smaller.
    - ``causal``: bool; whether a query sees only keys that are not after it.
    - ``order``: str; ``fa2`` or ``fa1``, as `count.io_count`.
    - ``line``: int, optional; bytes of an access; those of a number if left out, so
      that bytes are exact.
    - raises ``ValueError`` for tiles that make no sense.
    - raises ``UnknownName`` for another order.
    """
    whole(tile_q=tile_q, tile_k=tile_k)
    loops = {"fa2": _queries_outside, "fa1": _keys_outside}[
        resolve(order, ORDERS, "order")
    ]
    # Height and sum in float32, in words of q's width: a line is then never less.
    state = np.zeros((len(q), 2), np.float32).view(q.dtype)
    arrays = {"q": q, "k": k, "v": v, "o": np.zeros_like(q), "state": state}
    recorder = Recorder(arrays, line or q.itemsize)
    mask = Mask(len(q), len(k), causal)
    loops(recorder, mask, tile_q, tile_k)
    trace = recorder.trace()
    ends = np.cumsum([array.nbytes for array in arrays.values()])
    which: NDArray[Any] = np.searchsorted(ends, trace.addresses, side="right")

    def moved(stores: bool) -> dict[str, int]:
        counts = np.bincount(which[trace.stores == stores], minlength=len(arrays))
        named = zip(arrays, counts.tolist(), strict=True)
        return {name: count * recorder.line for name, count in named if count}

    out = recorder.views["o"].copy()
    return Recorded(out, trace, moved(False), moved(True))


def _queries_outside(recorder: Recorder, mask: Mask, tile_q: int, tile_k: int) -> None:
    """FlashAttention-2: a row's state stays on the chip."""
    view = recorder.views
    for top in range(0, mask.queries, tile_q):
        rows = slice(top, min(top + tile_q, mask.queries))
        queries = recorder.load(view["q"][rows])
        state = _nothing(queries)
        for left, right in mask.steps(rows.start, rows.stop, tile_k):
            keys = recorder.load(view["k"][left:right])
            values = recorder.load(view["v"][left:right])
            state = _step(mask, rows, left, queries, keys, values, *state)
        recorder.store(view["o"][rows], state[2])


def _keys_outside(recorder: Recorder, mask: Mask, tile_q: int, tile_k: int) -> None:
    """FlashAttention-1: a row's result and state go out and come back each time."""
    view = recorder.views
    for left in range(0, mask.keys, tile_k):
        keys = recorder.load(view["k"][left : left + tile_k])
        values = recorder.load(view["v"][left : left + tile_k])
        for top in range(0, mask.queries, tile_q):
            rows = slice(top, min(top + tile_q, mask.queries))
            if mask.last(rows.stop - 1) <= left:
                continue
            queries = recorder.load(view["q"][rows])
            state = _nothing(queries)
            if left:
                both = recorder.load(view["state"][rows]).view(np.float32)
                state = both[:, :1], both[:, 1:], recorder.load(view["o"][rows])
            most, total, out = _step(mask, rows, left, queries, keys, values, *state)
            both = np.hstack([most, total]).astype(np.float32)
            recorder.store(view["state"][rows], both.view(queries.dtype))
            recorder.store(view["o"][rows], out)


def _nothing(queries: Floats) -> tuple[Floats, Floats, Floats]:
    """Height, sum and result of rows that have seen no key."""
    column = (len(queries), 1)
    return np.full(column, -np.inf), np.zeros(column), np.zeros(queries.shape)


def _step(
    mask: Mask,
    rows: slice,
    left: int,
    queries: Floats,
    keys: Floats,
    values: Floats,
    most: Floats,
    total: Floats,
    out: Floats,
) -> tuple[Floats, Floats, Floats]:
    """A tile of keys more: height, sum and result so far, (rows, 1 or head_dim)."""
    scores = np.float64(queries.shape[1]) ** -0.5 * queries @ keys.T
    if mask.causal:
        place: NDArray[Any] = np.arange(rows.start, rows.stop)[:, None] + mask.behind
        scores = np.where(np.arange(left, left + len(keys)) > place, -np.inf, scores)
    highest = np.maximum(most, scores.max(axis=1, keepdims=True))
    base = np.where(highest == -np.inf, 0, highest)
    weights, shrink = np.exp(scores - base), np.exp(most - base)
    more = total * shrink + weights.sum(axis=1, keepdims=True)
    found = (out * (total * shrink) + weights @ values) / np.where(more == 0, 1, more)
    return highest, more, found
