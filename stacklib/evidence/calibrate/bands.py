"""A band for each cell of rows, from the errors of rows that no fit had seen.

Of every fold that left a row out (by source, by device, by each word of its cell) the
worst prediction counts, to both sides. The band of a cell holds nine in ten of its rows
by order statistics (S. S. Wilks 1941: of n rows, the share between the k-th from below
and the k-th from above is 1 - 2k/(n + 1) on average, whatever they are like). It is
widened until it also holds ``LEAST`` of the rows of each source and each device by the
others' rows alone.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from stacklib.hardware.errors import BANDS

from ..validate import quantile
from .folds import BY, group_of
from .problem import Case

ROWS = 19  # of a cell with a band, at the least: 1 - 2 / (19 + 1) is nine in ten
TINY = 1e-9  # of a log: an end is itself a row
LEAST = 0.88
# Of a cell's rows, and how much wider than these say; the first that is enough.
TRIED = (
    *((share, 1.0) for share in (0.9, 0.92, 0.94, 0.96, 0.98)),
    *((0.98, wider) for wider in (1.25, 1.5, 2.0, 3.0)),
)
STRETCHED = 4  # of them
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


def interval(rows: Sequence[Miss], share: float, wider: float = 1.0) -> Ends:
    """Factors on a predicted time that hold a share of rows like these.

    As many are left beyond each end; of few rows, one of them is the end.
    """
    beyond = max(1, math.floor((len(rows) + 1) * (1 - share) / 2))
    low = sorted(m.low for m in rows)[beyond - 1]
    high = sorted(m.high for m in rows)[-beyond]
    more = (wider - 1) * (high - low) / 2
    return math.exp(low - more), math.exp(high + more)


def holds(rows: Sequence[Miss], ends: Ends) -> int:
    """How many rows lie between both ends."""
    low, high = (math.log(end) for end in ends)
    return sum(low - TINY <= m.low and m.high <= high + TINY for m in rows)


def left_out(rows: Sequence[Miss], share: float, wider: float = 1.0) -> float:
    """Share of rows that bands of other sources, or devices, hold: the less.

    Groups that leave too few others for a band are no test; nan where none is one.
    """
    found = []
    for by in BY:
        groups = {group_of(m.case, by) for m in rows}
        if len(groups) < 2:
            continue
        held = tested = 0
        for group in groups:
            mine = [m for m in rows if group_of(m.case, by) == group]
            others = [m for m in rows if group_of(m.case, by) != group]
            if len(others) >= ROWS:
                held += holds(mine, interval(others, share, wider))
                tested += len(mine)
        if tested:
            found.append(held / tested)
    return min(found, default=math.nan)


def cells(rows: Iterable[Miss]) -> dict[str, list[Miss]]:
    """Rows of each cell and of each wider one, in the order of their names."""
    found: dict[str, list[Miss]] = {}
    for miss in rows:
        parts = miss.case.cell.split("/")
        for length in range(1, len(parts) + 1):
            found.setdefault("/".join(parts[:length]), []).append(miss)
    return dict(sorted(found.items()))


def band_rows(rows: Iterable[Miss]) -> list[tuple[str, ...]]:
    """The file of bands: a line a cell that has enough rows."""
    table = []
    for cell, mine in cells(rows).items():
        if len(mine) < ROWS:
            continue
        # A family mixes what its cells part: it is no wider than most of its rows.
        for share, wider in TRIED if "/" in cell else TRIED[:-STRETCHED]:
            ends, inside = interval(mine, share, wider), left_out(mine, share, wider)
            if not inside < LEAST:
                break
        if math.isnan(inside) and cell.count("/") > 1:
            continue  # nobody else's rows test it: the wider cell's is taken
        errors = [m.error for m in mine]
        numbers = (*ends, quantile(errors, 0.5), quantile(errors, 0.9))
        groups = (len({group_of(m.case, by) for m in mine}) for by in BY)
        counts = (len(mine), *groups)
        texts = (*(f"{x:.4g}" for x in numbers), *map(str, counts), f"{inside:.3g}")
        table.append((cell, *texts))
    return table


def text(rows: Iterable[Miss], others: Iterable[Sequence[str]] = ()) -> str:
    """The file as CSV, with the lines of ``others``, in the order of the cells."""
    found = io.StringIO()
    writer = csv.writer(found, lineterminator="\n")
    writer.writerow(BANDS)
    writer.writerows(sorted([*map(tuple, others), *band_rows(rows)]))
    return found.getvalue()
