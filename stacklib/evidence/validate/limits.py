"""Published rows held to physics: what no device can have done.

A product is held to the peak of its format at the highest clock that its card may
run, a stream to the memory bandwidth, any other rate of operations to the highest peak
that the device has. A row beyond is no measurement of that device as we know it: the
fit leaves it out, and the page shows it with the likely cause.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from stacklib import hardware
from stacklib.hardware import Accelerator, UnknownSpec

from ..measurements import Measurement, Refusal
from ..predict.gemm import product_of
from ..predict.memory import stream_of
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
    if row.family == "A":
        return _product(row, device)
    if row.family == "C" and row.metric.endswith("bandwidth"):
        return _stream(row, device)
    rate = row.value / units.factor("FLOP/s", row.unit)
    peaks = [device.peaks[f].rate.si * faster(device, f) for f in device.formats]
    return rate / many / max(peaks), "a rate of several devices, or of sparse operands"


def _product(row: Measurement, device: Accelerator) -> tuple[float, str]:
    if row.has("sustained") and "m" not in row.config:
        raise Refusal("no shape")
    work, kernels = product_of(row, device)
    operations = kernels * work.operations
    if row.metric == "memory_bandwidth":
        moved = row.value / units.factor("B/s", row.unit)
        rate = moved * operations / (kernels * work.bytes)
    elif row.metric.startswith("latency"):
        rate = operations / (row.value / units.factor("s", row.unit))
    else:
        per_second = "OP/s" if work.dtype.startswith("int") else "FLOP/s"
        rate = row.value / units.factor(per_second, row.unit)
    times = rate / device.peak(work.dtype).si / faster(device, work.dtype)
    if times > 1.5:
        return times, "not this product on this device: a faulty shape, unit or name"
    known = device.fields["max_clock"] is not None
    return times, (
        "a clock above the highest known"
        if known
        else "a boost above the printed clock"
    )


def _stream(row: Measurement, device: Accelerator) -> tuple[float, str]:
    inside = ("l1", "l2", "shared", "smem", "lds")
    if any(word in row.subject.lower().split() for word in inside):
        raise Refusal("a cache")
    if "working_set_kB" in row.config:
        raise Refusal("a set that a cache may hold")
    stream_of(row)  # or nothing is known to hold it to
    rate = row.value / units.factor("B/s", row.unit)
    return rate / device.memory_bandwidth.si, "a set that a cache holds"
