"""FlashAttention in torch, forward and backward, as an ``autograd.Function``.

The forward pass keeps the result and two numbers a row, its height and the sum of its
weights; the backward pass makes each tile of weights anew from them (Dao and others,
2022, algorithm 4). Their logarithm would be one number, rounded where it hurts. Heads
go many together (`tiles`), each a matrix of a batched product. All is computed in
float32, or float64 where the numbers are; half the bits are only read and written.
"""

from __future__ import annotations

from math import e, log2
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from .mask import Call, Mask
from .tiles import Tiles, tiles_of

RISE = 8.0  # log2 of how far a row's height rises before it is rescaled
WORKS_IN = dict.fromkeys((torch.float16, torch.bfloat16, torch.float32), torch.float32)
WORKS_IN[torch.float64] = torch.float64


def attend(q: Tensor, k: Tensor, v: Tensor, call: Call) -> Tensor:
    """Attention of a checked call; see `flash.flash_attention`.

    - raises ``TypeError`` for arrays that are no tensors, or numbers that are no floats
      of 16, 32 or 64 bits.
    """
    if not all(isinstance(x, Tensor) for x in (q, k, v)):
        raise TypeError("backend='torch' takes tensors: torch.from_numpy(q), ...")
    if q.dtype not in WORKS_IN:
        raise TypeError(
            f"q of {q.dtype}: the torch backend takes float16, bfloat16, float32 and "
            "float64; convert with q.float()"
        )
    found: Tensor = Flash.apply(q, k, v, call)
    return found


class Flash(torch.autograd.Function):
    """The two passes, a block of heads at a time."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, call: Call) -> Tensor:
        """Keeps q, k, v, the result and two numbers a row."""
        out, tiles = q.new_empty(q.shape), tiles_of(q, k, call)
        state = q.new_empty(2, *q.shape[:3], 1, dtype=WORKS_IN[q.dtype])
        rows = [x.unflatten(1, (-1, call.group)) for x in (q, out, *state)]
        for block in tiles.blocks():
            _forward(*(x[block] for x in rows), k[block[:2]], v[block[:2]], tiles)
        ctx.save_for_backward(q, k, v, out, state)
        ctx.tiles = tiles
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_out: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        """Gradients of q, k and v; heads add into the keys and values they share."""
        q, k, v, out, state = ctx.saved_tensors
        d_q = q.new_empty(q.shape)
        d_k, d_v = (x.new_zeros(x.shape, dtype=state.dtype) for x in (k, v))
        group = ctx.tiles.call.group
        rows = [x.unflatten(1, (-1, group)) for x in (q, out, *state, d_out, d_q)]
        for block in ctx.tiles.blocks():
            columns = (x[block[:2]].flatten(0, 1) for x in (k, v, d_k, d_v))
            _backward(*(x[block] for x in rows), *columns, ctx.tiles)
        return d_q, d_k.to(k.dtype), d_v.to(v.dtype), None


# In a block, what belongs to a query is (batch, kv_heads, group, queries, numbers); a
# tile of it is taken as (heads, rows, numbers): those that share keys are one matrix.


def _tile(x: Tensor, top: int, bottom: int, dtype: torch.dtype) -> Tensor:
    return x[..., top:bottom, :].flatten(0, 1).flatten(1, 2).to(dtype)


def _put(tile: Tensor, x: Tensor, top: int, bottom: int) -> None:
    rows = x[..., top:bottom, :]
    rows.copy_(tile.view(rows.shape))


def _forward(
    q: Tensor,
    out: Tensor,
    heights: Tensor,
    totals: Tensor,
    k: Tensor,  # (batch, kv_heads, keys, d)
    v: Tensor,
    tiles: Tiles,
) -> None:
    """One block, with the height and the sum of weights that each row ends with."""
    mask, scale, dtype = tiles.call.mask, tiles.call.scale * log2(e), heights.dtype
    k, v = k.flatten(0, 1), v.flatten(0, 1)
    memory = heights.new_empty(tiles.numbers)
    for top, bottom in tiles.steps():
        rows = _tile(q, top, bottom, dtype) * scale
        height = rows.new_full((*rows.shape[:2], 1), -torch.inf)
        base, total = torch.zeros_like(height), torch.zeros_like(height)
        sums = torch.zeros_like(rows)  # (heads, rows, d)
        for left, right in mask.runs(top, bottom, tiles.keys):
            keys, values = (x[:, left:right].to(dtype) for x in (k, v))
            scores = _scores(rows, keys, memory, mask, (top, bottom, left, right))
            highest = scores.amax(2, keepdim=True)
            if (highest > height + RISE).any():
                highest = torch.fmax(height, highest)
                base = highest.masked_fill(highest == -torch.inf, 0)
                shrink = torch.exp2(height - base)
                total *= shrink
                sums *= shrink
                height = highest
            weights = scores.sub_(base).exp2_()
            total += weights.sum(2, keepdim=True)
            sums.baddbmm_(weights, values)
        total.masked_fill_(total == 0, 1)  # a row that sees nothing
        for tile, x in ((sums / total, out), (base, heights), (total, totals)):
            _put(tile, x, top, bottom)


def _backward(
    q: Tensor,
    out: Tensor,
    heights: Tensor,
    totals: Tensor,
    d_out: Tensor,
    d_q: Tensor,
    k: Tensor,  # (heads, keys, d)
    v: Tensor,
    d_k: Tensor,
    d_v: Tensor,
    tiles: Tiles,
) -> None:
    """One block: dS = P * (dP - rowsum(dO * O)), with P made anew tile by tile."""
    mask, scale, dtype = tiles.call.mask, tiles.call.scale, heights.dtype
    memory = heights.new_empty(2, tiles.numbers)
    for top, bottom in tiles.steps():
        taken = (_tile(x, top, bottom, dtype) for x in (q, out, heights, totals, d_out))
        rows, made, height, total, weighed = taken
        rows = rows * (scale * log2(e))
        weighed = weighed / total  # dO over the sum of a row's weights
        drift = (weighed * made).sum(2, keepdim=True)
        d_rows = torch.zeros_like(rows)
        for left, right in mask.runs(top, bottom, tiles.keys):
            keys, values = (x[:, left:right].to(dtype) for x in (k, v))
            weights = _scores(rows, keys, memory[0], mask, (top, bottom, left, right))
            weights.sub_(height).exp2_()
            d_v[:, left:right].baddbmm_(weights.mT, weighed)
            d_scores = _product(weighed, values, memory[1])
            d_scores.sub_(drift).mul_(weights)
            d_k[:, left:right].baddbmm_(d_scores.mT, rows, alpha=1 / log2(e))
            d_rows.baddbmm_(d_scores, keys, alpha=scale)
        _put(d_rows, d_q, top, bottom)


def _product(rows: Tensor, columns: Tensor, memory: Tensor) -> Tensor:
    """Rows by columns, (heads, rows, columns), in memory that was used before."""
    shape = *rows.shape[:2], columns.shape[1]
    product = memory[: shape[0] * shape[1] * shape[2]].view(shape)
    return torch.bmm(rows, columns.mT, out=product)


def _scores(
    rows: Tensor,
    keys: Tensor,
    memory: Tensor,
    mask: Mask,
    at: tuple[int, int, int, int],
) -> Tensor:
    """A tile of scores, -inf where a pair does not count."""
    scores = _product(rows, keys, memory)
    if mask.cut(*at):
        top, bottom, left, right = at
        place = torch.arange(top, bottom, device=rows.device)[:, None] + mask.behind
        away = torch.arange(left, right, device=rows.device) - place
        hidden = away >= mask.ahead
        if mask.window is not None:
            hidden |= away <= -mask.window
        scores.unflatten(1, (-1, bottom - top)).masked_fill_(hidden, -torch.inf)
    return scores
