"""Machines for a run: the law of their steps, their blocks, what a cache weighs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from stacklib.hardware import THIS_MACHINE
from stacklib.hardware.errors import error_band
from stacklib.quantity.keys import keys_of
from stacklib.roofline.work.bounds import device_of
from stacklib.roofline.work.fit import copies_of

from ..estimates.steady import FREE
from ..estimates.step import Step, step_of
from ..token import host
from ..token.account import Case, fitting
from .pace import Here, Pace, stored_pace
from .steps import ByBlocks, Estimated

BLOCK = 16  # tokens
SERVED, FITTED = "E_decode/served", "calibrated"


@dataclass(frozen=True, slots=True)
class Served:
    """A model on the chips of one replica.

    - ``title``: model and chips
    - ``step``: the estimate's; None where steps are given, or are this machine's
    - ``blocks``: that weights leave room for; None where nobody knows
    - ``cached``: bytes of a token's cache
    - ``link``: bytes a second out of a chip
    - ``ends``: of the band of steps
    """

    title: str
    step: Step | None
    blocks: int | None
    cached: float
    link: float
    ends: tuple[float, float] | None
    own: str = ""  # of the book's models, which this machine runs

    def band(self, gap: float | Pace | None) -> tuple[float, float] | None:
        """Ends of steps with a gap: this machine's are known with its pace."""
        pace = self._pace(gap) if self.own else None
        return (pace.low, pace.high) if isinstance(pace, Pace) else self.ends

    def law(self, gap: float | Pace | None, factor: float) -> ByBlocks:
        """How long its steps take."""
        if self.own:
            return Here(self.own, self._pace(gap), factor)
        if isinstance(gap, Pace):
            raise ValueError(f"gap: a pace is of this machine, not of {self.title}")
        assert self.step is not None
        return _law(keys_of(self.step), gap, factor)

    def _pace(self, gap: float | Pace | None) -> float | Pace | None:
        return stored_pace(self.own) if gap is None else gap


@lru_cache(maxsize=64)
def _law(keys: Any, gap: float | None, factor: float) -> Estimated:
    """One law of a step: what it has asked once it need not ask again."""
    if factor != 1:
        return _law(keys, gap, 1.0).times(factor)
    return Estimated(keys[0].value, gap)


def served(
    model: Any, on: Any, tp: int, ep: int, dtype: Any, kv_dtype: Any, software: str
) -> Served:
    """The replica of a model on some chips; ``Infeasible`` where it does not fit."""
    if device_of(on).key == THIS_MACHINE:
        return _here(model, on, tp, ep)
    step = step_of((*keys_of(model, on, dtype, kv_dtype), tp, ep), software, FITTED)
    frame = step.frame
    fitting(Case(frame, 1.0, 1.0, None, 1.0, False))
    cached = frame.shape.number * sum(
        layers * copies_of(a, tp) * a.cached(BLOCK)
        for layers, a in frame.shape.attention
    )
    experts = frame.shape.experts
    a_chip = (frame.shape.weights - experts) * ep / frame.chips + experts / frame.chips
    free = FREE * (frame.capacity - a_chip) * frame.chips
    band = error_band(SERVED, frame.device)
    ends = (band.low, band.high) if band is not None and band.low else None
    link = frame.device.fields["link"] or frame.device.fields["host_link"]
    rate = float(link.si) if link is not None else math.nan
    blocks = int(free / cached) if cached else None
    return Served(frame.words, step, blocks, cached / BLOCK, rate, ends)


def _here(model: Any, on: Any, tp: int, ep: int) -> Served:
    """A book's own model on this machine."""
    if tp != 1 or ep != 1:
        raise ValueError(f"tp = {tp}, ep = {ep}: this machine is one device, so 1")
    own = host.own_name(model)
    if not own:
        raise ValueError(f"{model!r} on this machine: {', '.join(host.NAMES)} run here")
    return Served(f"{own}, this machine", None, None, 0.0, math.nan, None, own)
