"""Time of a launch, split by what it waits for.

Every part of the chip is given what it must do and its own rate; the slowest of them
bounds the launch, as in a roofline with more roofs. The busiest unit counts: 133 blocks
on 132 units take as long as 264.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.memory.warp.coalescing import SECTOR
from stacklib.roofline.bound import hierarchy

from ..issue.occupancy import WARP, partitions_of
from .counters import Counters

if TYPE_CHECKING:  # they need NumPy, the rates do not
    from .cache_hits import CacheHits
    from .requests import Traffic

SPECIAL_CYCLES = (
    8  # of a scheduler: a quarter of its lanes has special functions, twice
)


@dataclass(frozen=True, slots=True)
class Times:
    """Least seconds of each part; the longest is what the launch waits for."""

    issue: float
    fp64: float
    shared: float
    l1: float
    l2: float
    dram: float
    latency: float

    def parts(self) -> dict[str, float]:
        """Each part by name."""
        names = ("issue", "fp64", "shared", "l1", "l2", "dram", "latency")
        return {name: getattr(self, name) for name in names}

    @property
    def total(self) -> float:
        """Seconds of the launch, without the launching."""
        return max(self.parts().values())

    @property
    def bound(self) -> str:
        """The part that takes longest."""
        parts = self.parts()
        return max(parts, key=lambda name: parts[name])


def estimate(
    counters: Counters,
    traffic: Traffic,
    levels: CacheHits,
    device: Accelerator,
    blocks: int,
    warps_of_block: int,
    resident: int,
) -> Times:
    """Seconds of a launch on a device, part by part."""
    units, clock = int(device.compute_units.si), device.clock.si
    # The busiest unit has so many times the average.
    uneven = -(-blocks // units) * units / blocks
    cycles = clock * units / uneven
    issued = sum(counters.warps.values())
    special = counters.warps["special"]
    slots = issued + (SPECIAL_CYCLES - 1) * special
    mixed = "mixed" if levels.written or traffic.sectors.get("store") else "read"
    stream = hierarchy.stream_rate(device, mixed).rate
    dram = (levels.read + levels.written) / stream
    waves, warps = -(-blocks // (units * resident)), blocks * warps_of_block
    return Times(
        issue=slots / partitions_of(device) / cycles,
        fp64=_doubles(counters, device) * uneven,
        shared=sum(traffic.passes.values()) / cycles,
        l1=sum(traffic.sectors.values()) * SECTOR / _rate(device, "l1") * uneven,
        l2=levels.l2_sectors * SECTOR / _rate(device, "l2"),
        dram=dram,
        latency=_waiting(counters, levels, device, waves / warps, dram),
    )


def _doubles(counters: Counters, device: Accelerator) -> float:
    """Seconds of the float64 instructions, spread over all units."""
    if not counters.doubles or "fp64" not in device.peaks:
        return 0.0
    return counters.doubles * WARP / (device.peak("fp64").si / 2)


def _rate(device: Accelerator, level: str) -> float:
    return hierarchy.cache_rate(device, level).rate


def _waiting(
    counters: Counters,
    levels: CacheHits,
    device: Accelerator,
    waves_a_warp: float,
    dram: float,
) -> float:
    """Waves times the waits of a warp, times what each takes.

    Memory that is busy for a share ``u`` of the time answers later, by ``u`` times what
    its latency grows under full load. With ``u = dram / t``, ``t`` solves a quadratic.
    """
    l1, l2, far = (hierarchy.load_cycles(device, x) for x in ("l1", "l2", "dram"))
    # Nobody printed it for some architectures; it is the same array as the L1.
    own = hardware.level(device, "shared").cycles
    shared = l1 if own is None else own.si
    past_l1 = 1 - levels.l1_hit_rate
    past_l2 = past_l1 * (1 - levels.l2_hit_rate)
    wait = levels.l1_hit_rate * l1 + past_l1 * levels.l2_hit_rate * l2 + past_l2 * far
    second = waves_a_warp / device.clock.si
    waits = counters.warps["load_global"] * second
    idle = waits * wait + counters.warps["load_shared"] * shared * second
    queue = waits * past_l2 * far * (hardware.efficiency("loaded_latency") - 1)
    return (idle + math.sqrt(idle**2 + 4 * queue * dram)) / 2
