"""Family C: published bandwidths and latencies, as ``roofline.bound.hierarchy`` says.

Streaming kernels, reads by working set, pointer chases by level, and the row-wise
operations of a transformer layer.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from stacklib import hardware
from stacklib.hardware import Accelerator, UnknownSpec
from stacklib.quantity import Quantity, bytes_per_element
from stacklib.quantity import dtype as find_dtype
from stacklib.roofline.bound import hierarchy

from ..measurements import Measurement, Refusal
from ..systems import device_of
from .registry import PREDICTORS, Forecast, Predict

# Words of a kernel's name -> how it uses the bus. The first that occurs counts.
_STREAMS = (
    ("triad", "mixed"),
    ("dot", "read"),
    ("scale", "mixed"),
    ("copy", "mixed"),
    ("add", "mixed"),
    ("read", "read"),
    ("ldg", "read"),
    ("hbm bandwidth", "read"),
    ("dram bandwidth", "read"),
    ("memory bandwidth", "read"),
    ("stream", "mixed"),
)
_ARRAYS_READ = {"triad": 2, "add": 2}  # loads in flight a thread, else one
# Level words of a latency row. The first that occurs counts.
_LEVELS = (
    ("constant", ""),
    ("shared", "shared"),
    ("smem", "shared"),
    ("lds", "shared"),
    ("infinity", ""),
    ("l3", ""),
    ("l2 far", "l2_far"),
    ("far", "l2_far"),
    ("l2", "l2"),
    ("l1", "l1"),
    ("l0", "l1"),
    ("dram", "dram"),
    ("hbm", "dram"),
    ("global", "dram"),
    ("memory", "dram"),
)
# Elements of a row that a compiled kernel reads once and keeps (PyTorch's
# ``should_use_persistent_reduction``, along the inner dimension, read 2026-11-30).
_KEPT = 1024
_SMALL = 32e6  # bytes of rows up to which a call takes longer than they do
_DTYPE_BYTES = {"fp64": 8.0, "fp32": 4.0}


def _first(text: str, pairs: tuple[tuple[str, str], ...]) -> tuple[str, str] | None:
    return next(((word, means) for word, means in pairs if word in text), None)


def level_of(row: Measurement) -> str:
    """Which level a latency is of: one of ``hardware.microarchitectures.LEVELS``."""
    found = _first(row.subject.lower(), _LEVELS)
    if found is None or not found[1]:
        raise Refusal(f"no latency is known for {row.subject!r}")
    return found[1]


def stream_of(row: Measurement) -> tuple[str, str]:
    """Which streaming kernel a row is of, and how it uses the bus."""
    found = _first(row.subject.lower(), _STREAMS)
    if found is None:
        raise Refusal(f"no bandwidth model for {row.subject!r}")
    return found


def _latency(row: Measurement, device: Accelerator) -> Predict:
    level = level_of(row)
    bound = f"{level} latency"
    # At the clock that the row names, else at the device's own.
    mhz = row.number("clock_MHz", 0.0)
    found = hardware.level(device, level, Quantity(mhz, "MHz") if mhz else None)
    cycles, seconds = found.known("cycles").si, found.known("latency").si
    if row.unit.startswith("cycle"):
        return lambda: Forecast(cycles, "cycle", bound)
    return lambda: Forecast(seconds, "s", bound)


def row_kind(row: Measurement) -> str | None:
    """Which row-wise operation a row is of, if any."""
    name = re.sub(r"[\s_-]", "", row.subject.lower())
    return next((word for word in hierarchy.PASSES if word in name), None)


def _elements(row: Measurement) -> tuple[float, str | None]:
    """Elements of a row-wise operation, and which operation it is."""
    name, kind = row.subject.lower(), row_kind(row)
    if "m" in row.config:
        return float(row.integer("m") * row.integer("n")), kind
    tokens = row.integer("batch") * (row.integer("seq") if "prefill" in name else 1)
    if kind == "softmax":
        raise Refusal("the softmax of a whole attention is family B's")
    width = row.integer("d_model")
    if kind == "gelu":  # between the two products of the feed-forward layer
        width = 4 * width // row.integer("tp", 1)
    return float(tokens * width), kind


def row_elements(row: Measurement) -> float:
    """Elements that a row-wise operation reads once and writes once."""
    return _elements(row)[0]


def row_bytes(row: Measurement) -> float:
    """Bytes of those elements."""
    each = bytes_per_element(find_dtype(row.text("dtype")).name)
    return row_elements(row) * each.si


def row_unit(row: Measurement) -> tuple[str, float]:
    """The unit of a row-wise operation's rate, and its amount; none of a time."""
    if row.metric.startswith("latency"):
        return "s", 0.0
    if row.metric.endswith("bandwidth"):  # read once and written once
        return "B/s", 2 * row_bytes(row)
    return "1/s", row_elements(row)


def _row_operation(row: Measurement, device: Accelerator, kind: str) -> Predict:
    size, (unit, amount) = row_bytes(row), row_unit(row)
    # The host waits for each in LLMCompass's; a call that says no more is alone too.
    software = row.software.lower()
    waits = not software or "llmcompass" in software
    short = "n" in row.config and row.integer("n") <= _KEPT
    passes = 2 if short and "compile" in software else hierarchy.PASSES[kind]

    def forecast() -> Forecast:
        if waits:
            got = hierarchy.row_operation_rate(device, size, kind)
            spent, bound = 2 * size / got.rate, got.bound
        else:  # kernels on a stream
            start = hardware.efficiency("launch_kernel")
            stream = hierarchy.stream_rate(device, "mixed", None).rate
            spent = start + passes * size / stream
            bound = "launch" if spent < 2 * start else "dram"
        return Forecast(amount / spent if amount else spent, unit, bound)

    return forecast


def _bandwidth(row: Measurement, device: Accelerator) -> Predict:
    name = row.subject.lower()
    if re.search(r"\bl1\b", name):
        return _steady(lambda: hierarchy.cache_rate(device, "l1"))
    if "working_set_kB" in row.config:
        size = row.number("working_set_kB") * 1e3
        hierarchy.read_rate(device, size)  # what does not fit is refused here
        return _steady(lambda: hierarchy.read_rate(device, size))
    if re.search(r"\bl2\b", name):
        return _steady(lambda: hierarchy.cache_rate(device, "l2"))
    word, kind = stream_of(row)
    in_flight = None
    if "gpu-stream" in row.software:  # one element an array and thread
        size = next((b for d, b in _DTYPE_BYTES.items() if row.has(d)), 8.0)
        in_flight = size * _ARRAYS_READ.get(word, 1) * (2 if kind == "mixed" else 1)
    return _steady(lambda: hierarchy.stream_rate(device, kind, in_flight))


def _steady(rate: Callable[[], hierarchy.Bandwidth]) -> Predict:
    def forecast() -> Forecast:
        got = rate()
        return Forecast(got.rate, "B/s", got.bound)

    return forecast


def regime(row: Measurement) -> tuple[str, ...]:
    """A row's cell: what is measured, and of which level, size or use of the bus."""
    name = row.subject.lower()
    if row_kind(row):
        return "rows", "small" if row_bytes(row) < _SMALL else "large"
    if "latency" in name or row.unit.startswith("cycle"):
        return "latency", "memory" if level_of(row) == "dram" else "cache"
    if "working_set_kB" in row.config or re.search(r"\bl[12]\b", name):
        return "bandwidth", "working set"
    # One call at a time, until the host sees it end, is no stream of a kernel's own.
    eager = "pytorch" in row.software.lower()
    return ("bandwidth", "call")[eager], stream_of(row)[1]


def prepare(row: Measurement) -> Predict:
    """A bandwidth or a latency ready to be predicted."""
    key, _ = device_of(row.system)
    device = hardware.get(key)
    name = row.subject.lower()
    if "clock" in row.metric:
        raise Refusal("no model predicts the clock under load")
    try:
        if kind := row_kind(row):
            return _row_operation(row, device, kind)
        if "latency" in name or row.unit.startswith("cycle"):
            return _latency(row, device)
        if row.metric.endswith("bandwidth"):
            return _bandwidth(row, device)
    except (UnknownSpec, ValueError) as unknown:
        raise Refusal(str(unknown)) from None
    raise Refusal(f"no model for metric {row.metric!r} of {row.subject!r}")


PREDICTORS["C"] = prepare
