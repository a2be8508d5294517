"""Cells of the plotting grammar."""

import copy
import re

from stacklib import plots
from stacklib.evidence import guard
from stacklib.plots import spec as grammar

from ..rows import refusals

CELLS = {
    "kind": "cells",
    "evidence": "simulated",
    "name": "asked",
    "x": [0, 1],
    "y": [0, 0],
    "shades": [1, 0.3],
    "texts": ["a", "b"],
}
GOOD = {
    "title": "A sentence.",
    "x": {"label": "Bank", "ticks": [0, 1], "limits": [-0.6, 1.6]},
    "y": {"label": "Row", "ticks": [], "limits": [1.5, -0.6]},
    "marks": [CELLS],
}


def with_cells(**changes):
    return {**copy.deepcopy(GOOD), "marks": [{**CELLS, **changes}]}


def test_cells_pass_the_grammar_and_the_guard():
    grammar.check(GOOD)
    assert guard.faults([grammar.guard_entry(GOOD, "f")]) == []


test_cells_outside_the_grammar_are_refused = refusals(
    (with_cells(x=[0]), "1 x and 2 y"),
    (with_cells(shades=[1]), "1 shades, 2 cells"),
    (with_cells(shades=[1, 1.5]), "shade 1.5"),
    (with_cells(shades=[1, "x"]), "'x'"),
    (with_cells(texts=["a"]), "1 texts"),
    (with_cells(texts=["a", "12345"]), "12345"),
    (with_cells(texts=["a", 3]), "3 is no text"),
    (
        {
            **GOOD,
            "x": {"label": "x", "scale": "log"},
            "marks": [{**CELLS, "x": [1, 2]}],
        },
        "linear axes",
    ),
    by=grammar.check,
    error=plots.SpecError,
)


def test_the_digest_counts_what_cells_show_and_nothing_new_elsewhere():
    before = grammar.digest(GOOD)
    assert grammar.digest(with_cells(texts=["a", "c"])) != before
    closed = [with_cells(evidence="predicted", shades=[1, s]) for s in (0.312, 0.412)]
    tints = [with_cells(shades=[1, s]) for s in (0.3, 0.4)]
    assert len(set(map(grammar.digest, closed + tints))) == 4
    assert grammar.digest(with_cells(series=3)) == before
    line = {"kind": "line", "evidence": "predicted", "name": "a", "x": [1], "y": [2]}
    plain = {**GOOD, "marks": [line]}
    assert grammar.digest(plain) == grammar.digest(
        {**GOOD, "marks": [{**line, "shades": [1]}]}
    )


def test_the_shades_of_a_run_stand_with_the_guard_and_not_in_the_digest():
    shown = [with_cells(shades=[1, s]) for s in (0.312, 0.412)]
    assert len(set(map(grammar.digest, shown))) == 1
    (row,) = grammar.guard_entry(shown[1], "asked")["rows"]
    assert row["values"]["shades"] == [[1, 0.412], "", "run"]


def test_cells_are_drawn_with_a_key_and_text_that_can_be_read():
    shown = plots.figure(GOOD, name="cells", alt="two cells")
    again = plots.figure(GOOD, name="cells", alt="two cells")
    assert shown.svg == again.svg
    texts = re.findall(r">([^<>]+)</text>", shown.svg)
    assert {"a", "b", "asked", "Row", "Bank"} <= set(texts)
    assert "var(--st-over, #ffffff)" in shown.svg  # on the full colour
    assert shown.svg.count("var(--st-series-0") >= 3  # two shades and the key


def test_a_large_grid_is_drawn_in_runs():
    many = [(x, y) for y in range(32) for x in range(32)]
    big = with_cells(
        x=[x for x, _ in many], y=[y for _, y in many], shades=[0.2] * 1024
    )
    big["marks"][0].pop("texts")
    assert len(plots.figure(big, name="big", alt="a grid").svg) < 20_000
