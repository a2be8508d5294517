"""Rows of the tables on the page *Predicted against measured*."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stacklib.hardware.errors import cells as known_cells
from stacklib.hardware.factors import efficiency_table
from stacklib.quantity import Quantity, chosen, counted

from .. import validate
from ..measurements import Measurement, found, last
from ..measurements import unseen as unseen_rows
from ..validate import key_of
from .folds import BY
from .left_out import unseen
from .public import TURNS, predicted_first

Row = dict[str, Any]


MEDIAN, TAIL = 0.5, 0.9


def error(report: validate.Validation, share: float) -> Quantity | None:
    """A quantile of the errors of what was predicted; None where nothing was."""
    off = [abs(o.ratio - 1) for o in report.outcomes if o.predicted is not None]
    label = "median error" if share == MEDIAN else "90th percentile of the errors"
    return counted(validate.quantile, off, share, label=label) if off else None


def _larger(found: Iterable[Quantity | None]) -> Quantity | None:
    return max(filter(None, found), key=lambda q: q.si, default=None)


def families(report: validate.Validation) -> list[Row]:
    """One row a family: counts, errors on fitted and on unseen rows, the bars."""
    held = {by: unseen(report, by) for by in BY}
    rows = []
    for key in report.families:
        own = {by: held[by].of(key) for by in BY}
        title, parts = f"{key}: {validate.TITLES[key]}", validate.PARTS.get(key, {})
        bar = None if parts else validate.BARS.get(key)
        rows.append(_family(title, report.of(key), own, bar))
        for part, bar in parts.items():
            new = {by: _part(found, part) for by, found in own.items()}
            title = validate.PART_TITLES[part]
            rows.append(_family(title, _part(report.of(key), part), new, bar))
    return rows


def _part(report: validate.Validation, part: str) -> validate.Validation:
    rows = (o for o in report.outcomes if validate.part_of(o.row) == part)
    return validate.Validation(tuple(rows))


def _family(
    title: str,
    fitted: validate.Validation,
    own: Mapping[str, validate.Validation],
    bar: validate.Bar | None,
) -> Row:
    """A row of rows that are judged together; ``own``: predicted by folds."""
    found = validate.score(fitted.outcomes)
    new = [validate.score(own[by].outcomes) for by in BY]
    return {
        "family": title,
        "rows": found.predicted,
        "refused": found.refused,
        "tests": min(s.predicted for s in new) or None,
        "fitted": error(fitted, MEDIAN),
        "new source": error(own["source"], MEDIAN),
        "new device": error(own["device"], MEDIAN),
        "bar": chosen(bar.median, label="bar") if bar else None,
        "p90": _larger(error(own[by], TAIL) for by in BY),
        "p90 bar": chosen(bar.p90, label="bar") if bar else None,
        "bars": _met(new, bar),
    }


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
    fitted, held = report.of(key), unseen(report, by).of(key)
    scores = fitted.by(name)

    def part(whole: validate.Validation, group: str) -> validate.Validation:
        rows = (o for o in whole.outcomes if name(o.row) == group)
        return validate.Validation(tuple(rows))

    return [
        {
            by: group,
            "rows": scores[group].predicted,
            "tests": s.predicted or None,
            "fitted": error(part(fitted, group), MEDIAN),
            "never seen": error(part(held, group), MEDIAN),
            "p90": error(part(held, group), TAIL),
            "predicted / measured": None if s.bias is None else 1 + s.bias,
        }
        for group, s in held.by(name).items()
        if scores[group].predicted
    ]


def cells(family: str) -> list[Row]:
    """One row a cell of a family: its band, and the rows that it stands on.

    Without ends where rows are there and a band does not hold them.
    """
    found = [b for name, b in known_cells().items() if name.startswith(f"{family}/")]
    return [
        {
            "cell": band.cell.partition("/")[2].replace("/", ", "),
            "rows": band.unseen,
            "median": counted(
                known_cells, take=f"['{band.cell}'].median", label="median"
            ),
            "p90": counted(known_cells, take=f"['{band.cell}'].p90", label="p90"),
            "time from": band.low or None,
            "time to": band.high if band.low else None,
        }
        for band in found
    ]


def told_first(family: str = "", turn: int = 0) -> list[tuple[float, bool]]:
    """Rows of a family, or of all, that were predicted before their values were known.

    Measured over predicted, and whether the band of that day holds the row. Rows that
    have no band then, or were not kept, are left out.

    - ``turn``: the round in which they were gathered, from 1; 0 for all
    """
    said = predicted_first(turn)
    return [
        (row.value / said[row.id][0], said[row.id][1] <= row.value <= said[row.id][2])
        for row in (*found(), *unseen_rows(), *last())
        if row.id in said and family in ("", key_of(row)) and said[row.id][1] > 0
    ]


def rows_first(turn: int = 0) -> int:
    """How many rows were predicted before their values were known, with a band."""
    return len(told_first(turn=turn))


def held_first(family: str = "", turn: int = 0) -> float:
    """Share of those that the band of that day holds."""
    rows = told_first(family, turn)
    return sum(held for _, held in rows) / len(rows)


def off_first(family: str, turn: int = 0) -> float:
    """The median error of those."""
    rows = told_first(family, turn)
    return validate.quantile([abs(1 / x - 1) for x, _ in rows], MEDIAN)


def first() -> list[Row]:
    """One row a round and family: rows predicted before their values were known."""
    return [
        {
            "round": turn,
            "family": f"{key}: {title}",
            "rows": len(told_first(key, turn)),
            "median": counted(off_first, key, turn, label="median error"),
            "inside": counted(held_first, key, turn, label="inside the band"),
        }
        for turn in TURNS
        for key, title in validate.TITLES.items()
        if told_first(key, turn)
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
            "left out with": "–" if row.get("fixed") else ", ".join(BY),
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

    def of_device(name: str) -> validate.Validation:
        rows = (o for o in report.outcomes if validate.device_name(o.row) == name)
        return validate.Validation(tuple(rows))

    return [
        {
            "device": name,
            "rows": s.predicted,
            "refused": s.refused,
            "median": error(of_device(name), MEDIAN),
            "p90": error(of_device(name), TAIL),
            "predicted / measured": None if s.bias is None else 1 + s.bias,
        }
        for name, s in report.by(validate.device_name).items()
    ]
