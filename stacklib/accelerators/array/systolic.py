"""An array of multipliers that is really stepped, and returns the product.

One class for three dataflows; what a cell does in a cycle is in ``step``. A run keeps
the product and its counts. Operands of a cycle are found by stepping once more from the
fold's first cycle, so that nothing but the inputs is stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stacklib.quantity import resolve
from stacklib.quantity.bounds import whole

from .cycles import DATAFLOWS, Reads, folds, overlapping
from .feed import Work
from .step import Cells, backend, steps
from .width import Matrix, matrix, turned, width


@dataclass(frozen=True, slots=True)
class Frame:
    """What every cell holds in one cycle, (rows, cols) each."""

    cycle: int
    activations: Any  # what each cell multiplies
    weights: Any  # by what
    sums: Any  # after the addition
    busy: Any  # 1 where both are operands, 0 in a bubble


@dataclass(frozen=True, slots=True)
class Run:
    """A product that went through an array."""

    product: Any  # (m, n), of the accumulator's width
    last_cycle: int  # counted from zero, as ``cycles`` does
    utilisation: float
    folds: int
    overflows: int  # sums that a register could not hold
    reads: Reads  # numbers that entered the array
    begins: tuple[int, ...]  # the first cycle of each fold
    work: Work

    def operands(self, cycle: int) -> Frame:
        """What each cell multiplies in a cycle, and its sum then.

        - raises ``ValueError`` for a cycle outside the run.
        """
        return next(self.frames(cycle))

    def frames(self, first: int = 0) -> Iterator[Frame]:
        """Every cycle from ``first`` on."""
        whole(0, cycle=first)
        if first > self.last_cycle:
            raise ValueError(
                f"cycle = {first}: the run's last one is {self.last_cycle}"
            )
        cut, ops = self.work.cut, backend(self.work)
        # From the fold before what may still be inside: cells hold its last numbers.
        inside = 2 * cut.rows + cut.cols + cut.streamed if self.work.overlap else 0
        begun = sum(at <= first - inside for at in self.begins)
        start = max(0, begun - 2)
        for cells in steps(self.work, start, self.begins[start], ops):
            if cells.cycle >= first:
                yield _frame(cells, self.work, ops)


class SystolicArray:
    """R x C multipliers, each with an adder and registers, in one of three dataflows.

    Parameters
    ----------
    rows, cols : int
        Multipliers of the array.
    dataflow : str
        What stands still: ``os`` sums, ``ws`` weights, ``is`` activations.
    accumulate : str
        Width of every sum, in the cells and below them: ``int32``, ``uint16``.
    weights : str
        Width of both operands.
    overflow : str
        ``wrap`` or ``saturate``: what a sum does that its register cannot hold.
    overlap : bool
        Whether a fold begins while the one before it runs.

    Raises
    ------
    ValueError
        For sizes and widths that there are not.
    UnknownName
        For another dataflow or overflow.

    Examples
    --------
    >>> run = SystolicArray(2, 2, "ws").run([[1, 2], [3, 4]], [[5, 6], [7, 8]])
    >>> [[int(x) for x in row] for row in run.product], run.last_cycle
    ([[19, 22], [43, 50]], 5)
    """

    def __init__(
        self,
        rows: int,
        cols: int,
        dataflow: str = "os",
        accumulate: str = "int32",
        weights: str = "int8",
        overflow: str = "wrap",
        overlap: bool = False,
    ) -> None:
        whole(rows=rows, cols=cols)
        self.rows, self.cols = int(rows), int(cols)
        self.dataflow = resolve(dataflow, DATAFLOWS, "dataflow", exact=True)
        self.accumulate = width(accumulate, "accumulate", overflow)
        self.weights = width(weights, "weights")
        self.overlap = overlapping(overlap)

    def lay_out(self, a: Any, b: Any) -> Work:
        """Activations and weights as what enters from left and above.

        - ``a``, ``b``: as ``run`` takes them.
        - raises ``ValueError`` for matrices that do not chain, or numbers outside the
          operands' width.
        """
        left, top = matrix(a, "a", self.weights), matrix(b, "b", self.weights)
        if len(left[0]) != len(top):
            raise ValueError(
                f"a is {len(left)} x {len(left[0])} and b {len(top)} x {len(top[0])}: "
                "a needs as many columns as b has rows"
            )
        m, k, n = len(left), len(top), len(top[0])
        size = {"m": m, "n": n, "k": k, "rows": self.rows, "cols": self.cols}
        cut = folds(**size, dataflow=self.dataflow)
        if self.dataflow == "ws":
            left = turned(left)
        elif self.dataflow == "is":
            left, top = top, turned(left)
        left = _padded(left, cut.down * cut.rows, cut.streamed)
        tall = cut.streamed if self.dataflow == "os" else cut.down * cut.rows
        top = _padded(top, tall, cut.across * cut.cols)
        return Work(cut, left, top, self.accumulate, self.weights, self.overlap)

    def run(self, a: Any, b: Any) -> Run:
        """Step the array until the product of activations and weights has left it.

        - ``a``: (m, k); ``b``: (k, n); whole numbers of the operands' width.
        - raises ``ValueError`` as ``lay_out``.
        """
        work = self.lay_out(a, b)
        cut, held = work.cut, self.accumulate
        stands = cut.dataflow != "os"
        out = [[0] * cut.beside for _ in range(cut.streamed if stands else cut.along)]
        over, low, high = 0, held.low, held.high
        for cells in steps(work):
            for fold, r, c, x in cells.left:
                row = r if stands else fold.row + r
                if c >= fold.wide or row >= len(out):
                    continue
                exact = out[row][fold.col + c] + x
                if not low <= exact <= high:
                    over, exact = over + 1, held.hold(exact)
                out[row][fold.col + c] = exact
        count, macs = cells.feeder.counts, cut.along * cut.beside * cut.streamed
        entered = (count.left, count.top)
        return Run(
            _array(turned(out) if cut.dataflow == "is" else out, high),
            cells.cycle,
            macs / max(macs, cells.cycle * cut.rows * cut.cols),
            len(count.begins),
            over + count.overflows,
            Reads(*(entered[::-1] if cut.dataflow == "is" else entered)),
            tuple(count.begins),
            work,
        )


def _padded(rows: Matrix, tall: int, wide: int) -> Matrix:
    """With zeros to the right and below."""
    made = [row + [0] * (wide - len(row)) for row in rows]
    return made + [[0] * wide for _ in range(tall - len(rows))]


def _array(rows: Matrix, high: int) -> Any:
    """An array of whole numbers up to ``high`` where there is NumPy, else the rows."""
    try:
        import numpy
    except ImportError:
        return rows
    return numpy.array(rows, numpy.int64 if high < 1 << 63 else numpy.uint64)


def _frame(cells: Cells, work: Work, ops: Any) -> Frame:
    moving, other = ops.copy(cells.moving), ops.copy(cells.other)
    if work.cut.dataflow == "is":
        moving, other = other, moving
    busy = [[0] * work.cut.cols for _ in range(work.cut.rows)]
    for fold in cells.feeder.folds:
        for r in range(fold.tall):
            since = cells.cycle - fold.stream - r
            first, after = since - work.cut.streamed + 1, since + 1
            for c in range(max(0, first), min(fold.wide, after)):
                busy[r][c] = 1
    return Frame(cells.cycle, moving, other, ops.copy(cells.sums), busy)
