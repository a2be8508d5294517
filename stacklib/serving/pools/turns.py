"""Attention on some chips, the MLP on others: two stages in turns.

With k micro-batches on their way, one is through a layer every max(A, M, (A + M + 2c)
/ k) seconds: a side is full, or a micro-batch's own way is too long for k to fill it.
"""

from __future__ import annotations

from typing import Any

from stacklib.kernels.schedule.pipeline import Stage, Timeline, pipeline
from stacklib.quantity.bounds import at_least, whole


def pace(attention: Any, mlp: Any, crossing: Any, micro_batches: int = 2) -> Any:
    """Seconds from one micro-batch of a layer to the next, in closed form.

    Floats or quantities.

    - ``attention``, ``mlp``: of one micro-batch in one layer
    - ``crossing``: from one side to the other
    """
    whole(micro_batches=micro_batches)
    return max(attention, mlp, (attention + mlp + 2 * crossing) / micro_batches)


def crossings(layers: Any, crossing: Any) -> Any:
    """Seconds that one token spends between the sides: there and back in each layer."""
    return 2 * layers * crossing


def stages(
    attention: float, mlp: float, crossing: float, micro_batches: int = 2
) -> list[Stage]:
    """The same as stages of tiles; a tile is a micro-batch in a layer."""
    at_least(0, attention=attention, mlp=mlp, crossing=crossing)
    whole(micro_batches=micro_batches)
    back = (("mlp", micro_batches),)
    return [
        Stage("attention", attention, "attention", back, crossing),
        Stage("mlp", mlp, "mlp", ("attention",), crossing),
    ]


def run_turns(
    attention: float, mlp: float, crossing: float, layers: int, micro_batches: int = 2
) -> Timeline:
    """One step of the whole model, event by event."""
    whole(layers=layers)
    made = stages(attention, mlp, crossing, micro_batches)
    return pipeline(made, layers * micro_batches)
