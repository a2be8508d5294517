"""The table of predictors: what prepares the rows of each family.

One module a family registers ``PREDICTORS[letter] = prepare``. ``prepare(row)``
reads the row once, or refuses it with a reason, and returns a function without
arguments that predicts: calibration calls that function many times, each time
with other efficiency factors, so it reads them when called.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from ..measurements import Measurement, Refusal


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a model says of one row."""

    value: float  # in ``unit``
    unit: str  # a unit of ``quantity``: ``s``, ``FLOP/s``, ``B/s``, ``cycle``,
    bound: str  # what limits it: ``memory``, ``compute``, ``launch``,


Predict = Callable[[], Forecast]
Prepare = Callable[[Measurement], Predict]

PREDICTORS: dict[str, Prepare] = {}


def predictor(family: str) -> Prepare:
    """What prepares the rows of a family."""
    if family not in PREDICTORS:
        raise Refusal(f"no predictor for family {family} yet")
    return PREDICTORS[family]


def regime(row: Measurement) -> tuple[str, ...]:
    """The words of a row's cell, from the broadest on; none in families without."""
    module = sys.modules.get(getattr(PREDICTORS.get(row.family), "__module__", ""))
    try:
        found: tuple[str, ...] = getattr(module, "regime", lambda row: ())(row)
    except (Refusal, LookupError, ValueError):
        return ()  # what is predicted without telling its cell is of its family alone
    return found
