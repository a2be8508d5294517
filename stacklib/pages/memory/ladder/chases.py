"""Pointer chases beside what was predicted of them: published ones, and our own.

Published curves of latency by working set (``latency_curves.toml``), and the sweep of
the book's machine (``benchmarks/latency_sweep.py``).
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import Any

from stacklib import hardware
from stacklib.evidence import results, runs
from stacklib.evidence.ledger import DATA
from stacklib.memory.cache.chase_model import gpu_levels, half_of_l2, latency
from stacklib.memory.cache.find_levels import FoundLevel, find_levels
from stacklib.pages.figures_of import seen
from stacklib.pages.roofline.this_machine import machine
from stacklib.quantity import Quantity, Source

CURVES = DATA / "latency_curves.toml"
SWEEP = "latency_sweep"
KIB = 1024
ALIKE, APART = 0.03, 1.5  # points of one level that need not all be drawn


# -- published curves --------------------------------------------------------------


@dataclass(frozen=True)
class Curve:
    """A published chase: cycles by working set, and who measured it."""

    device: str  # key of the device
    sizes: tuple[int, ...]  # working sets in bytes
    cycles: tuple[float, ...]  # of one load
    source: Source

    @property
    def found(self) -> tuple[FoundLevel, ...]:
        """Levels in it."""
        return tuple(find_levels(self.sizes, self.cycles))

    def quantity(self, value: float, unit: str, label: str) -> Quantity:
        """A number that was read off the curve."""
        return Quantity(value, unit, label=label, source=self.source, kind="measured")


@cache
def curves() -> dict[str, Curve]:
    """Every published curve by the key of its device."""
    raw = tomllib.loads(CURVES.read_text(encoding="utf-8"))
    sizes = tuple(KIB * k for k in raw["kib"])
    found = {}
    for key, entry in raw.items():
        if isinstance(entry, dict):
            source = Source(
                raw["title"], entry["where"], str(raw["seen"]), raw["confidence"]
            )
            found[key] = Curve(key, sizes, tuple(entry["cycles"]), source)
    return found


def published_series(device: str, above: float = 0.0) -> dict[str, Any]:
    """A published curve as ``figures.chase_spec`` takes it.

    Where it is level, only every so many points are kept; where it climbs, all.

    ``above``: bytes from which on it is shown.
    """
    curve = curves()[device]
    pairs = zip(curve.sizes, curve.cycles, strict=True)
    shown: list[tuple[int, float]] = []
    for size, cycles in pairs:
        if size < above:
            continue
        level = shown and abs(cycles / shown[-1][1] - 1) < ALIKE
        if not level or size >= APART * shown[-1][0]:
            shown.append((size, cycles))
    return {
        "name": "published chase",
        "evidence": "measured",
        "sizes": [size for size, _ in shown],
        "latencies": [cycles for _, cycles in shown],
    }


def predicted_curve(device: str, sizes: Sequence[int]) -> list[float]:
    """Cycles by working set, from the spec sheet's sizes and measured latencies.

    ``sizes``: working sets in bytes; each is rounded up to whole lines.
    """
    levels = gpu_levels(device)
    line = levels[0].line
    return [latency(max(2, math.ceil(s / line)) * line, levels) for s in sizes]


def published_rows(device: str) -> list[dict[str, Any]]:
    """Each level found in a published curve, beside the cache nearest to it in size."""
    curve = curves()[device]
    told = _spec_sizes(device)
    rows = []
    for level in curve.found:
        size = level.size and curve.quantity(level.size, "B", "size found")
        spec = _closest(level.size, told)
        rows.append(
            {
                "device": hardware.get(device).short,
                "latency": curve.quantity(level.latency, "cycle", "latency found"),
                "found": size and size_text(size),
                "of the spec sheet": spec and f"{spec[0]}, {size_text(spec[1])}",
                "found / spec": size / spec[1] if size is not None and spec else None,
            }
        )
    return rows


def _spec_sizes(device: str) -> dict[str, Quantity]:
    """Sizes that the database has of the caches which one thread meets."""
    chip = hardware.get(device)
    if chip.vendor != "NVIDIA":
        return {"L2": chip.l2_capacity.across(1)}
    return {
        "L1 and shared": hardware.level(chip, "l1").known("capacity"),
        "half the L2": half_of_l2(chip).across(1),
        "L2": chip.l2_capacity.across(1),
    }


def _closest(
    size: float | None, told: dict[str, Quantity]
) -> tuple[str, Quantity] | None:
    if size is None:
        return None
    by_ratio = {n: abs(math.log(size / q.si)) for n, q in told.items()}
    name = min(by_ratio, key=by_ratio.__getitem__)
    return (name, told[name]) if by_ratio[name] < math.log(1.5) else None


def size_text(size: Quantity) -> str:
    """A size in the binary unit that fits it."""
    return size.text("MiB" if size.si >= 2**20 else "KiB", 3)


# -- this machine -------------------------------------------------------------------


@cache
def sweep() -> tuple[runs.Run, ...]:
    """Our own chases, by working set; empty where none was measured."""
    return tuple(sorted(runs.load(SWEEP), key=lambda run: run.case["size"]))


def sweep_series() -> list[dict[str, Any]]:
    """Our own chases, predicted and measured in ns, as ``chase_spec`` takes them."""

    def ns(value: Quantity) -> float:
        return value.to("ns").value

    sizes = [run.case["size"] for run in sweep()]
    told = [ns(run.predicted) for run in sweep()]
    seen = [ns(run.measured) for run in sweep()]
    spread = [[ns(run.low), ns(run.high)] for run in sweep()]
    return [
        {
            "name": "predicted",
            "evidence": "predicted",
            "sizes": sizes,
            "latencies": told,
        },
        {
            "name": "measured",
            "evidence": "measured",
            "sizes": sizes,
            "latencies": seen,
            "spread": spread,
        },
    ]


def found_here() -> tuple[FoundLevel, ...]:
    """Levels in the curve of the book's machine; latencies in seconds."""
    if not sweep():
        raise results.ResultError(f"{SWEEP}: not measured here")
    times = [run.measured.si for run in sweep()]
    sizes = [run.case["size"] for run in sweep()]
    return tuple(find_levels(sizes, times))


@dataclass(frozen=True)
class CacheRow:
    """A cache of this machine: as reported, as two curves show it, how fast it is.

    ``by_chase`` and ``by_stream`` are None where the curve shows no level of that size,
    ``latency`` where no chase does.
    """

    level: str
    reported: Quantity | None
    by_chase: Quantity | None
    by_stream: Quantity | None
    latency: Quantity | None
    predicted: Quantity


def cache_rows() -> list[CacheRow]:
    """Every level of the book's machine, nearest first, the memory last.

    The levels that the chase found are matched with the reported caches in order: a
    level may end earlier than reported, but not beyond the next reported one.
    """
    *inner, last = found_here()
    told = _earlier()
    rows = []
    streams = {row.level: row.found for row in machine.level_rows(1)}
    reported = machine.caches()
    for i, c in enumerate(reported):
        name = f"L{c.level}"
        size = machine.measured(
            c.bytes, "B", f"{name} as reported", machine.LEVELS, "machine.caches"
        )
        before = reported[i - 1].bytes * 1.5 if i else 0.0
        seen = [f for f in inner if f.size and before < f.size < 1.5 * c.bytes]
        mine = seen[-1] if seen else None
        rows.append(
            CacheRow(
                name,
                size,
                _measured(mine.size, "B", f"{name} by the chase") if mine else None,
                streams.get(name),
                _measured(mine.latency, "s", f"{name} latency") if mine else None,
                told[name],
            )
        )
    memory_time = _measured(last.latency, "s", "memory latency")
    return [*rows, CacheRow("memory", None, None, None, memory_time, told["memory"])]


def _earlier() -> dict[str, Quantity]:
    """Latencies of the run that the prediction of the sweep stands on."""
    name = "host_latency"
    return {
        row["level"]: seen(
            name, median(row["times_s"]), "s", f"{row['level']}, one chain before"
        )
        for row in results.need(name)["rows"]
    }


def _measured(value: float | None, unit: str, label: str) -> Quantity | None:
    if value is None:
        return None
    where = "one chain, levels found in the medians"
    return machine.measured(value, unit, label, SWEEP, where)


def reported_ways() -> dict[str, int]:
    """Ways of each cache of the book's machine, as its prediction file holds them."""
    caches = results.prediction(SWEEP)["caches"]
    return {f"L{c['level']}": c["ways"] for c in caches}


def sweep_errors(low: float = 0.0, high: float = math.inf) -> list[float]:
    """``|predicted / measured - 1|`` of the working sets between two sizes.

    ``low``, ``high``: bytes.
    """
    inside = (run for run in sweep() if low <= run.case["size"] <= high)
    return [abs(run.predicted.si / run.measured.si - 1) for run in inside]
