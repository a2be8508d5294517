"""The book's own calibration: the public rows, the declared factors."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from stacklib import hardware
from stacklib.hardware.errors import SOFTWARE
from stacklib.hardware.factors import efficiency_recorded, efficiency_table

from ..measurements import Measurement, fitted, unseen
from ..predict.registry import Predict, predictor, regime
from ..validate import beyond, device_name, key_of, part_of, read_back, source_of
from ..validate.report import ANSWERS, in_unit, is_time
from ..validate.score import UNFITTED
from .bands import Miss, misses
from .problem import Case, Factor, Problem

TURNS = (1, 2, 3, 4)  # rounds in which rows were gathered and predicted first


def factor_of(row: Mapping[str, Any]) -> Factor:
    """A factor as ``efficiency.toml`` declares it."""
    fixed = bool(row.get("fixed", False))
    value, least, most = (float(row[key]) for key in ("value", "least", "most"))
    if not 0 < least <= value <= most or (not fixed and least == most):
        raise ValueError(f"value {value} is not between {least} and {most}")
    # A fit knows nothing of an earlier one: it starts from the middle of the bounds.
    prior = value if fixed else middle(least, most)
    return Factor(prior, least, most, fixed, str(row.get("family", "")))


def middle(least: float, most: float) -> float:
    """The value that is as many times the least as the most is times it."""
    return math.sqrt(least * most)


def factors() -> dict[str, Factor]:
    """Every declared factor, in the order of the file."""
    found = {}
    for name, row in efficiency_table().items():
        try:
            found[name] = factor_of(row)
        except (KeyError, ValueError) as wrong:
            raise ValueError(f"efficiency.toml, {name}: {wrong}") from None
    return found


def _in_rows_unit(predict: Predict, unit: str) -> Callable[[], float]:
    def value() -> float:
        return in_unit(predict(), unit)

    return value


def case_of(row: Measurement, unfitted: str = UNFITTED) -> Case | None:
    """A row as a case of the fit, or None where it is refused.

    Which factors it reads is recorded while it is predicted.
    """
    key = key_of(row)
    if row.fault or key is None or row.family in unfitted or beyond(row):
        return None
    try:
        prepared = predictor(row.family)(row)
        predict = _in_rows_unit(prepared, row.unit)
        with efficiency_recorded() as read:
            first = prepared()
            predict()
    except ANSWERS:
        return None
    return Case(
        row.id,
        key,
        source_of(row),
        device_name(row),
        row.value,
        predict,
        frozenset(read),
        read_back(row, first.bound),
        regime(row),
        row.software.partition(" ")[0],
        not is_time(first.unit),
        part_of(row),
        row.id in predicted_first(),
    )


@cache
def predicted_first(turn: int = 0) -> Mapping[str, tuple[float, float, float]]:
    """What was predicted of rows before their values were known, by the row's name.

    With the ends of the band as it was printed then; NaN where there was none, or a
    refusal. These rows test a fit and do not make it.

    - ``turn``: of one round of gathering alone, from 1
    """
    path = files("stacklib.evidence") / "data" / "predicted_first.csv"
    lines = csv.DictReader(path.read_text(encoding="utf-8").splitlines())
    return {
        line["id"]: (
            float(line["predicted"] or "nan"),
            float(line["low"] or "nan"),
            float(line["high"] or "nan"),
        )
        for line in lines
        if turn in (0, int(line["round"]))
    }


def problem_of(rows: Iterable[Measurement]) -> Problem:
    """The fit of all declared factors to some rows."""
    cases = (case_of(row) for row in rows)
    kept = tuple(case for case in cases if case is not None)
    return Problem(factors(), kept, hardware.efficiency_override)


def _unfitted(rows: Iterable[Measurement]) -> tuple[Miss, ...]:
    """Rows that no fit sees, by what is predicted of them and was at first.

    Of whole programs by today's: of their bands what holds others is tried (``whole``).
    """
    cases = [case for row in rows if (case := case_of(row, "")) is not None]
    told = {case.id: [case.predict()] for case in cases}
    for case in cases:
        value = predicted_first().get(case.id, (math.nan,))[0]
        if value > 0 and case.family not in SOFTWARE:
            told[case.id].append(value)
    ends = ({name: end(both) for name, both in told.items()} for end in (min, max))
    return tuple(misses(cases, *ends))


@cache
def rig_misses() -> tuple[Miss, ...]:
    """Rows of rigs."""
    rows = fitted()
    return _unfitted(r for r in rows if r.family == "J" and r.unit == "tokens/s")


@cache
def unseen_misses() -> tuple[Miss, ...]:
    """Rows of sources that no fit has seen."""
    return _unfitted(unseen())


@cache
def family_problem(family: str) -> Problem:
    """The fit of a family's own factors to its rows; all others stand."""
    rows = (row for row in fitted() if row.family == family)
    whole = problem_of(rows)
    own = {name: f for name, f in whole.factors.items() if f.family == family}
    if not own:
        known = sorted({f.family for f in whole.factors.values() if f.family})
        raise ValueError(f"family {family!r} has no factor of its own; {known} have")
    return Problem(own, whole.cases, whole.override)


@cache
def public_problem() -> Problem:
    """The fit of all declared factors to the rows a fit may see."""
    return problem_of(fitted())
