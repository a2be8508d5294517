"""Registers of an array as NumPy's int64: what ``registers`` does, many at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .width import Width

Array = Any


def zeros(rows: int, cols: int) -> Array:
    """Registers that hold nothing."""
    return np.zeros((rows, cols), np.int64)


def right(held: Array, column: Sequence[int]) -> Array:
    """All moved one cell to the right; ``column`` enters."""
    held[:, 1:] = held[:, :-1]
    held[:, 0] = column
    return held


def down(held: Array, row: Sequence[int]) -> Array:
    """All moved one cell down; ``row`` enters."""
    held[1:] = held[:-1]
    held[0] = row
    return held


def filled(held: Array, row: Sequence[int], depth: Sequence[int]) -> Array:
    """Moved down in each column as far as ``depth``, that row included; -1: not."""
    moves = np.arange(len(held))[:, None] <= np.asarray(depth)
    return np.where(moves, down(held.copy(), row), held)


def multiply_add(sums: Array, x: Array, y: Array) -> Array:
    """Cell by cell, sums + x y."""
    sums += x * y
    return sums


def held(sums: Array, width: Width) -> tuple[Array, int]:
    """What registers of a width make of exact sums, and how many ran over."""
    if sums.max() <= width.high and sums.min() >= width.low:
        return sums, 0
    over = int(((sums < width.low) | (sums > width.high)).sum())
    return width.hold(sums), over


def copy_diagonal(to: Array, source: Array, at: int) -> None:
    """Copy cells whose row and column add up to ``at``."""
    rows = _rows(to, at)
    to[rows, at - rows] = source[rows, at - rows]


def diagonal(held: Array, at: int) -> list[tuple[int, int, int]]:
    """Row, column and number of cells whose row and column add up to ``at``."""
    rows = _rows(held, at)
    found = held[rows, at - rows].tolist()
    return [(r, at - r, x) for r, x in zip(rows.tolist(), found, strict=True)]


def bottom(held: Array) -> list[int]:
    """What the last row holds."""
    return held[-1].tolist()


def staying(held: Array) -> bool:
    """Whether any cell but those of the last column holds something."""
    return bool(held[:, :-1].any())


def copy(held: Array) -> Array:
    """The same numbers, to keep."""
    return held.copy()


def _rows(held: Array, at: int) -> Array:
    tall, wide = held.shape
    return np.arange(max(0, at - wide + 1), min(tall, at + 1))
