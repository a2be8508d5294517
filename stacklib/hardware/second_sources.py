"""What another source says of the figures that sentences rest on.

``data/second_sources.csv`` holds one row a device and source, with the fields that the
source prints; ``second_sources.toml`` says what the sources are. None is the source
that the device's own file names for that field. Figures that agree only with each
other (a bandwidth and the pin rate behind it) are caught by it.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from stacklib.quantity import Quantity, Source

from .accelerator import Accelerator

_DATA = Path(__file__).parent / "data"
TOLERANCE = 0.025  # sources print two to four digits
RATE = "TFLOP/s dense"
# Fields that a sentence rests on, in the unit of their column. A cache is printed in MB
# and is a power of two, or a few times one, of KiB.
UNITS = {
    "memory_bandwidth": "GB/s",
    "memory_capacity": "GB",
    "l2_capacity": "MiB",
    "tdp": "W",
    "link": "GB/s per_direction",
    "host_link": "GB/s per_direction",
    **{f"peak.{name}": RATE for name in ("fp64", "fp32", "tf32", "bf16", "fp16")},
    "peak.fp8": RATE,
    "peak.fp4": RATE,
    "peak.int8": "TOP/s dense",
}


@dataclass(frozen=True, slots=True)
class Second:
    """What another source says of one field."""

    field: str
    value: Quantity


@cache
def rows() -> dict[str, tuple[Second, ...]]:
    """Every figure of another source, by device."""
    titles = tomllib.loads((_DATA / "second_sources.toml").read_text("utf-8"))
    found: dict[str, tuple[Second, ...]] = {}
    with (_DATA / "second_sources.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            told = titles[row["source"]]
            source = Source(
                told["title"],
                row["where"],
                told["seen"].isoformat(),
                told["confidence"],
            )
            place = f"second_sources/{row['device']}/{row['source']}"
            seconds = (
                Second(
                    field,
                    Quantity(
                        float(row[field]),
                        unit,
                        source=source,
                        kind="spec",
                        key=f"{place}/{field}",
                    ),
                )
                for field, unit in UNITS.items()
                if row[field]
            )
            found[row["device"]] = (*found.get(row["device"], ()), *seconds)
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


def asked(device: Accelerator) -> list[str]:
    """Known fields that a sentence may rest on, and every peak."""
    fields = [f for f in UNITS if "." not in f and held(device, f) is not None]
    return [*fields, *(f"peak.{name}" for name in device.peaks)]


def alone(device: Accelerator) -> list[str]:
    """Those of them that only one source has for this device."""
    there = {second.field for second in rows().get(device.key, ())}
    return [field for field in asked(device) if field not in there]
