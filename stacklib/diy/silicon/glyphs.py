"""Digits of five by seven dots, and a small network that reads them.

A digit is set somewhere in a square of twelve by twelve, fainter or darker, with noise
on every dot. Two layers have kernels that were chosen, edges and what edges make; only
the last is fitted, by least squares on what the others give in whole numbers. What
stands in the file of weights is what ``fit`` returns.
"""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path
from typing import Any

from stacklib.quantity.bounds import whole

from .fixed import HIGH, Convolution, Network

SIDE = 12
NAME = "glyphs"
DATA = Path(__file__).parent / "data"
# Of each digit seven rows of five dots.
ROWS = (DATA / "font.csv").read_text("utf-8").splitlines()
FONT = tuple(zip(*map(str.split, ROWS), strict=True))


def glyph(digit: int, pick: random.Random) -> list[list[list[int]]]:
    """One digit as an input: one channel of twelve by twelve."""
    down, right = pick.randint(1, 3), pick.randint(2, 4)
    ink = pick.randint(60, 110)
    dots = [abs(round(pick.gauss(0, 12))) for _ in range(SIDE * SIDE)]
    for y, row in enumerate(FONT[digit]):
        for x, dot in enumerate(row):
            dots[(down + y) * SIDE + right + x] += ink * (dot == "#")
    dots = [min(dot, HIGH) for dot in dots]
    return [[dots[n : n + SIDE] for n in range(0, SIDE * SIDE, SIDE)]]


def glyphs(count: int, seed: int = 1) -> tuple[list[Any], list[int]]:
    """Many digits and what they are, the same ones for the same seed."""
    whole(count=count)
    pick = random.Random(seed)
    digits = [pick.randrange(10) for _ in range(count)]
    return [glyph(digit, pick) for digit in digits], digits


@cache
def small_cnn() -> Network:
    """A network of three layers that reads digits of five by seven dots.

    Returns
    -------
    Network
        Two convolutions and a layer for ten digits, in whole numbers of eight bits, for
        inputs of 12 x 12; the last layer is fitted.

    Examples
    --------
    >>> small_cnn().products()
    [3600, 2592, 720]
    """
    raw = json.loads((DATA / "glyphs.json").read_text("utf-8"))
    layers = tuple(Convolution(**layer) for layer in raw["layers"])
    return Network(NAME, tuple(raw["shape"]), layers)
