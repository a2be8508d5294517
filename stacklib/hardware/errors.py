"""How far predictions were from published measurements, by family and by cell.

A cell is what a row is like: its family, then words from the broadest to the finest,
as ``A/8 bit/launch/engine``. A band is of the rows of a cell, and where they are too
few, of those of the nearest wider one: ``A/8 bit/launch``, ``A/8 bit``. Of a format or
a link that no row has there is none, and none where a band was tried and does not hold
or would say nothing: its line has no ends. What follows from software holds for the
kinds of silicon that its rows ran on, and for no other.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Container
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .accelerator import Accelerator

_DATA = Path(__file__).parent / "data"
PATH = _DATA / "bands.csv"
# What ``roofline.decode_step`` is stamped with: a limit, and no family's prediction.
# The family of this name is what engines take (``serving.estimate``), by its cells.
LIMIT = "E_decode"
_FIRST, _LAST = ("cell", "low", "high", "median", "p90", "rows"), ("inside", "silicon")
BANDS = (*_FIRST, "sources", "devices", *_LAST)
SOFTWARE = "EJ"  # families whose bands stand for the kinds of silicon of their rows
WIDEST = 16.0  # times that a band's ends are apart at most: wider ones say nothing
TENSORS = 7.0  # compute capability from which NVIDIA's GPUs have tensor cores


@dataclass(frozen=True, slots=True)
class ErrorBand:
    """How far predictions of one family, or of one of its cells, were from measured.

    Relative errors ``|predicted / measured - 1|`` at the median and the 90th
    percentile, of rows that the fit had not seen, by the worst of its folds; and what
    a predicted time is multiplied by at both ends of the interval that holds nine in
    ten measured ones.
    """

    median: float
    p90: float
    unseen: int  # rows that no fold had seen and each could predict
    low: float = 0.0
    high: float = float("inf")
    cell: str = ""  # whose rows they are
    silicon: tuple[str, ...] = ()  # kinds that its rows ran on


@cache
def _rows() -> dict[str, dict[str, Any]]:
    path = _DATA / "errors.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


@cache
def cells() -> dict[str, ErrorBand]:
    """Every cell that has a band, in the order of the file."""
    if not PATH.exists():
        return {}
    with PATH.open(encoding="utf-8", newline="") as lines:
        return {
            row["cell"]: ErrorBand(
                float(row["median"]),
                float(row["p90"]),
                int(row["rows"]),
                float(row["low"] or 0.0),
                float(row["high"] or "inf"),
                row["cell"],
                tuple(row["silicon"].split(";")),
            )
            for row in csv.DictReader(lines)
        }


def silicon(device: Accelerator) -> str:
    """A kind of chip that software is written for: a vendor's, of AMD's one line."""
    if device.kind == "cpu":
        return f"{device.vendor}, a CPU"
    if device.vendor == "AMD":
        return f"AMD {device.architecture.rstrip('0123456789.').upper()}"
    known = float(device.compute_capability or TENSORS)
    return device.vendor + (" without tensor cores" if known < TENSORS else "")


def error_band(family: str, on: Accelerator | None = None) -> ErrorBand | None:
    """Errors of a family's predictions, or of a cell's, as calibration left them.

    None until predictions of that family have been held against published
    measurements, for a cell whose first word no row has or whose band does not hold,
    for a limit, and for a device of a kind that none of its rows ran on.
    """
    if found := cells().get(nearest(family, cells())):
        return None if lacking(found, on) else found
    return None if family == LIMIT else family_band(family)


def lacking(band: ErrorBand, on: Accelerator | None) -> str:
    """Why a cell's band says nothing of a device, in words; empty where it does."""
    cell = band.cell.replace("/", ", ")
    if not band.low:
        held = "none that was tried holds nine in ten rows of others"
        return f"{held} within {WIDEST:g} times ({cell})"
    if on is not None and silicon(on) not in band.silicon:
        return f"no row of {cell} ran on {silicon(on)}"
    return ""


def why_none(family: str, on: Accelerator | None = None) -> str:
    """Why ``error_band`` has none, in words."""
    found = cells().get(nearest(family, cells()))
    return lacking(found, on) if found else "no published row is like it"


def nearest(cell: str, known: Container[str]) -> str:
    """The cell itself if it is known, or the nearest wider one; empty where none is.

    A family mixes what its cells part, and stands in for none of them.
    """
    parts = cell.split("/")
    names = ("/".join(parts[:length]) for length in range(len(parts), 1, -1))
    return next((name for name in names if name in known), "")


def family_band(family: str) -> ErrorBand | None:
    """Errors of all of a family's rows; None where there are none."""
    row, whole = _rows().get(family), cells().get(family)
    if row is None:
        return None
    found = ErrorBand(row["median"], row["p90"], row["unseen"], cell=family)
    if whole is None or not whole.low:
        return found
    return replace(found, low=whole.low, high=whole.high)


def band_text(family: str) -> str:
    """The error band of a family in words; without one, that it has none, by name."""
    band = error_band(family)
    if family == LIMIT:
        return "none: a limit, which engines stay above (stacklib estimate)"
    if band is None and nearest(family, cells()):
        return f"none: {why_none(family)}"
    if band is None:
        return f"none: {family} is not yet held against published measurements"
    near = f"{band.median:.0%} at the median, {band.p90:.0%} at the 90th percentile"
    return f"{near} of {band.unseen} rows never seen{_ends(band)}"


def _ends(band: ErrorBand) -> str:
    """Where nine in ten measured times lie, and of which cell, where that is known."""
    if not band.low:
        return ""
    cell = band.cell.replace("/", ", ")
    ends = f"from {band.low:.2f} to {band.high:.2f} of it"
    return f"; nine in ten measured times lie {ends} ({cell})"
