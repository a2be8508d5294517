"""Checkpoints on flash: how large, how long everything waits, how often to take one.

A training step's state is written to drives, at once (everybody waits) or behind the
next steps (everybody waits for the copy to host memory only). The more often it is
written, the less is lost when something fails; Young (1974) and Daly (2006) say how
often is best.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Any

from stacklib.models import LanguageModel
from stacklib.quantity import Quantity, chosen, maximum
from stacklib.quantity.bounds import above_zero, whole
from stacklib.roofline.work.fit import model_of

# Bytes a parameter: weights as they are used, and Adam's state in fp32.
ADAM = {"bf16 weights": 2, "fp32 weights": 4, "first moment": 4, "second moment": 4}


def checkpoint_bytes(
    model: str | LanguageModel, *, state: dict[str, int] | None = None
) -> Quantity:
    """Bytes of a checkpoint: every part of the state, for every parameter."""
    shape = model_of(model)
    parts = [
        chosen(size, "B", label=f"bytes of {name}")
        for name, size in (state or ADAM).items()
    ]
    return (shape.parameters * sum(parts[1:], parts[0])).named("checkpoint")


def write_time(size: Any, drives: int, rate: Any) -> Any:
    """Seconds to write a checkpoint, spread evenly.

    ``size``: bytes; ``rate``: bytes a second of one drive.
    """
    whole(drives=drives)
    above_zero(size=size, rate=rate)
    return size / (rate * drives)


def stall(
    interval: Any, copy: Any, write: Any, *, behind: bool, buffers: int = 2
) -> Any:
    """Seconds that a checkpoint holds up the training, once things have settled.

    Written at once, all of copy and write. Written behind, the copy; and where a
    write takes longer than the interval, the training waits for it, however many
    buffers there are. With a single buffer the copy cannot begin before the write
    has ended, and the wait comes on top.
    """
    whole(buffers=buffers)
    if not behind:
        return copy + write
    # The one buffer is free again only when it has been written.
    if buffers == 1:
        return maximum(copy, copy + write - interval)
    return maximum(copy, write - interval)


def young_interval(cost: Any, between_failures: Any) -> Any:
    """Young's interval: sqrt(2 x cost x mean time between failures).

    ``cost``: seconds that one checkpoint holds up the training.
    """
    above_zero(cost=cost, between_failures=between_failures)
    return (2 * cost * between_failures) ** 0.5


def daly_interval(cost: float, between_failures: float) -> float:
    """Daly's interval, of higher order: right where checkpoints are not rare.

    J. Daly, *A higher order estimate of the optimum checkpoint interval*, Future
    Generation Computer Systems 22 (2006), equation 37.

    ``cost``: seconds that one checkpoint holds up the training.
    """
    above_zero(cost=cost, between_failures=between_failures)
    if cost >= 2 * between_failures:
        return between_failures
    ratio = cost / (2 * between_failures)
    return (2 * cost * between_failures) ** 0.5 * (
        1 + ratio**0.5 / 3 + ratio / 9
    ) - cost


def expected_time(
    interval: float, *, cost: float, restart: float, between_failures: float
) -> float:
    """Mean seconds for every second of work, failures and repeats included.

    Failures come without memory, also during checkpoints and restarts (Daly 2006,
    equation 20): M exp(R / M) (exp((t + c) / M) - 1) / t.
    """
    above_zero(interval=interval, between_failures=between_failures)
    if cost < 0 or restart < 0:
        raise ValueError(f"cost = {cost}, restart = {restart}: not below zero")
    m = between_failures
    return m * math.exp(restart / m) * math.expm1((interval + cost) / m) / interval


# -- the same, run ---------------------------------------------------------------


def run_failures(
    interval: float,
    *,
    cost: float,
    restart: float,
    between_failures: float,
    segments: int = 20_000,
    seed: int = 0,
) -> float:
    """``expected_time``, drawn: work, checkpoints, failures and repeats in order."""
    whole(segments=segments)
    above_zero(interval=interval, between_failures=between_failures)
    draw = random.Random(seed)
    clock = 0.0
    failure = draw.expovariate(1 / between_failures)
    for _ in range(segments):
        end = clock + interval + cost
        while failure < end:  # what was done since the last checkpoint is lost
            clock = failure
            failure = clock + draw.expovariate(1 / between_failures)
            while failure < clock + restart:
                clock = failure
                failure = clock + draw.expovariate(1 / between_failures)
            clock += restart
            end = clock + interval + cost
        clock = end
    return clock / (segments * interval)


@dataclass(frozen=True, slots=True)
class Run:
    """A training run with checkpoints: when it ended and how long it stood still."""

    time: float
    stalls: tuple[float, ...]


def run_checkpoints(
    *,
    interval: float,
    copy: float,
    write: float,
    count: int,
    buffers: int = 2,
    behind: bool = True,
) -> Run:
    """Train and checkpoint, event by event: buffers in host memory, one writer."""
    whole(count=count, buffers=buffers)
    now, writer = 0.0, 0.0
    written: list[float] = []  # when each checkpoint left its buffer
    stalls = []
    for number in range(count):
        now += interval
        begun = now
        if behind and number >= buffers:
            now = max(now, written[number - buffers])
        now += copy
        writer = max(writer, now) + write
        written.append(writer)
        if not behind:
            now = writer
        stalls.append(now - begun)
    return Run(now, tuple(stalls))
