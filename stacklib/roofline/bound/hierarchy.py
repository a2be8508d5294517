"""Bandwidth by working set, latency by level: the memory side, as it is measured.

What a device's memory delivers falls short of what its pins could carry, and which
memory answers depends on how much is read. The rates of caches and the latencies
are constants of the architecture (``hardware.microarchitecture``); the shares are
efficiency factors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib import hardware
from stacklib.hardware import Accelerator, UnknownSpec, microarchitectures
from stacklib.quantity import Quantity, minimum

from ..work.bounds import device_of
from ..work.fit import Infeasible

KINDS = ("read", "mixed")
LEVELS = ("l1", "l2")


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """Bytes a second that a kernel gets, and what limits it.

    Attributes
    ----------
    rate : float
        Bytes a second.
    bound : str
        ``dram``, ``l2``, ``l1``, or ``concurrency``.
    """

    rate: float
    bound: str


def stream_rate(
    on: str | Accelerator, kind: str = "read", in_flight: float | None = None
) -> Bandwidth:
    """Bandwidth of a kernel that streams through memory once.

    Parameters
    ----------
    on : str or Accelerator
        The device, or its name.
    kind : str
        ``read``, or ``mixed`` where reads and writes alternate on the bus.
    in_flight : float, optional
        Bytes each thread keeps in flight. By Little's law a device that is
        filled with threads cannot move more than all of them have asked for,
        once every loaded latency.

    Raises
    ------
    ValueError
        For another kind, or bytes in flight that are not above zero.
    UnknownName, UnknownSpec
        For an unknown device, or one whose bandwidth is unknown.

    Examples
    --------
    >>> stream_rate("h200-sxm", "read", in_flight=8).bound
    'concurrency'
    """
    if kind not in KINDS:
        raise ValueError(f"kind = {kind!r}: one of {', '.join(KINDS)}")
    device = device_of(on)
    drawn = device.memory_bandwidth.si * hardware.efficiency(f"dram_{kind}")
    if in_flight is None:
        return Bandwidth(drawn, "dram")
    if not in_flight > 0:
        raise ValueError(f"in_flight = {in_flight!r}: bytes above zero are needed")
    micro = hardware.microarchitecture(device)
    threads, clock = device.fields["max_threads_per_unit"], device.fields["clock"]
    if threads is None or clock is None or "dram_latency" not in micro.constants:
        return Bandwidth(drawn, "dram")
    idle = micro.latency("dram").si / clock.si
    seconds = idle * hardware.efficiency("loaded_latency")
    # Little's law: a device filled with threads moves no more than all of them have
    # asked for, once every loaded latency.
    asked = device.compute_units.si * threads.si * in_flight / seconds
    bound = "dram" if drawn <= asked else "concurrency"
    return Bandwidth(min(drawn, asked), bound)


def cache_rate(on: str | Accelerator, level: str) -> Bandwidth:
    """Bandwidth of all units together from the L1 or the L2.

    Parameters
    ----------
    on : str or Accelerator
        The device, or its name.
    level : str
        ``l1`` or ``l2``.

    Raises
    ------
    ValueError
        For another level.
    UnknownName, UnknownSpec
        For an unknown device, or one whose clock or cache rate is unknown.
    """
    if level not in LEVELS:
        raise ValueError(f"level = {level!r}: one of {', '.join(LEVELS)}")
    device = device_of(on)
    width = hardware.microarchitecture(device).rate(level)
    return Bandwidth(width.si * device.compute_units.si * device.clock.si, level)


def hit_share(working_set: Any, capacity: Any) -> Any:
    """Share of loads a cache answers when a working set is read again and again.

    All of them while the set fits in the part of the cache that keeps it; beyond,
    fewer than the share that fits, because what is read last drives out what is
    needed next. The cube lies between a random replacement (the first power) and a
    strict LRU (nothing).

    Parameters
    ----------
    working_set, capacity : float, Quantity or array
        Bytes.
    """
    room = capacity * hardware.efficiency("l2_room")
    return minimum(1.0, (room / working_set) ** 3)


def read_rate(on: str | Accelerator, working_set: float) -> Bandwidth:
    """Bandwidth of all units reading a working set again and again.

    Parameters
    ----------
    on : str or Accelerator
        The device, or its name.
    working_set : float
        Bytes.

    Raises
    ------
    ValueError
        For a working set that is not above zero.
    Infeasible
        For one larger than the device's memory.
    UnknownName, UnknownSpec
        For an unknown device, or one whose L2 or its rate is unknown.
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
    """Cycles of a dependent load served from a level.

    Parameters
    ----------
    on : str or Accelerator
        The device, or its name.
    level : str
        One of ``hardware.microarchitectures.LEVELS``.

    Raises
    ------
    UnknownName, UnknownSpec
        For an unknown device, or a level nobody measured on its architecture.

    Examples
    --------
    >>> load_cycles("h100-sxm", "l2") < load_cycles("h100-sxm", "dram")
    True
    """
    device = device_of(on)
    if level not in microarchitectures.LEVELS:
        known = ", ".join(microarchitectures.LEVELS)
        raise UnknownSpec(f"no level {level!r}; known: {known}")
    return float(hardware.microarchitecture(device).latency(level).si)


def row_operation_rate(on: str | Accelerator, moved: float, call: str) -> Bandwidth:
    """Bytes a second of an elementwise or row-wise operation called eagerly.

    Softmax and layer norm pass over each row more than once, so they draw less than
    a copy does; a small one costs its call. A call that is built of several, as a
    layer norm is, keeps the host busy while the device works; a softmax is one
    kernel, and its launch adds to its work.

    Parameters
    ----------
    on : str or Accelerator
        The device, or its name.
    moved : float
        Bytes of input and output, each once.
    call : str
        Factor that holds the time of the call: ``launch_softmax``, which adds, or
        ``launch_elementwise``, which hides.

    Raises
    ------
    ValueError
        For bytes that are not above zero.
    UnknownName, UnknownSpec
        For an unknown device, or one whose bandwidth is unknown.
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
