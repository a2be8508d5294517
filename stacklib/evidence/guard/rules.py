"""The limits, one function a rule: a row and its device in, faults out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from stacklib import hardware
from stacklib.quantity import Quantity, UnitError

from .entries import LAWS
from .limits import links, power, tokens
from .owners import NONE, owner, unit_of
from .point import SLACK, Point, over, role_of

Rule = Callable[[Point, hardware.Accelerator], Iterable[str]]


def _peak(device: hardware.Accelerator, dtype: str | None, like: Quantity) -> float:
    """Highest rate the device claims, in the unit of ``like``; inf if it has none."""
    peaks = [device.peak(f) for f in ([dtype] if dtype else device.formats)]
    same = [p.si for p in peaks if p.shown.dims == like.shown.dims]
    return max(same, default=math.inf)


def rates(p: Point, device: hardware.Accelerator) -> Iterator[str]:
    """No rate above the peak, nor above the roofline at the row's intensity."""
    chips = p.row["chips"]
    for column, value in p.of("rate"):
        peak = _peak(device, p.row["dtype"], value) * chips
        yield from over(p, column, value, peak, "the peak")
        for _, intensity in p.of("intensity"):
            if p.row["level"] is None:
                slope = intensity.si * device.memory_bandwidth.si * chips
                yield from over(p, column, value, slope, "the roofline")


def bandwidths(p: Point, device: hardware.Accelerator) -> Iterator[str]:
    """No memory traffic faster than the memory, unless another level is named."""
    if p.row["level"] is not None:
        return
    for column, value in p.of("bandwidth"):
        bound = device.memory_bandwidth.si * p.row["chips"]
        yield from over(p, column, value, bound, "the memory bandwidth")


def residents(p: Point, device: hardware.Accelerator) -> Iterator[str]:
    """Nothing resident beyond capacity, unless the row says it does not fit."""
    if not p.row["feasible"]:
        return
    for column, value in p.of("resident"):
        bound = device.memory_capacity.si * p.row["chips"]
        yield from over(p, column, value, bound, "the capacity")


def times(p: Point, device: hardware.Accelerator) -> Iterator[str]:
    """No time below the roofline bound of the work and bytes beside it."""
    chips = p.row["chips"]
    if not any(p.of("time")):
        return  # a row that does not fit may stand on a device without this format
    for work_column, work in p.of("work"):
        for bytes_column, traffic in p.of("traffic"):
            rate = _peak(device, p.row["dtype"], work / Quantity(1, "s"))
            bound = max(work.si / rate, traffic.si / device.memory_bandwidth.si) / chips
            for column, value in p.of("time"):
                if value.si * SLACK < bound:
                    limit = Quantity(bound, "s").text(digits=5)
                    yield p.fault(
                        column,
                        value,
                        f"is below {limit}, the roofline bound of {work_column} and "
                        f"{bytes_column} on {chips} x {p.row['device']}",
                    )


def shares(p: Point) -> Iterator[str]:
    """No share above the whole."""
    for column, value in p.of("share"):
        if value.si > SLACK:
            yield p.fault(column, value, "is more than all of it (100 %)")


def infeasible(p: Point) -> Iterator[str]:
    """What does not fit has no time, rate or price."""
    if p.row["feasible"]:
        return
    for column, (value, role) in p.values.items():
        dims = dict(value.shown.dims)
        if role != "spec" and ("s" in dims or "USD" in dims):
            yield p.fault(column, value, "is shown for a row that does not fit")


def negatives(p: Point) -> Iterator[str]:
    """Nothing below zero but what has two signs: a score, a difference."""
    for column, (value, role) in p.values.items():
        if value.si < 0 and role != "signed":
            yield p.fault(column, value, "is below 0")


def conserved(p: Point) -> Iterator[str]:
    """No byte written back that no store met, none read that nobody touched."""
    for less, most in LAWS.items():
        for column, value in p.of(less):
            for other, bound in p.of(most):
                if value.si > bound.si * SLACK:
                    says = f"exceeds {bound.text(digits=5)}, {other}"
                    yield p.fault(column, value, says)


WITHOUT_DEVICE = (negatives, shares, infeasible, conserved)
WITH_DEVICE: tuple[Rule, ...] = (
    *(rates, bandwidths, residents, times),
    *(links, power, tokens),
)


def _points(where: str, row: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """A row of lists as one row a point; lists of one row are equally long."""
    values = row["values"]
    lengths = {len(v) for v, _, _ in values.values() if isinstance(v, list)}
    if len(lengths) > 1:
        raise ValueError(f"{where}: columns of {sorted(lengths)} points")
    for i in range(max(lengths, default=1)):
        at = f", point {i + 1}" if lengths else ""
        yield (
            where + at,
            {
                column: [v[i] if isinstance(v, list) else v, unit, role]
                for column, (v, unit, role) in values.items()
            },
        )


def _read(where: str, cells: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    values, faults = {}, []
    for column, (number, unit, role) in cells.items():
        try:
            value = Quantity(number, unit_of(column, unit))
        except UnitError as error:  # NaN, infinity, an unreadable unit
            faults.append(f"{where}, column {column}: {error}")
            continue
        values[column] = (value, role_of(column, value, role))
    return values, faults


def _device_faults(point: Point, device: hardware.Accelerator) -> Iterator[str]:
    try:
        for rule in WITH_DEVICE:
            yield from rule(point, device)
    except LookupError as error:  # a limit nobody published cannot be held to
        yield f"{point.where}: {error}"


def _row_faults(where: str, row: dict[str, Any]) -> Iterator[str]:
    told = row["device"] or ""
    if not told and owner((), row["values"]) is None:
        yield f"{where}: no device: say device=, or 'none: why' in owners.toml"
    try:
        bound = told and not told.startswith(NONE)
        device = hardware.get(told) if bound else None
    except LookupError as error:
        yield f"{where}: {error}"
        return
    for at, cells in _points(where, row):
        values, faults = _read(at, cells)
        yield from faults
        point = Point(at, row, device, values)
        for check in WITHOUT_DEVICE:
            yield from check(point)
        # A quoted claim, or a region drawn as impossible, may break a limit.
        if device is not None and row["evidence"] not in ("claimed", "impossible"):
            yield from _device_faults(point, device)


def faults(entries: Iterable[dict[str, Any]]) -> list[str]:
    """What the entries show that cannot be.

    Each fault names table or figure, row, column, value and bound.

    Examples
    --------
    >>> from stacklib.evidence import guard
    >>> r = guard.row("H100", {"speed": [5.0, "PFLOP/s", ""]}, device="h100_sxm")
    >>> guard.faults([guard.entry("table", "t", [r])])      # doctest: +SKIP
    ['table t, row H100, column speed: 5 PFLOP/s exceeds 1.9789 PFLOP/s, ...']
    """
    return [
        fault
        for entry in entries
        for row in entry["rows"]
        for fault in _row_faults(
            f"{entry['kind']} {entry['name']}, row {row['row']}", row
        )
    ]
