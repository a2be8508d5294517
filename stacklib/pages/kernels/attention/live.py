"""A row's softmax in tiles, live: its maximum, sum and output after each tile."""

from __future__ import annotations

import math
import random
from typing import Any

from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import Spec, axis, band, chart, places, rule
from stacklib.plots.spec import readout

KEYS = 16
SPREADS = (0.5, 1, 2, 4, 8, 16)
TILES = (1, 2, 4, 8, 16)


def controls() -> list[dict[str, Any]]:
    """Tiles done, their size, and the row."""
    return [
        choices.slider("step", "Tiles done", range(1, KEYS + 1), 2),
        choices.slider("tile", "Keys of a tile", TILES, 4),
        choices.slider("spread", "Standard deviation of the scores", SPREADS, 2),
        choices.slider("draw", "Draw", range(1, 21), 3),
    ]


def row(spread: float, draw: int) -> tuple[list[float], list[float]]:
    """Scores of a query, and one number of each value."""
    seeded = random.Random(draw)
    scores = [round(spread * seeded.gauss(0, 1), 2) for _ in range(KEYS)]
    return scores, [round(seeded.gauss(0, 1), 2) for _ in range(KEYS)]


def after(
    scores: list[float], values: list[float], tile: int, done: int
) -> tuple[float, float, float, float]:
    """Maximum, last factor, sum and output after so many tiles."""
    most, factor, total, out = -math.inf, 0.0, 0.0, 0.0
    for left in range(0, min(done * tile, len(scores)), tile):
        new = max(most, *scores[left : left + tile])
        factor = math.exp(most - new)
        weights = [math.exp(s - new) for s in scores[left : left + tile]]
        total = total * factor + sum(weights)
        own = zip(weights, values[left : left + tile], strict=True)
        out = out * factor + sum(w * v for w, v in own)
        most = new
    return most, factor, total, out / total


def explore(*, step: int, tile: int, spread: float, draw: int) -> Spec:
    """Scores of a row, those seen so far, and what it carries."""
    scores, values = row(spread, draw)
    count = KEYS // tile
    done = min(step, count)
    most, factor, total, out = after(scores, values, tile, done)
    right = after(scores, values, KEYS, 1)[3]
    seen, order = done * tile, list(range(1, KEYS + 1))
    marks = [
        band("this tile", "predicted", x=[seen - tile + 0.5, seen + 0.5], at="key"),
        places(order[:seen], scores[:seen], "seen", lit=True, at="key", role="signed"),
        rule("maximum so far", "simulated", y=most, role="signed"),
    ]
    if seen < KEYS:
        marks.insert(
            2, places(order[seen:], scores[seen:], "to come", at="key", role="signed")
        )
    room = 0.1 * (max(scores) - min(scores))
    end = "the softmax of the row" if done == count else "not yet the softmax"
    return chart(
        f"After tile {done} of {count} the output is {out:.3f}, {end}.",
        x=axis("Keys", limits=[0.5, KEYS + 0.5]),
        y=axis("Score", limits=[min(scores) - room, max(scores) + room]),
        marks=marks,
        readouts=[
            readout("maximum", "Maximum so far", counted(most, "maximum"), "signed"),
            readout("factor", "Factor on what was there", counted(factor, "factor")),
            readout("sum", "Sum of weights", counted(total, "sum")),
            readout("output", "Output so far", counted(out, "output"), "signed"),
            readout(
                "softmax",
                "Softmax of the whole row",
                counted(right, "softmax"),
                "signed",
            ),
        ],
    )
