"""The best layout of a model on some chips, for requests and limits.

Every way to lay it out is enumerated and timed in closed form; what does not fit or is
too slow is refused with its sum; the rest is ranked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stacklib.hardware import Accelerator
from stacklib.hardware.errors import error_band
from stacklib.models import LanguageModel
from stacklib.roofline.work.bounds import device_of
from stacklib.roofline.work.fit import Infeasible

from . import asked as checked
from .asked import Asked
from .layout import Layout
from .rows import rows_of

FAMILY = "E_decode/served"


@dataclass(frozen=True, slots=True)
class Against:
    """The best accelerator against another.

    - ``apart``: how many times as much the first does, as predicted
    - ``needed``: how many times it must be, so that the answer holds with the first as
      slow and the other as fast as nine in ten published rows allow
    """

    device: str
    other: str
    apart: float
    needed: float

    @property
    def holds(self) -> bool:
        """Whether the answer stands within the bands."""
        return self.apart >= self.needed

    @property
    def words(self) -> str:
        """The comparison in one line."""
        told = "stands" if self.holds else "may turn"
        return (
            f"{self.device} over {self.other}: {self.apart:.3g} times, "
            f"{self.needed:.3g} needed: the answer {told} within the bands"
        )


@dataclass(frozen=True, slots=True, repr=False)
class Search:
    """All layouts of a search, ranked.

    - ``rows``: those that keep the limits, the best first, then those refused
    - ``against``: the best accelerator against each other one that was asked
    """

    asked: Asked
    rows: tuple[Layout, ...]
    against: tuple[Against, ...]

    def __repr__(self) -> str:
        told = self.best.words if self.met else self.why
        return f"<Search {len(self.rows)} layouts; {told}>"

    @property
    def kept(self) -> tuple[Layout, ...]:
        """Layouts that keep the limits, the best first."""
        return tuple(row for row in self.rows if not row.refused)

    @property
    def leaders(self) -> tuple[Layout, ...]:
        """Of every kind of layout the best: by pools, chips a copy, chip and format."""
        found: dict[tuple[Any, ...], Layout] = {}
        for row in self.kept:
            found.setdefault(row.build, row)
        return tuple(found.values())

    @property
    def met(self) -> bool:
        """Whether any layout keeps the limits."""
        return bool(self.rows) and not self.rows[0].refused

    @property
    def best(self) -> Layout:
        """The first in rank; raises ``Infeasible`` with the nearest miss."""
        if not self.met:
            raise Infeasible(self.why)
        return self.rows[0]

    @property
    def why(self) -> str:
        """The nearest miss where no layout keeps the limits; empty where one does."""
        if self.met:
            return ""
        timed = [row for row in self.rows if row.tpot]
        if not timed:
            return "; ".join(dict.fromkeys(row.refused for row in self.rows[:2]))
        near = min(timed, key=lambda row: excess(self.asked, row))
        return f"no layout keeps the limits; nearest is {near.words}: {near.refused}"

    @property
    def pareto(self) -> tuple[Layout, ...]:
        """Kept layouts that no other beats in both: a user's speed, and all users'.

        The fastest for one user first.
        """
        best, found = 0.0, []
        order = sorted(self.kept, key=lambda x: (-x.tokens_per_user, -x.tokens_per_s))
        for row in order:
            if row.tokens_per_s > best:
                best = row.tokens_per_s
                found.append(row)
        return tuple(found)


def excess(asked: Asked, row: Layout) -> float:
    """How many times its limit a row's worst time is."""
    whole = row.ttft + (asked.new - 1) * row.tpot
    pairs = (row.ttft, asked.ttft), (row.tpot, asked.tpot), (whole, asked.e2e)
    return max(time / most for time, most in pairs)


def search(
    model: str | LanguageModel,
    *,
    gpus: int,
    on: str | Accelerator | Sequence[str | Accelerator],
    traffic: Any,
    slo: Mapping[str, Any],
    dtypes: Sequence[Any] = ("bf16",),
    software: str = "engine",
    objective: str = "tokens_per_gpu",
) -> Search:
    """Every layout of a model on some chips, those that keep the limits ranked.

    Times are averages in steady state, by the models of ``estimate``, with requests
    that come independently of one another.

    Parameters
    ----------
    model : str or LanguageModel
        As ``estimate`` takes it.
    gpus : int
        Chips that there are.
    on : str, Accelerator or sequence
        The chip, or several kinds to compare, ``gpus`` of each.
    traffic : pair or rows
        Tokens read and written by a request; or requests with ``prompt`` and ``new``,
        whose means are taken. At which rate they come is what is looked for.
    slo : mapping
        Seconds at the most by ``"ttft"``, ``"tpot"`` and ``"e2e"``, as ``goodput``.
    dtypes : sequence
        Formats of the weights to try.
    software : str
        Who exchanges, as ``estimate``.
    objective : str
        ``"tokens_per_gpu"`` or ``"tokens_per_user"``.

    Returns
    -------
    Search
        ``.best``, ``.pareto``, ``.rows``, and ``.against`` between accelerators.

    Raises
    ------
    UnknownName, UnknownSpec, ValueError
        For names, rates and numbers that make no sense.

    Examples
    --------
    >>> limits = {"ttft": 2.0, "tpot": 0.05}
    >>> found = search("llama-3-8b", gpus=1, on="h100-sxm", traffic=(1024, 128),
    ...                slo=limits)
    >>> found.best.kind, found.best.tokens_per_gpu > 1000
    ('aggregated', True)
    """
    given = checked.asked(model, gpus, on, traffic, slo, dtypes, software, objective)
    by = {device_of(chip).key: rows_of(given, device_of(chip).key) for chip in given.on}
    rows = tuple(ranked(given, [row for found in by.values() for row in found]))
    against: tuple[Against, ...] = ()
    if len(by) > 1 and not rows[0].refused:
        first = rows[0].device
        others = (key for key in by if key != first)
        against = tuple(_against(given, first, other, by) for other in others)
    return Search(given, rows, against)


def ranked(asked: Asked, rows: Sequence[Layout]) -> list[Layout]:
    """Kept layouts by what is asked for, then by the other; refused ones last."""
    first = asked.objective
    second = next(name for name in checked.OBJECTIVES if name != first)
    return sorted(
        rows, key=lambda x: (bool(x.refused), -getattr(x, first), -getattr(x, second))
    )


def _against(
    asked: Asked, first: str, other: str, by: Mapping[str, list[Layout]]
) -> Against:
    """Both once more at the ends of the band, with the batches that are kept there."""
    band = error_band(FAMILY)
    assert band is not None
    mine, its = (_most(asked, by[key]) for key in (first, other))
    if not its:
        return Against(first, other, math.inf, 1.0)
    slow = _most(asked, rows_of(asked.slower(band.high), first)) / band.high
    fast = _most(asked, rows_of(asked.slower(band.low), other)) / band.low
    needed = mine / slow * fast / its if slow else math.inf
    return Against(first, other, mine / its, needed)


def _most(asked: Asked, rows: Sequence[Layout]) -> float:
    """The largest value of what is asked for; 0 where nothing is kept."""
    name = asked.objective
    return max((getattr(row, name) for row in rows if not row.refused), default=0.0)
