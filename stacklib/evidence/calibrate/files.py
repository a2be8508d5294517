"""The files a calibration leaves: factors, error quantiles, held-out predictions.

``hardware/data/efficiency.toml``, ``errors.toml``, ``bands.csv`` lie in a lower room,
where every model can read them; ``evidence/data/held_out.csv`` is for the page that
shows how the quantiles came about.
"""

from __future__ import annotations

import csv
import io
import json
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..measurements import fitted
from .folds import BY, Errors
from .problem import Problem

HELD_OUT = ("id", "by_source", "by_device", "least", "most")
_ORDER = (
    "value",
    "low",
    "high",
    "least",
    "most",
    "fixed",
    "family",
    "class",
    "text",
    "rows",
    "sources",
    "devices",
)
ERRORS_HEAD = """\
# How far predictions were from published measurements, by family: written by
# `python -m stacklib.evidence.calibrate`, held current by tests/evidence.
# median, p90: the larger of the two cross-validations below, rows never seen;
# n: rows of the family; unseen: those that both could predict. The others are read
# back from a constant of their own source, or stand on a factor that no row of another
# group moves.
# Bands of cells are in bands.csv.
# in_sample: the committed factors on the rows they were fitted to.
"""


def data_path(name: str) -> Path:
    """A file the calibration writes."""
    room = "stacklib.evidence" if name == "held_out.csv" else "stacklib.hardware"
    return Path(str(files(room) / "data" / name))


def text_of(value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(float(f"{value:.4g}"))
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        cells = (f"{k} = {text_of(v)}" for k, v in value.items())
        return f"{{ {', '.join(cells)} }}"
    raise TypeError(f"{value!r} has no TOML here")


def tables(rows: Mapping[str, Mapping[str, Any]], head: str = "") -> str:
    """Tables of a TOML file, in their order."""
    parts = [head.rstrip("\n")] if head else []
    for name, row in rows.items():
        lines = [f"{key} = {text_of(value)}" for key, value in row.items()]
        parts.append("\n".join([f"[{name}]", *lines]))
    return "\n\n".join(parts) + "\n"


def head_of(text: str) -> str:
    """The comment lines a file begins with."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line)
    return "\n".join(lines)


def efficiency_rows(
    table: Mapping[str, Mapping[str, Any]],
    problem: Problem,
    values: Mapping[str, float],
    spans: Mapping[str, tuple[float, float]],
) -> dict[str, dict[str, Any]]:
    """The factors' file after a fit: what was declared, and what was found."""
    parts = {name: part for part in problem.stages() for name in part.factors}
    rows = {}
    for name, declared in table.items():
        if name not in parts:  # of another family, and not fitted
            rows[name] = dict(declared)
            continue
        factor, part = problem.factors[name], parts[name]
        places = part.moved(part.touched()[name], values, name)
        found = {**declared, "value": float(values[name])}
        # A fixed factor that no row of the fit reads has its rows elsewhere, and said.
        if places or not factor.fixed or "rows" not in declared:
            found |= {
                "rows": len(places),
                "sources": len({part.cases[i].source for i in places}),
                "devices": len({part.cases[i].device for i in places}),
            }
        if places and not factor.fixed:
            found["low"], found["high"] = spans[name]
        else:
            found = {k: v for k, v in found.items() if k not in ("low", "high")}
        rest = [key for key in found if key not in _ORDER]
        rows[name] = {key: found[key] for key in (*_ORDER, *rest) if key in found}
    return rows


def error_rows(
    in_sample: Mapping[str, Errors], by: Mapping[str, Mapping[str, Errors]]
) -> dict[str, dict[str, Any]]:
    """The file of error quantiles."""
    rows = {}
    for key, sample in in_sample.items():
        held = {way: by[way][key] for way in BY}
        rows[key] = {
            "median": max(e.median for e in held.values()),
            "p90": max(e.p90 for e in held.values()),
            "n": sample.n,
            "unseen": min(e.n for e in held.values()),
            "in_sample": {"median": sample.median, "p90": sample.p90},
            **{
                f"by_{way}": {"median": e.median, "p90": e.p90, "unseen": e.n}
                for way, e in held.items()
            },
        }
    return rows


def errors_with(new: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The stored error quantiles, with new ones in place of those keys'."""
    stored = tomllib.loads(data_path("errors.toml").read_text(encoding="utf-8"))
    both = stored | dict(new)
    return {key: dict(both[key]) for key in sorted(both)}


def held_out_with(
    new: Mapping[str, Mapping[str, float]], family: str
) -> dict[str, dict[str, float]]:
    """The stored held-out predictions, with new ones in place of a family's.

    - ``new``: by column and id
    """
    own = {row.id for row in fitted() if row.family == family}
    others = [(id, row) for id, row in held_out().items() if id not in own]
    found = {}
    for column, predicted in new.items():
        stored = {id: getattr(row, column) for id, row in others}
        kept = {k: v for k, v in stored.items() if v is not None}
        found[column] = {**kept, **predicted}
    return found


def bands_but(families: Collection[str]) -> list[list[str]]:
    """The stored lines of the bands of all other families."""
    with data_path("bands.csv").open(encoding="utf-8", newline="") as lines:
        return [
            line
            for line in list(csv.reader(lines))[1:]
            if line[0].split("/")[0].split("_")[0] not in families
        ]


def held_out_text(predicted: Mapping[str, Mapping[str, float]]) -> str:
    """The held-out predictions as CSV, in the order of the rows' ids.

    ``predicted``: by column and id.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HELD_OUT)
    for id in sorted(set().union(*predicted.values())):
        cells = (predicted[column].get(id) for column in HELD_OUT[1:])
        writer.writerow([id, *("" if c is None else f"{c:.4g}" for c in cells)])
    return text.getvalue()


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What factors that never saw a row's group predict for it.

    Its source, its device; the least and the most of these and of each of its words.
    """

    by_source: float | None
    by_device: float | None
    least: float | None = None
    most: float | None = None


@cache
def held_out() -> dict[str, HeldOut]:
    """Held-out predictions by row id, in the unit of the row.

    Empty until a calibration has run.
    """
    path = data_path("held_out.csv")
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as lines:
        return {
            row["id"]: HeldOut(
                *(float(row[c]) if row[c] else None for c in HELD_OUT[1:])
            )
            for row in csv.DictReader(lines)
        }
