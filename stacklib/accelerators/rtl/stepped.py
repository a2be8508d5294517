"""The stepped array as a witness: its frames as cycles of the circuit's form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from stacklib.accelerators.array.systolic import Frame, SystolicArray

from .feed import Cycle, Grid, Matrix, shape


def by_steps(a: Matrix, b: Matrix, accumulate: str = "int32") -> Iterator[Cycle]:
    """A product on an array as large as its result, whose sums stand still.

    - ``accumulate``: width of the sums.
    """
    rows, _, cols = shape(a, b)
    return as_cycles(
        SystolicArray(rows, cols, accumulate=accumulate).run(a, b).frames()
    )


def as_cycles(frames: Iterable[Frame], busy: bool = False) -> Iterator[Cycle]:
    """Frames of any dataflow; with ``busy`` what a bubble holds is told as zero."""
    for frame in frames:
        parts = (frame.activations, frame.weights, frame.sums)
        yield Cycle(frame.cycle, *(_grid(x, frame.busy, busy) for x in parts))


def _grid(held: Any, busy: Any, only: bool) -> Grid:
    return tuple(
        tuple(int(x) if on or not only else 0 for x, on in zip(row, ons, strict=True))
        for row, ons in zip(held, busy, strict=True)
    )
