"""The memory wall as a trend: growth of arithmetic and of bandwidth over the years.

A straight line through the logarithm of a rate against the year, by least squares,
over every data-centre GPU of the database. The interval is that of the slope under
independent errors; it knows nothing of which devices are in the database, and the
chips of one year are not independent. Read it as the least uncertainty there is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.quantity import Quantity

CONFIDENCE = 0.95
FEWEST = 3  # points; two give a line without an error


@dataclass(frozen=True, slots=True)
class Trend:
    """Growth over a period with its 95 % interval.

    Attributes
    ----------
    growth, low, high : float
        Factor by which the rate grows in ``period`` years, and its bounds.
    period : float
        Years.
    spread : float
        Typical factor between a point and the line.
    keys : tuple of str
        The devices, oldest first.
    """

    growth: float
    low: float
    high: float
    period: float
    spread: float
    keys: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.growth:.2f}x ({self.low:.2f} to {self.high:.2f})"


def student_t(freedom: int, within: float = CONFIDENCE) -> float:
    """The t between whose signs lies a share of Student's distribution.

    Parameters
    ----------
    freedom : int
        Degrees of freedom, at least 1.
    within : float
        The share, between 0 and 1.

    Raises
    ------
    ValueError
        For a share or a number of degrees outside that.
    """
    if freedom < 1 or not 0 < within < 1:
        raise ValueError(f"no Student t for {freedom} degrees within {within}")
    low, high = 0.0, 1.0
    while _within(high, freedom) < within:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if _within(middle, freedom) < within else (low, middle)
        )
    return high


def _within(t: float, freedom: int) -> float:
    """Share of Student's distribution between -t and t (Abramowitz, Stegun 26.7)."""
    angle = math.atan2(t, math.sqrt(freedom))
    cos, total = math.cos(angle), 0.0
    if freedom % 2:
        term = cos
        for k in range(1, freedom - 1, 2):
            total += term
            term *= (k + 1) / (k + 2) * cos * cos
        return (angle + math.sin(angle) * total) * 2 / math.pi
    term = 1.0
    for k in range(0, freedom - 1, 2):
        total += term
        term *= (k + 1) / (k + 2) * cos * cos
    return math.sin(angle) * total


def fit_trend(
    years: Sequence[float],
    rates: Sequence[float],
    period: float = 2.0,
    keys: Iterable[str] = (),
) -> Trend:
    """The line through (year, log rate), as growth over a period.

    Parameters
    ----------
    years, rates : sequence of float
        One point each; rates above zero.
    period : float
        Years over which growth is stated.
    keys : iterable of str
        Names of the points, kept with the result.

    Raises
    ------
    ValueError
        For fewer than three points, all in one year, or a rate not above zero.
    """
    n = len(years)
    if n != len(rates) or n < FEWEST:
        raise ValueError(f"a trend needs {FEWEST} points or more; {n} years given")
    if min(rates) <= 0:
        raise ValueError(f"rate {min(rates):g}: a trend needs rates above zero")
    logs = [math.log(rate) for rate in rates]
    middle, level = math.fsum(years) / n, math.fsum(logs) / n
    across = math.fsum((x - middle) ** 2 for x in years)
    if across == 0:
        raise ValueError(f"all points are of {years[0]:g}: no trend")
    both = zip(years, logs, strict=True)
    slope = math.fsum((x - middle) * (y - level) for x, y in both) / across
    both = zip(years, logs, strict=True)
    left = math.fsum((y - level - slope * (x - middle)) ** 2 for x, y in both)
    variance = left / (n - 2)
    reach = student_t(n - 2) * math.sqrt(variance / across)
    low, growth, high = (
        math.exp(period * s) for s in (slope - reach, slope, slope + reach)
    )
    return Trend(growth, low, high, period, math.exp(math.sqrt(variance)), tuple(keys))


def data_centre_gpus(dtype: str = "fp16") -> list[Accelerator]:
    """The database's GPUs with HBM and a dense rate for a format, oldest first.

    What is only announced is left out; variants of one chip count each.

    Parameters
    ----------
    dtype : str
        Number format of the arithmetic rate.
    """
    devices = (hardware.get(key) for key in hardware.names())
    found = [
        d
        for d in devices
        if d.kind == "gpu"
        and d.memory_type.startswith("HBM")
        and dtype in d.formats
        and _exists(d.fields["memory_bandwidth"])
        and _exists(d.peak(dtype))
    ]
    return sorted(found, key=lambda d: (d.year, d.key))


def _exists(rate: Quantity | None) -> bool:
    """Whether a rate is known, and of more than an announcement."""
    if rate is None:
        return False
    return rate.source is None or rate.source.confidence != "announced"


@dataclass(frozen=True, slots=True)
class MemoryWall:
    """Growth of peak, of bandwidth, and of their ratio, the ridge."""

    compute: Trend
    bandwidth: Trend
    ridge: Trend


def memory_wall(
    devices: Iterable[Accelerator] | None = None,
    dtype: str = "fp16",
    period: float = 2.0,
) -> MemoryWall:
    """The three trends over a set of devices.

    Parameters
    ----------
    devices : iterable of Accelerator, optional
        Default: every data-centre GPU of the database.
    dtype : str
        Format of the arithmetic peak.
    period : float
        Years over which growth is stated.

    Raises
    ------
    ValueError
        For fewer than three devices, or all of one year.
    UnknownSpec
        For a device without a rate for the format, or without bandwidth.
    """
    chosen = data_centre_gpus(dtype) if devices is None else list(devices)
    years = [float(d.year) for d in chosen]
    peaks = [d.peak(dtype).si for d in chosen]
    bandwidths = [d.memory_bandwidth.si for d in chosen]
    ridges = [p / b for p, b in zip(peaks, bandwidths, strict=True)]
    keys = [d.key for d in chosen]
    return MemoryWall(
        *(fit_trend(years, y, period, keys) for y in (peaks, bandwidths, ridges))
    )
