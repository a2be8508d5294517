"""How long the stages of a pipeline wait, in closed form.

p stages, m microbatches, v chunks of layers a stage. One microbatch takes a stage F
forward and B + W backward: B for the gradient of what came in, W for that of the
weights. A stage that does all its work, m (F + B + W), waits besides

    gpipe, 1f1b  (p - 1) (F + B + W) / v   the way there and back through the others
    zb-h1        (p - 1) (F + B - W)       W fills what would be waiting
    zb-h2        (p - 1) (F + B - 2 W)     more forwards at the start fill the rest

The last two are of P. Qi et al., Zero Bubble Pipeline Parallelism, 2024, section 2.3.
No stage of zb-h1 waits less than (p - 1) max(F, B), which the paper's form leaves out.
zb-h2 counts each stage from its own first piece of work to its own last: the next step
has to begin on the first stage while the last one still works. Sending takes no time
here; ``run`` knows what it does.
"""

from __future__ import annotations

from typing import Any

from stacklib.quantity import maximum, minimum, resolve, where
from stacklib.quantity.bounds import above_zero, at_least

SCHEDULES = ("gpipe", "1f1b", "zb-h1", "zb-h2")


def bubble(
    stages: Any,
    microbatches: Any,
    schedule: str = "1f1b",
    interleave: Any = 1,
    *,
    forward: Any = 1.0,
    inputs: Any = 1.0,
    weights: Any = 1.0,
) -> Any:
    """Idle time of a stage over its useful time.

    - ``schedule``: ``gpipe`` (all forwards, then all backwards), ``1f1b`` (a backward
      after each forward), ``zb-h1`` or ``zb-h2`` (inputs' and weights' backward apart).
    - ``interleave``: chunks of layers that a stage holds, for ``gpipe`` and ``1f1b``.
    - ``forward``, ``inputs``, ``weights``: times of a microbatch on a stage: forward,
      and backward for inputs and for weights; they matter to the last two schedules.
    - raises ``ValueError`` for counts below one, times not above zero, chunks where the
      schedule has none, and where too few microbatches (zb-h1: p, zb-h2: 2 p - 1) or
      a W above F (zb-h2) leave no form this short.

    >>> bubble(8, 32), bubble(8, 32, interleave=4)
    (0.21875, 0.0546875)
    >>> round(bubble(8, 32, "zb-h1"), 5), bubble(8, 32, "zb-h2")
    (0.07292, 0.0)
    """
    schedule = resolve(schedule, SCHEDULES, "pipeline schedule")
    at_least(1, stages=stages, microbatches=microbatches, interleave=interleave)
    above_zero(forward=forward, inputs=inputs, weights=weights)
    if schedule in ("gpipe", "1f1b"):
        return (stages - 1) / (interleave * microbatches)
    if not _always(interleave == 1):
        raise ValueError(
            f"interleave = {interleave!r}: {schedule} holds its layers in one piece, "
            "chunks are for gpipe and 1f1b"
        )
    _long_enough(stages, microbatches, schedule)
    if schedule == "zb-h1":
        waits = maximum(forward + inputs - weights, forward, inputs)
    elif _always(weights <= forward):
        waits = maximum(forward + inputs - 2 * weights, 0 * forward)
    else:
        raise ValueError(
            f"weights = {weights!r}: zb-h2 has a form up to forward = {forward!r}"
        )
    return (stages - 1) * waits / (microbatches * (forward + inputs + weights))


def in_flight(
    stages: Any, microbatches: Any, schedule: str = "1f1b", interleave: Any = 1
) -> Any:
    """Microbatches whose activations the fullest stage holds, whole stages' worth.

    - interleaved: the first stage begins p - 1 more chunks, of 1 / v each, before its
      first backward (V. Korthikanti et al., 2022, section 4.2.3).
    """
    schedule = resolve(schedule, SCHEDULES, "pipeline schedule")
    at_least(1, stages=stages, microbatches=microbatches, interleave=interleave)
    if schedule == "gpipe":
        return microbatches
    more = where(interleave > 1, (stages - 1) / interleave, 0 * stages)
    held = {"1f1b": stages + more}
    held |= {"zb-h1": stages, "zb-h2": 2 * stages - 1}
    return minimum(held[schedule], microbatches)


def _long_enough(stages: Any, microbatches: Any, schedule: str) -> None:
    least = stages if schedule == "zb-h1" else 2 * stages - 1
    if not _always(microbatches >= least):
        raise ValueError(
            f"microbatches = {microbatches!r}: {schedule} on {stages!r} stages has a "
            f"closed form from {least!r} up"
        )


def _always(condition: Any) -> bool:
    """Whether a comparison holds, of an array for each of its numbers."""
    return bool(condition.all() if hasattr(condition, "all") else condition)
