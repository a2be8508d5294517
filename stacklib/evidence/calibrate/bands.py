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

from stacklib.hardware.errors import BANDS, nearest

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


Tried = tuple[list[Miss], float, float]  # rows, which share of them, how much wider


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


def left_out(
    rows: Sequence[Miss],
    share: float,
    wider: float = 1.0,
    among: Sequence[Miss] | None = None,
) -> float:
    """Share of rows that bands of other sources, or devices, hold: the less.

    Groups that leave too few others for a band are no test; nan where none is one.

    - ``among``: rows of a wider cell, of whose others the bands are made
    """
    found = []
    for by in BY:
        groups = {group_of(m.case, by) for m in rows}
        if len(groups) < 2 and among is None:
            continue
        held = tested = 0
        for group in groups:
            mine = [m for m in rows if group_of(m.case, by) == group]
            all_of = rows if among is None else among
            others = [m for m in all_of if group_of(m.case, by) != group]
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
    """The file of bands: a line a cell that has enough rows.

    A cell whose band had to be stretched is left to the wider cell that holds it, where
    that was of no use, or where the wider one's is narrower and holds enough of its
    rows by others' alone.
    """
    table = []
    known: dict[str, Tried] = {}
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
        above = known.get(nearest(cell.rpartition("/")[0], known))
        if wider > 1 and above and (inside < LEAST or _held_by(above, mine, ends)):
            continue
        known[cell] = mine, share, wider
        errors = [m.error for m in mine]
        numbers = (*ends, quantile(errors, 0.5), quantile(errors, 0.9))
        groups = (len({group_of(m.case, by) for m in mine}) for by in BY)
        counts = (len(mine), *groups)
        texts = (*(f"{x:.4g}" for x in numbers), *map(str, counts), f"{inside:.3g}")
        table.append((cell, *texts))
    return table


def _held_by(
    above: tuple[list[Miss], float, float], mine: list[Miss], own: Ends
) -> bool:
    low, high = interval(*above)
    enough = left_out(mine, *above[1:], above[0]) >= LEAST
    return enough and high / low <= own[1] / own[0]


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
