"""Products of scaled FP8, SwiGLU that makes it, and sampling, as operators of torch."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from . import sampling_triton, scaled_triton
from .host_triton import cdiv
from .operator_torch import operator


def widened(x: Tensor, scale: Tensor, along: int, across: int = 1) -> Tensor:
    """FP8 times its scales, each of which holds for a block."""
    scale = scale.repeat_interleave(across, 0)[: x.shape[0]]
    return x.float() * scale.repeat_interleave(along, 1)[:, : x.shape[1]]


def _fp8_plain(a: Tensor, a_scale: Tensor, b: Tensor, b_scale: Tensor) -> Tensor:
    wide = widened(a, a_scale, 128) @ widened(b, b_scale, 128, 128).T
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
    wide = widened(a, _powers(a_scale), 32) @ widened(b, _powers(b_scale), 32).T
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
    return groups, groups.abs().nan_to_num(0, torch.inf).amax(-1)


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
    code = ((most.view(torch.int32) >> 23) - 8).clamp(0, 254)  # an infinity's, too
    return _coded(x, groups, _powers(code)), code.to(torch.uint8)


@operator(
    "(Tensor x) -> (Tensor, Tensor)",
    _swiglu_mxfp8_plain,
    _swiglu_fake(32, torch.uint8),
)
def swiglu_mxfp8(x: Tensor) -> tuple[Tensor, Tensor]:
    """silu(gate) * up in MXFP8: codes, and an E8M0 scale for each 32."""
    return scaled_triton.swiglu_mxfp8(x)


def _sampled(hidden: Tensor, weights: Tensor, temperature: float, seed: int) -> Tensor:
    logits = hidden.float() @ weights.float().T
    logits.masked_fill_(logits.isnan(), -torch.inf)
    if temperature == 0:
        return logits.argmax(-1).int()
    noise = torch.Generator(hidden.device).manual_seed(seed)
    u = torch.rand(logits.shape, generator=noise, dtype=torch.float64)
    cold, hot = min(1.0, temperature), min(1.0, 1.0 / temperature)
    return (logits * hot - cold * torch.log(-torch.log1p(-u))).argmax(-1).int()


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
