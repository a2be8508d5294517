"""The kernels as operators of torch: fakes, gradients, and no graph break.

Each is a ``torch.library.custom_op``: the Triton kernel on a GPU, and in the
interpreter on a CPU; where a CPU has no interpreter, the same formula in plain torch.
A *fake* gives ``torch.compile`` the shapes without running anything, and gradients are
written out, those of attention and of products by kernels again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.library import custom_op

from . import (
    flash_backward_triton,
    flash_forward_triton,
    matmul_triton,
    rows_triton,
    sampling_triton,
    scaled_triton,
)
from .host_triton import INTERPRETED, cdiv

__all__ = [
    "OPERATORS",
    "PLAIN",
    "add",
    "flash_attention",
    "flash_backward",
    "flash_sampling",
    "fp8_matmul",
    "layernorm",
    "layernorm_linear",
    "matmul",
    "mxfp8_matmul",
    "rmsnorm",
    "softmax",
    "swiglu_fp8",
    "swiglu_mxfp8",
]
OPERATORS: dict[str, Any] = {}
PLAIN: dict[str, Callable[..., Any]] = {}  # the formula of each, in torch


def operator(schema: str, plain: Callable[..., Any], fake: Callable[..., Any]) -> Any:
    """A decorator: a kernel's wrapper as an operator ``stacklib::<its name>``.

    ``plain`` is the formula in torch for a CPU without the interpreter, ``fake`` makes
    empty results of the right shapes.
    """

    def register(kernel: Callable[..., Any]) -> Any:
        name = kernel.__name__
        made = custom_op(f"stacklib::{name}", kernel, mutates_args=(), schema=schema)
        if not INTERPRETED:
            made.register_kernel("cpu")(plain)
        made.register_fake(fake)
        OPERATORS[name], PLAIN[name] = made, plain
        return made

    return register


def like_first(x: Tensor, *rest: Any) -> Tensor:
    """An empty result of the first operand's shape."""
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def keep(*at: int) -> Callable[[Any, Any, Any], None]:
    """Keep some of the inputs for the gradient."""

    def setup(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
        ctx.save_for_backward(*(inputs[i] for i in at))
        ctx.rest = [x for x in inputs if not isinstance(x, Tensor)]

    return setup


# -- rows ------------------------------------------------------------------------


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


# -- products -----------------------------------------------------------------------


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


def _widened(x: Tensor, scale: Tensor, along: int, across: int = 1) -> Tensor:
    """FP8 times its scales, each of which holds for a block."""
    scale = scale.repeat_interleave(across, 0)[: x.shape[0]]
    return x.float() * scale.repeat_interleave(along, 1)[:, : x.shape[1]]


def _fp8_plain(a: Tensor, a_scale: Tensor, b: Tensor, b_scale: Tensor) -> Tensor:
    wide = _widened(a, a_scale, 128) @ _widened(b, b_scale, 128, 128).T
    return wide.to(torch.bfloat16)


def _fp8_fake(a: Tensor, a_scale: Tensor, b: Tensor, b_scale: Tensor) -> Tensor:
    return a.new_empty((a.shape[0], b.shape[0]), dtype=torch.bfloat16)


_SCALED = "(Tensor a, Tensor a_scale, Tensor b, Tensor b_scale) -> Tensor"


@operator(_SCALED, _fp8_plain, _fp8_fake)
def fp8_matmul(a: Tensor, a_scale: Tensor, b: Tensor, b_scale: Tensor) -> Tensor:
    """``(a * a_scale) @ (b * b_scale).T`` in bfloat16; scales of 1 x 128, 128 x 128."""
    return scaled_triton.fp8_matmul(a, a_scale, b, b_scale)


def _powers(codes: Tensor) -> Tensor:
    return torch.exp2(codes.float() - 127)


def _mxfp8_plain(a: Tensor, a_scale: Tensor, b: Tensor, b_scale: Tensor) -> Tensor:
    wide = _widened(a, _powers(a_scale), 32) @ _widened(b, _powers(b_scale), 32).T
    return wide.to(torch.bfloat16)


@operator(_SCALED, _mxfp8_plain, _fp8_fake)
def mxfp8_matmul(a: Tensor, a_scale: Tensor, b: Tensor, b_scale: Tensor) -> Tensor:
    """``(a * a_scale) @ (b * b_scale).T`` in bfloat16; E8M0 scales of 32."""
    return scaled_triton.mxfp8_matmul(a, a_scale, b, b_scale)


def _swiglu_fake(
    size: int, dtype: torch.dtype
) -> Callable[[Tensor], tuple[Tensor, Tensor]]:
    def fake(x: Tensor) -> tuple[Tensor, Tensor]:
        rows, columns = x.shape[0], x.shape[1] // 2
        codes = x.new_empty((rows, columns), dtype=torch.float8_e4m3fn)
        return codes, x.new_empty((rows, cdiv(columns, size)), dtype=dtype)

    return fake


def _groups(x: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """SwiGLU in groups, the last filled up with zeros, and each one's largest."""
    gate, up = x.float().chunk(2, 1)
    value = torch.nn.functional.silu(gate) * up
    more = -value.shape[1] % size
    groups = torch.nn.functional.pad(value, (0, more)).reshape(len(x), -1, size)
    return groups, groups.abs().amax(-1)


def _coded(x: Tensor, groups: Tensor, scale: Tensor) -> Tensor:
    codes = (groups / scale[..., None]).clamp(-448, 448).reshape(len(x), -1)
    return codes[:, : x.shape[1] // 2].to(torch.float8_e4m3fn).contiguous()


def _swiglu_fp8_plain(x: Tensor) -> tuple[Tensor, Tensor]:
    groups, most = _groups(x, 128)
    scale = most.clamp(min=1e-4) / 448
    return _coded(x, groups, scale), scale


@operator(
    "(Tensor x) -> (Tensor, Tensor)",
    _swiglu_fp8_plain,
    _swiglu_fake(128, torch.float32),
)
def swiglu_fp8(x: Tensor) -> tuple[Tensor, Tensor]:
    """silu(gate) * up in E4M3, and a float32 for each 1 x 128."""
    return scaled_triton.swiglu_fp8(x)


def _swiglu_mxfp8_plain(x: Tensor) -> tuple[Tensor, Tensor]:
    groups, most = _groups(x, 32)
    code = (torch.frexp(most).exponent + 126 - 8).clamp(0, 254)
    code = torch.where(most == 0, torch.zeros_like(code), code)
    return _coded(x, groups, _powers(code)), code.to(torch.uint8)


@operator(
    "(Tensor x) -> (Tensor, Tensor)",
    _swiglu_mxfp8_plain,
    _swiglu_fake(32, torch.uint8),
)
def swiglu_mxfp8(x: Tensor) -> tuple[Tensor, Tensor]:
    """silu(gate) * up in MXFP8: codes, and an E8M0 scale for each 32."""
    return scaled_triton.swiglu_mxfp8(x)


# -- sampling and attention ------------------------------------------------------------


def _sampled(hidden: Tensor, weights: Tensor, temperature: float, seed: int) -> Tensor:
    logits = hidden.float() @ weights.float().T
    if temperature == 0:
        return logits.argmax(-1).int()
    noise = torch.Generator(hidden.device).manual_seed(seed)
    u = torch.rand(logits.shape, generator=noise, dtype=torch.float64)
    return (logits / temperature - torch.log(-torch.log1p(-u))).argmax(-1).int()


@operator(
    "(Tensor hidden, Tensor weights, float temperature, int seed) -> Tensor",
    _sampled,
    lambda hidden, *rest: hidden.new_empty(hidden.shape[0], dtype=torch.int32),
)
def flash_sampling(
    hidden: Tensor, weights: Tensor, temperature: float, seed: int
) -> Tensor:
    """A token a row, drawn from softmax(hidden @ weights.T / temperature)."""
    return sampling_triton.flash_sampling(hidden, weights, temperature, seed)


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


def _flash_fake(q: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    return like_first(q), q.new_empty((2, *q.shape[:3]), dtype=torch.float32)


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
