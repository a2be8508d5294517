"""Where two accounts of the same cycles begin to differ.

An array is told as formula, as stepped registers, as a circuit and as gates. Each
gives frames, one a cycle; ``first_difference`` names cycle, cell and value where two
part. ``foreseen`` is the account that steps nothing: in cycle t the cell in row r and
column c multiplies the numbers that its fold's clock, t - r - c, says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .cycles import DATAFLOWS
from .systolic import Frame, Run
from .width import Matrix

PARTS = ("activations", "weights", "sums")


def first_difference(
    one: Iterable[Frame], other: Iterable[Frame], parts: tuple[str, ...] = PARTS
) -> str:
    """The first cycle and cell in which two runs differ; empty where none do.

    Compared are cells that both call busy: what a bubble holds is nobody's business.
    Where one run is longer, that is said.
    """
    left, right = iter(one), iter(other)
    for frame in left:
        beside = next(right, None)
        if beside is None:
            return f"cycle {frame.cycle}: the second run has ended"
        for r, row in enumerate(frame.busy):
            for c, busy in enumerate(row):
                if bool(busy) != bool(beside.busy[r][c]):
                    return f"cycle {frame.cycle}, cell ({r}, {c}): busy in one run only"
                for part in parts if busy else ():
                    is_ = int(getattr(frame, part)[r][c])
                    was = int(getattr(beside, part)[r][c])
                    if is_ != was:
                        return f"cycle {frame.cycle}, cell ({r}, {c}): {part} " + (
                            f"{is_} and {was}"
                        )
    extra = next(right, None)
    return "" if extra is None else f"cycle {extra.cycle}: the first run has ended"


def foreseen(run: Run, a: Matrix, b: Matrix) -> Iterator[Frame]:
    """Each frame of a run from indices alone, with no register stepped.

    - ``run``: of folds that do not overlap; only its sizes are read.
    - ``a``, ``b``: activations (m, k) and weights (k, n).
    """
    cut = run.work.cut
    hold = run.work.sums.hold
    fold = cut.fold
    for cycle in range(cut.count * fold):
        number, at = divmod(cycle, fold)
        down, across = divmod(number, cut.across)
        made = [[[0] * cut.cols for _ in range(cut.rows)] for _ in range(4)]
        for r in range(min(cut.rows, cut.along - down * cut.rows)):
            for c in range(min(cut.cols, cut.beside - across * cut.cols)):
                t = at - cut.fill - r - c
                if not 0 <= t < cut.streamed:
                    continue
                axes = (down * cut.rows + r, across * cut.cols + c, t)
                where = dict(zip(DATAFLOWS[cut.dataflow], axes, strict=True))
                m, n, k = where["m"], where["n"], where["k"]
                first = 0 if cut.dataflow == "os" else down * cut.rows
                terms = (a[m][x] * b[x][n] for x in range(first, k + 1))
                total = 0
                for term in terms:  # as a register of its width meets them
                    total = hold(total + int(term))
                for part, value in zip(made, (a[m][k], b[k][n], total, 1), strict=True):
                    part[r][c] = int(value)
        yield Frame(cycle, *made)
