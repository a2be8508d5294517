"""A wafer of dies, live: sides, process, defects, spare units.

Cells are the dies of one wafer at which defects were thrown; the readouts are closed
forms. Axes count dies, and both are as long as the wafer: so it is round.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from typing import Any

from stacklib import cost
from stacklib.cost import die
from stacklib.cost.wafers import WAFER, lay
from stacklib.plots.live import choices
from stacklib.plots.live.parts import chosen
from stacklib.plots.marks import Mark, Spec, axis, cells, chart, line
from stacklib.plots.spec import readout

NODES = {"n7": "7 nm", "n5": "5 nm and 4 nm", "n3": "3 nm"}
WIDTHS = (4, 6, 8, 10, 13, 16, 20, 23, 26)
HEIGHTS = (4, 6, 8, 10, 13, 16, 20, 25, 29, 31, 33)
DEFECTS = (1, 2, 5, 6, 8, 10, 11, 15, 20, 30, 50)
UNITS, SHARE = 80, 0.5  # multiprocessors of a large die, and its part of the area
HALF = 0.155  # m, from the corner of the figure to the middle of the wafer
SPARE = (0, 1, 2, 4, 6, 8, 12)
STATES = ("no defect", "sold with a dead unit", "thrown away")
SERIES = (1, 0, 4)  # of the states
ROUND = [2 * math.pi * i / 90 for i in range(91)]


def controls() -> list[dict[str, Any]]:
    """Menu and sliders of ``explore``."""
    return [
        choices.slider("width", "Width of the die (mm)", WIDTHS, 26),
        choices.slider("height", "Height of the die (mm)", HEIGHTS, 31),
        choices.select("node", "Process", NODES, "n5"),
        choices.slider("defects", "Defects on 100 cm²", DEFECTS, 11),
        choices.slider("spare", f"Spare units, of {UNITS}", SPARE, 6),
    ]


def throw(places: int, mean: float, spare: int, seed: int = 7) -> list[int]:
    """State of each of ``places`` dies of one wafer, an index of ``STATES``.

    A die has ``mean`` defects; the wafer exactly as many as that makes. Dies are sold
    with up to ``spare`` dead units.
    """
    draw, hit = random.Random(seed), [set[int]() for _ in range(places)]
    for _ in range(round(mean * places)):
        at = draw.random()
        hit[draw.randrange(places)].add(int(at / SHARE * UNITS) if at < SHARE else -1)
    return [
        0 if not dead else 1 if -1 not in dead and len(dead) <= spare else 2
        for dead in hit
    ]


def explore(*, width: int, height: int, node: str, defects: int, spare: int) -> Spec:
    """One wafer's dies of so many mm, and what a good one costs.

    ``defects`` are on a hundred square centimetres; a die can be sold without ``spare``
    of its ``UNITS``.
    """
    made = die(
        width=chosen(width, "mm", "width"),
        height=chosen(height, "mm", "height"),
        node=node,
        defects=chosen(defects / 100, "1/cm2", "defects"),
        units=UNITS,
        needed=UNITS - spare,
        share=SHARE,
    )
    corners = lay(width / 1e3, height / 1e3)
    states = throw(len(corners), width * height / 100 * defects / 100, spare)
    across, up = width / 1e3 + WAFER.scribe, height / 1e3 + WAFER.scribe
    price, sold = made.cost.middle, made.yields.middle
    dies = f"{made.gross.text()} dies of {width:g} x {height:g} mm"
    exposed = made.area / cost.reticle()
    return chart(
        f"{dies}, {sold.text('%', 2)} of them sold: {price.text('USD', 2)} each.",
        x=axis("Across the wafer (dies)", limits=[0, 2 * HALF / across]),
        y=axis("Up the wafer (dies)", limits=[0, 2 * HALF / up]),
        marks=[*_dies(corners, states, across, up), _edge(across, up)],
        readouts=[
            readout("gross", "Dies on a wafer", made.gross, "spec"),
            readout("yield", "Sold, on average", sold, "share", unit="%"),
            readout("good", "Good dies a wafer", made.good.middle, "spec"),
            readout("cost", "A good die", price, unit="USD"),
            readout("area", "Of what a scanner exposes", exposed, "share", unit="%"),
        ],
        square=True,
    )


def _dies(
    corners: Sequence[tuple[float, float]], states: list[int], across: float, up: float
) -> Iterator[Mark]:
    """Cells of every state, counted in its name."""
    for state, (name, series) in enumerate(zip(STATES, SERIES, strict=True)):
        held = [
            ((x + HALF) / across + 0.5, (y + HALF) / up + 0.5)
            for (x, y), found in zip(corners, states, strict=True)
            if found == state
        ]
        yield cells(held, f"{name}: {len(held)}", "simulated", series=series)


def _edge(across: float, up: float) -> Mark:
    x = [(HALF + 0.15 * math.cos(turn)) / across for turn in ROUND]
    y = [(HALF + 0.15 * math.sin(turn)) / up for turn in ROUND]
    return line(x, y, "wafer", "predicted", at="none", series=2)
