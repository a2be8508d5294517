"""Which layer of the stack binds a token: every input a tenth better, in turn.

A step's time is one number at one point; which input moves it depends on the batch and
the context, so each answer names its point. Rates of the device move by asking the
same kept step for a device with another rate; exchanges, launches and the engine's
pauses are lines of their own, and shorten by themselves. The time of a step at the
limit is a sum of amounts over rates, and so the elasticities to all rates add up to
one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from stacklib.hardware import Accelerator
from stacklib.quantity.bounds import above_zero
from stacklib.quantity.keys import Same, keys_of
from stacklib.roofline.work.bounds import device_of
from stacklib.roofline.work.fit import Infeasible
from stacklib.serving.estimates import losses
from stacklib.serving.estimates.estimate import Estimate, estimate
from stacklib.serving.estimates.step import Step, step_of
from stacklib.serving.token.shape import ATTENTION, HEAD, PRODUCTS
from stacklib.serving.token.work import EXCHANGES, HOST, LAUNCHES, SAMPLING

TENTH = 0.1
# An input, the layer of the stack that it is of, and the lines whose time it shortens;
# without lines, the device is asked again.
RATES = {
    "memory bandwidth": ("memory", ()),
    "arithmetic": ("silicon", ()),
    "exchanges": ("interconnect", (EXCHANGES,)),
    "launches": ("kernels", (LAUNCHES, SAMPLING)),
    "engine": ("serving", (HOST,)),
}
# Bytes a tenth fewer are read in the time that a tenth more bandwidth gives.
AMOUNTS = {
    "bits of a weight": ("formats", (PRODUCTS, HEAD)),
    "bits of the cache": ("formats", (ATTENTION,)),
    "tokens cached": ("model", ()),
}


@dataclass(frozen=True, slots=True)
class Move:
    """One input made better, and what the step then takes.

    - ``rate``: whether it is a rate, of which all together are the whole time
    """

    name: str
    layer: str
    before: float  # s
    after: float
    by: float  # 0.1: a tenth
    rate: bool

    @property
    def gain(self) -> float:
        """Time before over time after, less one."""
        return self.before / self.after - 1

    @property
    def elasticity(self) -> float:
        """Share of the time that waits for it: per cent of it for one of the input."""
        return (1 - self.after / self.before) * (1 + self.by) / self.by


@dataclass(frozen=True, slots=True, repr=False)
class Binding:
    """What each input moves, at one point."""

    estimate: Estimate
    seconds: float
    moves: tuple[Move, ...]

    def __repr__(self) -> str:
        top = self.binding
        words = f"{top.name} ({top.layer}) moves it most, {top.elasticity:.2f}"
        return f"<Binding {self.point}: {words}>"

    @property
    def point(self) -> str:
        """Model, chips, batch and context: another point has another answer."""
        asked = self.estimate.asked
        batch, cached = int(asked.batch), int(asked.context)
        return f"{self.estimate.title}, batch {batch:,}, {cached:,} cached"

    @property
    def binding(self) -> Move:
        """The rate that moves the step most."""
        return max((m for m in self.moves if m.rate), key=lambda m: m.gain)

    @property
    def layers(self) -> dict[str, float]:
        """Elasticity by layer of the stack, rates alone, the largest first."""
        found: dict[str, float] = {}
        for move in self.moves:
            if move.rate:
                found[move.layer] = found.get(move.layer, 0.0) + move.elasticity
        return dict(sorted(found.items(), key=lambda pair: -pair[1]))

    @property
    def unmoved(self) -> float:
        """What no rate here shortens: parts of kernels whose length nothing sets."""
        return 1 - sum(self.layers.values())

    def rows(self) -> list[dict[str, Any]]:
        """A row an input, what moves it most first."""
        ranked = sorted(self.moves, key=lambda move: -move.gain)
        return [
            {"input": m.name, "layer": m.layer, "gain": m.gain, "of": m.elasticity}
            for m in ranked
        ]


def binding_layer(workload: Estimate | Mapping[str, Any], by: float = TENTH) -> Binding:
    """Which input of a step moves its time most: each made better in turn.

    Parameters
    ----------
    workload : Estimate or mapping
        An estimate, or the arguments of ``serving.estimate``.
    by : float
        How much better: 0.1 is a tenth, of a rate more, of an amount fewer.

    Raises
    ------
    Infeasible
        Where it does not fit.
    ValueError
        For a draft, unlike chips, a sweep, *this machine*, or ``by`` that is not above
        zero; ``estimate`` says what else.

    Examples
    --------
    >>> case = dict(model="llama-3-70b", on="h100-sxm", dtype="bf16", tp=8)
    >>> one, many = (binding_layer(case | dict(batch=b)) for b in (1, 128))
    >>> one.binding.name, round(one.binding.elasticity, 2)
    ('memory bandwidth', 0.5)
    >>> round(many.layers["interconnect"] / one.layers["interconnect"], 1)
    5.5
    """
    above_zero(by=by)
    found = workload if isinstance(workload, Estimate) else _asked(workload)
    asked = found.asked
    if asked.here or not asked.simple or asked.swept:
        raise ValueError(
            f"{found.title}: inputs are moved of one case, on alike chips that share "
            "every matrix, without a draft"
        )
    if not found.fits:
        raise Infeasible(found.why)
    batch, context = float(asked.batch), float(asked.context)
    device = device_of(asked.on)

    def lines(on: Accelerator, cached: float) -> dict[str, float]:
        step = _step(asked, on)
        times = {n: float(t) for n, t in step.lines(batch, cached).items()}
        if step.fitted:
            times[HOST] = losses.pause(step.frame.model.layers)
            times[losses.GROUPED] = float(losses.uneven(step, batch))
        return times

    now = lines(device, context)
    before = sum(now.values())
    more = {
        "memory bandwidth": lines(_moved(Same(device), 1 + by, 1.0), context),
        "arithmetic": lines(_moved(Same(device), 1.0, 1 + by), context),
    }
    faster = more["memory bandwidth"]
    moves = []
    for name, (layer, own) in RATES.items():
        found_ = more.get(name) or _shortened(now, own, by)
        moves.append(Move(name, layer, before, sum(found_.values()), by, True))
    for name, (layer, own) in AMOUNTS.items():
        if own:
            after = sum({**now, **{n: faster[n] for n in own}}.values())
        else:
            after = sum(lines(device, float(round(context / (1 + by)))).values())
        moves.append(Move(name, layer, before, after, by, False))
    return Binding(found, before, tuple(moves))


def _asked(workload: Any) -> Estimate:
    """An estimate of its arguments."""
    if not isinstance(workload, Mapping) or not {"model", "on"} <= set(workload):
        raise ValueError(
            f"workload = {workload!r}: an estimate, or its arguments by name, 'model' "
            "and 'on' among them"
        )
    try:
        return estimate(**workload)
    except TypeError as wrong:  # an argument that there is not
        raise ValueError(f"workload: {wrong}") from None


def _step(asked: Any, on: Accelerator) -> Step:
    """The kept step of the same case on another device."""
    keys = keys_of(asked.model, on, asked.dtype, asked.kv_dtype)
    return step_of((*keys, asked.tp, asked.ep), asked.software, asked.mode)


def _shortened(
    now: Mapping[str, float], own: tuple[str, ...], by: float
) -> dict[str, float]:
    return {n: t / (1 + by) if n in own else t for n, t in now.items()}


@lru_cache(maxsize=64)
def _moved(kept: Same, bandwidth: float, peak: float) -> Accelerator:
    """A device with other rates of its memory and of all its formats."""
    device: Accelerator = kept.value
    fields = dict(device.fields)
    fields["memory_bandwidth"] = device.memory_bandwidth * bandwidth
    peaks = {n: replace(p, rate=p.rate * peak) for n, p in device.peaks.items()}
    return replace(device, fields=fields, peaks=peaks)
