"""The cache-aware roofline: one slope for each level that can hold the data.

A roofline has one slope because it has one memory. A chip has several, each smaller
and faster than the next, and data that stay in one of them are served at its rate.
Source: A. Ilic, F. Pratas, L. Sousa, *Cache-aware roofline model: upgrading the loft*,
IEEE Computer Architecture Letters 13(1), 2014.

A GPU's levels come from its specs and from the rates measured on its architecture;
this machine's from the streams measured on it. Left out: levels that share the work,
and the gradual fall where a working set no longer quite fits
(``hierarchy.read_rate`` models that for a GPU's L2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.hardware.level_table import Level
from stacklib.quantity import Quantity, maximum, where

from ..host._record import HostRoofline, Point
from ..work.bounds import attainable, device_of, ridge_point
from ..work.fit import Infeasible


@dataclass(frozen=True, slots=True)
class Slope:
    """The roof that one place where data can live sets: its own slope."""

    name: str  # ``L1``, ``L2``, ``L3`` or ``memory``
    capacity: Quantity  # bytes it holds, all units or cores together
    bandwidth: Quantity  # bytes a second it delivers to all of them

    def ridge(self, peak: Quantity) -> Quantity:
        """Intensity at which this level feeds the arithmetic exactly.

        ``peak``: of a GPU at the clock of its caches, ``device.peak_at_clock(dtype)``.
        """
        return ridge_point(peak, self.bandwidth).named(f"{self.name} ridge")


def served_at(
    working_set: Any, capacities: Sequence[Any], bandwidths: Sequence[Any]
) -> Any:
    """Bytes a second from the nearest level that holds a working set."""
    if len(capacities) != len(bandwidths) or not bandwidths:
        n, m = len(capacities), len(bandwidths)
        raise ValueError(f"{n} capacities and {m} bandwidths: one each a level")
    # The last level's capacity is not read: what is too large for it, `home` refuses.
    rate = bandwidths[-1]
    for size, near in zip(capacities[-2::-1], bandwidths[-2::-1], strict=True):
        rate = where(working_set <= size, near, rate)
    return rate


def attainable_by_level(
    intensity: Any, peak: Any, bandwidths: Sequence[Any]
) -> tuple[Any, ...]:
    """Operations a second under each roof, nearest level first.

    ``intensity``, ``peak``: operations a byte; operations a second; ``bandwidths``:
    bytes a second of each level.
    """
    return tuple(attainable(intensity, peak, rate) for rate in bandwidths)


def traffic_time(
    operations: Any, moved: Sequence[Any], peak: Any, bandwidths: Sequence[Any]
) -> Any:
    """Least seconds of work that moves its own bytes at every level.

    All levels and the arithmetic work at once, so the slowest of them counts.
    """
    if len(moved) != len(bandwidths):
        n, m = len(moved), len(bandwidths)
        raise ValueError(f"bytes of {n} levels, bandwidths of {m}: one each a level")
    levels = (b / rate for b, rate in zip(moved, bandwidths, strict=True))
    return maximum(operations / peak, *levels)


def slopes_of(on: str | Accelerator, dtype: str = "") -> tuple[Slope, ...]:
    """Levels of a GPU, nearest first: L1, L2, memory.

    All units' L1 together hold that many times more than one, each a part. The caches
    run with the units: with ``dtype`` at the clock behind its printed peak, so that
    both can meet in a ridge, otherwise at the printed boost.
    """
    device = device_of(on)
    clock = device.peak_clock(dtype) if dtype else None
    l1, l2, memory = (hardware.level(device, x, clock) for x in ("l1", "l2", "dram"))

    def cache(name: str, level: Level) -> Slope:
        words = f"{device.short} {name} of all units"
        size, rate = level.total, level.known("rate")
        return Slope(name, size.named(f"{words}, size"), rate.named(words))

    return (
        cache("L1", l1),
        cache("L2", l2),
        Slope("memory", memory.total, memory.known("rate")),
    )


def host_slopes(host: HostRoofline, op: str = "read") -> tuple[Slope, ...]:
    """Levels of a measured machine, nearest first, all cores together.

    The rate of a level is that of the middle one, by rate, of the measured points
    whose working set is more than twice what the level before holds and at most three
    quarters of what this one does: points on the steps between levels belong to none.
    """
    cores = int(host.machine["usable_cores"])
    points = host.stream(op, cores)
    found: list[Slope] = []
    inner = 0.0
    for cache in sorted(host.machine["caches"], key=lambda c: c["level"]):
        name = f"L{cache['level']}"
        size = float(cache["bytes"] * max(1, cores // cache["shared_by"]))
        rate = _middle(host, points, name, 2 * inner, 0.75 * size)
        capacity = Quantity(size, "B", label=f"{name}, all cores", kind="measured")
        found.append(Slope(name, capacity, rate))
        inner = size
    total = Quantity(host.machine["memory_bytes"], "B", label="memory", kind="measured")
    rate = _middle(host, points, "memory", 2 * inner, float("inf"))
    return (*found, Slope("memory", total, rate))


def _middle(
    host: HostRoofline, points: list[Point], name: str, above: float, below: float
) -> Quantity:
    inside = [p for p in points if above < p.size <= below]
    if not inside:
        raise ValueError(
            f"{name}: no working set between {above:.4g} and {below:.4g} B was "
            "measured; measure with quick=False"
        )
    point = sorted(inside, key=lambda p: p.rate)[len(inside) // 2]
    return host.quantity(point, f"{name} bandwidth, all cores")


def home(working_set: Any, levels: Sequence[Slope]) -> Slope:
    """The nearest level that holds a working set.

    ``working_set``: bytes that are used again and again.
    """
    size = working_set.to("B").si if isinstance(working_set, Quantity) else working_set
    if not levels:
        raise ValueError("no levels: give them nearest first")
    if not 0 < size < float("inf"):
        raise ValueError(f"working_set = {working_set!r}: bytes above zero are needed")
    for level in levels:
        if size <= level.capacity.si:
            return level
    need, have = Quantity(size / 1e9, "GB"), levels[-1].capacity
    says = f"a working set of {need:.4 GB} > {have:.4 GB} of {levels[-1].name}"
    raise Infeasible(f"{says}: does not fit")
