"""Kernels over rows, products, and their gradients, as operators of torch."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from . import matmul_triton, rows_triton
from .operator_torch import keep, like_first, operator


@operator("(Tensor a, Tensor b) -> Tensor", torch.add, like_first)
def add(a: Tensor, b: Tensor) -> Tensor:
    """``a + b``."""
    return rows_triton.add(a, b)


add.register_autograd(lambda ctx, g: (g, g))


@operator("(Tensor x) -> Tensor", lambda x: torch.softmax(x, -1), like_first)
def softmax(x: Tensor) -> Tensor:
    """Softmax along the last axis."""
    return rows_triton.softmax(x)


def _softmax_backward(ctx: Any, g: Tensor) -> Tensor:
    (y,) = ctx.saved_tensors
    return y * (g - (g * y).sum(-1, keepdim=True))


softmax.register_autograd(
    _softmax_backward,
    setup_context=lambda ctx, inputs, output: ctx.save_for_backward(output),
)


def _layernorm(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
    return torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, eps)


@operator(
    "(Tensor x, Tensor weight, Tensor bias, float eps) -> Tensor",
    _layernorm,
    like_first,
)
def layernorm(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
    """LayerNorm along the last axis."""
    return rows_triton.layernorm(x, weight, bias, eps)


def _norm_gradients(
    g: Tensor, x: Tensor, weight: Tensor, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of LayerNorm's operands, in float32.

    With n the normed row: ``dx = (h - mean(h) - n mean(h n)) / std``, ``h = g weight``.
    """
    x32, g32 = x.float(), g.float()
    apart = x32 - x32.mean(-1, keepdim=True)
    inverse = torch.rsqrt(apart.square().mean(-1, keepdim=True) + eps)
    normed, h = apart * inverse, g32 * weight.float()
    share = (h * normed).mean(-1, keepdim=True)
    dx = (h - h.mean(-1, keepdim=True) - normed * share) * inverse
    rows = tuple(range(x.dim() - 1))
    d_weight = (g32 * normed).sum(rows) if rows else g32 * normed
    d_bias = g32.sum(rows) if rows else g32
    return dx.to(x.dtype), d_weight.to(weight.dtype), d_bias.to(weight.dtype)


def _layernorm_backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    x, weight = ctx.saved_tensors
    return (*_norm_gradients(g, x, weight, ctx.rest[0]), None)


layernorm.register_autograd(_layernorm_backward, setup_context=keep(0, 1))


def _rmsnorm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    return torch.nn.functional.rms_norm(x, x.shape[-1:], weight, eps)


@operator("(Tensor x, Tensor weight, float eps) -> Tensor", _rmsnorm, like_first)
def rmsnorm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """RMSNorm along the last axis."""
    return rows_triton.rmsnorm(x, weight, eps)


def _rmsnorm_backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    x, weight = ctx.saved_tensors
    x32, g32 = x.float(), g.float()
    inverse = torch.rsqrt(x32.square().mean(-1, keepdim=True) + ctx.rest[0])
    normed, h = x32 * inverse, g32 * weight.float()
    dx = (h - normed * (h * normed).mean(-1, keepdim=True)) * inverse
    d_weight = (g32 * normed).reshape(-1, x.shape[-1]).sum(0)
    return dx.to(x.dtype), d_weight.to(weight.dtype), None


rmsnorm.register_autograd(_rmsnorm_backward, setup_context=keep(0, 1))


@operator(
    "(Tensor x, Tensor weight, Tensor bias, Tensor linear, float eps) -> Tensor",
    lambda x, weight, bias, linear, eps: _layernorm(x, weight, bias, eps) @ linear.T,
    lambda x, weight, bias, linear, eps: x.new_empty(x.shape[0], linear.shape[0]),
)
def layernorm_linear(
    x: Tensor, weight: Tensor, bias: Tensor, linear: Tensor, eps: float
) -> Tensor:
    """``layernorm(x) @ linear.T``."""
    return rows_triton.layernorm_linear(x, weight, bias, linear, eps)


def _layernorm_linear_backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    x, weight, bias, linear = ctx.saved_tensors
    normed = layernorm(x, weight, bias, ctx.rest[0])  # made again, not kept
    d_linear = matmul(g.T.contiguous(), normed)
    gradients = _norm_gradients(matmul(g, linear), x, weight, ctx.rest[0])
    return (*gradients, d_linear, None)


layernorm_linear.register_autograd(
    _layernorm_linear_backward, setup_context=keep(0, 1, 2, 3)
)


@operator(
    "(Tensor a, Tensor b) -> Tensor",
    torch.matmul,
    lambda a, b: a.new_empty(a.shape[0], b.shape[1]),
)
def matmul(a: Tensor, b: Tensor) -> Tensor:
    """``a @ b``."""
    return matmul_triton.matmul(a, b)


def _matmul_backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor]:
    a, b = ctx.saved_tensors
    return matmul(g, b.T), matmul(a.T.contiguous(), g)


matmul.register_autograd(_matmul_backward, setup_context=keep(0, 1))
