"""FlashAttention in torch, forward and backward, as an ``autograd.Function``.

The forward pass keeps the result and two numbers a row, its height and the sum of its
weights; the backward pass makes each tile of weights anew from them (Dao and others,
2022, algorithm 4). Their logarithm would be one number, rounded where it hurts. Tiles
stand with keys down and queries across, so that what belongs to a row is taken along
contiguous memory, and products add into their place.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import e, log2
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from .mask import Call, Mask

TILE_Q, TILE_K = 512, 512
TILE_CUT = 256  # queries where a mask cuts
RISE = 8.0  # log2 of how far a row's height rises before it is rescaled


def attend(q: Tensor, k: Tensor, v: Tensor, call: Call) -> Tensor:
    """Attention of a checked call; see `flash.flash_attention`.

    - raises ``TypeError`` for arrays that are no tensors, or numbers that are not
      float32 or float64.
    """
    if not all(isinstance(x, Tensor) for x in (q, k, v)):
        raise TypeError("backend='torch' takes tensors: torch.from_numpy(q), ...")
    if q.dtype not in (torch.float32, torch.float64):
        raise TypeError(
            f"q of {q.dtype}: the torch backend computes in float32 and float64; "
            "convert with q.float()"
        )
    found: Tensor = Flash.apply(q, k, v, call)
    return found


class Flash(torch.autograd.Function):
    """The two passes, head by head."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, call: Call) -> Tensor:
        """Keeps q, k, v, the result and two numbers a row."""
        out, state = torch.empty_like(q), q.new_empty(*q.shape[:2], 2, q.shape[2])
        for head in _heads(q):
            shared = head[0], head[1] // call.group
            _forward(q[head], k[shared], v[shared], call, out[head], *state[head])
        ctx.save_for_backward(q, k, v, out, state)
        ctx.call = call
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_out: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        """Gradients of q, k and v; heads add into the keys and values they share."""
        q, k, v, out, state = ctx.saved_tensors
        d_q, d_k, d_v = (torch.zeros_like(x) for x in (q, k, v))
        for head in _heads(q):
            shared = head[0], head[1] // ctx.call.group
            height, total = state[head]
            weighed = d_out[head] / total[:, None]  # (queries, d)
            drift = (weighed * out[head]).sum(1)  # (queries,)
            ins = q[head], k[shared], v[shared], height, weighed, drift
            _backward(*ins, ctx.call, d_q[head], d_k[shared], d_v[shared])
        return d_q, d_k, d_v, None


def _heads(q: Tensor) -> Iterator[tuple[int, int]]:
    return ((one, head) for one in range(q.shape[0]) for head in range(q.shape[1]))


def _tiles(mask: Mask) -> Iterator[tuple[int, int]]:
    tile = TILE_Q if mask.all else TILE_CUT
    for top in range(0, mask.queries, tile):
        yield top, min(top + tile, mask.queries)


def _forward(
    q: Tensor,  # (queries, d)
    k: Tensor,  # (keys, d)
    v: Tensor,
    call: Call,
    out: Tensor,  # (queries, d)
    heights: Tensor,  # (queries,)
    totals: Tensor,
) -> None:
    """One head, with the height and the sum of weights that each row ends with."""
    memory = q.new_empty(TILE_Q * TILE_K)
    for top, bottom in _tiles(call.mask):
        turned = _turned(q[top:bottom], call)
        height = q.new_full((bottom - top,), -torch.inf)
        base, total = torch.zeros_like(height), torch.zeros_like(height)
        sums = torch.zeros_like(q[top:bottom])  # (rows, d)
        for left, right in call.mask.runs(top, bottom, TILE_K):
            scores = memory[: (right - left) * (bottom - top)].view(right - left, -1)
            torch.mm(k[left:right], turned, out=scores)
            hidden = _hidden(call.mask, top, bottom, left, right)
            if hidden is not None:
                scores.masked_fill_(hidden, -torch.inf)
            highest = scores.amax(0)
            if (highest > height + RISE).any():
                highest = torch.fmax(height, highest)
                base = highest.masked_fill(highest == -torch.inf, 0)
                shrink = torch.exp2(height - base)
                total *= shrink
                sums *= shrink[:, None]
                height = highest
            weights = scores.sub_(base).exp2_()
            total += weights.sum(0)
            sums.addmm_(weights.t(), v[left:right])
        total.masked_fill_(total == 0, 1)  # a row that sees nothing
        torch.div(sums, total[:, None], out=out[top:bottom])
        heights[top:bottom], totals[top:bottom] = base, total


def _backward(
    q: Tensor,  # (queries, d)
    k: Tensor,  # (keys, d)
    v: Tensor,
    height: Tensor,  # (queries,)
    weighed: Tensor,  # (queries, d): dO over the sum of a row's weights
    drift: Tensor,  # (queries,): rowsum(dO * O) over it
    call: Call,
    d_q: Tensor,
    d_k: Tensor,
    d_v: Tensor,
) -> None:
    """One head: dS = P * (dP - rowsum(dO * O)), with P made anew tile by tile."""
    memory = q.new_empty(2, TILE_Q * TILE_K)
    for top, bottom in _tiles(call.mask):
        rows = slice(top, bottom)
        turned = _turned(q[rows], call)
        d_turned = weighed[rows].t().contiguous()  # (d, rows)
        for left, right in call.mask.runs(top, bottom, TILE_K):
            keys, size = slice(left, right), (right - left) * (bottom - top)
            weights, d_scores = memory[:, :size].view(2, right - left, -1)
            torch.mm(k[keys], turned, out=weights)
            hidden = _hidden(call.mask, top, bottom, left, right)
            if hidden is not None:
                weights.masked_fill_(hidden, -torch.inf)
            weights.sub_(height[rows]).exp2_()
            d_v[keys].addmm_(weights, weighed[rows])
            torch.mm(v[keys], d_turned, out=d_scores)
            d_scores.sub_(drift[rows]).mul_(weights)
            d_k[keys].addmm_(d_scores, q[rows], alpha=call.scale)
            d_q[rows].addmm_(d_scores.t(), k[keys], alpha=call.scale)


def _turned(q: Tensor, call: Call) -> Tensor:
    """Queries of a tile, (d, rows), with the scale and that of powers of two."""
    return (q.t() * (call.scale * log2(e))).contiguous()


def _hidden(mask: Mask, top: int, bottom: int, left: int, right: int) -> Tensor | None:
    """Which pairs of a tile do not count, (keys, rows); None where all do."""
    if not mask.cut(top, bottom, left, right):
        return None
    place = torch.arange(top, bottom) + mask.behind
    away = torch.arange(left, right)[:, None] - place
    hidden = away >= mask.ahead
    return hidden if mask.window is None else hidden | (away <= -mask.window)
