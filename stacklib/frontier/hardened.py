"""What came first, the program or the circuit: seven techniques with their dates.

A date is that of the first paper or release, or of the announcement of the chip: what
was announced is in nobody's hands yet. Months may be negative: then the circuit waited
for somebody to use it.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Hardened:
    """A technique: when a program had it, and when a chip."""

    technique: str
    software: str
    software_date: str  # year and month
    software_source: str
    hardware: str
    hardware_date: str
    hardware_source: str

    @property
    def months(self) -> int:
        """From the program to the chip."""
        return _months(self.hardware_date) - _months(self.software_date)

    @property
    def first(self) -> str:
        """Which of the two was there first."""
        return "software" if self.months > 0 else "hardware"


def _months(date: str) -> int:
    year, month = date.split("-")
    return 12 * int(year) + int(month)


@cache
def hardening() -> tuple[Hardened, ...]:
    """Techniques and the circuits for them, with the months between.

    Examples
    --------
    >>> fp4 = next(row for row in hardening() if row.technique == "FP4 training")
    >>> fp4.first, fp4.months
    ('hardware', -18)
    """
    path = Path(__file__).parent / "data" / "hardening.csv"
    with path.open(encoding="utf-8", newline="") as lines:
        return tuple(Hardened(**row) for row in csv.DictReader(lines))
