"""The operations everyone should be able to place, at one size, by one rule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from stacklib.models import LanguageModel
from stacklib.quantity.bounds import whole

from ..work.fit import model_of
from ..work.work import Work, gemv, matmul
from . import operations as ops


def catalogue(
    side: int = 4096,  # rows and columns of every input; tokens of a prompt
    *,
    model: str | LanguageModel = "llama-3-8b",
    dtype: str = "bf16",
    rule: str | ops.Rule = "fused",
) -> list[Work]:
    """Products, attention, elementwise operations and copies of square inputs."""
    whole(side=side)
    found = model_of(model)
    square: dict[str, Any] = {"rows": side, "columns": side, "dtype": dtype}
    listed: dict[str, Any] = {"elements": side * side, "dtype": dtype, "rule": rule}
    heads: dict[str, Any] = {"heads": found.heads, "head_dim": found.head_dim}
    prompt = ops.block_operations(found, side, dtype=dtype, rule=rule)
    token = ops.block_operations(found, 1, side, dtype, rule=rule)
    works = {
        "matrix product": matmul(m=side, n=side, k=side, dtype=dtype),
        "matrix times vector": gemv(n=side, k=side, dtype=dtype),
        "attention, prompt": ops.total(prompt, "attention"),
        "attention, one token": ops.total(token, "attention"),
        "softmax": ops.softmax(**square, rule=rule),
        "layer norm": ops.layer_norm(**square, rule=rule),
        "RMS norm": ops.rms_norm(**square, rule=rule),
        "GELU": ops.gelu(**listed),
        "SwiGLU": ops.swiglu(**listed),
        "residual add": ops.residual_add(**listed),
        "rotary": ops.rotary(tokens=side, **heads, dtype=dtype, rule=rule),
        "cross-entropy": ops.cross_entropy(
            tokens=side, vocab=found.vocab, dtype=dtype, rule=rule
        ),
        "embedding lookup": ops.embedding(tokens=side, hidden=side, dtype=dtype),
        "transpose": ops.transpose(**square),
    }
    return [replace(work, name=name) for name, work in works.items()]
