"""Bandwidth by working set, latency by level: the memory side, as it is measured.

What a device's memory delivers falls short of what its pins could carry, and which
memory answers depends on how much is read. The rates of caches and the latencies
stand in the table of a device's levels (``hardware.levels``); the shares are
efficiency factors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.quantity import Quantity, minimum

from ..work.bounds import device_of
from ..work.fit import Infeasible
from . import littles_law

KINDS = ("read", "mixed")
CACHES = ("l1", "l2")


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """Bytes a second that a kernel gets, and what limits it."""

    rate: float  # bytes a second
    bound: str  # ``dram``, ``l2``, ``l1``, or ``concurrency``


def stream_rate(
    on: str | Accelerator, kind: str = "read", in_flight: float | None = None
) -> Bandwidth:
    """Bandwidth of a kernel that streams through memory once.

    ``in_flight``: bytes each thread keeps in flight.
    """
    if kind not in KINDS:
        raise ValueError(f"kind = {kind!r}: one of {', '.join(KINDS)}")
    device = device_of(on)
    drawn = device.memory_bandwidth.si * hardware.efficiency(f"dram_{kind}")
    if in_flight is None:
        return Bandwidth(drawn, "dram")
    if not in_flight > 0:
        raise ValueError(f"in_flight = {in_flight!r}: bytes above zero are needed")
    threads = device.fields["max_threads_per_unit"]
    idle = hardware.level(device, "dram").latency
    if threads is None or idle is None:
        return Bandwidth(drawn, "dram")
    seconds = idle.si * hardware.efficiency("loaded_latency")
    # A device filled with threads moves no more than all of them have asked for, once
    # every loaded latency.
    asked = device.compute_units.si * threads.si * in_flight
    rate = littles_law.throughput(asked, seconds, drawn)
    return Bandwidth(rate, "concurrency" if rate < drawn else "dram")


def cache_rate(on: str | Accelerator, level: str) -> Bandwidth:
    """Bandwidth of all units together from the L1 or the L2."""
    if level not in CACHES:
        raise ValueError(f"level = {level!r}: one of {', '.join(CACHES)}")
    return Bandwidth(hardware.level(on, level).known("rate").si, level)


def hit_share(working_set: Any, capacity: Any) -> Any:
    """Share of loads a cache answers when a working set is read again and again.

    All of them while the set fits in the part of the cache that keeps it; beyond,
    fewer than the share that fits, because what is read last drives out what is
    needed next. The cube lies between a random replacement (the first power) and a
    strict LRU (nothing).

    ``working_set``, ``capacity``: bytes.
    """
    room = capacity * hardware.efficiency("l2_room")
    return minimum(1.0, (room / working_set) ** 3)


def read_rate(on: str | Accelerator, working_set: float) -> Bandwidth:
    """Bandwidth of all units reading a working set again and again.

    ``working_set``: bytes.
    """
    if not 0 < working_set < float("inf"):
        raise ValueError(f"working_set = {working_set!r}: bytes above zero are needed")
    device = device_of(on)
    capacity = device.fields["memory_capacity"]
    if capacity is not None and working_set > capacity.si:
        need = Quantity(working_set / 1e9, "GB")
        raise Infeasible(
            f"a working set of {need:.4 GB} > {capacity:.4 GB} on {device.short}: "
            "does not fit"
        )
    near, far = cache_rate(device, "l2").rate, stream_rate(device, "read").rate
    hits = hit_share(working_set, device.l2_capacity.si)
    rate = 1 / (hits / near + (1 - hits) / far)
    return Bandwidth(rate, "l2" if hits / near > (1 - hits) / far else "dram")


def load_cycles(on: str | Accelerator, level: str) -> float:
    """Cycles of a dependent load served from a level."""
    return hardware.level(on, level).known("cycles").si


def row_operation_rate(on: str | Accelerator, moved: float, call: str) -> Bandwidth:
    """Bytes a second of an elementwise or row-wise operation called eagerly.

    Softmax and layer norm pass over each row more than once, so they draw less than
    a copy does; a small one costs its call. A call that is built of several, as a
    layer norm is, keeps the host busy while the device works; a softmax is one
    kernel, and its launch adds to its work.
    """
    if not 0 < moved < float("inf"):
        raise ValueError(f"moved = {moved!r}: bytes above zero are needed")
    drawn = device_of(on).memory_bandwidth.si * hardware.efficiency("dram_rows")
    floor, stream = hardware.efficiency(call), moved / drawn
    # A softmax is one kernel, whose launch adds; a call built of several keeps the host
    # busy while the device works.
    if call == "launch_softmax":
        time = floor + stream
    else:
        longer, shorter = max(floor, stream), min(floor, stream)
        time = longer * (1 + (shorter / longer) ** 2) ** 0.5
    return Bandwidth(moved / time, "dram" if stream > floor else "launch")
