"""All layouts of a model on some chips, ranked by time, each with why it comes first.

Every way to divide is listed and timed at once, as arrays; those that fit are ranked.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stacklib.hardware import Accelerator
from stacklib.models.language_model import LanguageModel
from stacklib.quantity import resolve
from stacklib.quantity.bounds import whole
from stacklib.roofline.work.fit import Infeasible

from .layer import ATTENTION
from .layout import Layout, faults
from .rates import Device, device_of, reached
from .shape import Shape, shape_of
from .step import Step, evaluate

RECOMPUTED = ("none", "selective", "full")
ZERO = (0, 1, 2, 3)
MICRO = (1, 2, 4, 8)
INTERLEAVE = (1, 2, 4, 8)
_CAUSES = {
    "compute": "its kernels take {} less",
    "exposed": "it waits {} less for exchanges",
    "idle": "its pipeline stands still {} less",
    "update": "its optimizer takes {} less",
}


@dataclass(frozen=True, slots=True)
class Choice:
    """A layout, its step, and why it is faster than the next."""

    layout: Layout
    step: Step
    reason: str


def divisors(number: int) -> list[int]:
    """Every whole number that divides another, from one up."""
    return [n for n in range(1, number + 1) if number % n == 0]


_FIELDS = ("dp", "tp", "pp", "ep", "cp", "sequence", "zero", "micro", "interleave")
_SCHEDULES = ("1f1b", "dualpipe")


def _ways(shape: Shape, chips: int, batch: int, length: int) -> Iterator[Any]:
    """Every way to divide: the fields above, and the schedule."""
    ways = divisors(chips)
    for tp, pp, cp in itertools.product(ways, ways, ways):
        if chips % (tp * pp * cp):
            continue
        dp = chips // (tp * pp * cp)
        if any(
            wrong
            for wrong, _ in faults(
                Layout(tp=tp, pp=pp, cp=cp, dp=dp), shape, chips, batch, length
            )
        ):
            continue
        experts = [
            ep for ep in divisors(dp * cp) if shape.experts and shape.experts % ep == 0
        ]
        micros = [m for m in MICRO if (batch // dp) % m == 0]
        zeros = ZERO if dp * cp > 1 else (0,)
        pieces = [
            v for v in INTERLEAVE if v == 1 or (pp > 1 and pp * v <= shape.layers)
        ]
        for ep, micro, zero in itertools.product(experts or [1], micros, zeros):
            for v in pieces:
                yield dp, tp, pp, ep, cp, tp > 1, zero, micro, v, "1f1b"
            rounds = batch // (dp * micro)
            if ep > 1 and pp % 2 == 0 and rounds % 2 == 0 and rounds >= 2 * pp:
                yield dp, tp, pp, ep, cp, tp > 1, zero, micro, 1, "dualpipe"


def _layout(way: Any, again: str = "none") -> Layout:
    *fields, schedule = way
    told = dict(zip(_FIELDS, fields, strict=True))
    return Layout(**told, recompute=again, schedule=schedule)


def layouts(shape: Shape, chips: int, batch: int, length: int) -> Iterator[Layout]:
    """Every layout of some chips that divides, before recomputation is chosen.

    Activations are cut by tokens wherever tensor parallelism is: that holds less and
    sends as much. DualPipe is tried where it has exchanges of experts to hide.
    """
    return map(_layout, _ways(shape, chips, batch, length))


def plan(
    model: str | LanguageModel,
    *,
    on: str | Accelerator,
    chips: int,
    batch: int,
    length: int = 4096,
    dtype: str = "bf16",
    attention: str = "flash",
    port: float | None = None,
    domain: int | None = None,
    best: int = 10,
) -> list[Choice]:
    """The fastest layouts that fit, the best first, each with its reason.

    Parameters
    ----------
    model, on, chips, batch, length, dtype, attention, port, domain
        As ``step_time`` takes them.
    best : int
        How many to return.

    Raises
    ------
    Infeasible
        Where no layout fits: with the one that holds least.
    ValueError
        Where none divides, for counts below one, and for several chips between which
        no link is known.

    Examples
    --------
    >>> first, *_ = plan("llama-3-8b", on="h100-sxm", chips=8, batch=64)
    >>> first.layout.chips, first.step.feasible
    (8, True)
    """
    whole(chips=chips, batch=batch, best=best)
    resolve(attention, ATTENTION, "attention")
    shape = shape_of(model, length)
    device = device_of(on, dtype, port, domain)
    reached(device, chips)
    listed = list(_ways(shape, chips, batch, length))
    if not listed:
        raise ValueError(
            f"{shape.name}: no layout of {chips} chips divides its {shape.layers} "
            f"layers, {shape.heads} heads and a batch of {batch} sequences"
        )
    scores = attention == "scores"
    timed = _timed(shape, device, listed, batch, length, scores)
    chosen = [
        _layout(listed[place], again) for _, again, place in sorted(timed)[: best + 1]
    ]
    if not chosen:
        raise Infeasible(_least(shape, device, listed, batch, length, scores))
    steps = [evaluate(shape, device, one, batch, length, scores) for one in chosen]
    # Alone and in an array the last digits may differ: rank by what is returned.
    ranked = sorted(zip(chosen, steps, strict=True), key=lambda pair: pair[1].time)
    return [
        Choice(layout, step, why(step, *(s for _, s in ranked[i + 1 : i + 2])))
        for i, (layout, step) in enumerate(ranked[:best])
    ]


def _timed(
    shape: Shape,
    device: Device,
    listed: list[Any],
    batch: int,
    length: int,
    scores: bool,
) -> list[tuple[float, str, int]]:
    """Time, recomputation and place of every layout that fits."""
    import numpy

    found = []
    for schedule in _SCHEDULES:
        mine = [i for i, way in enumerate(listed) if way[-1] == schedule]
        if not mine:
            continue
        table = numpy.array([listed[i][:-1] for i in mine], dtype=float).T
        columns: dict[str, Any] = dict(zip(_FIELDS, table, strict=True))
        if not shape.experts:
            columns["ep"] = 1
        for again in RECOMPUTED:
            layout = Layout(**columns, recompute=again, schedule=schedule)
            step = evaluate(shape, device, layout, batch, length, scores)
            (places,) = numpy.nonzero(numpy.isfinite(step.time))
            found += [(float(step.time[i]), again, mine[i]) for i in places]
    return found


def _least(
    shape: Shape,
    device: Device,
    listed: list[Any],
    batch: int,
    length: int,
    scores: bool,
) -> str:
    """What the layout that holds least holds."""
    full = [_layout(way, "full") for way in listed]
    steps = [evaluate(shape, device, one, batch, length, scores) for one in full]
    place = min(range(len(steps)), key=lambda i: steps[i].memory.total)
    return f"{shape.name}, {full[place].text()}: {steps[place].refused}"


def why(step: Step, after: Step | None = None) -> str:
    """Why a step is faster than the next: the part of its time that gains most."""
    if after is None:
        return "the only one that fits"
    parts = {
        name: getattr(after, name) - getattr(step, name)
        for name in ("compute", "exposed", "update")
    }
    parts["idle"] = (after.time - step.time) - sum(parts.values())
    best = max(parts, key=lambda name: parts[name])
    if parts[best] <= 0 or after.time == step.time:
        return "as fast as the next"
    return _CAUSES[best].format(_seconds(parts[best]))


def _seconds(value: float) -> str:
    for scale, unit in ((1.0, "s"), (1e-3, "ms")):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value * 1e6:.3g} us"
