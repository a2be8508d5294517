"""What is left of the time: the best interval, exactly, and steps that are repeated.

`stacklib.memory` has Young's and Daly's intervals and the mean time of a segment. Here
is the interval that makes this mean least, and the same question in whole steps, as a
training loop asks it and as real processes answer it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stacklib.memory.tiers.checkpoint import expected_time
from stacklib.quantity.bounds import above_zero, at_least, whole


def best_interval(cost: float, between_failures: float) -> float:
    """Seconds between checkpoints that make ``expected_time`` least, to rounding.

    Its derivative is zero where 1 - x = exp(-x - c / M), with x = t / M: a line and a
    curve that fall together and meet once. Newton's steps from Young's interval.
    """
    above_zero(cost=cost, between_failures=between_failures)
    held = cost / between_failures
    if held > 30:  # one minus x is below rounding
        return between_failures
    x = min((2 * held) ** 0.5, 1 - 1e-9)
    for _ in range(60):
        error = math.log1p(-x) + x + held
        step = error * (1 - x) / x
        x = min(max(x + step, x / 2), (1 + x) / 2)
        if abs(step) < 1e-14:
            break
    return x * between_failures


def useful_share(
    interval: float, *, cost: float, restart: float, between_failures: float
) -> float:
    """Share of the time in which work is done that is not done again: goodput."""
    return 1 / expected_time(
        interval, cost=cost, restart=restart, between_failures=between_failures
    )


def steps_for_a_segment(every: int, fails: float) -> float:
    """Mean steps executed from one checkpoint to the next, ``every`` steps later.

    The last step is saved before anything can fail, so n - 1 must follow each other
    unharmed: 1 + (1 - q^(n-1)) / ((1 - q) q^(n-1)), the mean wait for such a run.
    ``fails``: probability 1 - q that a step is followed by a failure.
    """
    whole(every=every)
    at_least(0, fails=fails)
    if fails >= 1:
        raise ValueError(f"fails = {fails}: a probability below one")
    if fails == 0:
        return float(every)
    log_kept = (every - 1) * math.log1p(-fails)
    return 1 + math.expm1(-log_kept) / fails  # (1 - kept) / kept = 1 / kept - 1


# -- the same, run ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Replay:
    """What a run of steps, checkpoints and kills came to."""

    executed: int  # steps that were computed, repeats included
    repeated: int
    restarts: int
    resumed_at: tuple[int, ...]  # the step that each restart went on from


def draw_kills(fails: float, seed: int = 0) -> Iterator[bool]:
    """After each step that is executed: whether the machine fails now."""
    draw = random.Random(seed)
    while True:
        yield draw.random() < fails


def replay(steps: int, every: int, kills: Iterator[bool] | Sequence[bool]) -> Replay:
    """Go through a run step by step; a kill throws back to the last checkpoint.

    A checkpoint follows every ``every``-th step, and is whole before the machine can
    fail. ``kills``: one answer for each step executed; none left means no failure.
    """
    whole(steps=steps, every=every)
    answers = iter(kills)
    done = executed = 0
    resumed = []
    while done < steps:
        done += 1
        executed += 1
        saved = done // every * every
        if next(answers, False) and done < steps:
            done = saved
            resumed.append(saved)
    return Replay(executed, executed - steps, len(resumed), tuple(resumed))
