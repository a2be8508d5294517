"""Published microbenchmarks of family C, written as kernels and run on the machine.

What `bound.hierarchy` says in one formula is here run: a kernel is launched, its
sectors go through the caches, and one unit is replayed. A published rate or latency
comes from long runs, so the start is subtracted: a launch of few rounds from one of
more.

``python -m stacklib.evidence.kernel_runs`` writes the file that `kernel_times` reads:
every row with the factors in force, and with factors that never saw its source or its
device.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from stacklib import gpu, hardware
from stacklib.gpu.chip import microbenchmarks as kernels
from stacklib.gpu.issue.occupancy import limits_of
from stacklib.gpu.simt.times import BUSY
from stacklib.hardware import Accelerator, UnknownSpec
from stacklib.memory.warp.coalescing import LINE
from stacklib.roofline.host.pointer_chase import linked

from . import measurements
from .calibrate import Problem, fit, folds, problem_of
from .kernel_times import COLUMNS, FILE
from .measurements import Measurement, Refusal
from .predict.memory import level_of, stream_of
from .predict.registry import Forecast
from .systems import device_of
from .validate import outcome

UNITS = 8  # of a slice that stands for the chip
TIMES_L2 = 4  # a set of so many L2s leaves nothing from round to round
WAVES = 24  # of resident blocks at least: then the last, part empty, hardly counts
RING = 512 * 1024  # bytes of a pointer chase through the L2: more than any L1
STEPS = 512  # loads of a chase
LAPS = 32  # rounds over a set that the L1 holds
LEVELS = {"memory": "dram", "lsu": "l1"}  # what the parts of a unit lead to
FAMILY = tuple(row for row in measurements.fitted() if row.family == "C")


def slice_of(device: Accelerator, units: int = UNITS) -> Accelerator:
    """A chip of fewer units with as much of the L2 and of the bandwidth for each."""
    share = min(1.0, units / device.compute_units.si)
    fields = dict(device.fields)
    for name in ("compute_units", "l2_capacity", "memory_bandwidth"):
        fields[name] = getattr(device, name) * share
    return replace(device, fields=fields)


@dataclass(frozen=True, slots=True)
class Steady:
    """What a launch takes beyond a shorter one, and the least of each part of it."""

    seconds: float
    parts: dict[str, float]

    @property
    def bound(self) -> str:
        """The busiest part, as families of rows name it; ``latency`` where none is."""
        name = max(self.parts, key=lambda name: self.parts[name])
        if self.parts[name] < BUSY * self.seconds:
            return "latency"
        return LEVELS.get(name, name)


def steady(run: Callable[[int], Any], few: int, more: int) -> Steady:
    """The difference of two launches."""
    short, long = (run(n).report.times for n in (few, more))
    before = short.parts()
    parts = {name: took - before.get(name, 0) for name, took in long.parts().items()}
    return Steady(long.total - short.total, parts)


def _filling(device: Accelerator) -> tuple[Accelerator, int, int]:
    """A slice, threads of a block that can fill its units, and blocks that do."""
    part = slice_of(device)
    threads = limits_of(device).warps * 32 // 2
    return part, threads, 2 * int(part.compute_units.si)


def _streamed(device: Accelerator, kind: str) -> tuple[float, Steady]:
    """Bytes and time of a stream through arrays larger than the L2."""
    part, threads, full = _filling(device)
    arrays, wide = {
        "read": (1, 1),
        "read_wide": (1, 4),
        "scale": (2, 1),
        "triad": (3, 1),
    }[kind]
    # A round is an L2 of each array: what it writes drives out the round before.
    blocks = full * -(-int(part.l2_capacity.si) // (8 * threads * wide * full))
    size = blocks * threads * wide

    def run(rounds: int) -> Any:
        given = [np.ones(rounds * size)] * max(1, arrays - 1)
        kernel = getattr(kernels, f"stream_{kind}")
        out = gpu.empty(rounds * size, float)
        return _launch(kernel, rounds * blocks, threads, part, *given, out)

    return arrays * size * 8.0 * _whole(device, part), steady(run, 1, 2)


def _whole(device: Accelerator, part: Accelerator) -> float:
    """How many such slices the device is."""
    return (device.compute_units / part.compute_units).si


def _launch(kernel: Any, grid: int, block: int, device: Accelerator, *args: Any) -> Any:
    return gpu.launch(kernel, grid, block, device, *args, check=False)


def _read_again(device: Accelerator, size: float) -> tuple[float, Steady]:
    """Bytes and time of a round over a working set, read by all blocks in turn."""
    part, threads, full = _filling(device)
    whole = _whole(device, part)
    # A smaller set than this would hide in the L1 of a unit, which sees all of it.
    least = min(size, 4 * limits_of(device).l1_bytes)
    size = max(least, min(size / whole, TIMES_L2 * part.l2_capacity.si))
    # An odd number: then every unit comes by every segment.
    segments = 2 * round(size / (8 * threads * 2) / 2) + 1
    rounds = -(-WAVES * full // segments)
    data = np.ones(segments * threads * 2)

    def run(times: int) -> Any:
        out, grid = gpu.empty(1, float), times * rounds * segments
        return _launch(kernels.read_segments, grid, threads, part, data, out, segments)

    return data.nbytes * rounds * whole, steady(run, 1, 2)


def _read_same(device: Accelerator, size: float) -> tuple[float, Steady]:
    """Bytes and time of a round in which every unit reads the same working set."""
    part, threads, full = _filling(device)
    pairs = max(1, round(size / (16 * threads)))
    data = np.ones(2 * pairs * threads)
    # One block a unit: a second one would find in the L1 what the first has read.
    units = full // 2

    def run(times: int) -> Any:
        args = (data, gpu.empty(1, float), pairs, times)
        return _launch(kernels.read_rounds, units, threads, part, *args)

    # The first round brings the set, and the next ones meet its loads on their way.
    laps = max(1, LAPS // pairs)
    rounds = laps * _whole(device, part)
    return rounds * data.nbytes * units, steady(run, laps, 2 * laps)


def _chased(device: Accelerator, level: str) -> tuple[float, Steady]:
    """Loads and time of a pointer chase that a level serves."""
    stride = LINE // 8
    lines = {"l2": RING // LINE, "dram": 2 * STEPS}.get(level, STEPS)
    ring = linked(np.arange(lines) * stride, lines * stride).astype(np.int64)

    def run(rounds: int) -> Any:
        out = gpu.empty(1, np.int64)
        if level == "shared":
            small = linked(np.arange(STEPS), STEPS).astype(np.int64)
            steps = rounds * STEPS
            return _launch(kernels.chase_shared, 1, 1, device, small, out, steps, STEPS)
        # Memory is met by lines not seen before: half a ring, then all of it.
        steps = rounds * (STEPS if level == "dram" else lines)
        return _launch(kernels.chase, 1, 1, device, ring, out, steps)

    return float(STEPS if level == "dram" else lines), steady(run, 1, 2)


_HOW: dict[str, Callable[[Accelerator, Any], tuple[float, Steady]]] = {
    "stream": _streamed,
    "again": _read_again,
    "same": _read_same,
    "chase": _chased,
}


@cache
def _ran(key: str, what: str, detail: Any) -> tuple[float, Steady]:
    return _HOW[what](hardware.get(key), detail)


def _case(row: Measurement) -> tuple[str, Any]:
    """Which kernel a row is of, and with what."""
    name = row.subject.lower()
    if any(word in name for word in ("softmax", "layernorm", "gelu")):
        raise Refusal("a library's call: its kernels are not known")
    if "latency" in name or row.unit.startswith("cycle"):
        level = level_of(row)
        if level not in ("l1", "l2", "dram", "shared"):
            raise Refusal(f"no kernel reaches {row.subject!r} alone")
        return "chase", level
    if not row.metric.endswith("bandwidth"):
        raise Refusal(f"no kernel measures {row.metric!r}")
    if "per_SM_working_set_kB" in row.config:
        return "same", row.number("per_SM_working_set_kB") * 1e3
    if "working_set_kB" in row.config:
        return "again", row.number("working_set_kB") * 1e3
    word, kind = stream_of(row)
    if kind == "mixed":
        return "stream", "triad" if word in ("triad", "add") else "scale"
    return "stream", "read" if "gpu-stream" in row.software else "read_wide"


def estimate(row: Measurement) -> Forecast:
    """A published row, by running its kernel."""
    key, _ = device_of(row.system)
    try:
        what, detail = _case(row)
        device = hardware.get(key)
        limits_of(device)
        done, took = _ran(key, what, detail)
    except (UnknownSpec, ValueError) as unknown:
        raise Refusal(str(unknown)) from None
    if what != "chase":
        return Forecast(done / took.seconds, "B/s", took.bound)
    bound = f"{detail} latency"
    seconds = took.seconds / done
    if row.unit.startswith("cycle"):
        return Forecast(seconds * device.clock.si, "cycle", bound)
    hertz = row.number("clock_MHz", 0.0) * 1e6 or device.clock.si
    return Forecast(seconds * device.clock.si / hertz, "s", bound)


def _without(problem: Problem, by: str, group: str) -> dict[str, float]:
    return fit(problem.only(lambda case: folds.group_of(case, by) != group))


def left_out(by: str) -> dict[str, float]:
    """Every row by factors that were fitted without its source, or its device."""
    problem = problem_of(FAMILY)
    rows = {row.id: row for row in FAMILY}
    found = {}
    for group in folds.groups(problem, by):
        inside = [c for c in problem.cases if folds.group_of(c, by) == group]
        values = _without(problem, by, group)
        _ran.cache_clear()  # what ran before ran with other factors
        with hardware.efficiency_override(values):
            for case in inside:
                value = outcome(rows[case.id], estimate).predicted
                if value is not None:
                    found[case.id] = value
    _ran.cache_clear()
    return found


def text() -> str:
    """The file that ``kernel_times`` reads."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    held = {by: left_out(by) for by in folds.BY}
    for row in FAMILY:
        found = outcome(row, estimate)
        if found.predicted is None:
            writer.writerow([row.id, "", "", "", "", found.reason])
            continue
        values = (found.predicted, *(held[by][row.id] for by in folds.BY))
        cells = [f"{value:.4g}" for value in values]
        writer.writerow([row.id, cells[0], found.bound, *cells[1:], ""])
    return out.getvalue()


def main() -> int:
    """Run every kernel with the factors in force and with those of each fold."""
    FILE.write_text(text(), encoding="utf-8")
    print(f"wrote {FILE.name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
