"""Tiled attention and tiled products that are computed, with every access recorded.

Arrays lie in one stretch of memory. A tile is loaded and stored through a `Recorder`,
which looks where its rows really are and notes the lines. The blocks are coroutines:
in each step every slot of the chip runs its block as far as the next tile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from stacklib.quantity.bounds import whole

from ..tile.tiling import TiledMatmul
from .attention_trace import TiledAttention, Trace

Floats: TypeAlias = NDArray[np.floating]


class Recorder:
    """Arrays in one stretch of memory, and the lines of it that were touched.

    ``line``: bytes of a line.
    """

    def __init__(self, arrays: Mapping[str, Floats], line: int) -> None:
        whole(line=line)
        self.line = line
        self._memory = np.zeros(sum(a.nbytes for a in arrays.values()), np.uint8)
        self._base: int = self._memory.__array_interface__["data"][0]
        self.views: dict[str, Floats] = {}
        self._lines: list[NDArray[np.int64]] = []
        self._wrote: list[bool] = []
        # The arrays lie one behind the other, row by row, in this order.
        at = 0
        for name, array in arrays.items():
            part = self._memory[at : at + array.nbytes]
            self.views[name] = part.view(array.dtype).reshape(array.shape)
            self.views[name][...] = array
            at += array.nbytes

    def load(self, tile: Floats) -> Floats:
        """A copy of a tile (rows, columns), a part of one of the ``views``."""
        self._note(tile, False)
        return tile.copy()

    def store(self, tile: Floats, values: Floats) -> None:
        """Write ``values`` over a tile."""
        self._note(tile, True)
        tile[...] = values

    def _note(self, tile: Floats, wrote: bool) -> None:
        first = tile.__array_interface__["data"][0] - self._base
        starts = first + np.arange(tile.shape[0]) * tile.strides[0]
        within = np.arange(tile.shape[1]) * tile.strides[1]
        found = (starts[:, None] + within).ravel() // self.line
        lines = np.unique(found)
        self._lines.append(lines * self.line)
        self._wrote += [wrote] * len(lines)

    def trace(self) -> Trace:
        """What was touched so far."""
        return Trace(np.concatenate(self._lines), np.array(self._wrote))


def _run(blocks: Iterable[Iterator[None]], at_once: int) -> None:
    """Run blocks in ``at_once`` slots, a step each in turn; a free slot takes more."""
    waiting = iter(blocks)
    slots: list[Iterator[None] | None] = [None] * at_once
    while True:
        slots = [next(waiting, None) if b is None else b for b in slots]
        if not any(slots):
            return
        for slot, block in enumerate(slots):
            if block is not None and next(block, "done") == "done":
                slots[slot] = None


def attend(
    plan: TiledAttention,
    q: Floats,  # (heads, queries, head_dim) queries, of ``plan.width`` bytes a number
    k: Floats,  # (kv_heads, keys, head_dim) keys
    v: Floats,  # (kv_heads, keys, head_dim) values
    *,
    at_once: int,
    section: int = 1,
    longest_first: bool = False,
    line: int = 128,
) -> tuple[Floats, Trace]:
    """Attention, computed as the plan says: softmax(q k^T / sqrt(d)) v.

    Each block keeps the running maximum and sum of its rows, and scales what it has so
    far when the maximum rises (Milakov and Gimelshein, 2018).
    """
    shapes = {
        "q": (plan.heads, plan.queries, plan.head_dim),
        "k": (plan.kv_heads, plan.keys, plan.head_dim),
        "v": (plan.kv_heads, plan.keys, plan.head_dim),
    }
    arrays = {"q": q, "k": k, "v": v}
    _check(arrays, shapes, plan.width)
    recorder = Recorder({**arrays, "o": np.zeros_like(q)}, line)
    order = plan.order(section, longest_first)
    _run((_attention(plan, recorder, head, tile) for head, tile in order), at_once)
    return recorder.views["o"].copy(), recorder.trace()


def _attention(
    plan: TiledAttention, recorder: Recorder, head: int, tile: int
) -> Iterator[None]:
    """One block: a tile of queries over all keys it sees, a tile of them a step."""
    view = recorder.views
    shared = head // plan.group
    rows = slice(tile * plan.tile_q, (tile + 1) * plan.tile_q)
    queries = recorder.load(view["q"][head, rows])  # (tile_q, d)
    most = np.full((plan.tile_q, 1), -np.inf)
    total = np.zeros((plan.tile_q, 1))
    sums = np.zeros((plan.tile_q, plan.head_dim))
    for step in range(plan.steps(tile)):
        if step:
            yield
        seen = slice(step * plan.tile_k, (step + 1) * plan.tile_k)
        keys = recorder.load(view["k"][shared, seen])  # (tile_k, d)
        values = recorder.load(view["v"][shared, seen])
        scores = queries @ keys.T / np.sqrt(plan.head_dim)  # (tile_q, tile_k)
        if plan.causal:
            after = (
                np.arange(seen.start, seen.stop)
                > np.arange(*rows.indices(plan.queries))[:, None]
            )
            scores = np.where(after, -np.inf, scores)
        highest = np.maximum(most, scores.max(axis=1, keepdims=True))
        shares, shrink = np.exp(scores - highest), np.exp(most - highest)
        total = total * shrink + shares.sum(axis=1, keepdims=True)
        sums = sums * shrink + shares @ values
        most = highest
    recorder.store(view["o"][head, rows], sums / total)


def multiply(
    plan: TiledMatmul,
    x: Floats,  # (m, k) operands
    w: Floats,  # (m, k) of ``plan.width`` bytes a number
    *,
    how: str = "row",
    group: int = 8,
    at_once: int = 1,
    line: int = 128,
) -> tuple[Floats, Trace]:
    """The product x w, block by block, with what its blocks read, (m, n)."""
    arrays = {"x": x, "w": w}
    _check(arrays, {"x": (plan.m, plan.k), "w": (plan.k, plan.n)}, plan.width)
    recorder = Recorder(arrays, line)
    y = np.zeros((plan.m, plan.n), np.result_type(x, w))
    order = plan.order(how, group)
    _run((_product(plan, recorder, y, row, column) for row, column in order), at_once)
    return y, recorder.trace()


def _product(
    plan: TiledMatmul, recorder: Recorder, y: Floats, row: int, column: int
) -> Iterator[None]:
    """One block: a band of x times a band of w, a tile of each a step."""
    for rows, within, columns in plan.steps(row, column):
        if within.start:
            yield
        left = recorder.load(recorder.views["x"][rows, within])
        right = recorder.load(recorder.views["w"][within, columns])
        y[rows, columns] += left @ right


def _check(
    arrays: Mapping[str, Floats], shapes: Mapping[str, tuple[int, ...]], width: int
) -> None:
    for name, array in arrays.items():
        if array.shape != shapes[name]:
            raise ValueError(f"{name} is {array.shape}: the plan says {shapes[name]}")
        if array.dtype.kind != "f" or array.dtype.itemsize != width:
            raise ValueError(
                f"{name} is of {array.dtype}: the plan says floats of {width} bytes"
            )
