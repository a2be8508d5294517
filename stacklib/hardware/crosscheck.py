"""Published figures of a device, held to each other and to what can be built.

``gaps`` are relations between two published figures, which must agree within
``TOLERANCE``; ``limits`` are ranges that nothing built so far leaves. ``faults``
names those that fail. Where published figures really contradict each other, the
device's file says why, ``inconsistent = "..."`` beside the figure; a remark whose
contradiction is gone is a fault too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from stacklib.quantity import Quantity

from .accelerator import Accelerator
from .link_gaps import Gap
from .links import link
from .load import SpecError
from .second_sources import differences

TOLERANCE = 0.02
RETICLE = 858e-6  # m2, the largest field of an EUV scanner: 26 mm x 33 mm
WAVE = {"gcn5": 64, "cdna": 64, "cdna2": 64, "cdna3": 64, "cdna4": 64, "cdna5": 64}
WARP = 32

# Each format is no slower than the one before it; so is the same format with a
# narrower accumulator, and FP64 on tensor cores.
CHAINS = (
    ("fp64", "fp64/tensor"),
    ("fp64", "fp32", "tf32", "bf16", "fp8", "fp6", "fp4"),
    ("fp32", "fp16", "fp8"),
    ("fp16", "fp16/fp16"),
    ("fp8", "fp8/fp16"),
    ("int8", "int4"),
)


@dataclass(frozen=True, slots=True)
class Limit:
    """A range that a figure of a device must lie in."""

    key: str
    relation: str  # what is looked at, such as ``"area of one die"``
    place: str  # the field, or ``"peak.<key>"``, that is wrong outside of the range
    value: float  # in SI, or a ratio
    low: float
    high: float

    @property
    def holds(self) -> bool:
        """Whether the value lies in the range."""
        return self.low <= self.value <= self.high


def gaps(device: Accelerator) -> list[Gap]:
    """Relations that hold two published figures of a device to each other.

    A relation with an unknown side is left out.
    """
    found = []
    for relation, place, built, printed in _ties(device):
        gap = built.si / printed.si - 1
        if not math.isfinite(gap):
            raise SpecError(f"{device.key}: {relation} is not finite")
        why = device.inconsistent.get(place, "")
        found.append(Gap(device.key, relation, place, gap, why))
    return found


def residuals(device: Accelerator) -> dict[str, float]:
    """Relative gaps between published figures that physics ties together."""
    return {gap.relation: gap.gap for gap in gaps(device)}


Tie = tuple[str, str, Quantity, Quantity]


def _ties(device: Accelerator) -> Iterator[Tie]:
    f = device.fields
    pins, rate, bandwidth = (
        f["memory_pins"],
        f["memory_pin_rate"],
        f["memory_bandwidth"],
    )
    if pins is not None and rate is not None and bandwidth is not None:
        built = (pins * rate).to("B/s")
        yield "pins x rate", "memory_bandwidth", built, bandwidth
    threads, warps = f["max_threads_per_unit"], f["max_warps_per_unit"]
    if threads is not None and warps is not None:
        wave = WAVE.get(device.architecture, WARP)
        yield "warps x threads", "max_threads_per_unit", warps * wave, threads
    yield from _peak_ties(device)
    for place, key in (("link", device.link_key), ("host_link", device.host_link_key)):
        printed = f[place]
        per_direction = link(key).fields["per_direction"] if key else None
        if printed is not None and per_direction is not None:
            yield f"{place} of {key}", place, per_direction, printed


def _peak_ties(device: Accelerator) -> Iterator[Tie]:
    units = device.fields["compute_units"]
    for name, peak in device.peaks.items():
        clock = device.fields[peak.clock]
        if peak.per_unit_per_cycle is None or clock is None or units is None:
            continue
        built = units * peak.per_unit_per_cycle * clock
        yield f"{name}: units x clock x rate", f"peak.{name}", built, peak.rate


def limits(device: Accelerator) -> list[Limit]:
    """Ranges that the figures of a device must lie in."""
    found = [("year", "year", float(device.year), 2006.0, 2028.0)]
    found += [*_built_limits(device), *_peak_limits(device)]
    return [Limit(device.key, *row) for row in found]


Row = tuple[str, str, float, float, float]


def _built_limits(device: Accelerator) -> Iterator[Row]:
    si = {k: v.si for k, v in device.fields.items() if v is not None}
    area = si.get("die_area")
    if area is not None:
        if "dies" in si:
            each = area / si["dies"]
            yield "area of one die", "die_area", each, 20e-6, RETICLE
        if "tdp" in si:
            yield "power by area of the dies", "tdp", si["tdp"] / area, 0.05e6, 2e6
        if "transistors" in si:
            density = si["transistors"] / area
            yield "transistors by area", "transistors", density, 10e12, 350e12
    stacks = si.get("memory_stacks")
    if stacks is not None and "memory_capacity" in si:
        each = si["memory_capacity"] / stacks
        yield "capacity of a stack", "memory_capacity", each, 1e9, 64e9
    if stacks is not None and "memory_pins" in si:
        each = si["memory_pins"] / stacks
        yield "pins of a stack", "memory_pins", each, 512, 2048


def _peak_limits(device: Accelerator) -> Iterator[Row]:
    peaks = device.peaks
    for name, peak in peaks.items():
        most = 16.0 if device.kind == "asic" else 2.0
        yield "gain by sparsity", f"peak.{name}", peak.sparse_factor, 1.0, most
    for chain in CHAINS:
        there = [name for name in chain if name in peaks]
        for wide, narrow in pairwise(there):
            ratio = peaks[narrow].rate.si / peaks[wide].rate.si
            relation = f"{narrow} by {wide}"
            yield relation, f"peak.{narrow}", ratio, 1 - TOLERANCE, math.inf
    clock, units = device.fields["clock"], device.fields["compute_units"]
    if device.fields["tensor_clock"] is None and clock is not None:
        for name, peak in peaks.items():
            if peak.clock != "tensor_clock" or peak.per_unit_per_cycle is None:
                continue
            if units is not None:
                implied = peak.rate.si / (units.si * peak.per_unit_per_cycle.si)
                relation = f"clock that the {name} peak implies, by the clock"
                place = f"peak.{name}"
                yield relation, place, implied / clock.si, 0.8, 1 + TOLERANCE


def faults(device: Accelerator) -> list[str]:
    """What cannot be true of a device, and remarks that explain nothing."""
    failing: dict[str, list[str]] = {}
    for gap in gaps(device):
        if abs(gap.gap) > TOLERANCE:
            failing.setdefault(gap.predicts, []).append(
                f"{gap.relation} differs by {gap.gap:+.1%}"
            )
    for place, apart in differences(device):
        failing.setdefault(place, []).append(f"a second source differs by {apart:+.1%}")
    for limit in limits(device):
        if not limit.holds:
            failing.setdefault(limit.place, []).append(
                f"{limit.relation} is {limit.value:.4g}, "
                f"not between {limit.low:.4g} and {limit.high:.4g}"
            )
    unexplained = [
        f"{device.key}: {place}: {what}"
        for place, found in failing.items()
        for what in found
        if place not in device.inconsistent
    ]
    stale = [
        f"{device.key}: {place} is called inconsistent, and nothing contradicts it"
        for place in device.inconsistent
        if place not in failing
    ]
    return unexplained + stale
