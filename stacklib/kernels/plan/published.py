"""Published gains, each with what it is over: a ratio without its base says nothing.

A row is one published figure. ``speedup`` turns a shorter time into a ratio, ``times``
multiplies two gains only where the second is over what the first makes, at the same
place; two figures that are each the best of many configurations never are. ``payback``
says from how much use on a search has paid for itself.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

from stacklib.quantity import quoted, resolve
from stacklib.quantity.bounds import above_zero, at_least

KINDS = ("faster", "shorter")  # how a share is meant: more work a second, or less time


@dataclass(frozen=True, slots=True)
class Gain:
    """A published gain: from ``low`` to ``high`` as shares, 0.3 for 30 %."""

    what: str
    low: float
    high: float
    kind: str  # of ``KINDS``
    over: str
    where: str  # device, model, batch: what it was measured on
    source: str
    best_case: bool = False  # "up to": the best of its configurations
    seen: str = "read"  # "recalled" where its base is not in the source that was read


def _gains() -> Iterator[tuple[str, Gain]]:
    """The rows of ``gains.csv`` by their keys."""
    text = (files(__package__) / "gains.csv").read_text("utf-8")
    for key, what, low, high, *words in csv.reader(text.splitlines()[1:]):
        kind, over, where, source, best, seen = words
        shares = float(low), float(high)
        yield key, Gain(what, *shares, kind, over, where, source, best == "up to", seen)


GAINS = dict(_gains())
SEARCH_DAYS = 7  # of AVO
PORT_MINUTES = quoted("avo.port").value  # of that search, to grouped queries


def gain(name: str) -> Gain:
    """A published gain by its key."""
    return GAINS[resolve(name, GAINS, "published gain")]


def speedup(row: Gain) -> tuple[float, float]:
    """A gain as ratios of speed, from its low to its high.

    69 % less time is 3.2 times as fast, 69 % more work a second 1.69 times.
    """
    low, high = row.low, row.high
    if row.kind == "shorter":
        return 1 / (1 - low), 1 / (1 - high)
    return 1 + low, 1 + high


def times(first: Gain, second: Gain) -> tuple[float, float]:
    """Both gains together, where they may be multiplied.

    - raises ``ValueError`` when the first is not over what the second gives, when they
      were measured in different places, or when one is the best of many.
    """
    if first.over != second.what:
        raise ValueError(f"{first.what} is over {first.over}, not over {second.what}")
    if first.best_case or second.best_case:
        raise ValueError(
            f"{first.what} and {second.what}: each is the best of its configurations, "
            "and not of the same one"
        )
    if first.where != second.where:
        raise ValueError(f"measured in two places: {first.where}; {second.where}")
    (a, b), (c, d) = speedup(first), speedup(second)
    return a * c, b * d


def payback(search_gpu_hours: float, share: float, faster: float) -> float:
    """GPU-hours of use from which on a search has paid for itself.

    - ``search_gpu_hours``: float; what the search took.
    - ``share``: float; of the GPU's time, the kernel's.
    - ``faster``: float; the gain, 0.035 for 3.5 %: the kernel's time falls to 1 / (1 +
      gain).
    """
    at_least(0, search_gpu_hours=search_gpu_hours)
    above_zero(share=share, faster=faster)
    if share > 1:
        raise ValueError(f"share = {share!r}: of all time, at most 1")
    return search_gpu_hours / (share * (1 - 1 / (1 + faster)))
