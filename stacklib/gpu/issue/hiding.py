"""From registers to bandwidth: what a kernel's resources let it hide.

A block's threads, registers and shared memory decide how many warps are resident
(``occupancy``); warps times independent loads is what they have in flight; bytes in
flight over the latency is the bandwidth they draw, until there is no more (Little's
law). Here the three steps are one call, in closed form, and a sub-core stepped cycle
by cycle says what the same warps draw in line behind each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.quantity import Quantity, assumed, counted, minimum, stamp
from stacklib.quantity.bounds import above_zero, whole
from stacklib.roofline.bound import littles_law
from stacklib.roofline.work.bounds import device_of

from .occupancy import WARP, Occupancy, occupancy, partitions_of
from .sub_core import SubCore, Trace
from .warp_programs import stream
from .warp_scheduler import run

FAMILY = "littles_law"  # of predictions that nobody has held against kernels yet


@dataclass(frozen=True, slots=True)
class Hidden:
    """What a kernel's loads draw from the memory of a device."""

    occupancy: Occupancy  # of one unit
    in_flight: Quantity  # bytes under way on one unit
    needed: Quantity  # those that its part of the bandwidth wants
    share: Quantity  # of the bandwidth, at most 1


def hide(
    *,
    threads: int,
    registers: int = 32,
    shared_bytes: int = 0,
    each: int = 4,  # bytes a thread has in flight
    device: str | Accelerator = "h100-sxm",
    latency: Quantity | None = None,
) -> Hidden:
    """Share of a device's bandwidth that a kernel's loads can draw."""
    chip = device_of(device)
    found = occupancy(
        threads=threads, registers=registers, shared_bytes=shared_bytes, device=chip
    )
    # Without a latency, that of the idle memory, as measured.
    law = littles_law.in_flight(chip, each, latency)
    resident = counted(
        occupancy,
        threads=threads,
        registers=registers,
        shared_bytes=shared_bytes,
        device=chip,
        label="resident warps",
        take="warps",
    )
    lanes = assumed(
        WARP,
        label="threads a warp",
        why="Every NVIDIA GPU so far has warps of that size.",
    )
    flying = (resident * lanes * law.each).named("bytes in flight on a unit")
    part = (law.needed / chip.compute_units).named("bytes a unit needs in flight")
    needed = stamp(part, FAMILY)
    share = minimum(1.0, flying / needed).named("share of the bandwidth")
    return Hidden(found, flying, needed, stamp(share, FAMILY))


def request_interval(device: str | Accelerator, width: int = 4) -> Fraction:
    """Cycles between two requests of a warp that a sub-core's part of memory takes.

    ``width``: bytes each thread of the warp asks for.
    """
    above_zero(width=width)
    chip = device_of(device)
    part = chip.memory_bandwidth / (chip.compute_units * partitions_of(chip))
    cycles = WARP * width * chip.clock.si / part.si
    return Fraction(cycles).limit_denominator(100)


def sub_core_of(device: str | Accelerator, width: int = 4) -> SubCore:
    """A sub-core with the latencies of a device and its part of the bandwidth.

    Latencies that nobody measured on it are those of an H100.

    ``width``: bytes each thread loads.
    """
    chip = device_of(device)

    def cycles(level: str) -> int:
        here = hardware.level(chip, level).cycles
        known = here or hardware.level("h100-sxm", level).known("cycles")
        return round(known.si)

    return SubCore(
        math=cycles("register"),
        shared=cycles("shared"),
        memory=round(hardware.level(chip, "dram").known("cycles").si),
        interval=request_interval(chip, width),
    )


def draw(
    warps: int,
    *,
    ilp: int = 1,
    width: int = 4,  # bytes a thread of each
    device: str | Accelerator = "h100-sxm",
    rounds: int = 24,
    policy: str = "gto",
) -> tuple[float, Trace]:
    """Read a stream on one sub-core, cycle by cycle: share of its part, and trace.

    Each warp loads ``ilp`` numbers, adds each to a sum, and goes on. The share counts
    from the first load to the arrival of the last value.
    """
    whole(warps=warps)
    core = sub_core_of(device, width)
    done = run([stream(ilp, rounds)] * warps, core, policy=policy)
    loads = warps * ilp * rounds
    return float(loads * core.interval / done.cycles), done
