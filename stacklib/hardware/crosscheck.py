"""Published figures of a device, held to each other and to what can be built.

``gaps`` are relations between two published figures, of the device, its link or a
sibling, which must agree within ``TOLERANCE``; ``limits`` are ranges that nothing
built so far leaves. ``faults`` names those that fail. Where published figures really
contradict each other, the device's file says why, ``inconsistent = "..."`` beside the
figure; a remark explains a rounding and no more, and one whose
contradiction is gone is a fault too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from stacklib.quantity import Quantity

from .accelerator import Accelerator
from .devices import get, names
from .link_gaps import Gap
from .links import link
from .load import SpecError
from .second_sources import alone, asked, differences

TOLERANCE = 0.02
# As far as a remark explains, of a field and of a peak; and half of a sibling's rate.
ROUNDED, ROUNDED_PEAK = 0.03, 0.15
RETICLE = 858e-6  # m2, the largest field of an EUV scanner: 26 mm x 33 mm
WAVE = {"gcn5": 64, "cdna": 64, "cdna2": 64, "cdna3": 64, "cdna4": 64, "cdna5": 64}
WARP = 32
MEGATRANSFERS = re.compile(r"(?:DDR5X?|DDR4X|DIMM)-(\d+)$")  # a pin, as DDR5-6000 says
AMD = ("gcn", "cdna", "rdna")  # architectures that name a generation of units

# What a unit can hold follows from its generation.
LIMITS = (
    *("shared_per_unit", "registers_per_unit", "max_warps_per_unit"),
    *("max_threads_per_unit", "max_blocks_per_unit"),
)

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
    told = MEGATRANSFERS.search(device.memory_type)
    if pins is not None and told and bandwidth is not None:
        built = (pins * Quantity(float(told[1]), "Mbit/s")).to("B/s")
        yield f"pins x {told[0]}", "memory_bandwidth", built, bandwidth
    threads, warps = f["max_threads_per_unit"], f["max_warps_per_unit"]
    if threads is not None and warps is not None:
        wave = WAVE.get(device.architecture, WARP)
        yield "warps x threads", "max_threads_per_unit", warps * wave, threads
    yield from _peak_ties(device)
    yield from _sibling_ties(device)
    yield from _cache_ties(device)
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


Rates = dict[str, Quantity]  # operations a unit and cycle, by format


def _operations(device: Accelerator) -> Rates:
    peaks = device.peaks.items()
    return {n: p.per_unit_per_cycle for n, p in peaks if p.per_unit_per_cycle}


def _family(device: Accelerator) -> tuple[str, str]:
    """What says how many operations a unit does a cycle; nothing where no name does."""
    told = device.compute_capability or device.architecture.startswith(AMD)
    return (device.architecture, device.compute_capability) if told else ("", "")


@cache
def _families() -> Mapping[tuple[str, str], list[tuple[Accelerator, Rates]]]:
    found: dict[tuple[str, str], list[tuple[Accelerator, Rates]]] = {}
    for device in map(get, names()):
        if any(_family(device)):
            rates = _operations(device)
            found.setdefault(_family(device), []).append((device, rates))
    return found


def _siblings(device: Accelerator) -> Iterator[tuple[Accelerator, Rates]]:
    for other, rates in _families().get(_family(device), []):
        if other.key != device.key:
            yield other, rates


def _cache_ties(device: Accelerator) -> Iterator[Tie]:
    """A cache stands at its memory controllers: as much a stack as a sibling has."""
    stacks, cache = device.fields["memory_stacks"], device.fields["l2_capacity"]
    if stacks is None or cache is None or not device.compute_capability:
        return
    for other, _ in _siblings(device):
        there, size = other.fields["memory_stacks"], other.fields["l2_capacity"]
        if there is not None and size is not None:
            relation = f"cache a stack of {other.key}"
            yield relation, "l2_capacity", size / there * stacks, cache


def _sibling_ties(device: Accelerator) -> Iterator[Tie]:
    """What siblings' units hold, and do a cycle where they differ in nothing else.

    One generation has full and half rates (GeForce, L40), so not all are alike; where
    those that are differ among themselves, they say nothing. Where none of a device's
    rates is a sibling's, its units are counted as something else is.
    """
    for name in LIMITS if device.architecture != "rdna3" else ():  # its chips differ
        mine = device.fields[name]
        for other, _ in _siblings(device):
            limit = other.fields[name]
            if mine is not None and limit is not None:
                yield f"{name} of {other.key}", name, limit, mine
    own = _operations(device)
    both = [
        (there[name], own[name], other.key)
        for other, there in _siblings(device)
        for name in there.keys() & own.keys()
    ]
    if both and all(rate.si != mine.si for rate, mine, _ in both):
        rate, mine, key = min(both, key=lambda one: (one[2], one[0].si))
        yield f"a unit and cycle of {key}", "compute_units", rate, mine
    for name, rate in own.items():
        alike = {}
        for other, there in _siblings(device):
            shared = (there.keys() & own.keys()) - {name}
            same = all(there[n].si == own[n].si for n in shared)
            if name in there and same and len(shared) > 1:
                alike[there[name].si] = (
                    f"{name} a unit and cycle of {other.key}",
                    there,
                )
        if len(alike) == 1:
            ((relation, there),) = alike.values()
            yield relation, f"peak.{name}", there[name], rate


def limits(device: Accelerator) -> list[Limit]:
    """Ranges that the figures of a device must lie in."""
    found = [("year", "year", float(device.year), 2006.0, 2028.0)]
    found += [*_built_limits(device), *_peak_limits(device)]
    return [Limit(device.key, *row) for row in found]


# Both sides are of the device's own record, so that a lie may move them together.
OWN = ("pins x rate", "units x clock x rate")


def unwitnessed(device: Accelerator) -> list[str]:
    """Fields a sentence may rest on that stand on one source and on no relation.

    A peak that a remark excuses is among them: its relations hold it too loosely.
    """
    tied = {gap.predicts for gap in gaps(device) if not gap.relation.endswith(OWN)}
    loose = {place for place in device.inconsistent if place.startswith("peak.")}
    lone = set(alone(device)) - tied | loose
    return [field for field in asked(device) if field in lone]


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
        wide = 2048 if device.memory_type.startswith("HBM4") else 1024
        yield "pins of a stack", "memory_pins", each, 0.9 * wide, wide


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
    beyond: set[str] = set()  # what no remark explains

    def differs(place: str, what: str, gap: float) -> None:
        failing.setdefault(place, []).append(f"{what} differs by {gap:+.1%}")
        most = ROUNDED_PEAK if place.startswith("peak.") else ROUNDED
        half = "a unit and cycle" in what and abs(gap - 1) <= TOLERANCE
        if abs(gap) > most and not half:
            beyond.add(place)

    for gap in gaps(device):
        if abs(gap.gap) > TOLERANCE:
            differs(gap.predicts, gap.relation, gap.gap)
    for place, apart in differences(device):
        differs(place, "a second source", apart)
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
        if place not in device.inconsistent or place in beyond
    ]
    stale = [
        f"{device.key}: {place} is called inconsistent, and nothing contradicts it"
        for place in device.inconsistent
        if place not in failing
    ]
    return unexplained + stale
