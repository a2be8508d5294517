"""The constructors write the grammar's dicts and refuse what it does not know."""

import re

import pytest
from _tools import tree

from stacklib import plots
from stacklib.plots import (
    SpecError,
    axis,
    band,
    bar,
    cells,
    chart,
    diamonds,
    dots,
    line,
    places,
    rule,
)
from stacklib.plots.marks import across, down
from stacklib.plots.spec import KINDS, digest
from stacklib.quantity import Quantity

from ..rows import refusals

SEEN = plots.rows([Quantity(2, kind="measured", key="a.json#b#c")])
TOLD = Quantity(4, kind="claimed", key="quotes/a.b")
SAID = plots.rows([TOLD], evidence="claimed")

AXES = {"x": axis("Batch", log=True), "y": axis("Rate (TFLOP/s)", unit="TFLOP/s")}


def test_a_mark_is_the_dict_of_the_grammar():
    assert line((1, 2), [3, 4.0], "a", "predicted", series=2, device="h100_sxm") == {
        "kind": "line",
        "evidence": "predicted",
        "name": "a",
        "x": [1, 2],
        "y": [3, 4.0],
        "series": 2,
        "device": "h100_sxm",
    }
    assert line([1], [2], "a", "simulated", at="none")["label_at"] == "none"
    assert diamonds(3, SAID, "said") == dots([3], SAID, "said", "claimed")
    pairs = dots([1], SEEN, "m", "measured", spread=[SEEN])["spread"]
    assert pairs == [[2]]
    assert dots(SEEN, 4, "m", "measured")["y"] == [4]
    row = bar(0, 2.5, 7, "load", "simulated", layer=2)
    assert (row["kind"], row["x"], row["y"]) == ("bar", [0, 2.5], [7, 7])


def test_places_are_dots_or_strokes_and_no_evidence_of_their_own():
    row = places([0, 1, 3], 2, "numbers", to=[2.5, 3, 4], series=1)
    assert (row["kind"], row["evidence"]) == ("places", "predicted")
    assert (row["y"], row["to"]) == ([2, 2, 2], [2.5, 3, 4])
    assert "lit" not in row and "to" not in places(1, 2, "one")
    assert places(1, 2, "one", to=3, lit=True)["lit"] is True
    plane = {"x": axis("x"), "y": axis("y")}
    shown = chart("Places.", **plane, marks=[row, places(1, 5, "one", lit=True)])
    svg = plots.figure(shown, name="places", alt="teeth and a dot").svg
    assert "numbers</text>" in svg and "one</text>" in svg
    assert digest(shown) != digest(chart("Places.", **plane, marks=[row]))
    taller = {**row, "to": [2.5, 3, 4.5]}
    drawn = [chart("Places.", **plane, marks=[m]) for m in (row, taller)]
    assert digest(drawn[0]) != digest(drawn[1])


def test_rules_bands_and_cells():
    up = rule("ridge", "predicted", x=295, to=989)
    assert (up["kind"], up["x"], up["y"]) == ("vline", [295], [989])
    flat = rule("peak", "measured", y=SEEN)
    assert flat["kind"] == "hline" and "x" not in flat
    ends = plots.rows([TOLD, TOLD], evidence="claimed")
    assert band("claimed", "claimed", y=ends)["y"] == [4, 4]
    grid = cells([(0, 1), (1, 1)], "waits", "simulated", shade=0.16, texts=["a", ""])
    assert (grid["x"], grid["y"], grid["shades"]) == ([0, 1], [1, 1], [0.16, 0.16])
    assert (across(8), down(8)) == ([-0.6, 7.6], [7.6, -0.6])


def test_a_chart_draws_and_leaves_out_cells_without_a_place():
    plane = {"x": axis("Bank"), "y": axis("Row", limits=down(2), ticks=())}
    marks = [cells([], "none", "simulated"), cells([(0, 0)], "one", "simulated")]
    spec = chart("A sentence.", **plane, marks=marks)
    assert [m["name"] for m in spec["marks"]] == ["one"]
    assert spec["y"] == {
        "label": "Row",
        "scale": "linear",
        "limits": [1.6, -0.6],
        "ticks": [],
    }
    bars = chart("Bars.", **plane, marks=[bar(0, 2, 1, "load", "simulated")])
    assert "load</text>" in plots.figure(bars, name="bars", alt="one bar").svg


test_what_the_grammar_does_not_know_is_refused = refusals(
    (lambda: line([1, 2], [3], "a", "predicted"), "2 x and 1 y"),
    (lambda: line([1], [float("nan")], "a", "predicted"), "nan"),
    (lambda: line([1], [2], "a", "felt"), "'felt'"),
    (lambda: line([1], [2], "a", "predicted", at="start"), "'start'"),
    (lambda: line([], [], "a", "predicted"), "needs x"),
    (lambda: line([1], [2], "a", "predicted", hue=3), "line 'a' takes no 'hue'"),
    (lambda: dots([1], SEEN, "a", "measured", spread=[]), "spread pair"),
    (lambda: dots([1], SEEN, "a", "claimed"), "typed numbers are not claimed"),
    (lambda: rule("a", "measured", y=2), "typed numbers are not"),
    (lambda: bar(0, 2, 1, "a", "claimed"), "typed numbers are not"),
    (lambda: dots(SEEN, [2 * 0.99], "a", "measured"), "typed numbers are not"),
    (lambda: dots(SEEN, 2 * 0.99, "a", "measured"), "typed numbers are not"),
    (lambda: bar(1, float("inf"), 0, "a", "simulated"), "inf"),
    (lambda: places([1, 2], 0, "a", to=[1]), "1 to and 2 y"),
    (lambda: places(1, 0, "a", to=float("nan")), "nan"),
    (lambda: places(1, 0, "a", "measured"), "measured"),
    (lambda: rule("a", "predicted"), "x=None, y=None"),
    (lambda: rule("a", "predicted", x=1, y=2), "x=1, y=2"),
    (lambda: rule("a", "predicted", y=1, to=2), "to=2"),
    (lambda: band("a", "predicted", x=[1]), "pair"),
    (lambda: cells([(0, 0)], "a", "simulated", shade=2), "shade 2"),
    (lambda: cells([(0, 0)], "a", "simulated", texts=["12345"]), "12345"),
    (lambda: axis("x", limits=[1]), "pair"),
    (lambda: chart("t", **AXES, marks=[rule("a", "predicted", x=0)]), "0 on a log"),
    (lambda: chart(" ", **AXES, marks=[]), "title"),
    (
        lambda: chart("t", **AXES, marks=[cells([(1, 1)], "a", "simulated")]),
        "cells need linear axes",
    ),
    error=SpecError,
)


def test_the_browser_draws_every_kind():
    script = (tree.ROOT / "book" / "_static" / "chart.js").read_text("utf-8")
    drawn = re.search(r"const MARKS = \{ (.*?) \};", script)[1].split(", ")
    assert set(drawn) == set(KINDS)


def test_a_bar_lies_in_one_row():
    slanted = {**bar(0, 1, 2, "a", "simulated"), "y": [2, 3]}
    with pytest.raises(SpecError, match="in one row"):
        chart("t", x=axis("x"), y=axis("y"), marks=[slanted])
