"""One cycle after another of an array: what moves, and what each cell adds.

At a clock's edge every cell hands its activation to the right and takes the next one,
with a bit beside it that says whether it is one. In ``os`` a weight moves down through
the cell in the same way, and the sum stays. In ``ws`` (and ``is``, which is ``ws`` of
the product transposed) the weight stays and the sum moves down; the next tile's weights
come in from above through a second register, which the cell copies when the first
activation of that tile reaches it. Left out: the way of an ``os`` sum out of its cell.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from . import registers
from .feed import Feeder, Fold, Work

LARGE = 200  # cells, from where arrays of NumPy are faster than lists
WIDE = 62  # bits that its integers hold with one to spare


@dataclass(slots=True)
class Cells:
    """All registers of an array, and the sums that left it in a cycle."""

    cycle: int
    feeder: Feeder
    moving: Any  # (R, C) what travels to the right
    valid: Any  # whether it is an operand
    other: Any  # its partner: what moves down (os) or stands still
    waiting: Any  # the next tile's, where tiles stand still; else zeros
    sums: Any
    left: list[tuple[Fold, int, int, int]]  # fold, row, column, sum


def backend(work: Work) -> Any:
    """The registers for a product: arrays for large ones, where there is NumPy."""
    fits = work.sums.bits <= WIDE and 2 * work.operands.bits <= WIDE
    if fits and work.cut.rows * work.cut.cols >= LARGE:
        with suppress(ImportError):
            from . import registers_numpy

            return registers_numpy
    return registers


def steps(work: Work, first: int = 0, at: int = 0, ops: Any = None) -> Iterator[Cells]:
    """The array in every cycle, from fold ``first``, which begins at cycle ``at``.

    What is yielded is the running state: copy what is to be kept.
    """
    ops = ops or backend(work)
    cut, stands = work.cut, work.cut.dataflow != "os"
    moving, valid, other, waiting, sums = (
        ops.zeros(cut.rows, cut.cols) for _ in range(5)
    )
    feeder = Feeder(work, first, at)
    cells = Cells(at, feeder, moving, valid, other, waiting, sums, [])
    nothing = [0] * cut.cols
    for cycle in itertools.count(at):
        entering = feeder.enter(cycle, lambda: ops.staying(cells.valid))
        if entering is None:
            return
        cells.cycle = cycle
        cells.moving = ops.right(cells.moving, entering.column)
        cells.valid = ops.right(cells.valid, entering.bits)
        # A new tile's numbers take over, or a new sum starts from zero.
        kept = cells.other if stands else cells.sums
        for fold in feeder.folds:
            ops.copy_diagonal(kept, cells.waiting, cycle - fold.stream)
        if stands:
            if max(entering.depth) >= 0:
                cells.waiting = ops.filled(cells.waiting, entering.row, entering.depth)
            cells.sums = ops.down(cells.sums, nothing)
        else:
            cells.other = ops.down(cells.other, entering.row)
        exact = ops.multiply_add(cells.sums, cells.moving, cells.other)
        cells.sums, over = ops.held(exact, work.sums)
        feeder.counts.overflows += over
        cells.left = [x for f in feeder.folds for x in _leaving(work, f, cells, ops)]
        yield cells


def _leaving(
    work: Work, fold: Fold, cells: Cells, ops: Any
) -> Iterator[tuple[Fold, int, int, int]]:
    """Finished sums: of a diagonal of cells, or under the last row."""
    cut = work.cut
    if cut.dataflow == "os":
        for r, c, x in ops.diagonal(cells.sums, cells.cycle - fold.end + 1):
            yield fold, r, c, x
        return
    past = cells.cycle - fold.stream - cut.rows + 1
    first, after = max(0, past - cut.streamed + 1), min(cut.cols, past + 1)
    if first < after:
        row = ops.bottom(cells.sums)
        for c in range(first, after):
            yield fold, past - c, c, row[c]
