"""Bandwidth by working set, latency by level: the memory side, as it is measured.

What a device's memory delivers falls short of what its pins could carry, and which
memory answers depends on how much is read. The rates of caches and the latencies
stand in the table of a device's levels (``hardware.levels``); the shares are
efficiency factors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.quantity import Quantity, maximum, minimum

from ..work.bounds import device_of
from ..work.fit import Infeasible
from . import littles_law

KINDS = ("read", "mixed")
CACHES = ("l1", "l2")
# How often a row-wise kernel goes over its row in memory: read for the sums, read
# again for the result, written. An activation is read and written once.
PASSES = {"softmax": 3, "layernorm": 3, "rmsnorm": 3, "gelu": 2}
_CALLS = {"softmax": "launch_softmax"}  # others are compiled, with their guards
_NEWTON, _TINY = 40, 1e-12
# Lines of a set of an L2, of which the oldest goes, in Accel-Sim's tested RTX 3070 and
# RTX 4080 (``gpgpu_cache:dl2``, read 2026-11-29, secondary).
_WAYS = 16


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
    rate = delivered(device, in_flight, drawn)
    return Bandwidth(rate, "concurrency" if rate < drawn else "dram")


def delivered(device: Accelerator, in_flight: float, drawn: float) -> float:
    """Bytes a second of a memory that delivers ``drawn`` to as many as ask.

    A device filled with threads moves no more than all of them have asked for, once
    every loaded latency.
    """
    threads = device.fields["max_threads_per_unit"]
    idle = hardware.level(device, "dram").latency
    if threads is None or idle is None:
        return drawn
    seconds = idle.si * hardware.efficiency("loaded_latency")
    asked = device.compute_units.si * threads.si * in_flight
    return float(littles_law.throughput(asked, seconds, drawn))


def cache_rate(on: str | Accelerator, level: str) -> Bandwidth:
    """Bandwidth of all units together from the L1 or the L2."""
    if level not in CACHES:
        raise ValueError(f"level = {level!r}: one of {', '.join(CACHES)}")
    return Bandwidth(hardware.level(on, level).known("rate").si, level)


def kept_share(on: str | Accelerator) -> float:
    """Share of an L2 that holds different lines when all units read the same set.

    An L2 in one piece keeps every line once. In one of several parts a unit is served
    by its own part, which copies what the others hold. A set then stands between once
    and ``parts`` times in it; the geometric middle, which published curves of an A100,
    an H100 and an H200 meet within a tenth.
    """
    parts = hardware.microarchitecture(device_of(on)).constants.get("l2_parts")
    return 1.0 if parts is None else float(parts.si) ** -0.5


def hit_share(working_set: Any, capacity: Any, kept: Any = 1.0) -> Any:
    """Share of loads a cache answers when a working set is read again and again.

    All of them while the set fits. Beyond, a line that is read every ``x`` capacities
    has met ``x (1 - h)`` evictions a line in between, each of a random line, so it is
    still there with ``h = exp(-x (1 - h))`` (random replacement). Newton's steps for
    ``1 - h`` come down to its largest root from 1.

    ``working_set``, ``capacity``: bytes. ``kept``: ``kept_share`` of the cache.
    """
    over = working_set / (capacity * kept)
    missed = 1.0 + 0.0 * over
    for _ in range(_NEWTON):
        still = math.e ** (-over * missed)
        missed = missed - (missed - 1 + still) / (1 - over * still + _TINY)
    return minimum(1.0, maximum(0.0, 1 - missed))


def loop_share(working_set: float, capacity: float, kept: float = 1.0) -> float:
    """Share of loads a cache answers when a loop comes by its lines in one order.

    All of them while the set fits. Beyond, the oldest line of a set makes room, and
    in a loop that is the line wanted next. With ``m`` misses a load and ``w`` ways a
    set of ``x`` capacities balances where ``x`` is the sum of ``m^j / (w j + 1)``,
    near enough ``1 - log(1 - m) / w``.

    ``working_set``, ``capacity``: bytes. ``kept``: ``kept_share`` of the cache.
    """
    over = working_set / (capacity * kept)
    return min(1.0, math.exp(_WAYS * min(0.0, 1 - over)))


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
    hits = hit_share(working_set, device.l2_capacity.si, kept_share(device))
    rate = 1 / (hits / near + (1 - hits) / far)
    return Bandwidth(rate, "l2" if hits / near > (1 - hits) / far else "dram")


def load_cycles(on: str | Accelerator, level: str) -> float:
    """Cycles of a dependent load served from a level."""
    return hardware.level(on, level).known("cycles").si


def row_operation_rate(on: str | Accelerator, size: float, operation: str) -> Bandwidth:
    """Bytes a second of a softmax, layer norm or activation that the host waits for.

    The host calls, the device passes over the rows, the host is told: one after the
    other. ``size``: bytes of the rows; the rate counts them read and written once.
    """
    if operation not in PASSES:
        raise ValueError(f"operation = {operation!r}: one of {', '.join(PASSES)}")
    if not 0 < size < float("inf"):
        raise ValueError(f"size = {size!r}: bytes above zero are needed")
    passes = PASSES[operation] * size
    stream = passes / stream_rate(on, "mixed").rate
    call = hardware.efficiency(_CALLS.get(operation, "launch_elementwise"))
    return Bandwidth(2 * size / (call + stream), "dram" if stream > call else "launch")
