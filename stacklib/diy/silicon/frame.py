"""One frame through the arrays of a design, tile by tile, on any model of an array.

The array is asked as it is built elsewhere: by formula, step by step, as gates, in
Amaranth's simulator. What comes out is the network's answer, and how many cycles each
layer took, counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

from stacklib.accelerators.rtl.feed import Cycle, Matrix, by_formula

from .fixed import Image, Network, entered, finish, shape_of
from .pipeline import CLEAR, Engine, products_of, tiles

ByCycle: TypeAlias = Callable[[Matrix, Matrix], Iterable[Cycle]]


class Frame(NamedTuple):
    """A frame's way through the arrays.

    - ``layers``: what each gives, as ``fixed.run`` does.
    - ``cycles``: of each, counted.
    """

    layers: tuple[list[list[list[int]]], ...]
    cycles: tuple[int, ...]


def on_arrays(
    network: Network,
    engines: Sequence[Engine],
    image: Image,
    by: ByCycle = by_formula,
) -> Frame:
    """A frame, each tile a product on an array of the layer's size.

    - ``by``: a product of two matrices, cycle by cycle.
    """
    here = entered(network, image)
    given, counted = [], []
    for layer, engine in zip(network.layers, engines, strict=True):
        rows, cols = layer.sums(shape_of(here))
        sums = [[[bias] * cols for _ in range(rows)] for bias in layer.bias]
        cycles = 0
        for top, left, a, b in tiles(engine, *products_of(layer, here)):
            told = list(by(a, b))
            cycles += len(told) + CLEAR
            for r, row in enumerate(told[-1].sums[: engine.places - top]):
                for c, value in enumerate(row[: engine.kernels - left]):
                    sums[left + c][(top + r) // cols][(top + r) % cols] += value
        here = finish(layer, sums)
        given.append(here)
        counted.append(cycles)
    return Frame(tuple(given), tuple(counted))
