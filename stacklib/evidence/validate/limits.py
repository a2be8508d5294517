"""Published rows held to physics: what no device can have done.

A product is held to the peak of its format at the highest clock that its card may
run, and its operands to what the units can load; a stream to the memory bandwidth, a
latency to that of a nearer level, any other rate of operations to the highest peak. A
row beyond is no measurement of that device as we know it: no fit and no score has it,
and the page shows it with the likely cause.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from stacklib import hardware
from stacklib.hardware import Accelerator, UnknownSpec

from ..measurements import Measurement, Refusal
from ..predict.attention import attention_of
from ..predict.gemm import multiplied, product_of, written
from ..predict.memory import level_of, row_bytes, row_kind, row_unit, stream_of
from ..systems import device_of
from . import units

SLACK = 1.005  # tables print three digits


@dataclass(frozen=True, slots=True)
class Beyond:
    """A row that says more than its device can do."""

    row: Measurement
    device: str
    times: float  # what the row says over what can be
    why: str  # the likely cause

    @property
    def reason(self) -> str:
        """Why the row is refused, in words."""
        return f"says {self.times:.3g} times what {self.device} can run: {self.why}"


def faster(device: Accelerator, dtype: str) -> float:
    """How much a peak grows at the highest clock; 1 where that is not known."""
    most = device.fields["max_clock"]
    printed = device.fields[device.peaks[dtype].clock] or device.fields["clock"]
    if most is None or printed is None:
        return 1.0
    return max(1.0, most.si / printed.si)


def beyond(row: Measurement) -> Beyond | None:
    """What a row says over what its device can do, where that is too much."""
    if row.fault:
        return None
    try:
        key, many = device_of(row.system)
        device = hardware.get(key)
        times, why = _times(row, device, many)
    except (Refusal, UnknownSpec, LookupError, ValueError):
        return None  # nothing is known to hold it to
    return Beyond(row, key, times, why) if times > SLACK else None


def impossible(rows: Iterable[Measurement]) -> list[Beyond]:
    """The rows that no device can have measured, furthest first."""
    found = (beyond(row) for row in rows)
    return sorted((b for b in found if b), key=lambda b: -b.times)


def _times(row: Measurement, device: Accelerator, many: int) -> tuple[float, str]:
    """What a row says over the most that can be, and the likely cause."""
    if row.family == "A":
        return _product(row, device)
    if row.family == "C":
        return _memory(row, device)
    if row.family == "B" and row.metric.startswith("latency"):
        return _attention(row, device)
    if row.metric == "busbw":
        rate = row.value / units.factor("B/s", row.unit)
        # Switches that reduce on the way halve what a device sends.
        return rate / (2 * device.link.si), "a rate of several links or devices"
    rate = row.value / units.factor("FLOP/s", row.unit)
    peaks = [device.peaks[f].rate.si * faster(device, f) for f in device.formats]
    return rate / many / max(peaks), "a rate of several devices, or of sparse operands"


def _product(row: Measurement, device: Accelerator) -> tuple[float, str]:
    """A product against the peak, and its operands against what units can load."""
    if row.has("sustained") and "m" not in row.config:
        dtype, seconds, moved = multiplied(row, device), 1.0, 0.0
        operations = row.value / units.factor(_per_second(dtype), row.unit)
    else:
        work, kernels = product_of(row, device)
        dtype, moved = work.dtype, kernels * work.bytes
        operations = kernels * work.operations
        seconds = _seconds(row, operations, moved, dtype)
    formats = [f for f in (dtype, written(row)) if f in device.peaks]
    peak = max(device.peak(f).si * faster(device, f) for f in formats)
    times = operations / seconds / peak
    if moved:
        times = max(times, moved / seconds / _loads(device, moved))
    if times > 1.5:
        return times, "not this product on this device: a faulty shape, unit or name"
    known = device.fields["max_clock"] is not None
    return times, (
        "a clock above the highest known"
        if known
        else "a boost above the printed clock"
    )


def _attention(row: Measurement, device: Accelerator) -> tuple[float, str]:
    """An attention against the peak, and its cache against the memory's rate."""
    work, l2 = attention_of(row), device.fields["l2_capacity"]
    seconds = row.value / units.factor("s", row.unit)
    peak = max(device.peaks[f].rate.si * faster(device, f) for f in device.formats)
    times = work.flops / seconds / peak
    moved = work.batch * work.kv_heads * work.kv_bytes
    if l2 is not None:  # what the cache may hold of it is not read again
        times = max(times, (moved - l2.si) / seconds / device.memory_bandwidth.si)
    return times, "not this attention: a cache that is shorter, or read once for many"


def _per_second(dtype: str) -> str:
    return "OP/s" if dtype.startswith("int") else "FLOP/s"


def _seconds(row: Measurement, operations: float, moved: float, dtype: str) -> float:
    """The time that a row of a product says, whatever its metric."""
    if row.metric == "memory_bandwidth":
        return moved / (row.value / units.factor("B/s", row.unit))
    if row.metric.startswith("latency"):
        return row.value / units.factor("s", row.unit)
    return operations / (row.value / units.factor(_per_second(dtype), row.unit))


def _loads(device: Accelerator, size: float) -> float:
    """Bytes a second that all units can take in; infinite where it is not known.

    What lies in the L2 is loaded at most as fast as the units' own caches take it; a
    set of twice the L2 comes from the memory by half at least.
    """
    l2, near = device.fields["l2_capacity"], hardware.level(device, "l1").rate
    if l2 is not None and size > 2 * l2.si:
        return device.memory_bandwidth.si * 2
    # The rate was measured; it is a tenth below what the lanes can take, or less.
    return math.inf if near is None else 1.2 * near.si


def _memory(row: Measurement, device: Accelerator) -> tuple[float, str]:
    """A bandwidth, a latency, or a pass over rows."""
    if row_kind(row):
        size, (unit, amount) = row_bytes(row), row_unit(row)
        said = row.value / units.factor(unit, row.unit)
        spent = amount / said if amount else said
        return 2 * size / spent / _loads(device, size), "a faulty shape or unit"
    if row.metric.endswith("bandwidth"):
        return _bandwidth(row, device)
    return _latency(row, device), "a faulty unit, or another level"


def _bandwidth(row: Measurement, device: Accelerator) -> tuple[float, str]:
    inside = ("l1", "l2", "shared", "smem", "lds")
    rate = row.value / units.factor("B/s", row.unit)
    cached = any(word in row.subject.lower().split() for word in inside)
    if cached or "working_set_kB" in row.config:
        size = row.number("working_set_kB", 1.0) * 1e3
        return rate / _loads(device, size), "a faulty unit, or several devices"
    stream_of(row)  # or nothing is known to hold it to
    return rate / device.memory_bandwidth.si, "a set that a cache holds"


def _latency(row: Measurement, device: Accelerator) -> float:
    """The quickest that a level can be over what the row says.

    No load is quicker than a use of a register, none beyond the L1 than one of it.
    """
    least = "l1" if level_of(row) not in ("l1", "shared") else "register"
    if row.unit.startswith("cycle"):
        cycles = hardware.microarchitecture(device).constants[f"{least}_latency"]
        return cycles.si / row.value
    found = hardware.level(device, least).known("latency").si
    return found / (row.value / units.factor("s", row.unit))
