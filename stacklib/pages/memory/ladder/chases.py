"""Pointer chases beside what was predicted of them: published ones, and our own.

Published curves of latency by working set (``latency_curves.toml``), and the sweep of
the book's machine (``benchmarks/latency_sweep.py``).
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from stacklib import hardware
from stacklib.evidence import results, runs
from stacklib.evidence.ledger import DATA
from stacklib.memory.cache.chase_model import gpu_levels, half_of_l2, latency
from stacklib.memory.cache.find_levels import FoundLevel, find_levels
from stacklib.pages.roofline.this_machine import machine
from stacklib.plots.marks import rows as plotted
from stacklib.quantity import Quantity, Source
from stacklib.quantity.told import MARK

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

    def size(self, at: int) -> Quantity:
        """Working set of a point, in the unit of the file."""
        return self._read("kib", self.sizes[at] / KIB, "KiB", at)

    def time(self, at: int) -> Quantity:
        """Cycles of a load at a point."""
        return self._read(f"{self.device}/cycles", self.cycles[at], "cycle", at)

    def level(self, number: int) -> tuple[Quantity | None, Quantity]:
        """Bytes at which a level ends, and the cycles of a load from it."""
        return _level(self.found, number, self.size, self.time)

    def _read(self, list: str, value: float, unit: str, at: int) -> Quantity:
        told: dict[str, Any] = {"source": self.source, "kind": "measured"}
        key = MARK.join((f"stacklib/evidence/data/{CURVES.name}", list, str(at)))
        return Quantity(value, unit, label="point of the curve", key=key, **told)


def points() -> list[Quantity]:
    """Every point of every curve: its working set, its cycles."""
    every = curves().values()
    each = [(curve, at) for curve in every for at in range(len(curve.sizes))]
    return [q for curve, at in each for q in (curve.size(at), curve.time(at))]


def _level(
    found: Sequence[FoundLevel],
    number: int,
    size: Callable[[int], Quantity],
    time: Callable[[int], Quantity],
) -> tuple[Quantity | None, Quantity]:
    """Where a found level ends and its latency, from the points of its curve."""
    one, *after = found[number : number + 2]
    took, *rest = (
        machine.middle([time(at) for at in range(level.first, level.last + 1)])
        for level in (one, *after)
    )
    if one.size is None:
        return None, took
    places = range(one.last, after[0].first + 1)
    at = next(n for n in places if size(n).si >= one.size * (1 - 1e-9))
    half = (took * rest[0]) ** 0.5
    ends = (size(at - 1), size(at)), (time(at - 1), time(at))
    return machine.crossing(*ends, half), took


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
    shown: list[int] = []
    for at, (size, cycles) in enumerate(zip(curve.sizes, curve.cycles, strict=True)):
        if size < above:
            continue
        level = shown and abs(cycles / curve.cycles[shown[-1]] - 1) < ALIKE
        if not level or size >= APART * curve.sizes[shown[-1]]:
            shown.append(at)
    return {
        "name": "published chase",
        "evidence": "measured",
        "sizes": [curve.sizes[at] for at in shown],
        "latencies": plotted(map(curve.time, shown), "cycle"),
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
    for number in range(len(curve.found)):
        size, latency = curve.level(number)
        spec = _closest(size, told)
        rows.append(
            {
                "device": hardware.get(device).short,
                "latency": latency.named("latency found"),
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
    size: Quantity | None, told: dict[str, Quantity]
) -> tuple[str, Quantity] | None:
    if size is None:
        return None
    by_ratio = {n: abs(math.log(size.si / q.si)) for n, q in told.items()}
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
    seen = plotted((run.measured for run in sweep()), "ns")
    spread = [plotted((run.low, run.high), "ns") for run in sweep()]
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
    found = found_here()
    told = _earlier()
    rows = []
    streams = {row.level: row.found for row in machine.level_rows(1)}
    reported = machine.caches()
    for i, c in enumerate(reported):
        name = f"L{c.level}"
        before = reported[i - 1].bytes * 1.5 if i else 0.0
        seen = [
            n for n, f in enumerate(found) if f.size and before < f.size < 1.5 * c.bytes
        ]
        ends, time = _level_here(seen[-1]) if seen else (None, None)
        size, by = machine.reported(i), streams.get(name)
        ends = ends and ends.named(f"{name} by the chase")
        time = time and time.named(f"{name} latency")
        rows.append(CacheRow(name, size, ends, by, time, told[name]))
    memory_time = _level_here(-1)[1].named("memory latency")
    return [*rows, CacheRow("memory", None, None, None, memory_time, told["memory"])]


def _level_here(number: int) -> tuple[Quantity | None, Quantity]:
    """Where a level of our own chases ends, and its latency."""

    def size(at: int) -> Quantity:
        return machine.read(SWEEP, sweep()[at].id, "size", "B", "working set")

    found = found_here()
    return _level(found, number % len(found), size, lambda at: sweep()[at].measured)


def _earlier() -> dict[str, Quantity]:
    """Latencies of the run that the prediction of the sweep stands on."""
    name = "host_latency"
    words = "times_s/median", "s"
    return {
        row["level"]: machine.read(
            name, row["id"], *words, f"{row['level']}, one chain before"
        )
        for row in results.need(name)["rows"]
    }


def reported_ways(level: str) -> Quantity:
    """Ways of a cache of the book's machine, as its prediction file holds them."""
    caches = {f"L{c['level']}": c for c in results.prediction(SWEEP)["caches"]}
    source, ways = sweep()[0].predicted.source, caches[level]["ways"]
    return runs.foretold(ways, "1", f"ways of {level}", source)


def sweep_errors(low: float = 0.0, high: float = math.inf) -> list[Quantity]:
    """``|predicted / measured - 1|`` of the working sets between two sizes.

    ``low``, ``high``: bytes.
    """
    inside = (run for run in sweep() if low <= run.case["size"] <= high)
    return [abs(run.error) for run in inside]
