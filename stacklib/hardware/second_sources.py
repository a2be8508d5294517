"""A second source for the two numbers everything rests on: bandwidth and 16-bit peak.

``data/second_sources.csv`` holds one row a device and field, from a source that the
device's own file does not name there. Figures that agree only with each other (a
bandwidth and the pin rate behind it) are caught by it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from stacklib.quantity import Quantity, Source

from .accelerator import Accelerator

_ROWS = Path(__file__).parent / "data" / "second_sources.csv"
TOLERANCE = 0.025  # sources print two to four digits
FIELDS = ("memory_bandwidth", "peak.bf16")


@dataclass(frozen=True, slots=True)
class Second:
    """What another source says of one field."""

    field: str
    value: Quantity


@cache
def rows() -> dict[str, tuple[Second, ...]]:
    """Every row, by device."""
    found: dict[str, tuple[Second, ...]] = {}
    with _ROWS.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            source = Source(row["title"], row["where"], row["seen"], row["confidence"])
            value = Quantity(
                float(row["value"]), row["unit"], source=source, kind="spec"
            )
            key = row["device"]
            found[key] = (*found.get(key, ()), Second(row["field"], value))
    return found


def held(device: Accelerator, field: str) -> Quantity | None:
    """The device's own figure for such a field; None where it has none."""
    if field.startswith("peak."):
        peak = device.peaks.get(field.removeprefix("peak."))
        return peak.rate if peak else None
    return device.fields.get(field)


def differences(device: Accelerator) -> Iterator[tuple[str, float]]:
    """Field and relative difference where the second source says something else."""
    for second in rows().get(device.key, ()):
        own = held(device, second.field)
        gap = (own / second.value).si - 1 if own is not None else float("inf")
        if abs(gap) > TOLERANCE:
            yield second.field, gap


def alone(device: Accelerator) -> list[str]:
    """Fields of these two that only one source has for this device."""
    there = {second.field for second in rows().get(device.key, ())}
    asked = [f if held(device, f) is not None else "peak.fp16" for f in FIELDS]
    return [f for f in asked if held(device, f) is not None and f not in there]
