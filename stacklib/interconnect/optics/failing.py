"""Parts that fail and are replaced: how many a day, and what stands still meanwhile.

*FIT* is failures in 1e9 hours of one part. A part works for a time that is distributed
exponentially, then its ports are out until it is replaced: an alternating process whose
failures come at the rate l / (1 + l r) for a failure rate l and a repair of r hours. A
module that is pulled while the rest goes on takes its own port; a part that is
soldered to a switch takes all the switch's ports for as long as the switch is changed.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Sequence
from dataclasses import dataclass

from stacklib.quantity.bounds import above_zero, at_least, whole

HOURS, BILLION = 24, 1e9


@dataclass(frozen=True, slots=True)
class Part:
    """Equal parts of a fleet."""

    name: str
    count: int
    fit: float  # failures in 1e9 hours, of one
    ports: int = 1  # out of service while one is replaced
    repair: float = 0.0  # hours

    def __post_init__(self) -> None:
        whole(**{f"count of {self.name}": self.count})
        whole(**{f"ports of {self.name}": self.ports})
        at_least(
            0,
            **{f"fit of {self.name}": self.fit, f"repair of {self.name}": self.repair},
        )

    @property
    def rate(self) -> float:
        """Failures an hour of one part, the time in repair counted."""
        each = self.fit / BILLION
        return each / (1 + each * self.repair)


@dataclass(frozen=True, slots=True)
class Days:
    """What so many days brought, or bring in the mean."""

    failures: float
    port_hours: float  # ports out of service, times hours


def failures_a_day(count: float, fit: float) -> float:
    """Failures a day of so many parts, repair at once."""
    at_least(0, count=count, fit=fit)
    return count * fit / BILLION * HOURS


def fit_of(failures: float, count: float, hours: float) -> float:
    """FIT that so many failures of so many parts in so many hours come to."""
    at_least(0, failures=failures)
    above_zero(count=count, hours=hours)
    return failures / count / hours * BILLION


def expected(parts: Sequence[Part], days: float) -> Days:
    """Failures and lost hours of ports in the mean, in closed form."""
    above_zero(days=days)
    each = [part.count * part.rate * days * HOURS for part in parts]
    lost = (n * part.ports * part.repair for n, part in zip(each, parts, strict=True))
    return Days(sum(each), sum(lost))


def run_failures(parts: Sequence[Part], days: float, *, seed: int = 0) -> Days:
    """The same event by event: each part fails, is replaced, and fails again."""
    above_zero(days=days)
    draw, end = random.Random(seed), days * HOURS
    events: list[tuple[float, int]] = []  # hour of the next failure, kind of part
    for kind, part in enumerate(parts):
        if part.fit:
            for _ in range(part.count):
                first = draw.expovariate(part.fit / BILLION)
                if first < end:
                    events.append((first, kind))
    heapq.heapify(events)
    failures, lost = 0, 0.0
    while events:
        hour, kind = heapq.heappop(events)
        part = parts[kind]
        failures += 1
        back = hour + part.repair
        lost += part.ports * (min(back, end) - hour)
        again = back + draw.expovariate(part.fit / BILLION)
        if again < end:
            heapq.heappush(events, (again, kind))
    return Days(failures, lost)
