"""Estimated times of published kernels against the published numbers, by kernel.

The estimates are stored, because running every kernel takes longer than a page may;
`kernel_runs` writes them, and a test runs some of them again.
"""

from __future__ import annotations

import csv
from collections import Counter
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from stacklib.quantity import Quantity, counted

from . import measurements
from .measurements import Measurement
from .validate import Outcome, key_of, quantile, read_back

COLUMNS = ("id", "estimated", "bound", "by_source", "by_device", "reason")
FILE = Path(str(files("stacklib.evidence") / "data" / "kernel_times.csv"))


@cache
def stored() -> dict[str, dict[str, str]]:
    """The stored estimates by row id, as text."""
    with FILE.open(encoding="utf-8", newline="") as lines:
        return {row["id"]: row for row in csv.DictReader(lines)}


def outcomes(column: str = "estimated") -> tuple[Outcome, ...]:
    """Public rows of family C with their estimates; refused ones with the reason."""
    if column not in ("estimated", "by_source", "by_device"):
        raise ValueError(f"column = {column!r}: estimated, by_source or by_device")
    found = []
    for row in measurements.fitted():
        cells = stored().get(row.id)
        if row.family != "C" or cells is None:
            continue
        value = float(cells[column]) if cells[column] else None
        bound, reason = cells["bound"] or None, cells["reason"] or None
        found.append(Outcome(row, key_of(row), value, bound, reason))
    return tuple(found)


def kernel_of(row: Measurement) -> str:
    """Which kernel a row is of, in the words of a table."""
    name = row.subject.lower()
    if "latency" in name:
        return "pointer chase"
    if "working_set_kB" in row.config:
        return "repeated read, by working set"
    return "repeated read" if "per_SM" in str(row.config) else "stream"


def errors(column: str = "by_source", kernel: str | None = None) -> list[float]:
    """Errors on the rows that are tests: their constant is from another source."""
    return [
        found.error
        for found in outcomes(column)
        if found.predicted is not None
        and not read_back(found.row, found.bound)
        and kernel in (None, kernel_of(found.row))
    ]


def quantiles(column: str) -> tuple[Quantity, Quantity]:
    """Median and 90th percentile of `errors`."""
    found = errors(column)
    middle, high = (
        counted(quantile, found, share, label="error on rows never seen")
        for share in (0.5, 0.9)
    )
    return middle, high


def kernel_rows() -> list[dict[str, Any]]:
    """One row a kernel: published rows, those read back, and the error on the others.

    Errors are those of estimates by factors that had not seen the row's source.
    """
    ran = [found for found in outcomes() if found.predicted is not None]
    back = Counter(kernel_of(o.row) for o in ran if read_back(o.row, o.bound))
    rows = []
    for kernel, count in Counter(kernel_of(found.row) for found in ran).items():
        seen = errors("by_source", kernel)
        cells = {"kernel": kernel, "rows": count, "read back": back[kernel]}
        for name, share in (("median error", 0.5), ("p90", 0.9)):
            value = counted(quantile, seen, share).to("%") if seen else None
            cells[name] = value
        rows.append(cells)
    return rows
