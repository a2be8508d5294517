"""One frame through the arrays of a design, tile by tile, on any model of an array.

The array is asked as it is built elsewhere: by formula, step by step, as gates, in
Amaranth's simulator. What comes out is the network's answer, and cycles, counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import NamedTuple, TypeAlias

from stacklib.accelerators.rtl.feed import Cycle, Matrix, by_formula
from stacklib.quantity.bounds import whole

from .fixed import Image, Network, entered, finish, flat, shape_of
from .pipeline import CLEAR, Engine

ByCycle: TypeAlias = Callable[[Matrix, Matrix], Iterable[Cycle]]


class Frame(NamedTuple):
    """A frame's way through the arrays."""

    layers: tuple[list[list[list[int]]], ...]  # what each gives, as fixed.run does
    cycles: tuple[int, ...]  # of each, counted


def on_arrays(
    network: Network, engines: Sequence[Engine], image: Image, by: ByCycle = by_formula
) -> Frame:
    """A frame, each tile a product on an array of the layer's size, by ``by``."""
    here = entered(network, image)
    given, counted = [], []
    for layer, engine in zip(network.layers, engines, strict=True):
        whole(rows=engine.rows, cols=engine.cols)
        high, wide = layer.sums(shape_of(here))
        places = [*product(range(high), range(wide))]
        within = [*product(*map(range, layer.size))]
        windows = [[here[c][y + j][x + i] for c, j, i in within] for y, x in places]
        kernels = [[*flat(kernel)] for kernel in layer.kernels]
        sums = [[[bias] * wide for _ in range(high)] for bias in layer.bias]
        cycles = 0
        for top in range(0, engine.places, engine.rows):
            a = _filled(windows[top : top + engine.rows], engine.rows)
            for left in range(0, engine.kernels, engine.cols):
                b = _filled(kernels[left : left + engine.cols], engine.cols)
                told = list(by(a, [*zip(*b, strict=True)]))
                cycles += len(told) + CLEAR
                for (y, x), row in zip(places[top:], told[-1].sums, strict=False):
                    for plane, value in zip(sums[left:], row, strict=False):
                        plane[y][x] += value
        here = finish(layer, sums)
        given.append(here)
        counted.append(cycles)
    return Frame(tuple(given), tuple(counted))


def _filled(rows: list[list[int]], count: int) -> list[list[int]]:
    """So many rows, of zeros where there are no more."""
    return rows + [[0] * len(rows[0])] * (count - len(rows))
