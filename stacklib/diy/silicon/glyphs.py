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

from .fixed import HIGH, Convolution, Network, run_many

SIDE = 12
NAME = "glyphs"
WEIGHTS = Path(__file__).parent / "data" / "glyphs.json"
# Rows from the top, five dots each, the left one highest.
FONT = (
    (14, 17, 19, 21, 25, 17, 14),
    (4, 12, 4, 4, 4, 4, 14),
    (14, 17, 1, 2, 4, 8, 31),
    (31, 2, 4, 2, 1, 17, 14),
    (2, 6, 10, 18, 31, 2, 2),
    (31, 16, 30, 1, 1, 17, 14),
    (6, 8, 16, 30, 17, 17, 14),
    (31, 1, 2, 4, 8, 8, 8),
    (14, 17, 17, 14, 17, 17, 14),
    (14, 17, 17, 15, 1, 2, 12),
)
EDGES = (
    ((-1, -1, -1), (2, 2, 2), (-1, -1, -1)),
    ((-1, 2, -1), (-1, 2, -1), (-1, 2, -1)),
    ((2, -1, -1), (-1, 2, -1), (-1, -1, 2)),
    ((-1, -1, 2), (-1, 2, -1), (2, -1, -1)),
)
MAPS = 8  # of the second layer
TRAINED, SEED = 4000, 1


def glyph(digit: int, pick: random.Random) -> list[list[list[int]]]:
    """One digit as an input: one channel of twelve by twelve."""
    down, right = pick.randint(1, 3), pick.randint(2, 4)
    ink = pick.randint(60, 110)
    dots = [abs(round(pick.gauss(0, 12))) for _ in range(SIDE * SIDE)]
    for y, row in enumerate(FONT[digit]):
        for x in range(5):
            dots[(down + y) * SIDE + right + x] += ink * (row >> 4 - x & 1)
    dots = [min(dot, HIGH) for dot in dots]
    return [[dots[n : n + SIDE] for n in range(0, SIDE * SIDE, SIDE)]]


def glyphs(count: int, seed: int = 1) -> tuple[list[Any], list[int]]:
    """Many digits and what they are, the same ones for the same seed."""
    whole(count=count)
    pick = random.Random(seed)
    digits = [pick.randrange(10) for _ in range(count)]
    return [glyph(digit, pick) for digit in digits], digits


def fit() -> Network:
    """The network, its last layer by least squares on four thousand digits."""
    import numpy as np

    pick = random.Random(SEED)

    def drawn(*sizes: int) -> Any:
        if not sizes:
            return pick.choice((-3, -1, 0, 1, 3))
        return [drawn(*sizes[1:]) for _ in range(sizes[0])]

    layers = [
        Convolution(tuple((edge,) for edge in EDGES), (0,) * 4, 2, 2),
        Convolution(drawn(MAPS, len(EDGES), 3, 3), (0,) * MAPS, 4),
    ]
    images, digits = glyphs(TRAINED, SEED)
    features = run_many(Network(NAME, (1, SIDE, SIDE), tuple(layers)), images)[-1]
    flat = features.reshape(TRAINED, -1).astype(float)
    columns = np.hstack([flat, np.full((TRAINED, 1), 64.0)])
    wanted = 2.0 * np.eye(10)[digits] - 1
    square = columns.T @ columns + 1e3 * np.eye(columns.shape[1])
    found = np.linalg.solve(square, columns.T @ wanted)
    scale = HIGH / np.abs(found[:-1]).max()
    rounded = np.rint(found[:-1] * scale).astype(int).T
    kernels = rounded.reshape(10, *features.shape[1:]).tolist()
    bias = np.rint(found[-1] * 64.0 * scale).astype(int).tolist()
    last = Convolution(kernels, bias, last=True)
    return Network(NAME, (1, SIDE, SIDE), (*layers, last))


@cache
def small_cnn() -> Network:
    """A network of three layers that reads digits of five by seven dots.

    Returns
    -------
    Network
        Two convolutions and a layer for ten digits, in whole numbers of eight bits, for
        inputs of 12 x 12; the last layer is fitted, see ``fit``.

    Examples
    --------
    >>> small_cnn().products()
    [3600, 2592, 720]
    """
    raw = json.loads(WEIGHTS.read_text("utf-8"))
    layers = tuple(Convolution(**layer) for layer in raw["layers"])
    return Network(NAME, tuple(raw["shape"]), layers)
