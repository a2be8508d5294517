"""FlashAttention and its gradients as operators of torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from . import flash_backward_triton, flash_forward_triton
from .operator_torch import like_first, operator


def _scores(
    q: Tensor, k: Tensor, causal: bool, window: int, scale: float
) -> tuple[Tensor, Tensor]:
    """All scores in float32, ``-inf`` where masked, and the logarithm of their sums."""
    k = k.repeat_interleave(q.shape[1] // k.shape[1], 1)
    key = torch.arange(k.shape[2], device=q.device)
    place = key[-1] + 1 - q.shape[2] + torch.arange(q.shape[2], device=q.device)
    apart = place[:, None] - key
    seen = torch.ones_like(apart, dtype=torch.bool)
    if causal:
        seen &= apart >= 0
    if window:
        seen &= apart.abs() < window
    scores = (q.float() @ k.float().mT * scale).masked_fill(~seen, float("-inf"))
    return scores, torch.logsumexp(scores, -1)


def _shares(scores: Tensor, lse: Tensor) -> Tensor:
    return torch.exp(scores - lse.masked_fill(lse == float("-inf"), 0)[..., None])


def _flash_plain(
    q: Tensor, k: Tensor, v: Tensor, causal: bool, window: int, scale: float
) -> tuple[Tensor, Tensor]:
    scores, lse = _scores(q, k, causal, window, scale)
    v = v.repeat_interleave(q.shape[1] // v.shape[1], 1).float()
    out = (_shares(scores, lse) @ v).to(q.dtype)
    return out, torch.stack([lse, torch.zeros_like(lse)])


def _flash_fake(q: Tensor, k: Tensor, v: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    out = q.new_empty((*q.shape[:3], v.shape[3]))
    return out, q.new_empty((2, *q.shape[:3]), dtype=torch.float32)


@operator(
    "(Tensor q, Tensor k, Tensor v, bool causal, int window, float scale)"
    " -> (Tensor, Tensor)",
    _flash_plain,
    _flash_fake,
)
def flash_attention(
    q: Tensor, k: Tensor, v: Tensor, causal: bool, window: int, scale: float
) -> tuple[Tensor, Tensor]:
    """Attention, and the logarithms of the rows' sums; ``window`` = 0 is none."""
    asked = window or None
    return flash_forward_triton.forward_with_lse(q, k, v, causal, asked, scale)


def _flash_backward_plain(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor,
    lse: Tensor,
    g: Tensor,
    causal: bool,
    window: int,
    scale: float,
) -> tuple[Tensor, Tensor, Tensor]:
    group = q.shape[1] // k.shape[1]
    scores, _ = _scores(q, k, causal, window, scale)
    shares, g = _shares(scores, lse[0]), g.float()
    wide_k, wide_v = (x.repeat_interleave(group, 1).float() for x in (k, v))
    delta = (g * out.float()).sum(-1, keepdim=True)
    d_scores = shares * (g @ wide_v.mT - delta) * scale
    dk, dv = d_scores.mT @ q.float(), shares.mT @ g
    grouped = (k.shape[0], k.shape[1], group, *k.shape[2:])
    dk, dv = (x.reshape(grouped).sum(2) for x in (dk, dv))
    return (d_scores @ wide_k).to(q.dtype), dk.to(k.dtype), dv.to(v.dtype)


@operator(
    "(Tensor q, Tensor k, Tensor v, Tensor out, Tensor lse, Tensor g, bool causal,"
    " int window, float scale) -> (Tensor, Tensor, Tensor)",
    _flash_backward_plain,
    lambda q, k, v, *rest: (like_first(q), like_first(k), like_first(v)),
)
def flash_backward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor,
    lse: Tensor,
    g: Tensor,
    causal: bool,
    window: int,
    scale: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of q, k and v."""
    given = (q, k, v, out, lse, g, causal, window or None, scale)
    return flash_backward_triton.backward(*given)


def _flash_setup(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
    ctx.save_for_backward(*inputs[:3], *output)
    ctx.rest = inputs[3:]
    ctx.mark_non_differentiable(output[1])


def _flash_gradients(ctx: Any, g: Tensor, g_lse: Tensor) -> tuple[Tensor | None, ...]:
    q, k, v, out, lse = ctx.saved_tensors
    found = flash_backward(q, k, v, out, lse, g.contiguous(), *ctx.rest)
    return (*found, None, None, None)


flash_attention.register_autograd(_flash_gradients, setup_context=_flash_setup)
