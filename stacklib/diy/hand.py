"""A machine that fits in a hand: one memory for all, and a power mode that slows it.

CPU, GPU and display share one memory, and what the system keeps of it no model has. A
power mode of a Jetson caps the clock of that memory as well as the GPU's, and a token
that waits for bytes slows down with it:

    bandwidth = full bandwidth x the memory's clock in the mode / its full clock

Heat is a limit of another kind: a die at its limit is held there by fewer watts, and
``power`` turns those into speed. Left out: what a mode does to prompts, the other
engines of such a chip, and a firmware that slows down before its limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from stacklib import hardware, serving
from stacklib.hardware import Accelerator
from stacklib.hardware.errors import error_band
from stacklib.quantity import Quantity, chosen, counted, minimum, quoted, resolve
from stacklib.roofline import fit_memory
from stacklib.roofline.work.fit import Infeasible

from .thermal import Heat, heat
from .voltage import power

JETSON = "jetson_orin_nano_super"
MODES = ("15 W", "25 W")  # of the Orin Nano; the last has the memory's full clock
LIMIT = quoted("jetson.limit").si  # degrees Celsius at which the firmware cuts clocks


def in_mode(on: str, mode: str | None = None) -> Accelerator:
    """A device in a power mode: the memory's bandwidth and the watts are the mode's.

    ``mode``: one of ``MODES``, for an Orin Nano; none: the device as it is sold.
    """
    device = hardware.get(on)
    if mode is None:
        return device
    if device.key != JETSON:
        raise ValueError(f"mode = {mode!r}: power modes of {device.key} are unknown")
    watts = resolve(mode, MODES, "power mode", exact=True).split()[0]
    slower = quoted(f"jetson.memory_{watts}w") / quoted("jetson.memory_25w")
    rate = (device.memory_bandwidth * slower).named(f"bandwidth at {watts} W")
    told = {"memory_bandwidth": rate, "tdp": quoted(f"jetson.watts_{watts}")}
    return replace(device, fields={**device.fields, **told})


def kept() -> Quantity:
    """Bytes of a shared memory that the system keeps, as on an Orin Nano."""
    all_of_it = hardware.get(JETSON).memory_capacity.across(1)
    return (all_of_it - quoted("jetson.free")).named("kept by the system")


@dataclass(frozen=True, slots=True)
class Held:
    """A model on such a machine: bytes, tokens a second, watts."""

    weights: Quantity
    cache: Quantity
    left: Quantity  # of the memory, that nothing uses
    read: Quantity  # by a token
    ceiling: Quantity  # tokens a second if bytes over bandwidth were all
    rate: Quantity  # with an engine's losses
    low: Quantity | None  # to ``high``: nine in ten published runs of its kind
    high: Quantity | None  # cut at the ceiling
    watts: Quantity | None  # of the mode or the whole chip

    @property
    def joules(self) -> Quantity | None:
        """Energy of a token, if the chip draws all that its mode allows."""
        if self.watts is None:
            return None
        return (self.watts / self.rate).to("J/token").named("energy of a token")


def held(
    model: str, on: str, dtype: str, context: int = 1024, mode: str | None = None
) -> Held:
    """A model in what the system leaves of a shared memory, and its tokens a second.

    ``dtype``: of the weights; ``context``: tokens cached. Raises ``Infeasible`` with
    the sum where it does not fit.
    """
    device, reserve = in_mode(on, mode), kept()
    fit = fit_memory(model, on=device, dtype=dtype, context=context, reserve=reserve)
    if not fit.fits:
        raise Infeasible(fit.explanation)
    asked: dict[str, Any] = {"dtype": dtype, "context": context}
    lines = serving.estimate(model, on, **asked, mode="limit").parts
    read = sum(each.bytes for each in lines if each.bytes).named("bytes of a token")
    token = chosen(1, "token", label="a token")
    ceiling = (token * device.memory_bandwidth.across(1) / read).to("token/s")
    found = serving.estimate(model, on, **asked)
    rate = found.tokens_per_s
    if mode is not None:  # an engine keeps the share of its ceiling that it has
        share = device.memory_bandwidth / hardware.get(on).memory_bandwidth
        rate = (rate * share).named("a second, in the mode")
    ends: list[Quantity | None] = []
    if band := found.error:
        for take in ("high", "low"):
            times = counted(error_band, band.cell, take=take, label=f"{take} end")
            ends.append(minimum(rate / times, ceiling).named(f"rate, {take} end"))
    low, high = ends or (None, None)
    left, drawn = (fit.have - fit.need).named("left over"), device.fields.get("tdp")
    watts, ceiling = drawn and drawn.across(1), ceiling.named("ceiling")
    return Held(fit.weights, fit.kv, left, read, ceiling, rate, low, high, watts)


def warmed(
    resistances: Sequence[float],
    capacities: Sequence[float],
    watts: float,
    hours: float,
    ambient: float,
    on: str = JETSON,
) -> tuple[Heat, float]:
    """Temperatures of parts whose first is held at the limit, and the speed at the end.

    As ``heat`` takes them; the speed is over that without a limit of heat.
    """
    found = heat(resistances, capacities, watts, hours, ambient, most=LIMIT)
    cut, full = (power(on, each).speed for each in (found.watts[-1], watts))
    return found, cut / full
