"""What an array of multipliers takes for a product: cycles, use, reads, in closed form.

A product of M x K by K x N runs on R rows and C columns in folds: what stands still is
cut into tiles of R x C, and beside each tile T numbers stream past it, in a skew of one
cycle per row and column.

    =====  ===================  ==============  ==============  ==============
    name   what stands still    on the rows, A  on columns, B   streams, T
    =====  ===================  ==============  ==============  ==============
    os     sums (output)        M               N               K
    ws     weights              K               N               M
    is     activations (input)  K               M               N
    =====  ===================  ==============  ==============  ==============

A fold of ``os`` ends T + R + C - 2 cycles after it began; ``ws`` and ``is`` first shift
their tile in, row by row, which is R more. ``cycles`` is the number of the last cycle,
counted from zero, as SCALE-Sim 3 prints it (A. Samajdar and others, *A systematic
methodology for characterizing scalability of DNN accelerators using SCALE-Sim*, 2020).
Left out: the way of the sums out of an ``os`` array behind its last multiply-add, and
every wait for a memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from stacklib.quantity import resolve
from stacklib.quantity.bounds import whole

# Which of m, n and k lies on the rows, on the columns, and streams.
DATAFLOWS = {"os": "mnk", "ws": "knm", "is": "kmn"}


@dataclass(frozen=True, slots=True)
class Folds:
    """A product cut for an array."""

    dataflow: str
    rows: int
    cols: int
    along: int  # A: numbers that lie on the rows
    beside: int  # B: on the columns
    streamed: int  # T: numbers that pass each tile

    @property
    def down(self) -> int:
        """Tiles along A."""
        return -(-self.along // self.rows)

    @property
    def across(self) -> int:
        """Tiles along B."""
        return -(-self.beside // self.cols)

    @property
    def count(self) -> int:
        """Tiles in all, each of which is one fold."""
        return self.down * self.across

    @property
    def fill(self) -> int:
        """Cycles in which a tile is shifted in before anything streams."""
        return 0 if self.dataflow == "os" else self.rows

    @property
    def fold(self) -> int:
        """Cycles of one fold: its tile's way in, what streams, and the skew."""
        return self.fill + self.streamed + self.rows + self.cols - 2

    @property
    def apart(self) -> int:
        """Cycles between the starts of two folds that overlap."""
        return max(self.streamed, self.rows)


def folds(*, m: int, n: int, k: int, rows: int, cols: int, dataflow: str) -> Folds:
    """How a product is cut into tiles of an array.

    - raises ``ValueError`` for a size that is no whole number from 1, ``UnknownName``
      for another dataflow.
    """
    whole(m=m, n=n, k=k, rows=rows, cols=cols)
    if not isinstance(dataflow, str) or dataflow not in DATAFLOWS:
        dataflow = resolve(dataflow, DATAFLOWS, "dataflow", exact=True)
    sizes = {"m": int(m), "n": int(n), "k": int(k)}
    along, beside, past = (sizes[axis] for axis in DATAFLOWS[dataflow])
    return Folds(dataflow, int(rows), int(cols), along, beside, past)


def overlapping(overlap: bool) -> bool:
    """Whether folds overlap; ``ValueError`` for what says neither yes nor no."""
    if overlap not in (True, False):
        raise ValueError(f"overlap = {overlap!r}: True or False is needed")
    return bool(overlap)


class Reads(NamedTuple):
    """Numbers that an array asks of the memories beside it."""

    activations: int
    weights: int


def cycles(
    *,
    m: int,
    n: int,
    k: int,
    rows: int,
    cols: int,
    dataflow: str = "os",
    overlap: bool = False,
) -> int:
    """Number of the last cycle of a product on a systolic array, counted from zero.

    F folds of T + R + C - 2 cycles (``os``) or T + 2 R + C - 2 (``ws``, ``is``), minus
    one. With ``overlap`` a second register in each cell hides the next tile's way in
    (or the last sums' way out) behind the running fold: folds then begin max(T, R)
    cycles apart, and only the last one's skew is seen.

    Parameters
    ----------
    m, n, k : int
        The product: m x k activations by k x n weights.
    rows, cols : int
        Multipliers of the array.
    dataflow : str
        What stands still: ``os`` sums, ``ws`` weights, ``is`` activations.
    overlap : bool
        Whether a fold begins while the one before it runs.

    Returns
    -------
    int
        SCALE-Sim's *Total Cycles*: one less than the cycles that pass.

    Raises
    ------
    ValueError
        For a size that is no whole number from 1.
    UnknownName
        For another dataflow.

    References
    ----------
    SCALE-Sim 3.0.0, PyPI, compute report of a layer with unlimited bandwidth.

    Examples
    --------
    >>> cycles(m=512, n=512, k=512, rows=32, cols=32, dataflow="os")
    146943
    >>> cycles(m=4, n=4, k=4, rows=4, cols=4)
    9
    """
    cut = folds(m=m, n=n, k=k, rows=rows, cols=cols, dataflow=dataflow)
    apart = cut.apart if overlapping(overlap) else cut.fold
    return (cut.count - 1) * apart + cut.fold - 1


def utilisation(
    *,
    m: int,
    n: int,
    k: int,
    rows: int,
    cols: int,
    dataflow: str = "os",
    overlap: bool = False,
) -> float:
    """Share of an array's multiply-adds that a product uses: M N K / (R C cycles).

    SCALE-Sim's *Overall Util*, with the number of the last cycle below the line. On an
    array of a single multiplier that would be more than all; here it is all.

    Parameters
    ----------
    m, n, k : int
        The product: m x k activations by k x n weights.
    rows, cols : int
        Multipliers of the array.
    dataflow : str
        What stands still: ``os`` sums, ``ws`` weights, ``is`` activations.
    overlap : bool
        Whether a fold begins while the one before it runs.

    Returns
    -------
    float
        From above 0 to 1.

    Raises
    ------
    ValueError
        For a size that is no whole number from 1.
    UnknownName
        For another dataflow.

    Examples
    --------
    >>> round(utilisation(m=512, n=512, k=512, rows=32, cols=32, dataflow="ws"), 3)
    0.845
    """
    size = {"m": m, "n": n, "k": k, "rows": rows, "cols": cols}
    last = cycles(**size, dataflow=dataflow, overlap=overlap)
    used = int(m) * int(n) * int(k)
    return used / max(used, last * int(rows) * int(cols))


def sram_reads(
    *,
    m: int,
    n: int,
    k: int,
    rows: int,
    cols: int,
    dataflow: str = "os",
    overlap: bool = False,
) -> Reads:
    """Numbers that an array reads from the memories beside it for a product.

    What stands still is read once; what streams, once for each tile it has to pass.

    Parameters
    ----------
    m, n, k : int
        The product: m x k activations by k x n weights.
    rows, cols : int
        Multipliers of the array.
    dataflow : str
        What stands still: ``os`` sums, ``ws`` weights, ``is`` activations.
    overlap : bool
        As ``cycles`` takes it: the same numbers are read, only earlier.

    Returns
    -------
    Reads
        Activations and weights, in numbers; SCALE-Sim's *IFMAP* and *FILTER SRAM
        Reads*.

    Raises
    ------
    ValueError
        For a size that is no whole number from 1.
    UnknownName
        For another dataflow.

    Examples
    --------
    >>> sram_reads(m=1, n=256, k=256, rows=128, cols=128, dataflow="ws")
    Reads(activations=512, weights=65536)
    """
    cut = folds(m=m, n=n, k=k, rows=rows, cols=cols, dataflow=dataflow)
    overlapping(overlap)
    # A tile along A meets its part of what streams once for each tile across.
    standing = cut.along * cut.beside
    past_rows = cut.along * cut.streamed * cut.across
    if cut.dataflow == "ws":
        return Reads(past_rows, standing)
    if cut.dataflow == "is":
        return Reads(standing, past_rows)
    return Reads(past_rows, cut.beside * cut.streamed * cut.down)
