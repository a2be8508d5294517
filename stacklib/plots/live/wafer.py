"""A wafer of dies, live: sides, process, defects, spare units.

Cells are the dies of one wafer at which defects were thrown; the readouts are closed
forms. Axes count dies, and both are as long as the wafer: so it is round.
"""

from __future__ import annotations

import math
import random
from typing import Any

from stacklib import cost
from stacklib.cost import die
from stacklib.cost.wafers import WAFER, lay
from stacklib.quantity import Quantity

from ..spec import readout
from . import choices

NODES = [["n7", "7 nm"], ["n5", "5 nm and 4 nm"], ["n3", "3 nm"]]
WIDTHS = (4, 6, 8, 10, 13, 16, 20, 23, 26)
HEIGHTS = (4, 6, 8, 10, 13, 16, 20, 25, 29, 31, 33)
DEFECTS = (1, 2, 5, 6, 8, 10, 11, 15, 20, 30, 50)
UNITS, SHARE = 80, 0.5  # multiprocessors of a large die, and its part of the area
HALF = 0.155  # m, from the corner of the figure to the middle of the wafer
SPARE = (0, 1, 2, 4, 6, 8, 12)
STATES = ("no defect", "sold with a dead unit", "thrown away")


def controls() -> list[dict[str, Any]]:
    """Menu and sliders of ``explore``."""
    return [
        choices.slider("width", "Width of the die (mm)", WIDTHS, 26),
        choices.slider("height", "Height of the die (mm)", HEIGHTS, 31),
        choices.select("node", "Process", NODES, "n5"),
        choices.slider("defects", "Defects on 100 cm2", DEFECTS, 11),
        choices.slider("spare", f"Spare units, of {UNITS}", SPARE, 6),
    ]


def throw(places: int, mean: float, spare: int, seed: int = 7) -> list[int]:
    """State of each die of one wafer, an index of ``STATES``.

    Parameters
    ----------
    places : int
        Dies on the wafer.
    mean : float
        Defects on a die; the wafer has exactly as many as that makes.
    spare : int
        Units a die can be sold without.
    seed : int
        Of the draws.
    """
    draw, hit = random.Random(seed), [set[int]() for _ in range(places)]
    for _ in range(round(mean * places)):
        at = draw.random()
        hit[draw.randrange(places)].add(int(at / SHARE * UNITS) if at < SHARE else -1)
    return [
        0 if not dead else 1 if -1 not in dead and len(dead) <= spare else 2
        for dead in hit
    ]


def explore(
    *, width: int, height: int, node: str, defects: int, spare: int
) -> dict[str, Any]:
    """Spec of one wafer's dies, and what a good one costs.

    Parameters
    ----------
    width, height : int
        Of the die, mm.
    node : str
        Process; its wafer's price.
    defects : int
        On a hundred square centimetres.
    spare : int
        Units of ``UNITS`` that a die can be sold without.

    Returns
    -------
    dict
        A figure spec.
    """
    across_q = Quantity(width, "mm", label="width", kind="assumption")
    up_q = Quantity(height, "mm", label="height", kind="assumption")
    density = Quantity(defects / 100, "1/cm2", label="defects", kind="assumption")
    made = die(
        width=across_q, height=up_q, node=node, defects=density,
        units=UNITS, needed=UNITS - spare, share=SHARE,
    )  # fmt: skip
    corners = lay(width / 1e3, height / 1e3)
    across, up = width / 1e3 + WAFER.scribe, height / 1e3 + WAFER.scribe
    states = throw(len(corners), width * height / 100 * defects / 100, spare)
    marks: list[dict[str, Any]] = []
    for state, (name, series) in enumerate(zip(STATES, (1, 0, 4), strict=True)):
        held = [at for at, found in zip(corners, states, strict=True) if found == state]
        if held:
            marks.append({
                "kind": "cells", "evidence": "simulated", "series": series,
                "name": f"{name}: {len(held)}",
                "x": [(x + HALF) / across + 0.5 for x, _ in held],
                "y": [(y + HALF) / up + 0.5 for _, y in held],
            })  # fmt: skip
    turn = [2 * math.pi * i / 90 for i in range(91)]
    marks.append({
        "kind": "line", "evidence": "predicted", "name": "wafer", "series": 2,
        "label_at": "none", "x": [(HALF + 0.15 * math.cos(t)) / across for t in turn],
        "y": [(HALF + 0.15 * math.sin(t)) / up for t in turn],
    })  # fmt: skip
    price = made.cost.middle
    return {
        "title": f"{made.gross.text()} dies of {width:g} x {height:g} mm, "
        f"{made.yields.middle.text('%', 2)} of them sold: {price.text('USD', 2)} each.",
        "x": {"label": "Across the wafer (dies)", "limits": [0, 2 * HALF / across]},
        "y": {"label": "Up the wafer (dies)", "limits": [0, 2 * HALF / up]},
        "square": True,
        "marks": marks,
        "readouts": [
            readout("gross", "Dies on a wafer", made.gross, "spec"),
            readout("yield", "Sold, on average", made.yields.middle, "share", unit="%"),
            readout("good", "Good dies a wafer", made.good.middle, "spec"),
            readout("cost", "A good die", price, unit="USD"),
            readout("area", "Of what a scanner exposes",
                    made.area / cost.reticle(), "share", unit="%"),
        ],
        "message": None,
    }  # fmt: skip
