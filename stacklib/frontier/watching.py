"""Forecasts that can lose: dated, with a probability, scored when the fact is there.

A model gives a value and the ends between which nine in ten lie; what lies beyond a
threshold is a probability then. It is frozen on the day it is made, and a naive
forecast (a ratio of data sheets, no change) is frozen and scored beside it.

    Brier = mean (p - outcome)^2          log = mean -ln p(outcome)
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from pathlib import Path
from statistics import NormalDist
from typing import Any

from stacklib.quantity.bounds import above_zero, share
from stacklib.quantity.files import read_rows
from stacklib.quantity.names import resolve

OPEN, VOID = "open", "void"
OUTCOMES = {"true": 1.0, "false": 0.0}
ASKED = ("id", "due", "statement", "settles", "probability")
NUMBERS = ("probability", "naive", "value", "low", "high")
DEFAULTS = {"model": "one's own", "naive": 0.5, "naive_says": "even odds"}


def reach(held: float) -> float:
    """Standard deviations from the middle of a bell to each end of a share of it."""
    share(held=held)
    return NormalDist().inv_cdf((1 + held) / 2)


NINE = reach(0.9)
SURE = 0.9  # of a naive forecast, which gives no band: a judgement


@dataclass(frozen=True, slots=True)
class Forecast:
    """A statement that will be true or false, and what was thought of it beforehand.

    - ``made``, ``due``: dates, of the forecast and by when it is settled
    - ``settles``: the fact that decides, and where it will stand
    - ``model``: the call of the book that gave the probability
    - ``value``, ``low``, ``high``: what it gave, and the ends of nine in ten; 0 where
      it counted cases instead
    - ``naive``, ``naive_says``: another's probability, and why
    - ``outcome``: ``"open"``, ``"true"``, ``"false"`` or ``"void"``
    - ``why``: where the outcome was read; of a void one, its reason
    """

    id: str
    made: str
    due: str
    statement: str
    settles: str
    model: str
    probability: float
    naive: float
    naive_says: str
    value: float = 0.0
    low: float = 0.0
    high: float = 0.0
    outcome: str = OPEN
    why: str = ""

    def __post_init__(self) -> None:
        share(probability=self.probability, naive=self.naive)
        made, due = (_date(n, getattr(self, n)) for n in ("made", "due"))
        if due <= made:
            raise ValueError(
                f"{self.id}: due {self.due} is not after {self.made}, when it was made"
            )
        for name in ("statement", "settles"):
            if not getattr(self, name).strip():
                raise ValueError(f"{self.id}: {name} is empty: nothing could settle it")
        if self.value and not 0 < self.low <= self.value <= self.high < math.inf:
            raise ValueError(
                f"{self.id}: {self.low:g} to {self.high:g} does not hold the value "
                f"{self.value:g}"
            )
        known = (*OUTCOMES, VOID, OPEN)
        word = resolve(self.outcome, known, f"outcome of {self.id}", exact=True)
        object.__setattr__(self, "outcome", word)
        if word == VOID and not self.why.strip():
            raise ValueError(f"{self.id}: void without a reason")

    @property
    def settled(self) -> bool:
        """Whether it is true or false by now."""
        return self.outcome in OUTCOMES

    def brier(self, probability: float | None = None) -> float:
        """Squared distance of a probability, its own unless told, from the outcome."""
        given = self.probability if probability is None else probability
        return (given - OUTCOMES[self.outcome]) ** 2

    def log(self, probability: float | None = None) -> float:
        """Minus the logarithm of what was given to that which happened."""
        given = self.probability if probability is None else probability
        had = given if self.outcome == "true" else 1 - given
        return -math.log(had) if had > 0 else math.inf


def _date(name: str, text: str) -> date:
    try:
        return date.fromisoformat(text)
    except (TypeError, ValueError):
        raise ValueError(f"{name} = {text!r}: a date such as 2027-12-31") from None


def forecast(today: str | None = None, **fields: Any) -> Forecast:
    """A new forecast; refused where its date is past.

    - ``today``: ISO date, the real one unless told
    - others: fields of ``Forecast``; it is made today unless told
    """
    now = date.today() if today is None else _date("today", today)
    found = Forecast(**{"made": now.isoformat(), **fields})
    if _date("due", found.due) <= now:
        raise ValueError(
            f"due = {found.due!r}: not after {now.isoformat()}, and a forecast is of "
            "what nobody knows yet"
        )
    if found.outcome != OPEN:
        raise ValueError(f"outcome = {found.outcome!r}: a new forecast is open")
    return found


def chance(
    value: float,
    low: float,
    high: float,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
) -> float:
    """The probability that a predicted number lies beyond a threshold, or between two.

    Nine in ten lie from ``low`` to ``high``, one in twenty beyond either; logarithms
    are normal on each side of ``value``.
    """
    above_zero(value=value, low=low, high=high)
    if not low <= value <= high:
        raise ValueError(f"{low:g} to {high:g} does not hold the value {value:g}")
    if at_least is None and at_most is None:
        raise ValueError("at_least or at_most: a threshold is needed")

    def below(x: float) -> float:
        above_zero(threshold=x)
        end = high if x > value else low
        if end == value:
            return 1.0 if x > value else 0.0 if x < value else 0.5
        return NormalDist().cdf(NINE * math.log(x / value) / abs(math.log(end / value)))

    upper = 1.0 if at_most is None else below(at_most)
    lower = 0.0 if at_least is None else below(at_least)
    if lower > upper:
        raise ValueError(f"at_least = {at_least} is above at_most = {at_most}")
    return upper - lower


# -- the book's list, and its record ---------------------------------------------------


@dataclass(frozen=True, slots=True)
class Score:
    """How a list did: means over what is true or false by now."""

    settled: int
    void: int
    open: int
    brier: float | None  # None where nothing is settled
    log: float | None
    naive_brier: float | None
    naive_log: float | None


@dataclass(frozen=True, slots=True, repr=False)
class Watch:
    """A list of forecasts."""

    forecasts: tuple[Forecast, ...]

    def __repr__(self) -> str:
        found = self.score
        return f"<Watch {len(self.forecasts)} forecasts, {found.settled} settled>"

    def __getitem__(self, id: str) -> Forecast:
        known = {each.id: each for each in self.forecasts}
        return known[resolve(id, known, "forecast", exact=True)]

    @property
    def score(self) -> Score:
        """Brier and log score, the naive forecast's beside it."""
        done = [each for each in self.forecasts if each.settled]
        void = sum(each.outcome == VOID for each in self.forecasts)
        count = len(done)

        def mean(values: Iterable[float]) -> float | None:
            return math.fsum(values) / count if count else None

        return Score(
            count,
            void,
            len(self.forecasts) - count - void,
            mean(each.brier() for each in done),
            mean(each.log() for each in done),
            mean(each.brier(each.naive) for each in done),
            mean(each.log(each.naive) for each in done),
        )

    def overdue(self, today: str | None = None) -> tuple[Forecast, ...]:
        """Open ones whose date has passed: somebody has to look."""
        now = date.today() if today is None else _date("today", today)
        return tuple(
            each
            for each in self.forecasts
            if each.outcome == OPEN and _date("due", each.due) < now
        )

    def entered(self, outcomes: Mapping[str, Any]) -> Watch:
        """The list with outcomes by id: a word, or a word and where it was read."""
        found, seen = {each.id: each for each in self.forecasts}, set[str]()
        for name, told in outcomes.items():
            id = resolve(name, found, "forecast", exact=True)
            if id in seen:
                raise ValueError(f"{id!r} has two outcomes")
            seen.add(id)
            both = (told, "") if isinstance(told, str) else told
            if not isinstance(both, list | tuple) or len(both) != 2:
                raise ValueError(f"{id}: {told!r} is no outcome, or one and its source")
            word, why = both
            found[id] = replace(found[id], outcome=word, why=why or found[id].why)
        return Watch(tuple(found.values()))


def watch() -> Watch:
    """The book's forecasts, those of attention first, with their outcomes by now.

    Returns
    -------
    Watch
        ``.forecasts``, ``.score``, ``.overdue()``, ``.entered(outcomes)``.

    Examples
    --------
    >>> found = watch()
    >>> len(found.forecasts) >= 20, found.score.settled
    (True, 0)
    >>> planted = found.entered({found.forecasts[0].id: "true"})
    >>> planted.score.settled, 0 < planted.score.brier < 1
    (1, True)
    """
    return Watch(_kept())


def read_watch(path: str | Path, today: str | None = None) -> Watch:
    """A reader's own list: a CSV of ``id``, ``due``, ``statement``, ``settles`` and
    ``probability``, and perhaps of other fields of ``Forecast``.

    - a row without ``made`` is new, and its date must lie ahead of ``today``; one
      without ``naive`` is held to even odds
    - raises ``ValueError`` for a column, number or date that makes no sense
    """
    now = date.today() if today is None else _date("today", today)
    found: dict[str, Forecast] = {}
    for row in read_rows(path, ASKED, Forecast.__slots__):
        told = {name: value for name, value in row.items() if value}
        if lacking := [name for name in ASKED if name not in told]:
            raise ValueError(f"{path}: {told.get('id', 'a row')}: no {lacking[0]}")
        fields: dict[str, Any] = {**DEFAULTS, **told}
        for name in NUMBERS:
            if name in fields:
                fields[name] = _number(name, fields[name])
        id = fields["id"]
        if id in found:
            raise ValueError(f"{path}: id {id!r} stands twice")
        if "made" not in told:
            found[id] = forecast(now.isoformat(), **fields)
        elif _date("made", told["made"]) > now:
            raise ValueError(f"{path}: {id}: made {told['made']}, after today")
        else:
            found[id] = Forecast(**fields)
    if not found:
        raise ValueError(f"{path}: no forecast in it")
    return Watch(tuple(found.values()))


def _number(name: str, text: Any) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{name} = {text!r}: a number is needed") from None


@cache
def _kept() -> tuple[Forecast, ...]:
    data = Path(__file__).parent / "data"
    rows = json.loads((data / "watch.json").read_text("utf-8"))["rows"]
    with (data / "outcomes.csv").open(encoding="utf-8", newline="") as lines:
        told = {r["id"]: (r["outcome"], r["why"]) for r in csv.DictReader(lines)}
    return Watch(tuple(Forecast(**row) for row in rows)).entered(told).forecasts
