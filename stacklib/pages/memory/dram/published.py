"""What others published of memories under load, beside what the models say.

A sweep is a streaming kernel run with more and more threads: bytes in flight on one
axis, bandwidth on the other. No factor was fitted to these curves; the two shares that
a full bus delivers come from family C.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from stacklib import hardware
from stacklib.evidence import measurements
from stacklib.evidence.ledger import DATA
from stacklib.hardware.sourced import read_source, read_toml, read_value
from stacklib.memory import DramChannel, dram_part
from stacklib.memory.dram.in_flight import Saturation, saturate
from stacklib.memory.dram.parts import DramPart
from stacklib.memory.dram.traffic import copy, stream
from stacklib.pages import figures_of
from stacklib.quantity import Quantity, counted
from stacklib.quantity.told import MARK

SWEPT = "stacklib/evidence/data/in_flight.csv"
# kernel -> bytes loaded and stored by a thread, in fp64
KERNELS = {"read": (8, 0), "scale": (8, 8), "triad": (16, 8)}


@dataclass(frozen=True, slots=True)
class Point:
    """One run of a sweep, predicted and measured."""

    kernel: str
    threads: int  # threads of a compute unit
    told: Saturation  # what the model says
    share: Quantity  # measured share of the bandwidth

    @property
    def error(self) -> float:
        """Predicted over measured, minus one."""
        return self.told.share.si / self.share.si - 1


@cache
def _sources() -> dict[str, dict]:
    return read_toml(DATA / "dram_published.toml")["sources"]


def fact(name: str) -> Quantity:
    """A published figure of ``dram_published.toml``."""
    raw, where = facts()[name], f"dram_published/{name}"
    label = name.replace("_", " ")
    return read_value(raw, _sources(), raw["source"], where, label, raw["unit"])


def facts() -> dict[str, dict]:
    """The published figures by name, as the file has them."""
    return read_toml(DATA / "dram_published.toml")["facts"]


@cache
def _rows() -> tuple[dict[str, str], ...]:
    with (DATA / "in_flight.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


@cache
def sweep(device: str, kernel: str) -> tuple[Point, ...]:
    """A device's sweep of one kernel, from few threads to all."""
    if kernel not in KERNELS:
        raise ValueError(f"kernel {kernel!r}: one of {', '.join(KERNELS)}")
    found = [row for row in _rows() if row["device"] == device]
    if not found:
        swept = sorted({row["device"] for row in _rows()})
        raise ValueError(f"device {device!r} was not swept; {', '.join(swept)} were")
    chip = hardware.get(device)
    units, peak = int(chip.compute_units.si), chip.memory_bandwidth
    loads, stores = KERNELS[kernel]
    points = []
    for row in found:
        threads = int(row["threads"]) // units
        told = saturate(chip, loads, threads, stored=stores)
        points.append(Point(kernel, threads, told, _rate(row, kernel) / peak))
    return tuple(points)


def _rate(row: dict[str, str], kernel: str) -> Quantity:
    return Quantity(
        float(row[kernel]),
        "GB/s",
        label="bandwidth",
        source=read_source(_sources(), "gpubenches", "in_flight.csv", own=True),
        kind="measured",
        key=MARK.join((SWEPT, row["device"], f"{row['threads']}/{kernel}")),
    )


def rates() -> list[Quantity]:
    """Every bandwidth of every sweep."""
    return [_rate(row, kernel) for row in _rows() for kernel in KERNELS]


def curves(
    device: str,
) -> list[tuple[str, list[float], list[float], list[Quantity]]]:
    """A device's sweeps as ``pages.memory.dram.figures`` takes them, every third run.

    Kilobytes of loads and stores in flight; percent of the bandwidth predicted, the
    measured share.
    """
    found = []
    for kernel, (loads, stores) in KERNELS.items():
        points = sweep(device, kernel)[1::3]
        both = (loads + stores) / loads / 1e3
        flying = [p.told.in_flight.si * both for p in points]
        shares = [100 * p.told.share.si for p in points]
        found.append((kernel, flying, shares, [p.share for p in points]))
    return found


# device -> rows of measurements.csv: a kernel that reads, one that reads and writes
ACHIEVED = {
    "v100_sxm2_32gb": ("", "C-0048"),
    "a100_sxm_40gb": ("C-0023", "C-0024"),
    "h100_pcie": ("C-0032", "C-0033"),
}


def achieved(id: str, device: str) -> Quantity:
    """A published bandwidth over the device's own.

    ``id``: row of ``measurements.csv``, in GB/s.
    """
    row = next((m for m in measurements.public() if m.id == id), None)
    if row is None:
        raise ValueError(f"id {id!r} is no row of measurements.csv")
    rate = figures_of.measured(id).named(f"{row.subject}, measured")
    return rate / hardware.get(device).memory_bandwidth


def device_rows(n: int = 6000) -> list[dict[str, Any]]:
    """Shares that devices reached, beside those a pseudo-channel allows them.

    The channel runs at the rate of the device's pins, with a queue of 64: first with
    refreshes that stop all banks, then with one bank at a time.
    """
    rows = []
    for key, (read, both) in ACHIEVED.items():
        device = hardware.get(key)
        part = dram_part("hbm2e").at(device.memory_pin_rate)
        row: dict[str, Any] = {"device": device}
        for name, id in (("read", read), ("copy", both)):
            row[f"{name}, measured"] = achieved(id, key) if id else None
            make = {"read": stream, "copy": copy}[name]
            for how, words in (("all", "banks stop"), ("some", "one bank stops")):
                share = counted(settled, part, make, how, n, label=words)
                row[f"{name}, {words}"] = share
        rows.append(row)
    return rows


def settled(part: DramPart, make: Callable[..., Any], refresh: str, n: int) -> float:
    """Share of the bus that ``n`` requests of a pattern settle at, queue of 64."""
    return DramChannel(part, queue=64, refresh=refresh).run(*make(part, n)).settled
