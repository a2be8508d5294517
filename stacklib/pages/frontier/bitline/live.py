"""An analog product, live: what is lost by bits of the converter, beside the formula.

In plain Python for the reader's browser; a test holds it to ``frontier.analog_matmul``.
"""

from __future__ import annotations

import math
from functools import cache
from random import Random
from typing import Any

from stacklib.frontier import analog
from stacklib.pages.frontier import bitline as page
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted, here
from stacklib.plots.marks import Spec, axis, chart, line
from stacklib.plots.spec import readout

WIDTHS, COUNT = tuple(range(2, 13)), 8  # bits of the converter; columns, and vectors
PERCENT = (0, 1, 2, 5, 10, 20)
LIKE = (0, 10, 20, 30, 40, 60, 80, 100)  # %
Vectors = list[list[float]]


def controls() -> list[dict[str, Any]]:
    """Converter, range, cells, what programming misses, and likeness of inputs."""
    return [
        choices.slider("adc", "Bits of the converter", WIDTHS, page.CONVERTER),
        choices.slider("reach", "Range (deviations each way)", (1, 2, 4, 8, 16), 4),
        choices.slider("bits", "Bits of a cell", tuple(range(2, 9)), 8),
        choices.slider("noise", "Cells off by (% of the largest)", PERCENT, 0),
        choices.slider("like", "Inputs resemble a column by (%)", LIKE, 20),
    ]


@cache
def drawn(like: int) -> tuple[Vectors, Vectors]:
    """Columns of weights, and inputs that resemble one of them each."""
    draw, share = Random(7), like / 100
    own = math.sqrt(1 - share**2)
    columns = [[draw.gauss() for _ in range(page.ROWS)] for _ in range(COUNT)]
    vectors = [[share * w + own * draw.gauss() for w in column] for column in columns]
    return columns, vectors


def whole(numbers: list[float], bits: int) -> tuple[list[int], float]:
    """Signed whole numbers of so many bits, and what one of them is worth."""
    scale = max(map(abs, numbers)) / (2 ** (bits - 1) - 1)
    return [round(n / scale) for n in numbers], scale


@cache
def currents(bits: int, noise: int, like: int) -> list[tuple[float, float, float]]:
    """Of every pair: the exact product, its current, a deviation of it; in weights."""
    columns, vectors = drawn(like)
    draw, off = Random(8), noise / 100 * (2 ** (bits - 1) - 1)
    cells = []
    for column in columns:
        levels, scale = whole(column, bits)
        cells.append([scale * (level + off * draw.gauss()) for level in levels])
    volts = []
    for vector in vectors:
        codes, scale = whole(vector, analog.INPUT_BITS)
        volts.append([scale * code for code in codes])
    found = []
    for column, cell in zip(columns, cells, strict=True):
        square = dot(cell, cell) / page.ROWS
        for vector, volt in zip(vectors, volts, strict=True):
            spread = math.sqrt(square * dot(volt, volt))
            found.append((dot(column, vector), dot(cell, volt), spread))
    return found


def dot(a: list[float], b: list[float]) -> float:
    """A sum of products."""
    return sum(x * y for x, y in zip(a, b, strict=True))


def read(current: float, spread: float, adc: int, reach: float) -> float:
    """What the converter makes of a current."""
    step, top = 2 * reach * spread / 2**adc, 2 ** (adc - 1)
    return min(max(round(current / step), -top), top - 1) * step


def explore(*, adc: int, reach: int, bits: int, noise: int, like: int) -> Spec:
    """Share of a product lost by bits of the converter: simulated, and by formula."""
    pairs = currents(bits, noise, like)
    size = sum(exact**2 for exact, _, _ in pairs)

    def lost(width: int) -> float:
        off = (read(c, spread, width, reach) - exact for exact, c, spread in pairs)
        return 100 * math.sqrt(sum(x * x for x in off) / size)

    losses = [lost(width) for width in WIDTHS]
    told = [100 * analog.lost(width, reach) for width in WIDTHS]
    chosen = losses[WIDTHS.index(adc)]
    cut = sum(abs(c) > reach * spread for _, c, spread in pairs) / len(pairs)
    energy = analog.product_energy(adc, page.ROWS)
    marks = [
        line(WIDTHS, told, "rounding alone", "predicted", at="key", series=0),
        line(WIDTHS, losses, "cells and converter", "simulated", at="key", series=1),
        here(adc, chosen),
    ]
    for mark in marks:
        mark |= {"role": "ratio"}
    return chart(
        f"{adc} bits over {reach} deviations lose {chosen:.2g} % of a product.",
        x=axis("Bits of the converter", limits=[1.5, 12.5], ticks=WIDTHS),
        y=axis("Lost, root mean square (%)", log=True, limits=[0.02, 200]),
        marks=marks,
        readouts=[
            readout("lost", "Lost of a product, %", counted(chosen, "lost")),
            readout("cut", "Sums cut, %", counted(100 * cut, "cut")),
            readout("energy", "Conversion, a product", energy, unit="fJ"),
            readout("gates", "In digital gates", analog.digital_energy(), unit="fJ"),
        ],
        about={"feasible": True},
    )
