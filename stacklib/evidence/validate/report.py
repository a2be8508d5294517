"""Every row predicted or refused, and what that says by family."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from stacklib import hardware
from stacklib.hardware import Accelerator, UnknownSpec
from stacklib.hardware.errors import SOFTWARE, error_band
from stacklib.quantity import UnknownName

from ..measurements import Measurement, Refusal
from ..predict.registry import Forecast, predictor, regime
from ..systems import DeviceRefusal, device_of
from . import units
from .limits import beyond
from .score import KEYS, Outcome, Score, key_of, score
from .sources import project

# What a model raises for a row it cannot answer: refused, with the words it gave.
ANSWERS = (Refusal, UnknownName, UnknownSpec, ValueError, ArithmeticError)


def in_unit(forecast: Forecast, unit: str) -> float:
    """A forecast in the unit of a row."""
    value = forecast.value * units.factor(forecast.unit, unit)
    if not 0 < value < math.inf:
        raise Refusal(f"the model gives {forecast.value!r} {forecast.unit}")
    return value


def is_time(unit: str) -> bool:
    """Whether less of a forecast is faster."""
    return unit in ("s", "h", "cycle")


def reason_of(wrong: BaseException) -> str:
    """The words of an error on one line; never empty."""
    text = "; ".join(line.strip() for line in str(wrong).splitlines() if line.strip())
    if isinstance(wrong, ArithmeticError):
        return f"cannot be computed: {text or type(wrong).__name__}"
    return text or type(wrong).__name__


def outcome(
    row: Measurement, by: Callable[[Measurement], Forecast] | None = None
) -> Outcome:
    """One row, predicted or refused with its reason."""
    key = key_of(row)
    if row.fault:
        return Outcome(row, key, reason=row.fault)
    if faulty := beyond(row):
        return Outcome(row, key, reason=faulty.reason)
    try:
        forecast = by(row) if by else predictor(row.family)(row)()
        value = in_unit(forecast, row.unit)
        cell = "/".join((str(key), *regime(row)))
        band = error_band(cell, _silicon_of(row))
    except ANSWERS as wrong:
        return Outcome(row, key, reason=reason_of(wrong))
    if band is None or not band.low:
        return Outcome(row, key, value, forecast.bound)
    ends = band.low, band.high
    if not is_time(forecast.unit):
        ends = 1 / band.high, 1 / band.low
    low, high = (value * end for end in ends)
    return Outcome(row, key, value, forecast.bound, low=low, high=high, cell=band.cell)


def _silicon_of(row: Measurement) -> Accelerator | None:
    """The device whose kind a row's band must have rows of, where software decides.

    None where its text names none, as an array that is given by its shape.
    """
    try:
        known = device_of(row.system)[0] if row.family in SOFTWARE else ""
    except DeviceRefusal:
        known = ""
    return hardware.get(known) if known else None


@dataclass(frozen=True)
class Validation:
    """All rows of a file, in their order."""

    outcomes: tuple[Outcome, ...]

    @property
    def predicted(self) -> tuple[Outcome, ...]:
        """The rows that were predicted."""
        return tuple(o for o in self.outcomes if o.predicted is not None)

    @property
    def families(self) -> dict[str, Score]:
        """Scores by key, in the order of ``KEYS``."""
        groups: dict[str, list[Outcome]] = {key: [] for key in KEYS}
        for found in self.outcomes:
            if found.key is not None:
                groups[found.key].append(found)
        return {key: score(group) for key, group in groups.items()}

    def of(self, key: str) -> Validation:
        """The rows scored under one key."""
        mine = (o for o in self.outcomes if key in (o.key, o.row.family))
        return Validation(tuple(mine))

    def by(self, group: Callable[[Measurement], str]) -> dict[str, Score]:
        """Scores of groups of rows, the largest group first."""
        groups: dict[str, list[Outcome]] = {}
        for found in self.outcomes:
            groups.setdefault(group(found.row), []).append(found)
        ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
        return {name: score(group) for name, group in ordered}

    def reasons(self) -> Counter[str]:
        """How often each reason for a refusal was given."""
        return Counter(o.reason for o in self.outcomes if o.reason is not None)

    def worst(self, count: int) -> list[Outcome]:
        """The predicted rows that are furthest off, as a factor either way."""
        return sorted(self.predicted, key=lambda o: -abs(math.log(o.ratio)))[:count]

    def as_dict(self) -> dict[str, Any]:
        """The promised JSON: ``families`` and ``rows``."""
        return {
            "families": {key: s.as_dict() for key, s in self.families.items()},
            "rows": [o.as_dict() for o in self.outcomes],
        }


def source_of(row: Measurement) -> str:
    """The project that measured a row."""
    return project(row.source)


def device_name(row: Measurement) -> str:
    """Key of a row's device, or a dash."""
    try:
        return device_of(row.system)[0]
    except DeviceRefusal:
        return "–"


def validate(rows: Iterable[Measurement]) -> Validation:
    """Hold the models against measurements.

    Nothing is fitted here: the factors are those of the package.
    """
    return Validation(tuple(outcome(row) for row in rows))
