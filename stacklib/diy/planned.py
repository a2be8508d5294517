"""A build that was planned: its bill, what it runs, and what would prove it wrong."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date as day
from math import inf, log10
from typing import Any, NamedTuple

from .ailments import COMMANDS
from .build import Build
from .splits import Speed, named

SOUNDING = ("gpus", "cooling", "psu", "case")  # fields whose parts may have a fan


class Noise(NamedTuple):
    """Levels of parts a metre away, in dBA, and the parts of which none is known.

    Their powers add, not their decibels; a level falls with the square of the distance.
    Left out: a closed case, a tone, fans that turn slower under less work.
    """

    levels: tuple[float, ...]
    untold: tuple[str, ...]

    @property
    def dba(self) -> float:
        """Of all that tell one together: the least that the build has."""
        power = sum(10 ** (level / 10) for level in self.levels)
        return 10 * log10(power) if power else -inf

    def __str__(self) -> str:
        if not self.levels:
            return f"unknown: nobody tells a level of {', '.join(self.untold)}"
        shown = " + ".join(f"10^{level / 10:.3g}" for level in self.levels)
        text = f"10 lg({shown}) = {self.dba:.1f} dBA a metre away"
        rest = f", without {', '.join(self.untold)}" if self.untold else ""
        return f"at least {text}{rest}" if rest else text


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

    @property
    def noise(self) -> Noise:
        """Of its parts together, as far as their levels are known."""
        return noise_of(self)


def noise_of(build: Build, fields: Sequence[str] = SOUNDING) -> Noise:
    """The noise of a build's parts, or of those in some fields."""
    values = [getattr(build, field) for field in fields]
    parts = [p for v in values for p in (v if isinstance(v, tuple) else (v,))]
    told = [part for part in parts if {"noise", "noise_at"} <= {*part.values}]
    levels = tuple(part["noise"] + 20 * log10(part["noise_at"]) for part in told)
    untold = dict.fromkeys(part.name for part in parts if part not in told)
    return Noise(levels, tuple(untold))


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


def shown_as(value: Any) -> str:
    """The name of a part, and how many."""
    parts = value if isinstance(value, tuple) else (value,)
    times = f"{len(parts)} x " if len(parts) > 1 else ""
    return times + str(parts[0].name)


def commands(vendor: str, runs: Sequence[Speed], context: int) -> tuple[str, ...]:
    """What to run on the machine, and what it should print."""
    other = "sudo lspci -vv   # LnkSta as LnkCap"
    found = [COMMANDS["links"] if vendor == "NVIDIA" else other]
    for run in runs:
        model, kept = named(run.model)
        mode = "layer" if run.split == "layers" else "tensor"
        found.append(
            f"llama-bench -m {model}-{kept or 'bf16'}.gguf -sm {mode} -p 512 -n 128 "
            f"-d {context}   # tg128 between {run.low:.3g} and {run.high:.3g}"
        )
    return tuple(found)
