"""The memory ladder of a GPU: capacity, bandwidth and latency of every level.

Each level belongs to one compute unit, to the chip, or to something beyond it. What
belongs to a unit is given twice: for one unit, tagged ``per_core``, and for all units
of the chip, tagged ``per_chip``. The two cannot be added, compared or put into one
column by mistake.

What the chip itself has stands in ``hardware.levels``: bytes a cycle, of which a unit's
bandwidth is so many at its clock, and latencies of one dependent load on an idle
device, in cycles of that clock.

Left out: writes, conflicts between banks, what a busy level does to its latency, and
address translation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.hardware.level_table import Level
from stacklib.hardware.links import Link
from stacklib.quantity import Quantity
from stacklib.roofline.work.bounds import device_of

from ..tiers.seen import flash_latency

HOST_MEMORY = "ddr5_4800"  # behind the host's end of the link
DRIVE = "nvme_gen5_x4"
FEATURES = ("chip_capacity", "chip_bandwidth", "cycles")


@dataclass(frozen=True, slots=True)
class Rung:
    """One level of the ladder; None where nobody has published or measured a figure."""

    name: str
    owner: str  # ``unit``, ``chip`` or ``beyond``
    unit_capacity: Quantity | None = None
    chip_capacity: Quantity | None = None
    unit_bandwidth: Quantity | None = None
    chip_bandwidth: Quantity | None = None  # ``per_chip``
    cycles: Quantity | None = None
    latency: Quantity | None = None


def ladder(on: str | Accelerator) -> tuple[Rung, ...]:
    """Every level of a GPU, nearest first."""
    device = device_of(on)
    if device.kind != "gpu":
        raise hardware.UnknownSpec(
            f"{device.key} is a {device.kind}: the ladder is that of a GPU"
        )
    every = (
        _of_unit("registers", device, hardware.level(device, "register")),
        _of_unit("shared memory", device, _shared(device)),
        *_l2(device),
        _memory(device),
        *_beyond(device),
    )
    return tuple(r for r in every if r.chip_bandwidth or r.cycles)


# -- the levels -------------------------------------------------------------------


def _shared(device: Accelerator) -> Level:
    """NVIDIA's L1 is the same array: its latency fills a gap."""
    shared, l1 = (hardware.level(device, name) for name in ("shared", "l1"))
    if shared.cycles is None and device.vendor == "NVIDIA":
        return replace(shared, cycles=l1.cycles, latency=l1.latency)
    return shared


def _of_unit(name: str, device: Accelerator, level: Level) -> Rung:
    """A level that each unit has to itself."""
    units = device.compute_units
    capacity = level.capacity and level.capacity.retag("per_core")
    rate = _drawn(device, level)
    return Rung(
        name,
        "unit",
        _named(capacity, f"{device.short} {name} of one unit"),
        _named(_all(capacity, units), f"{device.short} {name} of all units"),
        _named(rate, f"{device.short} {name}, one unit"),
        _named(_all(rate, units), f"{device.short} {name}, all units"),
        level.cycles,
        level.latency,
    )


def _drawn(device: Accelerator, level: Level) -> Quantity | None:
    """Bytes a second that one unit draws from a level."""
    if level.width is None:
        return None
    return (level.width * device.clock).at_clock(device.clock).retag("per_core")


def _l2(device: Accelerator) -> tuple[Rung, ...]:
    """One level, or two where the far partition was measured: half the lines each."""
    near, far = (hardware.level(device, name) for name in ("l2", "l2_far"))
    rate = _drawn(device, near)
    whole = Rung(
        "L2",
        "chip",
        None,
        near.capacity,
        _named(rate, f"{device.short} L2, drawn by one unit"),
        _named(_all(rate, device.compute_units), f"{device.short} L2, all units"),
        near.cycles,
        near.latency,
    )
    if far.cycles is None:
        return (whole,)
    beyond = Rung("L2, far side", "chip", cycles=far.cycles, latency=far.latency)
    return whole, beyond


def _memory(device: Accelerator) -> Rung:
    """The pins; a unit's bandwidth is its even share of them."""
    memory = hardware.level(device, "dram")
    share = memory.rate and (memory.rate / device.compute_units).retag("per_core")
    stacked = device.memory_type.upper().startswith("HBM")
    return Rung(
        "HBM" if stacked else "memory",
        "chip",
        None,
        memory.capacity,
        _named(share, f"{device.short} memory, even share of a unit"),
        memory.rate,
        memory.cycles,
        memory.latency,
    )


def _beyond(device: Accelerator) -> tuple[Rung, ...]:
    """Another device's memory, the host's, and a drive.

    The latency on file of a scale-up link is that of a load from a peer, that of a host
    link the way there and back: to it come the way out through the L2 and the DRAM.
    """
    found = []
    if device.link_key and device.fields["link"] is not None:
        peer = hardware.link(device.link_key)
        found.append(_far("peer", device, device.link, peer.fields["latency"]))
    if device.host_link_key and device.fields["host_link"] is not None:
        link = hardware.link(device.host_link_key)
        found.append(_far("host", device, device.host_link, _host_load(device, link)))
    drive = hardware.link(DRIVE)
    rate = (drive.fields["achieved"] or drive.per_direction).retag("per_chip")
    return (*found, _far("drive", device, rate, flash_latency()))


def _host_load(device: Accelerator, link: Link) -> Quantity | None:
    """Seconds of a load that a unit makes from the host's memory."""
    way, out = link.fields["latency"], hardware.level(device, "l2").latency
    if way is None or out is None:
        return None
    total = out + way + hardware.memory(HOST_MEMORY).latency
    return total.named(f"{device.short} load from host memory")


def _far(
    name: str, device: Accelerator, rate: Quantity, latency: Quantity | None
) -> Rung:
    cycles = None
    if latency is not None:
        cycles = (latency * device.clock).at_clock(device.clock)
        cycles = cycles.named(f"{name} latency in cycles")
    return Rung(name, "beyond", chip_bandwidth=rate, cycles=cycles, latency=latency)


def launched_copy(on: str | Accelerator) -> Quantity:
    """Seconds of the smallest copy that the host launches and waits for.

    The time of an eager call of one kernel with nothing to do, as published (factor
    ``launch_softmax``), and the way over the link. A load that a
    running kernel makes needs no launch: that is the ladder's ``host``.
    """
    device = device_of(on)
    call = hardware.efficiency_quantity("launch_softmax")
    way = hardware.link(device.host_link_key).latency
    return (call + way).named(f"launched copy to {device.short}")


# -- steps ------------------------------------------------------------------------


def steps(rungs: Sequence[Rung], feature: str = "cycles") -> tuple[Quantity, ...]:
    """What each level is times the one before: below 1 where it is less."""
    if feature not in FEATURES:
        raise ValueError(f"feature = {feature!r}: one of {', '.join(FEATURES)}")
    having = [r for r in rungs if getattr(r, feature) is not None]
    if len(having) < 2:
        raise ValueError(f"{len(having)} levels with {feature}: two or more are needed")
    return tuple(
        (_plain(getattr(b, feature)) / _plain(getattr(a, feature))).named(
            f"{feature}: {b.name} over {a.name}"
        )
        for a, b in pairwise(having)
    )


def mean_step(rungs: Sequence[Rung], feature: str = "cycles") -> Quantity:
    """Geometric mean of ``steps``: the one step that, repeated, spans the same."""
    found = steps(rungs, feature)
    product = found[0]
    for step in found[1:]:
        product = product * step
    return (product ** (1 / len(found))).named(f"mean step of {feature}")


def _plain(value: Quantity) -> Quantity:
    """Without a direction: a memory's bandwidth stands beside that of a link."""
    return value.retag("per_direction") if "B/s" in value.unit else value


# -- small things -----------------------------------------------------------------


def _all(each: Quantity | None, units: Quantity) -> Quantity | None:
    """What all units of the chip have together."""
    return None if each is None else each.across(units).retag("per_chip")


def _named(value: Quantity | None, label: str) -> Quantity | None:
    return None if value is None else value.named(label)
