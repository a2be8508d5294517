"""Layer norm as one kernel: what it moves, its padded lanes, and a wrong sample.

A program takes a row. Triton's tiles are powers of two, so a row of N numbers lies in
a tile of the next power of two, B; a masked load fills the lanes beyond N with zeros.
They are harmless in a sum, and no longer zero once the mean has been taken off them:
the guide's sample (document 003) squares them all the same, and its variance is

    variance + mean^2 (B - N) / N

For N = 768, B = 1024, mean 1 and variance 1 that is 1.333. ``norm_tiles`` runs that
sample and its fix; here is what they cost. Fused, 2 M N numbers cross to memory and one
row each of weight and bias; a library's seven calls move twelve arrays' worth
(``launch.fuse_graphs.layernorm_graph``).
"""

from __future__ import annotations

from typing import Any

from stacklib.quantity import ceil, log2
from stacklib.quantity.bounds import above_zero, at_least


def next_power(n: Any) -> Any:
    """The least power of two from n up: the tile that holds a row."""
    at_least(1, n=n)
    return 2 ** ceil(log2(n))


def lane_waste(n: Any) -> Any:
    """Share of a tile's lanes that lie beyond a row of n; just under half at worst."""
    tile = next_power(n)
    return (tile - n) / tile


def layernorm_bytes(rows: Any, columns: Any, width: Any) -> Any:
    """Bytes of the fused kernel: 2 M N b, and the weight and bias once.

    The two rows come from memory once; every program after the first finds them in L2.

    ``width``: bytes an element.
    """
    above_zero(rows=rows, columns=columns, width=width)
    return 2 * rows * columns * width + 2 * columns * width


def unmasked_variance(variance: Any, mean: Any, columns: Any, block: Any) -> Any:
    """What the sample finds where the rows have this variance and mean.

    ``block``: lanes of the tile, ``columns`` of which hold numbers.
    """
    at_least(0, variance=variance)
    above_zero(columns=columns)
    at_least(columns, block=block)
    return variance + mean**2 * (block - columns) / columns
