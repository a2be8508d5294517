"""A band for each cell of rows, from the errors of rows that no fit had seen.

Of every fold that left a row out (by source, by device, by each word of its cell) the
worst prediction counts, to both sides. Between two rows of a cell lie nine in ten of
them by order statistics (S. S. Wilks 1941: of n rows, the share between the k-th from
below and the k-th from above is 1 - 2k/(n + 1) on average, whatever they are like), if
they have nothing in common. Those of one source have. So each source's rows, and each
device's, are held to the interval of the others' alone, and both ends are moved out by
what nine in ten of them lie beyond it at most (Y. Romano, E. Patterson, E. Candes 2019,
arXiv 1905.03222, with groups for single rows), rows of one source on one device counted
as a fit counts them: n as the square root of n.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from stacklib.hardware.errors import BANDS, nearest

from ..validate import quantile
from .folds import BY, group_of
from .problem import Case, weights

SHARE = 0.9
ROWS = 19  # of a cell with a band, at the least: 1 - 2 / (19 + 1) is nine in ten
TINY = 1e-9  # of a log: an end is itself a row
LEAST = 0.88
Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Miss:
    """How far a row is from its predictions: logs of measured over predicted time."""

    case: Case
    low: float  # by the slowest prediction
    high: float  # by the quickest

    @property
    def error(self) -> float:
        """The larger relative error, as families are scored."""
        ways = (-1, 1)[self.case.rate]
        return max(abs(math.exp(ways * end) - 1) for end in (self.low, self.high))


def misses(
    cases: Iterable[Case], least: Mapping[str, float], most: Mapping[str, float]
) -> list[Miss]:
    """Rows by the smallest and the largest value that a fold predicts for them."""
    found = []
    for case in cases:
        if case.id in least and not case.read_back:
            worst = least[case.id], most[case.id]
            ends = (math.log(case.measured / value) for value in worst)
            found.append(Miss(case, *sorted(-x if case.rate else x for x in ends)))
    return found


def interval(rows: Sequence[Miss], more: float = 0.0) -> Ends:
    """Factors on a predicted time that hold nine in ten rows like these.

    As many are left beyond each end; of few rows, one of them is the end.

    - ``more``: of a log, by which both ends are moved out
    """
    beyond = max(1, math.floor((len(rows) + 1) * (1 - SHARE) / 2 + TINY))
    low = sorted(m.low for m in rows)[beyond - 1]
    high = sorted(m.high for m in rows)[-beyond]
    return math.exp(low - more), math.exp(high + more)


def holds(rows: Sequence[Miss], ends: Ends) -> int:
    """How many rows lie between both ends."""
    low, high = (math.log(end) for end in ends)
    return sum(low - TINY <= m.low and m.high <= high + TINY for m in rows)


def beyond(rows: Sequence[Miss], by: str) -> list[tuple[Miss, float]]:
    """How far each row lies beyond the interval of the other sources, or devices.

    As a log, below zero inside. Rows whose group leaves too few others are no test.
    """
    found = []
    for group in dict.fromkeys(group_of(m.case, by) for m in rows):
        others = [m for m in rows if group_of(m.case, by) != group]
        if len(others) < ROWS:
            continue
        low, high = map(math.log, interval(others))
        for miss in rows:
            if group_of(miss.case, by) == group:
                found.append((miss, max(low - miss.low, miss.high - high)))
    return found


def reach(tested: Sequence[tuple[Miss, float]]) -> float:
    """What nine in ten rows of a source not yet seen lie beyond at most; zero inside.

    Rows count as a fit counts them, and the row that is to come as one more of the mean
    weight. Of rows one by one ``LEAST`` is held: else many small sources leave too much
    of a large one outside.
    """
    far = [far for _, far in tested]
    fitted = weights([miss.case for miss, _ in tested])
    plain = [1 / len(far)] * len(far)
    ends = [0.0]
    for each, share in ((fitted, SHARE), (plain, LEAST)):
        wanted = share * (1 + 1 / len(far)) - TINY
        found = sorted(zip(far, each, strict=True))
        short = sum(held < wanted for held in accumulate(weight for _, weight in found))
        ends.append(found[min(short, len(found) - 1)][0])
    return max(ends)


def widening(rows: Sequence[Miss]) -> tuple[float, float] | None:
    """By how much a cell's interval is widened, and which share it then holds.

    The more of both ways, and of rows left out the less. A way counts that tries most
    of the rows; where none does, one that tries most sources, or devices. None for a
    cell that nobody else's rows try: it has no band.
    """
    tried = {by: found for by in BY if (found := beyond(rows, by))}
    most = {by: found for by, found in tried.items() if 2 * len(found) >= len(rows)}
    ways = most or {
        by: found
        for by, found in tried.items()
        if 2 * _groups((m for m, _ in found), by) >= _groups(rows, by)
    }
    if not ways:
        return None
    more = max(map(reach, ways.values()))
    return more, min(
        sum(far <= more + TINY for _, far in found) / len(found)
        for found in ways.values()
    )


def _groups(rows: Iterable[Miss], by: str) -> int:
    return len({group_of(m.case, by) for m in rows})


def cells(rows: Iterable[Miss]) -> dict[str, list[Miss]]:
    """Rows of each cell and of each wider one, in the order of their names."""
    found: dict[str, list[Miss]] = {}
    for miss in rows:
        parts = miss.case.cell.split("/")
        for length in range(1, len(parts) + 1):
            found.setdefault("/".join(parts[:length]), []).append(miss)
    return dict(sorted(found.items()))


def band_rows(rows: Iterable[Miss]) -> list[tuple[str, ...]]:
    """The file of bands: a line a cell whose rows are enough, and try it."""
    table = []
    for cell, mine in cells(rows).items():
        if len(mine) < ROWS or (found := widening(mine)) is None:
            continue
        more, inside = found
        errors = [m.error for m in mine]
        numbers = (*interval(mine, more), quantile(errors, 0.5), quantile(errors, 0.9))
        counts = (len(mine), *(_groups(mine, by) for by in BY))
        texts = (*(f"{x:.4g}" for x in numbers), *map(str, counts), f"{inside:.3g}")
        table.append((cell, *texts))
    return table


def never_seen(rows: Sequence[Miss], by: str) -> tuple[int, int]:
    """Rows of one family that others' bands hold, and how many these are tried on.

    Each group's rows are held to the bands that the other groups make alone, each row
    to that of its own cell, as a reader of a new source or device would have it.
    """
    held = tried = 0
    for group in {group_of(m.case, by) for m in rows}:
        others = [m for m in rows if group_of(m.case, by) != group]
        table = {row[0]: (float(row[1]), float(row[2])) for row in band_rows(others)}
        for miss in rows:
            if group_of(miss.case, by) != group:
                continue
            if cell := nearest(miss.case.cell, table):
                held += holds([miss], table[cell])
                tried += 1
    return held, tried


def text(rows: Iterable[Miss], others: Iterable[Sequence[str]] = ()) -> str:
    """The file as CSV, with the lines of ``others``, in the order of the cells."""
    found = io.StringIO()
    writer = csv.writer(found, lineterminator="\n")
    writer.writerow(BANDS)
    writer.writerows(sorted([*map(tuple, others), *band_rows(rows)]))
    return found.getvalue()
