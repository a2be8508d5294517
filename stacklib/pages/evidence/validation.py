"""Setup of the page *Predicted against measured*."""

from __future__ import annotations

from functools import cache

from stacklib.evidence import calibrate, measurements, validate
from stacklib.hardware.factors import efficiency_names
from stacklib.quantity import Quantity, counted

READ = "2026-11-21"


@cache
def report() -> validate.Validation:
    """Every row a fit may see, predicted or refused."""
    return validate.validate(measurements.fitted())


@cache
def unseen(by: str) -> validate.Validation:
    """The same rows by factors that never saw their ``source``, or their ``device``."""
    return calibrate.unseen(report(), by)


def rows() -> int:
    return len(report().outcomes)


def predicted(family: str) -> int:
    return report().families[family].predicted


def refused(family: str) -> int:
    return report().families[family].refused


def read_back(family: str) -> int:
    """Rows whose constant was measured by their own source."""
    found = report().of(family).predicted
    return sum(validate.read_back(o.row, o.bound) for o in found)


def never_seen(family: str) -> int:
    """Rows that both folds could predict, and no constant of which is their own."""
    return min(unseen(by).families[family].predicted for by in calibrate.BY)


def every_row() -> list[measurements.Measurement]:
    """Every row of the files that predictions are held against."""
    return [*measurements.fitted(), *measurements.left_out()]


def factors() -> Quantity:
    return counted(len, efficiency_names(), label="factors")


def errors(family: str, by: str) -> tuple[Quantity, Quantity]:
    """Median and 90th percentile of the errors, each group left out of its fit."""
    return (
        counted(error, family, by, label=f"median error of family {family}"),
        counted(error, family, by, "p90", label=f"p90 error of family {family}"),
    )


def error(family: str, by: str, which: str = "median") -> float:
    """The ``median`` or the ``p90`` of them."""
    found = unseen(by).families[family]
    value = found.median_error if which == "median" else found.p90_error
    if value is None:
        raise ValueError(
            f"no row of family {family} is predicted with its {by} left out; run the "
            "calibration"
        )
    return value
