"""The plotting grammar: a figure as a plain dict, drawn here and in the browser.

::

    {"title": "sentence saying what is seen",
     "x": {"label": "Batch size", "scale": "log", "unit": ""},
     "y": {"label": "Time per token (ms)", "scale": "log", "unit": "ms"},
     "marks": [{"kind": "line", "evidence": "predicted", "name": "H100",
                "x": [...], "y": [...]}, ...],
     "readouts": [{"name": "time", "label": "Time per token", "text": "21.1 ms",
                   "tree": {...}}],
     "message": None}

``stacklib.plots.marks`` writes such dicts. Kinds of mark: ``line`` and ``dots`` (x,
y; dots may have ``spread`` pairs, and ``each``, a name a point, which its figure says
to who points at it), ``bar`` (an x pair, and its row twice as y),
``vline`` (x, and y where it should end), ``hline`` (y), ``band`` (an x pair, a y
pair or both), ``cells`` (x, y: centres of unit squares, a grid on linear axes; with
``shades``, 0 to 1 of the colour each, and ``texts``, short, one a cell; its name
stands in a key under the axis), ``places`` (x, y: what can be held exactly, such as
the numbers of a format; dots smaller than those of any evidence, or with ``to``, one
a place, strokes from y up to there; ``lit`` where one is chosen). Optional in a
mark: ``series`` (colour), ``layer`` (of the stack, 1 to 7: its colour),
``this_machine``, ``label_at`` (``end``, ``key``: under the axis, or ``none``), and for
the guard ``device``, ``dtype``, ``chips``, ``level``, ``model``, ``batch``, ``role``.
Optional in an axis: ``limits``, which may run downwards, ``ticks``, where they stand,
``names``, one a tick at a whole number, and ``unit``, which the guard reads.
Optional in a spec: ``square``, drawn as wide as high so that what is round looks
round; ``about``, guard fields of the readouts, whose device is that of the marks; and
``table``, shown under a live
figure: ``caption``, ``head``, and ``rows`` of a ``head`` and ``cells`` (``text``;
``tree`` and ``note`` where there are).
Plain Python: live figures build specs in the reader's browser.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from stacklib.evidence import guard
from stacklib.quantity.runs import ran, six
from stacklib.quantity.told import refuse_bare

SCALES = ("linear", "log")
# The key of every figure: what a value rests on, and the mark that says so.
KEY = {
    "predicted": "line; a short stroke where it is one value",
    "simulated": "dashed line; a short broken stroke where it is one value",
    "measured": "filled dots, with their spread",
    "claimed": "hollow diamonds",
    "data sheet": "hollow squares",
    "yours": "ring",
    "impossible": "hatched area",
}
RULE = ("thin dotted line", "a limit or a level, named where it stands")
PLACES = ("small dots, upright strokes", "what can be held exactly: a format's numbers")
EVIDENCE = tuple(KEY)
# kind -> axes it must have values on
KINDS = dict.fromkeys(("line", "dots", "bar", "cells", "places"), "xy")
KINDS |= {"vline": "x", "hline": "y", "band": ""}
LABELS = ("end", "key", "none")
STROKES = ("line", "bar")  # drawn as what is predicted or simulated
LONGEST = 4  # characters in a cell, readable at a phone's width
SERIES = 6
# Fields of a kind that its digest counts too; those that hold numbers.
_MORE = {"cells": ("shades", "texts"), "places": ("to", "lit")}
NUMBERS = ("x", "y", "spread", "shades", "to")
COMPUTED = ("predicted", "simulated")

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


class SpecError(ValueError):
    """A spec that cannot be drawn; names the part at fault."""


def check_name(name: str) -> str:
    """``name`` if it can be an anchor; SpecError otherwise."""
    if not _NAME.fullmatch(name):
        raise SpecError(f"name {name!r}: lower case words joined by '-'")
    return name


def _check_axis(spec: Mapping[str, Any], which: str) -> None:
    axis = spec.get(which)
    if not isinstance(axis, Mapping) or not axis.get("label"):
        raise SpecError(f"axis {which} needs a label")
    if axis.get("scale", "linear") not in SCALES:
        raise SpecError(f"axis {which}: scale {axis['scale']!r} is not in {SCALES}")
    if "names" in axis and len(axis["names"]) != len(axis.get("ticks") or ()):
        raise SpecError(
            f"axis {which}: {len(axis['names'])} names for "
            f"{len(axis.get('ticks') or ())} ticks"
        )


def _check_scale(spec: Mapping[str, Any], mark: Mapping[str, Any], axis: str) -> None:
    """Log axes have no place for zero, nor for unit squares."""
    if spec[axis].get("scale") != "log":
        return
    if mark["kind"] == "cells":
        raise SpecError(f"mark {mark['name']!r}: cells need linear axes, {axis} is log")
    bad = [value for value in mark.get(axis, ()) if value <= 0]
    if bad:
        raise SpecError(f"mark {mark['name']!r}: {axis} holds {bad[0]!r} on a log axis")


def check_mark(mark: Mapping[str, Any]) -> None:
    """Hold a mark to the grammar, whatever its axes."""
    kind, name = mark.get("kind"), mark.get("name")
    if kind not in KINDS:
        raise SpecError(f"mark {name!r}: kind {kind!r} is not in {tuple(KINDS)}")
    if not isinstance(name, str):
        raise SpecError(f"a {kind} needs a name, not {name!r}")
    if mark.get("evidence") not in EVIDENCE:
        raise SpecError(f"mark {name!r}: evidence {mark.get('evidence')!r}; {EVIDENCE}")
    if kind in (*STROKES, "places") and mark["evidence"] not in COMPUTED:
        raise SpecError(
            f"{kind} {name!r}: {mark['evidence']} is {KEY[mark['evidence']]}"
        )
    if mark["evidence"] == "impossible" and kind == "dots":
        raise SpecError(f"dots {name!r}: impossible is {KEY['impossible']}")
    if mark.get("label_at", "end") not in LABELS:
        raise SpecError(f"mark {name!r}: label_at {mark['label_at']!r}; {LABELS}")
    missing = [axis for axis in KINDS[kind] if not mark.get(axis)]
    if missing:
        raise SpecError(f"mark {name!r}: a {kind} needs {missing[0]}")
    for field in ("x", "y", "to"):
        for value in mark.get(field, ()):
            if not isinstance(value, (int, float)) or not math.isfinite(value):
                raise SpecError(f"mark {name!r}: {field} holds {value!r}")
    _check_lengths(mark)
    if kind == "cells":
        _check_cells(mark)


def _check_lengths(mark: Mapping[str, Any]) -> None:
    """Lists that go together are equally long; what is a pair has two ends."""
    kind, name = mark["kind"], mark["name"]
    xs, ys = (list(mark.get(axis) or ()) for axis in "xy")
    if kind == "band" and {len(xs), len(ys)} - {0, 2}:
        raise SpecError(f"mark {name!r}: a band has a pair of x or of y")
    if KINDS[kind] == "xy" and len(xs) != len(ys):
        raise SpecError(f"mark {name!r}: {len(xs)} x and {len(ys)} y")
    for field, what in (("spread", "spread pair"), ("each", "name")):
        if field in mark and len(mark[field]) != len(ys):
            raise SpecError(f"mark {name!r}: one {what} a point")
    if kind == "places" and len(mark.get("to", ys)) != len(ys):
        raise SpecError(f"mark {name!r}: {len(mark['to'])} to and {len(ys)} y")
    if kind == "bar" and (len(xs) != 2 or ys[0] != ys[1]):
        raise SpecError(f"mark {name!r}: a bar is a pair of x in one row, not {ys}")


def _check_cells(mark: Mapping[str, Any]) -> None:
    name, count = mark["name"], len(mark["x"])
    for field in ("shades", "texts"):
        if field in mark and len(mark[field]) != count:
            raise SpecError(f"mark {name!r}: {len(mark[field])} {field}, {count} cells")
    for shade in mark.get("shades", ()):
        if not isinstance(shade, (int, float)) or not 0 <= shade <= 1:
            raise SpecError(f"mark {name!r}: shade {shade!r} is not in 0 to 1")
    for text in mark.get("texts", ()):
        if not isinstance(text, str) or len(text) > LONGEST:
            raise SpecError(f"mark {name!r}: {text!r} is no text of {LONGEST} at most")


def _tint(mark: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(mark.get(field) for field in ("series", "layer", "this_machine"))


def _check_named(marks: Sequence[Mapping[str, Any]]) -> None:
    """Of several lines each is named in the plot, or is of a colour that is.

    A line without a name may go on where a named one of its name or evidence's twin
    stands: the closed form is named, and its simulation, dashed, has its colour.
    """
    lines = [mark for mark in marks if mark["kind"] == "line"]
    told = [m for m in marks if m["name"] and m.get("label_at") != "none"]
    for mark in lines if len(lines) > 1 else ():
        same = any(mark["name"] == m["name"] for m in told)
        twins = [m for m in told if m["kind"] == "line" and _tint(m) == _tint(mark)]
        if not same and all(m["evidence"] == mark["evidence"] for m in twins):
            raise SpecError(f"line {mark['name']!r}: several lines, and no name on it")


_COUNTED_YEARS = re.compile(r"\b(after|since) (19|20)\d\d\b")


def _check_ticks(spec: Mapping[str, Any]) -> None:
    """Rows of bars are things, not numbers; a year is the year of the calendar."""
    if (
        any(mark["kind"] == "bar" for mark in spec["marks"])
        and "ticks" not in spec["y"]
    ):
        raise SpecError("axis y: bars stand in rows; say ticks, with names or none")
    for which in "xy":
        if _COUNTED_YEARS.search(spec[which]["label"]):
            raise SpecError(f"axis {which}: {spec[which]['label']!r}; say the year")
        log = spec[which].get("scale") == "log"
        if log and spec[which].get("unit") == "B" and "names" not in spec[which]:
            raise SpecError(f"axis {which}: bytes go by KiB and MiB; marks.sizes")


def check(spec: Mapping[str, Any]) -> None:
    """Hold a spec to the grammar."""
    if not str(spec.get("title", "")).strip():
        raise SpecError("a figure needs a title: a sentence saying what it shows")
    for axis in "xy":
        _check_axis(spec, axis)
    for mark in spec.get("marks", ()):
        check_mark(mark)
        for axis in "xy":
            _check_scale(spec, mark, axis)
    _check_named(spec.get("marks", ()))
    _check_ticks({"marks": (), **spec})


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return six(value)
    if isinstance(value, (list, tuple)):
        return [_rounded(v) for v in value]
    return value


def _counted(mark: Mapping[str, Any], field: str) -> Any:
    """A field of a mark as its digest counts it.

    Of numbers that a run made, how many: the guard's row has them, and two machines
    need not agree in their last digits.
    """
    value = mark.get(field)
    of_run = field in NUMBERS and _of_run(mark, field)
    return len(value) if value and of_run else _rounded(value)


def _of_run(mark: Mapping[str, Any], field: str) -> bool:
    """Whether a run made the numbers of a field; a shade of two decimals is a tint."""
    values = mark.get(field) or ()
    flat = [n for v in values for n in (v if isinstance(v, (list, tuple)) else (v,))]
    tints = field == "shades" and all(round(shade, 2) == shade for shade in flat)
    return not tints and guard.of_run(flat, mark["evidence"])


def digest(spec: Mapping[str, Any]) -> str:
    """Twelve hex digits that change when the plotted data do.

    Values count to six significant digits, but for those that a run made, which
    stand in the guard's row; axes, names and evidence count too, colours do not.
    """
    fields = ("kind", "evidence", "name", "x", "y", "spread")
    plotted: dict[str, Any] = {
        "axes": [[spec[a]["label"], spec[a].get("scale", "linear")] for a in "xy"],
        "marks": [
            [_counted(mark, f) for f in (*fields, *_MORE.get(mark["kind"], ()))]
            for mark in spec["marks"]
        ],
    }
    if spec.get("square"):
        plotted["square"] = True
    text = json.dumps(plotted, sort_keys=True).encode()
    return hashlib.sha256(text).hexdigest()[:12]


def _mark_row(spec: Mapping[str, Any], mark: Mapping[str, Any]) -> dict[str, Any]:
    unit, evidence = spec["y"].get("unit", ""), mark["evidence"]
    columns = []
    for axis in "xy":
        if mark.get(axis):
            numbers = [float(v) for v in mark[axis]]
            role = mark.get("role", "") if axis == "y" else ""
            columns.append(
                (spec[axis]["label"], numbers, spec[axis].get("unit", ""), role)
            )
    if evidence == "simulated":  # what else a run made: its digest has none of it
        for end, ends in enumerate(zip(*mark.get("spread", ()), strict=True)):
            role = mark.get("role", "")
            columns.append((f"spread {end + 1}", list(ends), unit, role))
        for field in ("shades", "to"):
            if _of_run(mark, field):
                columns.append((field, mark[field], unit if field == "to" else "", ""))
    return guard.row(
        mark["name"],
        {name: guard.cell(*cell) for name, *cell in columns},
        evidence=evidence,
        of=_records(spec),
        run=[name for name, numbers, *_ in columns if guard.of_run(numbers, evidence)],
        **{"device": spec.get("about", {}).get("device"), **_about(mark)},
    )


def _records(spec: Mapping[str, Any]) -> set[str]:
    """The records that a figure's readouts stand on: its marks stand on them, too."""
    return {key for r in spec.get("readouts") or () for key in r.get("of", ())}


def _about(fields: Mapping[str, Any]) -> dict[str, Any]:
    names = ("device", "dtype", "chips", "level", "feasible", "model", "batch")
    return {name: fields[name] for name in names if name in fields}


def _readout_row(spec: Mapping[str, Any]) -> dict[str, Any]:
    told = [r for r in spec["readouts"] if r.get("tree")]
    values = {
        r["label"]: guard.cell(r["tree"]["value"], r["tree"]["unit"], r.get("role", ""))
        for r in told
    }
    run = [r["label"] for r in told if r.get("ran")]
    of, about = _records(spec), _about(spec.get("about", {}))
    guard.refuse_other(f"readouts of {spec['title']!r}", about.get("device"), of)
    return guard.row("readouts", values, of=of, run=run, **about)


def guard_entry(spec: Mapping[str, Any], name: str) -> dict[str, Any]:
    """What the possibility guard is told of a figure: one row a mark."""
    rows = [_mark_row(spec, mark) for mark in spec["marks"]]
    if spec.get("readouts"):
        rows.append(_readout_row(spec))
    return guard.entry("figure", name, rows)


def readout(name: str, label: str, value: Any, role: str = "", **text: Any) -> dict:
    """One readout of a live figure: a Quantity with its derivation, or words.

    Parameters
    ----------
    name, label : str
        Key for tests; words for the reader.
    value : Quantity or str
        What is shown.
    role : str
        Guard role, where neither unit nor kind tells it.
    **text
        ``unit`` and ``digits`` of ``Quantity.text``.

    Raises
    ------
    ValueError
        For a quantity with a leaf that does not say what it is (``bare``).
    """
    if isinstance(value, str):
        return {"name": name, "label": label, "text": value}
    refuse_bare(f"readout {name!r}", value)
    role = role or ("spec" if value.kind in ("spec", "claimed") else "")
    shown = {"text": value.text(**text), "tree": value.tree(), "role": role}
    shown |= {"ran": True} if ran(value) else {}
    shown |= {"of": sorted(of)} if (of := guard.records(value)) else {}
    return {"name": name, "label": label, **shown}
