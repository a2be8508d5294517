"""FlashAttention in torch, forward and backward, as an ``autograd.Function``.

The forward pass keeps the result and two numbers a row, its height and the sum of its
weights; the backward pass makes each tile of weights anew from them (Dao and others,
2022, algorithm 4). Their logarithm would be one number, rounded where it hurts. Heads
go many together (`tiles`), each a matrix of a batched product. All is computed in
float32, or float64 where the numbers are; half the bits are only read and written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import log, prod
from typing import Any

import torch
from torch import Tensor

from .mask import Call
from .tiles import COLUMNS, Tiles, tiles_of

RISE = log(256)  # how far a row's height rises before it is rescaled
WORKS_IN = dict.fromkeys((torch.float16, torch.bfloat16, torch.float32), torch.float32)
WORKS_IN[torch.float64] = torch.float64


def attend(q: Tensor, k: Tensor, v: Tensor, call: Call) -> tuple[Tensor, Tensor]:
    """Attention of a checked call, and the log sum exp of its rows' scores.

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
    out, lse = Flash.apply(q, k, v, call)
    return out, lse


class Flash(torch.autograd.Function):
    """The two passes, a block of heads at a time."""

    @staticmethod
    def forward(
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, call: Call
    ) -> tuple[Tensor, Tensor]:
        """Keeps q, k, v, the result and two numbers a row."""
        out, pad = q.new_empty(*q.shape[:3], v.shape[3]), _pad(q, k, v, call, 1)
        state = q.new_empty(3, *q.shape[:3], 1, dtype=pad.dtype)
        rows = [x.unflatten(1, (-1, call.group)) for x in (q, out, *state)]
        for block in pad.tiles.blocks():
            columns = [x[block[:2]].flatten(0, 1) for x in (k, v)]
            _forward([x[block] for x in rows], columns, pad)
        ctx.save_for_backward(q, k, v, out, state[:2])
        ctx.call, lse = call, state[2, ..., 0]
        ctx.mark_non_differentiable(lse)
        return out, lse

    @staticmethod
    def backward(
        ctx: Any, d_out: Tensor, _: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, None]:
        """Gradients of q, k and v; heads add into the keys and values they share."""
        if torch.is_grad_enabled():  # or what it adds would be left out in silence
            raise NotImplementedError("create_graph=True: no second derivatives here")
        q, k, v, out, state = ctx.saved_tensors
        d_q, pad = q.new_empty(q.shape), _pad(q, k, v, ctx.call, 2)
        d_k, d_v = (x.new_zeros(x.shape, dtype=pad.dtype) for x in (k, v))
        taken = (q, out, *state, d_out, d_q)
        rows = [x.unflatten(1, (-1, ctx.call.group)) for x in taken]
        for block in pad.tiles.blocks():
            columns = [x[block[:2]].flatten(0, 1) for x in (k, v, d_k, d_v)]
            _backward([x[block] for x in rows], columns, pad)
        return d_q, d_k.to(k.dtype), d_v.to(v.dtype), None


@dataclass(frozen=True, slots=True)
class Pad:
    """What all tiles of a pass use again: memory, and the mask of a diagonal."""

    tiles: Tiles
    dtype: torch.dtype
    memory: Tensor  # (1 or 2, numbers): tiles of scores
    columns: Tensor  # (2, numbers): keys and values, where their type is another
    cover: Callable[[int, int, int], Tensor]


def _pad(q: Tensor, k: Tensor, v: Tensor, call: Call, products: int) -> Pad:
    tiles, dtype = tiles_of(k, v, call), WORKS_IN[q.dtype]
    memory = q.new_empty(products, tiles.numbers, dtype=dtype)
    widest = max(k, v, key=Tensor.numel)
    most = min(widest.numel(), max(COLUMNS, tiles.keys * widest.shape[3]))
    other = 0 if q.dtype == dtype else most

    @cache
    def cover(place: int, rows: int, keys: int) -> Tensor:
        """The most that scores of a tile may be: inf, or -inf where none counts."""
        down = torch.arange(place, place + rows, device=q.device)[:, None]
        away = torch.arange(keys, device=q.device) - down
        hidden = away >= call.mask.ahead
        if call.mask.window is not None:
            hidden |= away <= -call.mask.window
        return torch.where(hidden, -torch.inf, torch.inf).to(dtype)

    return Pad(tiles, dtype, memory, memory.new_empty(2, other), cover)


# In a block, what belongs to a query is (batch, kv_heads, group, queries, numbers); a
# tile of it is taken as (heads, rows, numbers): those that share keys are one matrix.


def _tile(x: Tensor, top: int, bottom: int, dtype: torch.dtype) -> Tensor:
    return x[..., top:bottom, :].flatten(0, 1).flatten(1, 2).to(dtype)


def _put(tile: Tensor, x: Tensor, top: int, bottom: int) -> None:
    rows = x[..., top:bottom, :]
    rows.copy_(tile.view(rows.shape))


def _forward(of_rows: list[Tensor], of_keys: list[Tensor], pad: Pad) -> None:
    """One block, with each row's height, sum of weights, and log of the sum."""
    (q, out, *state), (k, v), mask = of_rows, of_keys, pad.tiles.call.mask
    for top, bottom in pad.tiles.steps():
        rows = _tile(q, top, bottom, pad.dtype)
        height = rows.new_full((*rows.shape[:2], 1), -torch.inf)
        base, total = torch.zeros_like(height), torch.zeros_like(height)
        sums = rows.new_zeros(*rows.shape[:2], v.shape[2])
        for left, right in mask.runs(top, bottom, pad.tiles.keys):
            keys, values = _columns((k, v), left, right, pad)
            scores = _scores(rows, keys, (top, bottom, left, right), pad)
            highest = scores.amax(2, keepdim=True)
            if (highest > height + RISE).any():
                highest = torch.fmax(height, highest)
                base = highest.masked_fill(highest == -torch.inf, 0)
                shrink = torch.exp(height - base)
                total *= shrink
                sums *= shrink
                height = highest
            weights = scores.sub_(base).exp_()
            total += weights.sum(2, keepdim=True)
            sums.baddbmm_(weights, values)
        lse = base + total.log()  # -inf where a row sees nothing
        total.masked_fill_(total == 0, 1)
        tiles = sums.div_(total), base, total, lse
        for tile, x in zip(tiles, (out, *state), strict=True):
            _put(tile, x, top, bottom)


def _backward(of_rows: list[Tensor], of_keys: list[Tensor], pad: Pad) -> None:
    """One block: dS = P * (dP - rowsum(dO * O)), with P made anew tile by tile."""
    mask, scale = pad.tiles.call.mask, pad.tiles.call.scale
    (*taken, d_q), (k, v, d_k, d_v) = of_rows, of_keys
    for top, bottom in pad.tiles.steps():
        tile = (_tile(x, top, bottom, pad.dtype) for x in taken)
        rows, made, height, total, weighed = tile
        weighed = weighed / total  # dO over the sum of a row's weights
        drift = (weighed * made).sum(2, keepdim=True)
        d_rows = torch.zeros_like(rows)
        for left, right in mask.runs(top, bottom, pad.tiles.keys):
            keys, values = _columns((k, v), left, right, pad)
            weights = _scores(rows, keys, (top, bottom, left, right), pad)
            weights.sub_(height).exp_()
            d_v[:, left:right].baddbmm_(weights.mT, weighed)
            d_scores = _product(weighed, values, 1.0, pad.memory[1])
            d_scores.sub_(drift).mul_(weights)
            d_k[:, left:right].baddbmm_(d_scores.mT, rows, alpha=scale)
            d_rows.baddbmm_(d_scores, keys, alpha=scale)
        _put(d_rows, d_q, top, bottom)


def _columns(
    given: tuple[Tensor, Tensor], left: int, right: int, pad: Pad
) -> tuple[Tensor, ...]:
    """Keys and values of a tile, in the type that is computed in."""
    parts = tuple(x[:, left:right] for x in given)
    if parts[0].dtype == pad.dtype:
        return parts
    pairs = zip(pad.columns, parts, strict=True)
    return tuple(place[: x.numel()].view(x.shape).copy_(x) for place, x in pairs)


def _product(rows: Tensor, columns: Tensor, scale: float, memory: Tensor) -> Tensor:
    """Rows by columns, (heads, rows, columns), in memory that was used before."""
    shape = *rows.shape[:2], columns.shape[1]
    out = memory[: prod(shape)].view(shape)
    return torch.baddbmm(out, rows, columns.mT, beta=0, alpha=scale, out=out)


def _scores(
    rows: Tensor, keys: Tensor, at: tuple[int, int, int, int], pad: Pad
) -> Tensor:
    """A tile of scores, -inf where a pair does not count."""
    mask, (top, bottom, left, right) = pad.tiles.call.mask, at
    scores = _product(rows, keys, pad.tiles.call.scale, pad.memory[0])
    if mask.cut(*at):
        cover = pad.cover(top + mask.behind - left, bottom - top, right - left)
        heads = scores.unflatten(1, (-1, bottom - top))
        if scores.sum().isfinite():
            torch.minimum(heads, cover, out=heads)
        else:  # ten times as slow, and right for NaN, too
            heads.masked_fill_(cover < 0, -torch.inf)
    return scores
