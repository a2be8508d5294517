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

ROWS = 19  # of a cell with a band, at the least, of two devices: 1 - 2/20 is the share
TINY = 1e-9  # of a log: an end is itself a row
LEAST = 0.88
SHARES = (0.9, 0.92, 0.94, 0.96, 0.98)  # of a cell's rows; the first that is enough
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


def interval(rows: Sequence[Miss], share: float) -> Ends:
    """Factors on a predicted time that hold a share of rows like these.

    As many are left beyond each end; of few rows, one of them is the end.
    """
    beyond = max(1, math.floor((len(rows) + 1) * (1 - share) / 2))
    low = sorted(m.low for m in rows)[beyond - 1]
    high = sorted(m.high for m in rows)[-beyond]
    return math.exp(low), math.exp(high)


def holds(rows: Sequence[Miss], ends: Ends) -> int:
    """How many rows lie between both ends."""
    low, high = (math.log(end) for end in ends)
    return sum(low - TINY <= m.low and m.high <= high + TINY for m in rows)


def left_out(rows: Sequence[Miss], share: float) -> float:
    """Share of rows that bands of other sources, or devices, hold: the less."""
    found = []
    for by in BY:
        groups = {group_of(m.case, by) for m in rows}
        if len(groups) < 2:
            continue
        held = 0
        for group in groups:
            mine = [m for m in rows if group_of(m.case, by) == group]
            others = [m for m in rows if group_of(m.case, by) != group]
            held += holds(mine, interval(others, share))
        found.append(held / len(rows))
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
        devices = {m.case.device for m in mine}
        if len(mine) < ROWS or len(devices) < 2:
            continue
        for share in SHARES:
            ends, inside = interval(mine, share), left_out(mine, share)
            if inside >= LEAST:
                break
        errors = [m.error for m in mine]
        numbers = (*ends, quantile(errors, 0.5), quantile(errors, 0.9))
        counts = (len(mine), len({m.case.source for m in mine}), len(devices))
        texts = (*(f"{x:.4g}" for x in numbers), *map(str, counts), f"{inside:.3g}")
        table.append((cell, *texts))
    return table


def text(rows: Iterable[Miss]) -> str:
    """The file as CSV."""
    found = io.StringIO()
    writer = csv.writer(found, lineterminator="\n")
    writer.writerow(BANDS)
    writer.writerows(band_rows(rows))
    return found.getvalue()
