"""Numbers of the page *Predicted against measured*."""

from __future__ import annotations

from functools import cache

from stacklib.hardware.factors import efficiency_names
from stacklib.quantity import Quantity, Source

from .. import calibrate, measurements, validate
from .registry import number

READ = "2026-11-21"


@cache
def report() -> validate.Validation:
    """Every row a fit may see, predicted or refused."""
    return validate.validate(measurements.fitted())


@cache
def unseen(by: str) -> validate.Validation:
    """The same rows, each by factors that never saw its source, or its device."""
    return calibrate.unseen(report(), by)


def _counted(value: float, label: str, where: str) -> Quantity:
    source = Source("Published measurements, stacklib", where, READ, "secondary")
    return Quantity(value, "", label=label, source=source, kind="measured")


def _error(key: str, by: str, share: str) -> Quantity:
    found = unseen(by).families[key]
    value = found.median_error if share == "median" else found.p90_error
    if value is None:
        raise ValueError(f"no row of family {key} is predicted; run the calibration")
    where = f"family {key}, each {by} left out of the fit that predicts it"
    return _counted(value, f"{share} error of family {key}", where)


@number("validation.rows", digits=4, evidence="measured")
def rows() -> Quantity:
    """Published results the book holds its models against."""
    return _counted(len(report().outcomes), "rows", "all rows a fit may see")


@number("validation.factors", evidence="measured")
def factors() -> Quantity:
    """Efficiency factors in all."""
    return _counted(len(efficiency_names()), "factors", "efficiency.toml")


@number("validation.a_rows", evidence="measured")
def a_rows() -> Quantity:
    """Published matrix products that the models predict."""
    return _counted(report().families["A"].predicted, "rows predicted", "family A")


@number("validation.a_refused", evidence="measured")
def a_refused() -> Quantity:
    """Published matrix products that the models refuse, with a reason."""
    return _counted(report().families["A"].refused, "rows refused", "family A")


@number("validation.a_source_median", unit="%", digits=2, evidence="measured")
def a_source_median() -> Quantity:
    """Half of the matrix products are within this, fitted without their source."""
    return _error("A", "source", "median")


@number("validation.a_source_p90", unit="%", digits=2, evidence="measured")
def a_source_p90() -> Quantity:
    """Nine in ten matrix products are within this, fitted without their source."""
    return _error("A", "source", "p90")


@number("validation.a_device_median", unit="%", digits=2, evidence="measured")
def a_device_median() -> Quantity:
    """Half of the matrix products are within this, fitted without their device."""
    return _error("A", "device", "median")


@number("validation.a_device_p90", unit="%", digits=2, evidence="measured")
def a_device_p90() -> Quantity:
    """Nine in ten matrix products are within this, fitted without their device."""
    return _error("A", "device", "p90")


@number("validation.c_rows", evidence="measured")
def c_rows() -> Quantity:
    """Published bandwidths and latencies that the models predict."""
    return _counted(report().families["C"].predicted, "rows predicted", "family C")


@number("validation.c_refused", evidence="measured")
def c_refused() -> Quantity:
    """Published bandwidths and latencies that the models refuse, with a reason."""
    return _counted(report().families["C"].refused, "rows refused", "family C")


@number("validation.c_read_back", evidence="measured")
def c_read_back() -> Quantity:
    """Bandwidths and latencies whose constant was measured by their own source."""
    found = report().of("C").predicted
    count = sum(validate.read_back(o.row, o.bound) for o in found)
    return _counted(count, "rows read back", "family C")


@number("validation.c_source_median", unit="%", digits=2, evidence="measured")
def c_source_median() -> Quantity:
    """Half of bandwidths and latencies are within this, fitted without their source."""
    return _error("C", "source", "median")


@number("validation.c_source_p90", unit="%", digits=2, evidence="measured")
def c_source_p90() -> Quantity:
    """Nine in ten bandwidths, latencies are in this, fitted without their source."""
    return _error("C", "source", "p90")


@number("validation.c_device_median", unit="%", digits=2, evidence="measured")
def c_device_median() -> Quantity:
    """Half of bandwidths and latencies are within this, fitted without their device."""
    return _error("C", "device", "median")


@number("validation.c_device_p90", unit="%", digits=2, evidence="measured")
def c_device_p90() -> Quantity:
    """Nine in ten bandwidths, latencies are in this, fitted without their device."""
    return _error("C", "device", "p90")
