"""Rows of the tables on the page *Predicted against measured*."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stacklib.hardware.errors import cells as known_cells
from stacklib.hardware.factors import efficiency_table
from stacklib.quantity import Quantity, counted

from .. import validate
from ..measurements import Measurement
from .folds import BY
from .left_out import unseen

Row = dict[str, Any]


def share(value: float | None) -> Quantity | None:
    """A share as a quantity a table can print in per cent; None stays None."""
    return None if value is None else counted(sum, [value])


def families(report: validate.Validation) -> list[Row]:
    """One row a family: counts, errors on fitted and on unseen rows, the bars."""
    held = {by: unseen(report, by).families for by in BY}
    rows = []
    for key, found in report.families.items():
        new = {by: held[by][key] for by in BY}
        tails = [s.p90_error for s in new.values() if s.p90_error is not None]
        bar = validate.BARS.get(key)
        rows.append(
            {
                "family": f"{key}: {validate.TITLES[key]}",
                "rows": found.predicted,
                "refused": found.refused,
                "tests": min(s.predicted for s in new.values()) or None,
                "fitted": share(found.median_error),
                "new source": share(new["source"].median_error),
                "new device": share(new["device"].median_error),
                "bar": share(bar.median if bar else None),
                "p90": share(max(tails, default=None)),
                "p90 bar": share(bar.p90 if bar else None),
                "bars": _met(list(new.values()), bar),
            }
        )
    return rows


def _met(new: list[validate.Score], bar: validate.Bar | None) -> str | None:
    """Whether the larger errors on rows never seen are within both bars."""
    if bar is None or any(s.median_error is None for s in new):
        return None
    median = max(s.median_error or 0.0 for s in new)
    tail = max(s.p90_error or 0.0 for s in new)
    return "met" if median <= bar.median and tail <= bar.p90 else "missed"


def groups(report: validate.Validation, key: str, by: str) -> list[Row]:
    """One row a source or device of a family, predicted without itself in the fit."""
    name = validate.source_of if by == "source" else validate.device_name
    fitted = report.of(key).by(name)
    return [
        {
            by: group,
            "rows": fitted[group].predicted,
            "tests": s.predicted or None,
            "fitted": share(fitted[group].median_error),
            "never seen": share(s.median_error),
            "p90": share(s.p90_error),
            "predicted / measured": None if s.bias is None else 1 + s.bias,
        }
        for group, s in unseen(report, by).of(key).by(name).items()
        if fitted[group].predicted
    ]


def cells(family: str) -> list[Row]:
    """One row a cell of a family: its band, and the rows that it stands on."""
    found = [b for name, b in known_cells().items() if name.startswith(f"{family}/")]
    return [
        {
            "cell": band.cell.partition("/")[2].replace("/", ", "),
            "rows": band.unseen,
            "median": share(band.median),
            "p90": share(band.p90),
            "time from": band.low,
            "time to": band.high,
        }
        for band in found
    ]


def worst(report: validate.Validation, key: str, count: int = 5) -> list[Row]:
    """The rows of a family that are furthest off, and why where it is known."""
    why = validate.explanations()
    return [
        {
            "row": o.row.id,
            "device": validate.device_name(o.row),
            "what": (o.row.settings or o.row.subject)[:48],
            "predicted": o.predicted,
            "measured": o.row.value,
            "unit": o.row.unit,
            "bound": o.bound,
            "why": why.get(o.row.id, "not explained yet"),
        }
        for o in report.of(key).worst(count)
    ]


def _text(row: Row, name: str) -> str | None:
    if name not in row:
        return None
    return Quantity(row[name], row.get("unit", "")).text(digits=3)


def factor_rows() -> list[Row]:
    """One row an efficiency factor: its value, its interval, who spoke of it."""
    return [
        {
            "factor": name,
            "what": row["text"],
            "value": _text(row, "value"),
            "from": _text(row, "low"),
            "to": _text(row, "high"),
            "rows": row.get("rows"),
            "sources": row.get("sources"),
            "devices": row.get("devices"),
        }
        for name, row in efficiency_table().items()
    ]


def refusals(report: validate.Validation, most: int = 12) -> list[Row]:
    """One row a reason, the most frequent first; the rest in one row."""
    reasons = report.reasons().most_common()
    shown = len(reasons) if len(reasons) == most + 1 else most
    rows: list[Row] = [{"rows": n, "reason": why} for why, n in reasons[:shown]]
    rest = reasons[shown:]
    if rest:
        rows.append({"rows": sum(n for _, n in rest), "reason": f"{len(rest)} others"})
    return rows


def impossible_rows(rows: Iterable[Measurement]) -> list[Row]:
    """One row each that says more than its device can do, furthest first."""
    return [
        {
            "row": found.row.id,
            "device": found.device,
            "what": (found.row.settings or found.row.subject)[:48],
            "measured": found.row.value,
            "unit": found.row.unit,
            "times what it can": found.times,
            "likely cause": found.why,
        }
        for found in validate.impossible(rows)
    ]


def left_out_rows(report: validate.Validation) -> list[Row]:
    """One row a device of rows that no fit has seen."""
    return [
        {
            "device": name,
            "rows": s.predicted,
            "refused": s.refused,
            "median": share(s.median_error),
            "p90": share(s.p90_error),
            "predicted / measured": None if s.bias is None else 1 + s.bias,
        }
        for name, s in report.by(validate.device_name).items()
    ]
