"""Tensors of torch as NumPy's arrays, without a copy where they lie on the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from numpy.typing import NDArray

KNOWN = {torch.float32, torch.float64, torch.float16}


def held(x: torch.Tensor) -> tuple[NDArray[Any], bool]:
    """The numbers of a tensor, and whether they are the bits of bf16.

    - raises ``TypeError`` for a tensor that holds none: meta, sparse, quantized
    """
    if x.is_meta or x.layout is not torch.strided or x.is_quantized:
        kind = "meta tensor" if x.is_meta else f"tensor of {x.layout}, {x.dtype}"
        raise TypeError(f"a {kind}: plain numbers are needed")
    plain = x.detach().cpu().resolve_neg()
    if plain.dtype == torch.bfloat16:
        return plain.view(torch.int16).numpy(), True
    try:
        if plain.is_floating_point() and plain.dtype not in KNOWN:
            plain = plain.float()
        return plain.numpy(), False
    except (NotImplementedError, TypeError):  # two numbers in one, or none
        raise TypeError(f"a tensor of {x.dtype}: plain numbers are needed") from None
