"""How long the stages of a pipeline wait, in closed form.

p stages, m microbatches, v chunks of layers a stage. One microbatch takes a stage F
forward and B + W backward: B for the gradient of what came in, W for that of the
weights. A stage that does all its work, m (F + B + W), waits besides

    gpipe, 1f1b  (p - 1) (F + B + W) / v   the way there and back through the others
    zb-h1        (p - 1) (F + B - W)       W fills what would be waiting
    zb-h2        (p - 1) (F + B - 2 W)     more forwards at the start fill the rest
    dualpipe     (p / 2 - 1) (F + 2 B - W) half of the microbatches come from each end

Zero bubble is of P. Qi et al., Zero Bubble Pipeline Parallelism, 2024, section 2.3.
DualPipe's is the DeepSeek-V3 Technical Report's (2024, table 2: F&B + B - 3 W with W in
B), a forward beside a backward taking what both take alone.
No stage of zb-h1 waits less than (p - 1) max(F, B), which the paper's form leaves out.
zb-h2 counts each stage from its own first piece of work to its own last: the next step
has to begin on the first stage while the last one still works. Sending takes no time
here; ``run`` knows what it does.

Where stages differ, the slowest sets the pace of every microbatch, and the others are
passed once, there and back: ``paced``.
"""

from __future__ import annotations

from typing import Any

from stacklib.quantity import maximum, minimum, resolve, where
from stacklib.quantity.bounds import above_zero, at_least

SCHEDULES = ("gpipe", "1f1b", "zb-h1", "zb-h2", "dualpipe")


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
      a W above F (zb-h2) leave no form this short; dualpipe: 2 p, and p even.

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
    if schedule == "dualpipe":
        if not _always(getattr(stages, "si", stages) % 2 == 0):
            raise ValueError(f"stages = {stages!r}: dualpipe pairs them, an even count")
        waits = forward + 2 * inputs - weights
        useful = microbatches * (forward + inputs + weights)
        return (stages / 2 - 1) * waits / useful
    if schedule == "zb-h1":
        waits = maximum(forward + inputs - weights, forward, inputs)
    elif _always(weights <= forward):
        waits = maximum(forward + inputs - 2 * weights, 0 * forward)
    else:
        raise ValueError(
            f"weights = {weights!r}: zb-h2 has a form up to forward = {forward!r}"
        )
    return (stages - 1) * waits / (microbatches * (forward + inputs + weights))


def paced(slowest: Any, total: Any, microbatches: Any, interleave: Any = 1) -> Any:
    """Time of a step whose stages differ, gpipe or 1f1b.

    - ``slowest``, ``total``: what a microbatch takes, forward and backward, on the
      slowest stage and on all of them. gpipe takes that long, 1f1b in one piece a stage
      at most; pieces of different sizes wait for one another besides.

    >>> paced(3, 24, 32), round(32 * 3 * (1 + bubble(8, 32)), 9)
    (117.0, 117.0)
    """
    return microbatches * slowest + (total - slowest) / interleave


def in_flight(
    stages: Any,
    microbatches: Any,
    schedule: str = "1f1b",
    interleave: Any = 1,
    stage: Any = 0,
) -> Any:
    """Microbatches whose activations a stage holds, whole stages' worth.

    - ``stage``: from 0, which holds most. Each later one begins its first backward
      a forward sooner, in pieces two (V. Korthikanti et al., 2022, section 4.2.3).
    - dualpipe: p + 1 on each rank, of the two parts that it holds together.
    """
    schedule = resolve(schedule, SCHEDULES, "pipeline schedule")
    at_least(1, stages=stages, microbatches=microbatches, interleave=interleave)
    return flying(stages, microbatches, schedule, interleave, stage)


def flying(
    stages: Any, microbatches: Any, schedule: str, interleave: Any, stage: Any
) -> Any:
    """``in_flight`` of what has been looked at before."""
    if schedule == "gpipe":
        return microbatches
    pieces = 2 * (stages - 1 - stage) + 1 + (interleave - 1) * stages
    held = {
        "1f1b": where(interleave > 1, pieces / interleave, stages - stage),
        "zb-h1": stages,
        "zb-h2": 2 * stages - 1,
        "dualpipe": (stages + 1) / 2,
    }
    return minimum(held[schedule], microbatches)


def _long_enough(stages: Any, microbatches: Any, schedule: str) -> None:
    least = {"zb-h1": stages, "zb-h2": 2 * stages - 1}.get(schedule, 2 * stages)
    if not _always(microbatches >= least):
        raise ValueError(
            f"microbatches = {microbatches!r}: {schedule} on {stages!r} stages has a "
            f"closed form from {least!r} up"
        )


def _always(condition: Any) -> bool:
    """Whether a comparison holds, of an array for each of its numbers."""
    return bool(condition.all() if hasattr(condition, "all") else condition)
