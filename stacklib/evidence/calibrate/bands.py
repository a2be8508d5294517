"""A band for each cell of rows, from the errors of rows that no fit had seen.

Of every fold that left a row out (by source, by device, by each word of its cell) the
worst prediction counts, to both sides, and of rows that came later the one that was
made before anybody knew them: a model mended by what they showed has seen them. Between
two rows of a cell lie nine in ten of them by order statistics (S. S. Wilks 1941: of n
rows, the share between the k-th from below and the k-th from above is 1 - 2k/(n + 1) on
average, whatever they are like), if they have nothing in common. Those of one source
have. So each source's rows, and each device's, are held to the interval of the others'
alone, and both ends are moved out by what nine in ten of them lie beyond it at most (Y.
Romano, E. Patterson, E. Candes 2019, arXiv 1905.03222, with groups for single rows),
rows of one source on one device counted as a fit counts them, n as the square root of
n; and, where programs do not decide, each source as one: who comes next is drawn from
sources.
"""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from stacklib import hardware
from stacklib.hardware.errors import BANDS, SOFTWARE, WIDEST, nearest, silicon

from ..validate import quantile
from .folds import BY, group_of
from .problem import Case, weights

SHARE = 0.9
ROWS = 19  # of a cell with a band, at the least: 1 - 2 / (19 + 1) is nine in ten
MORE = 1.25  # times as wide as others make it that a band of programs is at most
FEW = 5  # rows that can speak against a wider cell's band
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
    of a large one outside. Of several sources the next one counts as much as each.
    """
    far, cases = [far for _, far in tested], [miss.case for miss, _ in tested]
    of = Counter(case.source for case in cases)
    plain, one = [1 / len(far)] * len(far), [1 / len(of) / of[c.source] for c in cases]
    ways = [(weights(cases), SHARE, len(far)), (plain, LEAST, len(far))]
    if len(of) > 1 and cases[0].family not in SOFTWARE:
        ways.append((one, SHARE, len(of)))
    ends = [0.0]
    for each, share, known in ways:
        wanted = share * (1 + 1 / known) - TINY
        found = sorted(zip(far, each, strict=True))
        short = sum(held < wanted for held in accumulate(weight for _, weight in found))
        ends.append(found[min(short, len(found) - 1)][0])
    return max(ends)


def widening(rows: Sequence[Miss]) -> tuple[float, float] | None:
    """By how much a cell's interval is widened, and which share it then holds.

    The more of both ways, and of rows left out the less. A way counts that tries most
    of the rows; where none does, or where software decides, one that tries most
    sources, or devices. None for a cell that nobody else's rows try: it has no band.
    """
    tried = {by: found for by in BY if (found := beyond(rows, by))}
    most = {by: found for by, found in tried.items() if 2 * len(found) >= len(rows)}
    if not most or rows[0].case.family in SOFTWARE:
        most |= {
            by: found
            for by, found in tried.items()
            if 2 * _groups((m for m, _ in found), by) >= _groups(rows, by)
        }
    if not most:
        return None
    more = max(map(reach, most.values()))
    return more, min(
        sum(far <= more + TINY for _, far in found) / len(found)
        for found in most.values()
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


def needed(rows: Sequence[Miss]) -> list[list[float]]:
    """How many times as wide the band that others make had to be to hold each row.

    In logs from its middle; by source and by device, where there are ``FEW`` or more.
    """
    ways = []
    for by in BY:
        found, groups = [], 0
        for group in {group_of(m.case, by) for m in rows}:
            others = [m for m in rows if group_of(m.case, by) != group]
            if len(others) >= ROWS and (known := widening(others)) is not None:
                low, high = map(math.log, interval(others, known[0]))
                middle, half, groups = (low + high) / 2, (high - low) / 2, groups + 1
                mine = (m for m in rows if group_of(m.case, by) == group)
                found += [max(middle - m.low, m.high - middle) / half for m in mine]
        if groups >= FEW:
            ways.append(found)
    return ways


def whole(rows: Sequence[Miss]) -> tuple[float, float]:
    """Times as wide that the others' bands hold ``LEAST`` of rows, and what they hold.

    The less of both ways of ``needed``; once where it had to be over ``MORE``.
    """
    ways, times = needed(rows), 1.0
    for found in ways:
        enough = sorted(found)[math.ceil(LEAST * len(found)) - 1] + TINY
        times = max(times, enough) if enough <= MORE else times
    held = (sum(x <= times + TINY for x in found) / len(found) for found in ways)
    return times, min(held, default=1.0)


def band_rows(rows: Iterable[Miss], strict: bool = True) -> list[tuple[str, ...]]:
    """The file of bands: a line a cell whose rows are enough and try it, or, where
    software decides, are few and speak against that of the wider cell. That one stands
    for a cell whose own says nothing, if it holds its rows.

    - ``strict``: where software decides, a band is printed only if its making, done
      without a source or a device, holds theirs (``whole``)
    """
    table: dict[str, tuple[str, ...]] = {}
    for cell, mine in cells(rows).items():
        found = widening(mine) if len(mine) >= ROWS else None
        told, wider = _ends_of(table), nearest(cell, table)
        ends: Ends | None = None
        if found is not None:
            more, inside = found
            low, high = interval(mine, more)
            if strict and mine[0].case.family in SOFTWARE:
                times, held = whole(mine)
                inside = min(inside, held)
                low, high = _stretched((low, high), times)
            if inside >= LEAST and high <= WIDEST * low:
                ends = low, high
        elif (
            mine[0].case.family not in SOFTWARE or len(mine) < FEW or wider not in told
        ):
            continue
        if ends is None and wider in told and (found is None or inside >= LEAST):
            inside = holds(mine, told[wider]) / len(mine)
            if inside >= LEAST:
                continue
        table[cell] = _line(cell, mine, ends, inside)
    return list(table.values())


def _stretched(ends: Ends, times: float) -> Ends:
    """Ends as many times as far from their middle, in logs."""
    middle = math.sqrt(ends[0] * ends[1])
    low, high = (middle * (end / middle) ** times for end in ends)
    return low, high


def _line(
    cell: str, rows: Sequence[Miss], ends: Ends | None, inside: float
) -> tuple[str, ...]:
    """A line of the file; without ends where a band does not hold."""
    errors = [m.error for m in rows]
    told = ("", "") if ends is None else tuple(f"{x:.4g}" for x in ends)
    both = (f"{quantile(errors, share):.4g}" for share in (0.5, 0.9))
    counts = (str(n) for n in (len(rows), *(_groups(rows, by) for by in BY)))
    ran = sorted({kind for m in rows if (kind := kind_of(m.case.device))})
    return (cell, *told, *both, *counts, f"{inside:.3g}", ";".join(ran))


@cache
def kind_of(device: str) -> str:
    """The kind of silicon of a row's device; empty where it names none."""
    known = device in hardware.names()
    return silicon(hardware.get(device)) if known else ""


def _ends_of(table: Mapping[str, Sequence[str]]) -> dict[str, Ends]:
    """Ends by cell, of those lines that have them."""
    told = ((cell, line[1:3]) for cell, line in table.items())
    return {cell: (float(a), float(b)) for cell, (a, b) in told if a}


def never_seen(rows: Sequence[Miss], by: str) -> tuple[int, int]:
    """Rows of one family that others' bands hold, and how many these are tried on.

    Each group's rows are held to the bands that the other groups make alone, each row
    to that of its own cell, as a reader of a new source or device would have it.
    """
    held = tried = 0
    for group in {group_of(m.case, by) for m in rows}:
        others = [m for m in rows if group_of(m.case, by) != group]
        table = {row[0]: row for row in band_rows(others, strict=False)}
        told = _ends_of(table)
        for miss in rows:
            cell = nearest(miss.case.cell, table)
            if group_of(miss.case, by) != group or cell not in told:
                continue
            if miss.case.family in SOFTWARE and not _ran(miss, table[cell]):
                continue
            held += holds([miss], told[cell])
            tried += 1
    return held, tried


def _ran(miss: Miss, line: Sequence[str]) -> bool:
    """Whether a line's rows ran on a row's kind of silicon."""
    return kind_of(miss.case.device) in line[-1].split(";")


def text(rows: Iterable[Miss], others: Iterable[Sequence[str]] = ()) -> str:
    """The file as CSV, with the lines of ``others``, in the order of the cells."""
    found = io.StringIO()
    writer = csv.writer(found, lineterminator="\n")
    writer.writerow(BANDS)
    writer.writerows(sorted([*map(tuple, others), *band_rows(rows)]))
    return found.getvalue()
