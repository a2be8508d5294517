"""Names in the drawings of live figures: none on another, none cut, none missing."""

import json
import random

import pytest
from _ext.assets import STATIC

from ..live_figures import figures, values
from . import browser as b

pytestmark = pytest.mark.browser

TIERS = "memory.tiers.live"
WIDTHS = (340, 390, 680, 760)  # phones, and columns of a desktop


@pytest.fixture
def bare(tmp_path, fresh):
    """An empty page that can draw a specification."""
    scripts = ("quantities.js", "scales.js", "chart.js")
    for name in scripts:
        (tmp_path / name).write_text((STATIC / name).read_text("utf-8"))
    (tmp_path / "book.css").write_text((STATIC / "book.css").read_text("utf-8"))
    tags = '<link rel="stylesheet" href="book.css">' + "".join(
        f'<script defer src="{name}"></script>' for name in scripts
    )
    icon = '<link rel="icon" href="data:,">'
    (tmp_path / "page.html").write_text(f"<!doctype html>{icon}{tags}<body>")
    with b.serve(tmp_path) as base:
        page, faults = fresh(base)
        page.goto(base + "page.html")
        yield page
    assert not faults


def standing(figure, most):
    """Each control at `most` of its values at most, and as many random places."""
    start = {c["name"]: c["value"] for c in figure.controls}
    chance = random.Random(figure.call)
    for control in figure.controls:
        steps = values(control)
        for value in steps[:: -(-len(steps) // most)]:
            yield {**start, control["name"]: value}
    for _ in range(most):
        yield {c["name"]: chance.choice(values(c)) for c in figure.controls}


@pytest.mark.parametrize("most", [3, pytest.param(60, marks=pytest.mark.slow)])
def test_names_never_touch(bare, most):
    faults = []
    for figure in figures():
        if most == 3 and not figure.module.endswith(TIERS):
            continue
        chosen = list(standing(figure, most))
        specs = json.loads(json.dumps([figure.function(**one) for one in chosen]))
        for width in WIDTHS:
            for which, *told in b.ask(bare, "crowded", [specs, width]):
                faults.append(f"{figure.call} {width} px {chosen[which]}: {told}")
    assert not faults, "\n".join(faults)


def test_a_name_on_another_is_caught(bare):
    line = {"kind": "line", "evidence": "predicted", "x": [1, 2], "y": [1, 1]}
    rule = {"kind": "hline", "evidence": "predicted", "y": [1]}
    axes = {axis: {"label": axis, "limits": [0, 3]} for axis in "xy"}
    marks = [{**line, "name": "one"}, {**rule, "name": "other"}]
    spec = {"title": "t", "marks": marks, **axes}
    assert b.ask(bare, "crowded", [[spec], 760]) == []
    bare.evaluate(PILED)
    told = b.ask(bare, "crowded", [[spec], 760])
    assert [0, "touches", "other", "one"] in told


PILED = """() => {
  const draw = st.chart;
  st.chart = (...given) => {
    const svg = draw(...given);
    for (const e of svg.querySelectorAll("text")) e.setAttribute("y", 50);
    for (const e of svg.querySelectorAll("text")) e.setAttribute("x", 50);
    return svg;
  };
}"""
