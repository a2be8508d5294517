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

from .host_triton import INTERPRETED

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
