"""The drawing of section 5.8: a weight that is read, and a weight that is a choice."""

from __future__ import annotations

from stacklib.pages.accelerators import wiring as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.marks import then

__all__ = ["a_choice"]


def a_choice() -> d.Drawing:
    """Both ways from an input to a sum."""
    scene = d.below(
        d.Box("read", [d.line("read and multiply")], _read(), role="muted"),
        d.Box("choose", [d.line("choose")], _choose(), role="muted"),
    )
    title = "A weight is a number that is read, or a place where two wires meet."
    return d.draw(scene, name="wiring-choice", title=title)


def _read() -> d.Node:
    return d.flow(
        d.Box(
            "memory", [d.line("HBM", bold=True), d.line("the weight")], role="layer-2"
        ),
        then("memory", "multiplier"),
        d.Box(
            "multiplier",
            [d.line("multiplier", bold=True), d.line("x times the weight")],
            role="layer-3",
        ),
        then("multiplier", "plain sum"),
        d.Box("plain sum", [d.line("sum", bold=True)], role="layer-4"),
        gap=2,
    )


def _choose() -> d.Node:
    many = page.codes()
    cells = d.Cells(
        "products of x",
        int(many.si),
        (16, 8),
        side=13.0,
        role="layer-3",
        lit=frozenset({11}),
        words="one of them chosen",
    )
    each = page.each()
    return d.flow(
        d.Box(
            "made once per input",
            [
                d.line("made once per input", bold=True),
                (d.Shown(many), " products of x, a wire each"),
            ],
            cells,
            role="layer-3",
        ),
        then("made once per input", "weight"),
        d.Box(
            "weight",
            [
                d.line("the weight", bold=True),
                d.line("one contact"),
                ("one of ", d.Shown(each), " transistors"),
            ],
            role="layer-2",
            lit=True,
        ),
        then("weight", "sum"),
        d.Box(
            "sum",
            [
                d.line("sum", bold=True),
                (d.Shown(page.sharing()), " weights"),
                d.line("share one adder"),
            ],
            role="layer-4",
        ),
        gap=2,
    )
