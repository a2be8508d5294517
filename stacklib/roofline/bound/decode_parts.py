"""A decode step as parts, one after the other: weights, then caches.

Only the parts that take time count. The arithmetic hides behind the reading, so it
is no part of a step that waits for memory, and making it faster buys nothing.
"""

from __future__ import annotations

from stacklib.hardware import Accelerator
from stacklib.models import LanguageModel
from stacklib.quantity import Quantity

from ..work.fit import model_of
from .decode import decode_step


def decode_parts(
    model: str | LanguageModel,
    on: str | Accelerator,
    dtype: str | Quantity | None = None,
    tp: int = 1,
    batch: int = 1,
    context: int = 4096,  # tokens cached for each
) -> dict[str, Quantity]:
    """Time to read the weights and time to read the caches, in one step."""
    step = decode_step(model, on=on, dtype=dtype, tp=tp, batch=batch, context=context)
    whole = step.time
    if step.bound != "memory":
        raise ValueError(
            f"at batch {batch} the step waits for arithmetic; take a smaller batch"
        )
    shape = model_of(model)
    read = shape.read_bytes(batch, dtype).named("weights")
    weights = (whole * (read / step.bytes)).named("time to read the weights")
    return {"weights": weights, "cache": (whole - weights).named("time to read caches")}
