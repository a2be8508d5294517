"""Strides and sets: why a matrix of 1,024 columns is slower than one of 1,040.

Walking down a column touches lines that lie a row apart. Where the row is a multiple of
many lines, those lines share few sets, and a set has few ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, gcd
from typing import TYPE_CHECKING, Any

from stacklib.quantity.bounds import whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .cache import Cache


def fullest_set(count: int, stride: int, line: int, sets: int) -> int:
    """Lines of a strided walk that fall into the set which gets most of them.

    A stride of s lines comes back to its first set after sets / gcd(s, sets) steps.

    ``stride``: bytes from one to the next, a multiple of the line; ``line``: bytes of a
    line.
    """
    whole(count=count, stride=stride, line=line, sets=sets)
    if stride % line:
        raise ValueError(f"stride = {stride} is no multiple of the line of {line}")
    return ceil(count / (sets // gcd(stride // line, sets)))


def count_fullest_set(count: int, stride: int, line: int, sets: int) -> int:
    """The same, counted line by line; for any stride."""
    whole(count=count, stride=stride, line=line, sets=sets)
    return max(_lines_by_set(count, stride, line, sets))


def _lines_by_set(count: int, stride: int, line: int, sets: int) -> list[int]:
    held = [0] * sets
    for touched in {i * stride // line for i in range(count)}:
        held[touched % sets] += 1
    return held


def column_fills(side: int, width: int, *, line: int, sets: int, ways: int) -> float:
    """Lines a cache fills for each element of a transpose that reads columns.

    A line that a column touches is wanted again by the next column, after one line of
    every other row. A set that had to take more of them than it has ways has dropped
    them all by then, LRU being what it is, and each of its elements fetches a line of
    its own. The result is written row by row, a line for as many numbers as it holds.

    ``width``: bytes of a number.
    """
    whole(side=side, width=width, line=line, sets=sets, ways=ways)
    if side * width % line:
        raise ValueError(
            f"a row of {side * width} bytes is no whole number of lines of {line}: run "
            "its `transpose_trace`"
        )
    held = _lines_by_set(side, side * width, line, sets)
    lost = sum(lines for lines in held if lines > ways) / sum(held)
    by_lines = width / line
    return lost + (1 - lost) * by_lines + by_lines


def transpose_trace(side: int, width: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Accesses of y[i, j] = x[j, i] over a square, y row by row.

    ``width``: bytes of a number. x begins at 0, y at the next page of 4 KiB after it.
    """
    import numpy as np

    whole(side=side, width=width)
    rows, columns = np.indices((side, side)).reshape(2, -1)
    # y begins at the next page of 4 KiB after x.
    after = -(-side * side * width // 4096) * 4096
    both = (columns * side + rows) * width, after + (rows * side + columns) * width
    trace: NDArray[Any] = np.stack(both, axis=1).ravel()
    return trace, np.tile([False, True], side * side)


def transpose_fills(side: int, width: int, levels: Sequence[Cache]) -> list[float]:
    """Lines that each level of a chain fills for an element: run, and run again.

    The first run, which touches the arrays for the first time, is not counted.
    """
    import numpy as np

    from .chain import chain

    trace, stores = transpose_trace(side, width)
    found = []
    for level in chain(levels, np.tile(trace, 2), np.tile(stores, 2)):
        of = np.arange(level.accesses) if level.origin is None else level.origin
        found.append(int(level.filled[of >= len(trace)].sum()) / side**2)
    return found + [0.0] * (len(levels) - len(found))
