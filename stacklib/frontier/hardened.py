"""Paper, circuit, use: seven techniques with the months between.

A paper is the first that we know to describe it; a chip has the month in which it was
announced and the month in which somebody could buy it, which may never come; a use is a
program or a model at full size that one can read about. What was announced is in
nobody's hands yet.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Hardened:
    """A technique: when a paper, a chip and a program at full size had it.

    - dates: year and month; ``shipped`` is empty where it never was
    """

    technique: str
    paper: str
    paper_date: str
    paper_source: str
    chip: str
    announced: str
    shipped: str
    chip_source: str
    use: str
    use_date: str
    use_source: str

    @property
    def lead(self) -> int:
        """Months from the paper to the announcement of the chip."""
        return _months(self.announced) - _months(self.paper_date)

    def waited(self, until: str = "") -> int:
        """Months from the announcement to the use or a date; below 0 before it."""
        return _months(until or self.use_date) - _months(self.announced)

    @property
    def first(self) -> str:
        """Which was there first: the circuit, or a program at full size."""
        return "hardware" if self.waited() > 0 else "software"


def _months(date: str) -> int:
    year, month = date.split("-")
    return 12 * int(year) + int(month)


@cache
def hardening() -> tuple[Hardened, ...]:
    """Techniques and the circuits for them, with the months between.

    Examples
    --------
    >>> fp4 = next(row for row in hardening() if row.technique == "FP4 training")
    >>> fp4.lead, fp4.first, fp4.waited()
    (39, 'hardware', 18)
    """
    path = Path(__file__).parent / "data" / "hardening.csv"
    with path.open(encoding="utf-8", newline="") as lines:
        return tuple(Hardened(**row) for row in csv.DictReader(lines))
