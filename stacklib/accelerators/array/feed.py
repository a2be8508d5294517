"""What enters an array in each cycle: tiles in turn, in the skew of its edges.

Row r and column c are r and c cycles behind. A fold begins when the array is empty or,
with ``overlap``, max(T, R) cycles after the one before: so long its tile takes to come
in, and so long R finished sums take through their column's one port.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from .cycles import Folds
from .width import Matrix, Width


@dataclass(frozen=True, slots=True)
class Work:
    """A product laid out for an array, padded with zeros to whole tiles."""

    cut: Folds
    left: Matrix  # (A, T): what enters the rows
    top: Matrix  # os: (T, B), what enters the columns; else (A, B), what stands still
    sums: Width
    operands: Width
    overlap: bool


class Fold:
    """A tile under way: when it began, and what it sends in, vector by vector."""

    def __init__(self, work: Work, number: int, begin: int) -> None:
        cut = work.cut
        down, across = divmod(number, cut.across)
        rows = slice(down * cut.rows, (down + 1) * cut.rows)
        cols = slice(across * cut.cols, (across + 1) * cut.cols)
        self.number, self.begin = number, begin
        self.row, self.col = rows.start, cols.start
        self.stream = begin + cut.fill  # the cycle of its first activation
        self.end = self.stream + cut.streamed
        self.left: list[tuple[int, ...]] = list(zip(*work.left[rows], strict=True))
        top = work.top if cut.dataflow == "os" else work.top[rows][::-1]
        self.top = [row[cols] for row in top]
        # What is no padding.
        self.tall = min(cut.rows, cut.along - down * cut.rows)
        self.wide = min(cut.cols, cut.beside - across * cut.cols)
        self.padded = len(top) - self.tall if cut.dataflow != "os" else 0


class Entering(NamedTuple):
    """What the edges hand in at one edge of the clock."""

    column: list[int]  # from the left, one a row
    bits: list[int]  # whether each is an operand
    row: list[int]  # from above, one a column
    depth: list[int]  # how far down each may move: its number in the tile; -1: none


@dataclass(slots=True)
class Counts:
    """What a run has counted so far."""

    overflows: int = 0  # sums that a cell could not hold
    left: int = 0  # numbers that entered from the left, padding apart
    top: int = 0
    begins: list[int] = field(default_factory=list)  # the first cycle of each fold


class Feeder:
    """Edges of an array from one fold on, which begins at cycle ``at``."""

    def __init__(self, work: Work, first: int, at: int) -> None:
        cut = work.cut
        self.work, self.counts = work, Counts(begins=[at])
        self.folds = [Fold(work, first, at)]  # under way
        self.blank, self.nothing = (0,) * cut.rows, [0] * cut.cols
        self.left = deque([(self.blank, 0)] * cut.rows, cut.rows)
        self.above = deque([(self.nothing, -1)] * cut.cols, cut.cols)

    def enter(self, cycle: int, occupied: Callable[[], bool]) -> Entering | None:
        """What comes in, or None where all has left.

        - ``occupied``: whether an operand stays in the array after this cycle's edge.
        """
        if not self._fold(cycle, occupied):
            return None
        cut = self.work.cut
        flows = next((f for f in self.folds if f.stream <= cycle < f.end), None)
        if flows:
            self.left.appendleft((flows.left[cycle - flows.stream], 1))
            self.counts.left += flows.tall
        else:
            self.left.appendleft((self.blank, 0))
        # The newest tile comes in while what is before it may still stream.
        tile = flows if cut.dataflow == "os" else self.folds[-1]
        if tile and (x := cycle - tile.begin) < len(tile.top):
            self.above.appendleft((tile.top[x], x))
            self.counts.top += tile.wide * (x >= tile.padded)
        else:
            self.above.appendleft((self.nothing, -1))
        return Entering(
            [vector[r] for r, (vector, _) in enumerate(self.left)],
            [bit for _, bit in self.left],
            [vector[c] for c, (vector, _) in enumerate(self.above)],
            [deep for _, deep in self.above],
        )

    def _fold(self, cycle: int, occupied: Callable[[], bool]) -> bool:
        """Begin the next fold where it is time; whether any is under way."""
        last, cut = self.folds[-1], self.work.cut
        drained = cycle >= last.end and not (
            any(bit for _, bit in list(self.left)[:-1]) or occupied()
        )
        due = cycle == last.begin + cut.apart if self.work.overlap else drained
        if due and last.number + 1 < cut.count:
            self.folds.append(Fold(self.work, last.number + 1, cycle))
            self.counts.begins.append(cycle)
        elif drained:
            return False
        reach = cut.rows + cut.cols
        self.folds = [fold for fold in self.folds if cycle < fold.end + reach]
        return True
