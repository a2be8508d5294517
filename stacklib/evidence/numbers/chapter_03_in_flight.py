"""Numbers of the section on DRAM: bytes in flight, and a vector add that has them."""

from __future__ import annotations

from functools import cache

from stacklib import hardware
from stacklib.memory.dram.in_flight import Saturation, channels_of, saturate
from stacklib.quantity import Quantity, Source
from stacklib.roofline.bound import littles_law

from .. import dram_published, runs
from .registry import number

DEVICE = "h100-sxm"


def _assumed(value: float, unit: str, label: str, where: str = "") -> Quantity:
    source = Source("this section", where, "2026-11-22", "secondary") if where else None
    return Quantity(value, unit, label=label, kind="assumption", source=source)


def _flying(latency: Quantity | None = None) -> littles_law.InFlight:
    return littles_law.in_flight(DEVICE, 4, latency)


@number("dram.channels", digits=3)
def channels() -> Quantity:
    """Pseudo-channels of an A100: pins over the pins of one."""
    return channels_of(hardware.get("a100-sxm-40gb"))


@number("dram.unit_idle", unit="kB", digits=2)
def unit_idle() -> Quantity:
    """Bytes that a compute unit of an H100 must have in flight, idle latency."""
    return _flying().needed / hardware.get(DEVICE).compute_units


@number("dram.unit_busy", unit="kB", digits=2)
def unit_busy() -> Quantity:
    """The same when a load takes 600 ns."""
    busy = _assumed(600, "ns", "latency of a busy memory", "as in section 1.5")
    return _flying(busy).needed / hardware.get(DEVICE).compute_units


def _add(threads: int, width: int) -> Saturation:
    """A vector add: two loads and a store of so many bytes a thread."""
    return saturate(DEVICE, 2 * width, threads, stored=width)


@number("dram.add_quarter", unit="%", digits=2, family="C")
def add_quarter() -> Quantity:
    """Share of a vector add in fp32 with a quarter of the threads."""
    return _add(512, 4).share


@number("dram.add_eighth", unit="%", digits=2, family="C")
def add_eighth() -> Quantity:
    """Share of a vector add in fp32 with an eighth of the threads."""
    return _add(256, 4).share


@number("dram.add_wide", unit="%", digits=2, family="C")
def add_wide() -> Quantity:
    """Share of the same eighth with four numbers a thread."""
    return _add(256, 16).share


@number("dram.add_most", unit="%", digits=2, family="C")
def add_most() -> Quantity:
    """Share of a vector add with every thread and four numbers each."""
    return _add(2048, 16).share


@cache
def threads_for(width: int, share: float) -> int:
    """Fewest threads of a unit, in whole warps, that reach a share."""
    return next(n for n in range(32, 2049, 32) if _add(n, width).share.si >= share)


@number("dram.threads_one", digits=4)
def threads_one() -> Quantity:
    """Threads a unit that bring a vector add of one number each to 80 %."""
    return _assumed(threads_for(4, 0.8), "1", "threads", "searched by warps")


@number("dram.threads_four", digits=4)
def threads_four() -> Quantity:
    """The same with four numbers each."""
    return _assumed(threads_for(16, 0.8), "1", "threads", "searched by warps")


@number("dram.threads_share", unit="%", digits=2)
def threads_share() -> Quantity:
    """Share of the threads a unit can hold that this is."""
    return threads_one() / hardware.get(DEVICE).max_threads_per_unit


@number("dram.held", digits=4, evidence="spec")
def held() -> Quantity:
    """Threads that a compute unit of an H100 can hold."""
    return 1 * hardware.get(DEVICE).max_threads_per_unit


@number("dram.eighth", digits=3, evidence="spec")
def eighth() -> Quantity:
    """Threads a unit in the row of the table that the text picks."""
    return _assumed(256, "1", "threads a unit", "a row of the table")


@number("dram.goal", unit="%", digits=2, evidence="spec")
def goal() -> Quantity:
    """The share this project asks for."""
    return _assumed(0.8, "1", "share to reach", "the learning guide's project")


def _worst(device: str, knee: bool) -> Quantity:
    """Largest error of a sweep, in per one; before the bus is full, or after."""
    points = [
        p for k in dram_published.KERNELS for p in dram_published.sweep(device, k)
    ]
    errors = [abs(p.error) for p in points if (p.told.idle_limit.si < 1) == knee]
    return _assumed(max(errors), "1", "largest error", "over read, scale and triad")


@number("dram.a100_knee", unit="%", digits=2, evidence="measured")
def a100_knee() -> Quantity:
    """Largest error of the model on the A100 while too little is asked for."""
    return _worst("a100_sxm_40gb", True)


@number("dram.v100_knee", unit="%", digits=2, evidence="measured")
def v100_knee() -> Quantity:
    """Largest error of the model on the V100 while too little is asked for."""
    return _worst("v100_sxm2_32gb", True)


@number("dram.a100_full", unit="%", digits=2, evidence="measured")
def a100_full() -> Quantity:
    """Largest error of the model on the A100 once enough is asked for."""
    return _worst("a100_sxm_40gb", False)


def _chase(chains: int) -> Quantity:
    """Bytes a second of so many pointer chases through this machine's memory."""
    run = runs.get("pointer_chases", f"memory-{chains}")
    return _assumed(64, "B", "cache line") / run.measured


@number("dram.chase_one", unit="GB/s", digits=2, evidence="measured")
def chase_one() -> Quantity:
    """Bandwidth of one pointer chase through this machine's memory."""
    return _chase(1)


@number("dram.chase_sixteen", unit="GB/s", digits=2, evidence="measured")
def chase_sixteen() -> Quantity:
    """Bandwidth of sixteen of them at once, on one core."""
    return _chase(16)
