"""A build that was planned: its bill, what it runs, and what would prove it wrong."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date as day
from math import log10
from typing import Any

from stacklib.cost.catalogue import Component

from .ailments import LINKS
from .build import Build
from .splits import Speed, named


@dataclass(frozen=True, slots=True)
class Excluded:
    """The next cheaper part, and what it breaks."""

    part: str
    saves: float  # dollars
    rule: str
    sum: str


@dataclass(frozen=True, slots=True)
class Planned(Build):
    """A build with its bill, what it draws, what it runs, and what would disprove it.

    - ``bill``: part and dollars
    - ``runs``: a ``Speed`` for each workload, by the faster split
    - ``watts``: from the wall while it decodes; ``room``: degrees Celsius of a closed
      room after the hours; ``left``: share of the speed that is left then
    - ``excluded``: the next cheaper part and the rule that it breaks
    - ``commands``: what to run, and what it should print
    """

    bill: tuple[tuple[str, float], ...] = ()
    runs: tuple[Speed, ...] = ()
    watts: float = 0.0
    room: float = 0.0
    left: float = 1.0
    excluded: Excluded | None = None
    commands: tuple[str, ...] = ()

    @property
    def total(self) -> float:
        """Dollars of the bill."""
        return sum(dollars for _, dollars in self.bill)


def loudness(parts: Sequence[Component]) -> float:
    """dBA of parts together: their powers add, their decibels do not."""
    return 10 * log10(sum(10 ** (part["noise"] / 10) for part in parts))


def checked(date: str | None) -> None:
    """Raise ValueError for a date that is none."""
    if date is None:
        return
    try:
        if not re.fullmatch(r"\d{4}(-\d\d){0,2}", date):
            raise ValueError
        day.fromisoformat(date + "-01" * (2 - date.count("-")))
    except (TypeError, ValueError):
        words = "write it as 2025, 2025-10 or 2025-10-31"
        raise ValueError(f"date = {date!r}: {words}") from None


def price(part: Component, date: str | None) -> float | None:
    """The newest price up to a date, the highest of its day; None where none is."""
    quotes = [q for q in part.quotes if date is None or q.date[: len(date)] <= date]
    if not quotes:
        return None
    newest = quotes[-1].date
    return max(float(q.value.si) for q in quotes if q.date == newest)


def shown_as(value: Any) -> str:
    """The name of a part, and how many."""
    parts = value if isinstance(value, tuple) else (value,)
    times = f"{len(parts)} x " if len(parts) > 1 else ""
    return times + str(parts[0].name)


def commands(vendor: str, runs: Sequence[Speed], context: int) -> tuple[str, ...]:
    """What to run on the machine, and what it should print."""
    found = [LINKS if vendor == "NVIDIA" else "sudo lspci -vv   # LnkSta as LnkCap"]
    for run in runs:
        model, kept = named(run.model)
        mode = "layer" if run.split == "layers" else "tensor"
        found.append(
            f"llama-bench -m {model}-{kept or 'bf16'}.gguf -sm {mode} -p 512 -n 128 "
            f"-d {context}   # tg128 between {run.low:.3g} and {run.high:.3g}"
        )
    return tuple(found)
