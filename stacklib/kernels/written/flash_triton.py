"""The Triton backend of ``flash_attention``: forward, backward, packed, and paged.

Tensors go through the registered operators, so that gradients and ``torch.compile``
find them; NumPy arrays, which only the interpreter and the tile machine read, go
straight to the kernel.
"""

from __future__ import annotations

from typing import Any

import triton  # said first where it is missing: the kernels' names have a stand-in

from .decode_triton import decode_with_lse, paged_decode
from .flash_backward_triton import backward
from .flash_forward_triton import forward_with_lse
from .flash_shapes_triton import Lengths
from .host_triton import Array, is_tensor, reachable

__all__ = [
    "VERSION",
    "Lengths",
    "attend",
    "backward",
    "decode_with_lse",
    "forward",
    "forward_with_lse",
    "paged_decode",
]
VERSION = triton.__version__


def forward(
    q: Array,
    k: Array,
    v: Array,
    causal: bool = False,
    window: int | None = None,
    scale: float | None = None,
    *,
    blocks: tuple[int, int] | None = None,
) -> Array:
    """softmax(scale q k^T) v; the parameters are those of `forward_with_lse`."""
    if scale is not None and scale <= 0:  # kernels compare scores before they scale
        q, scale = (-q, -scale) if scale else (q * 0, 1.0)
    return forward_with_lse(q, k, v, causal, window, scale, blocks=blocks)[0]


def attend(q: Array, k: Array, v: Array, call: Any) -> tuple[Array, Array]:
    """What `flash_attention` asks of a backend; ``call`` is its checked question."""
    causal, window, scale = call.mask.causal, call.mask.window, call.scale
    if scale <= 0:  # kernels compare scores before they scale
        q, scale = (-q, -scale) if scale else (q * 0, 1.0)
    if not is_tensor(q):
        out, lse = forward_with_lse(q, k, v, causal, window, scale)
        return out, lse[0] + lse[1]
    reachable(q)  # the operator's form on a CPU is the plain formula, in S**2 memory
    from .ops_torch import flash_attention

    out, lse = flash_attention(q, k, v, causal, window or 0, scale)
    return out, (lse[0] + lse[1]).detach()
