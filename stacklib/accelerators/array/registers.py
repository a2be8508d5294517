"""Registers of an array, a number in each cell, as rows of Python's own numbers.

``registers_numpy`` has the same functions over arrays, for larger ones. Each returns
what the registers hold after the clock's edge.
"""

from __future__ import annotations

from collections.abc import Sequence

from .width import Matrix, Width


def zeros(rows: int, cols: int) -> Matrix:
    """Registers that hold nothing."""
    return [[0] * cols for _ in range(rows)]


def right(held: Matrix, column: Sequence[int]) -> Matrix:
    """All moved one cell to the right; ``column`` enters."""
    return [[x, *row[:-1]] for x, row in zip(column, held, strict=True)]


def down(held: Matrix, row: Sequence[int]) -> Matrix:
    """All moved one cell down; ``row`` enters."""
    return [list(row), *held[:-1]]


def filled(held: Matrix, row: Sequence[int], depth: Sequence[int]) -> Matrix:
    """Moved down in each column as far as ``depth``, that row included; -1: not."""
    return [
        [new if at <= deep else old for old, new, deep in zip(*three, strict=True)]
        for at, (had, above) in enumerate(zip(held, down(held, row), strict=True))
        for three in [(had, above, depth)]
    ]


def multiply_add(sums: Matrix, x: Matrix, y: Matrix) -> Matrix:
    """Cell by cell, sums + x y."""
    return [
        [s + a * b for s, a, b in zip(*three, strict=True)]
        for three in zip(sums, x, y, strict=True)
    ]


def held(sums: Matrix, width: Width) -> tuple[Matrix, int]:
    """What registers of a width make of exact sums, and how many ran over."""
    low, high, over = width.low, width.high, 0
    for at, row in enumerate(sums):
        if max(row) > high or min(row) < low:
            over += sum(not low <= s <= high for s in row)
            sums[at] = [width.hold(s) for s in row]
    return sums, over


def copy_diagonal(to: Matrix, source: Matrix, at: int) -> None:
    """Copy cells whose row and column add up to ``at``."""
    for r in range(max(0, at - len(to[0]) + 1), min(len(to), at + 1)):
        to[r][at - r] = source[r][at - r]


def diagonal(held: Matrix, at: int) -> list[tuple[int, int, int]]:
    """Row, column and number of cells whose row and column add up to ``at``."""
    rows = range(max(0, at - len(held[0]) + 1), min(len(held), at + 1))
    return [(r, at - r, held[r][at - r]) for r in rows]


def bottom(held: Matrix) -> list[int]:
    """What the last row holds."""
    return held[-1]


def staying(held: Matrix) -> bool:
    """Whether any cell but those of the last column holds something."""
    return any(any(row[:-1]) for row in held)


def copy(held: Matrix) -> Matrix:
    """The same numbers, to keep."""
    return [row[:] for row in held]
