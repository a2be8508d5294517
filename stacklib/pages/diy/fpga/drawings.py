"""The drawing of section 9.6: three layers, each on an array of its own."""

from __future__ import annotations

from itertools import pairwise

from stacklib.pages.diy import fpga as page
from stacklib.plots import drawing as d

__all__ = ["convolution_as_pipeline"]
NUMBERS, PLACES = "layer-5", "layer-4"
LAYERS = ("edges", "strokes", "digits")  # what each finds


def convolution_as_pipeline() -> d.Drawing:
    """The arrays of the smallest device, and bytes a second from one to the next."""
    image = d.Box(
        "image",
        [d.line("a digit", bold=True), d.line(page.numbers(0), " dots"), _leaves(0)],
        role=NUMBERS,
        grow=0,
    )
    last = d.Box(
        "answer",
        [d.line("the answer", bold=True), d.line(page.numbers(3), " sums")],
        role=NUMBERS,
        grow=0,
    )
    row = [image, *(_array(n) for n in range(len(LAYERS))), last]
    full = page.passed(0).named("widest band")
    edges = [
        d.Edge(
            before.name,
            after.name,
            rate=page.passed(n),
            full=full,
            arrow="end",
            role=NUMBERS,
        )
        for n, (before, after) in enumerate(pairwise(row))
    ]
    scene = d.joined(d.flow(*row, gap=40), *edges, margin=6)
    title = "Three digits are at work at once; the lit array sets the pace for all."
    return d.draw(scene, name="fpga-pipeline", title=title)


def _leaves(layer: int) -> d.Shown:
    return d.Shown(page.passed(layer), "MB/s", 3)


def _array(layer: int) -> d.Box:
    engine = page.design().engines[layer]
    rows, cols = page.sides(layer)
    places = d.Cells(
        f"places for {LAYERS[layer]}",
        engine.macs,
        engine.cols,
        side=13.0,
        role=PLACES,
        words=f"multiply-adders that find {LAYERS[layer]}",
    )
    told = [
        d.line(f"finds {LAYERS[layer]}", bold=True),
        d.line(rows, " x ", cols, " places"),
        d.line(page.cycles(layer)),
        _leaves(layer + 1),
    ]
    lit = engine.cycles == page.design().interval
    return d.Box(f"array of {LAYERS[layer]}", told, places, role=PLACES, lit=lit)
