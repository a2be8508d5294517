"""Tensors of torch as NumPy's arrays, without a copy where they lie on the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from numpy.typing import NDArray

KNOWN = {torch.float32, torch.float64, torch.float16}


def held(x: torch.Tensor) -> tuple[NDArray[Any], bool]:
    """The numbers of a tensor, and whether they are the bits of bf16."""
    plain = x.detach().cpu()
    if plain.dtype == torch.bfloat16:
        return plain.view(torch.int16).numpy(), True
    if plain.is_floating_point() and plain.dtype not in KNOWN:
        plain = plain.float()
    return plain.numpy(), False
