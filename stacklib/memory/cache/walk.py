"""A strided walk over this machine's memory, which moves lines of 64 bytes.

What sectors are to a warp, lines are to a core. ``strided_walk`` adds up the numbers
it meets in steps of one stride, and starts again one line further until every line
of the array has been met once. However long the step, the lines are the same; only
how much of each is used changes, and the order in which they come.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stacklib.quantity.bounds import whole

from ..warp._fast import fast
from ..warp.coalescing import strided_pieces

HOST_LINE = 64  # bytes
WIDTH = 4  # bytes of an element
_IN_LINE = HOST_LINE // WIDTH


@dataclass(frozen=True, slots=True)
class Walk:
    """What a walk read."""

    total: int  # sum of the elements it met
    elements: int
    lines: int  # cache lines they are in

    @property
    def efficiency(self) -> float:
        """Share of the lines' bytes that it used."""
        return WIDTH * self.elements / (HOST_LINE * self.lines)


def sawtooth(size: int) -> Any:
    """Numbers 0 to 15, again and again, from the start of a cache line on.

    ``size``: bytes; a whole number of lines.
    """
    whole(HOST_LINE, size=size)
    if size % HOST_LINE:
        raise ValueError(f"size = {size}: not a whole number of {HOST_LINE}-byte lines")
    raw: Any = np.empty(size + HOST_LINE, np.uint8)
    first = -raw.ctypes.data % HOST_LINE
    data: Any = raw[first : first + size].view(np.int32)
    data.reshape(-1, _IN_LINE)[:] = np.arange(_IN_LINE, dtype=np.int32)
    return data


def _loop(data: Any, stride: int, in_line: int, out: Any) -> None:
    """Walks from every line's start below the stride; sum and count to ``out``."""
    total = 0
    count = 0
    # Unsigned, so that compiled code need not ask whether an index counts from the end.
    end, step = np.uintp(len(data)), np.uintp(stride)
    for first in range(0, stride, in_line):
        for i in range(np.uintp(first), end, step):
            total += data[i]
        count += len(data) // stride
    out[0] = total
    out[1] = count


def _checked(data: Any, stride: int) -> int:
    """The stride, if the array can be walked with it."""
    if not isinstance(data, np.ndarray) or data.dtype != np.int32 or data.ndim != 1:
        raise ValueError("data: one row of int32 is needed; see sawtooth")
    if data.ctypes.data % HOST_LINE or len(data) % _IN_LINE or not len(data):
        raise ValueError("data: whole cache lines are needed; see sawtooth")
    whole(stride=stride)
    if len(data) % stride:
        raise ValueError(f"stride = {stride}: does not divide {len(data)} elements")
    return int(stride)


def strided_walk(data: Any, stride: int) -> Walk:
    """Walk an array in steps, starting again until every line was met."""
    step = _checked(data, stride)
    out: Any = np.zeros(2, np.int64)
    fast(_loop)(data, step, _IN_LINE, out)
    each = len(data) // step
    lines = sum(
        strided_pieces(WIDTH * step, first=WIDTH * first, lanes=each, size=HOST_LINE)
        for first in range(0, step, _IN_LINE)
    )
    return Walk(int(out[0]), int(out[1]), lines)


def walk_seconds(data: Any, stride: int, times: int = 1) -> list[float]:
    """Wall time of whole walks."""
    from time import perf_counter

    step = _checked(data, stride)
    out: Any = np.zeros(2, np.int64)
    whole(times=times)
    run = fast(_loop)
    found = []
    for _ in range(times):
        start = perf_counter()
        run(data, step, _IN_LINE, out)
        found.append(perf_counter() - start)
    return found
