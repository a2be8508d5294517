"""What enters the array in each cycle, and what every place must then hold.

All witnesses of one product tell the same thing of a cycle: the pair that each place
multiplies, and the sum that stands in it when the cycle ends. Where two differ, the
first such cycle is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TypeAlias

from stacklib.quantity.bounds import is_whole

Matrix: TypeAlias = Sequence[Sequence[int]]
Grid: TypeAlias = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Cycle:
    """One cycle of an array: operands in it, sums at its end, row by row."""

    number: int
    a: Grid
    b: Grid
    sums: Grid


@dataclass(frozen=True)
class Difference:
    """Where two accounts of the same product part."""

    cycle: int
    row: int
    col: int
    what: str  # "a", "b" or "sums"
    first: int | None
    second: int | None

    def __str__(self) -> str:
        return (
            f"cycle {self.cycle}, place ({self.row}, {self.col}): {self.what} is "
            f"{self.first} in the one and {self.second} in the other"
        )


def feed(a: Matrix, b: Matrix, bits: int = 8) -> Iterator[dict[str, int]]:
    """What stands at the edges of the array, cycle by cycle, until the last product.

    - ``a``: rows of whole numbers; ``b`` as many rows as ``a`` has columns.
    - ``bits``: of one operand, two's complement.
    """
    rows, depth, cols = shape(a, b, bits)
    for t in range(rows + cols + depth - 2):
        left = {f"a{r}": a[r][t - r] if 0 <= t - r < depth else 0 for r in range(rows)}
        top = {f"b{c}": b[t - c][c] if 0 <= t - c < depth else 0 for c in range(cols)}
        yield {**left, **top}


def by_formula(a: Matrix, b: Matrix, bits: int = 8) -> Iterator[Cycle]:
    """The cycles in closed form: place (r, c) meets index ``k`` in cycle r + c + k."""
    rows, depth, cols = shape(a, b, bits)

    def grid(value: Callable[[int, int], int]) -> Grid:
        return tuple(tuple(value(r, c) for c in range(cols)) for r in range(rows))

    for t in range(rows + cols + depth - 2):

        def left(r: int, c: int, t: int = t) -> int:
            return a[r][t - r - c] if 0 <= t - r - c < depth else 0

        def top(r: int, c: int, t: int = t) -> int:
            return b[t - r - c][c] if 0 <= t - r - c < depth else 0

        def total(r: int, c: int, t: int = t) -> int:
            met = range(max(0, min(depth, t - r - c + 1)))
            return sum(a[r][k] * b[k][c] for k in met)

        yield Cycle(t, grid(left), grid(top), grid(total))


def first_difference(
    first: Iterable[Cycle], second: Iterable[Cycle]
) -> Difference | None:
    """Where two accounts part, or nothing."""
    pairs = zip_longest(first, second)
    for number, (one, other) in enumerate(pairs):
        if one is None or other is None:
            return Difference(
                number,
                0,
                0,
                "the cycle",
                *(None if x is None else number for x in (one, other)),
            )
        for what in ("a", "b", "sums"):
            x, y = getattr(one, what), getattr(other, what)
            if (len(x), len(x[0])) != (len(y), len(y[0])):
                raise ValueError(
                    f"{len(x)} x {len(x[0])} places beside {len(y)} x {len(y[0])}"
                )
            for r, c in ((r, c) for r in range(len(x)) for c in range(len(x[0]))):
                if x[r][c] != y[r][c]:
                    return Difference(number, r, c, what, x[r][c], y[r][c])
    return None


def shape(a: Matrix, b: Matrix, bits: int = 8) -> tuple[int, int, int]:
    """Rows, depth and columns of a product; refuses what an array cannot take."""
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    for name, matrix in (("a", a), ("b", b)):
        if not len(matrix) or not len(matrix[0]):
            raise ValueError(f"{name} is empty; a row and a column at least are needed")
        if len({len(row) for row in matrix}) > 1:
            raise ValueError(f"rows of {name} differ in length; a matrix is needed")
        for value in (v for row in matrix for v in row):
            if not is_whole(value) or not low <= value <= high:
                raise ValueError(
                    f"{value!r} in {name}: whole numbers from {low} to {high} go in"
                )
    if len(a[0]) != len(b):
        raise ValueError(
            f"{len(a[0])} columns of a do not meet {len(b)} rows of b; make them equal"
        )
    return len(a), len(b), len(b[0])
