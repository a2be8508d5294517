"""The memory wall as a trend: growth of arithmetic and of bandwidth over the years.

A straight line through the logarithm of a rate against the year, by least squares,
over every data-centre GPU of the database. The interval is that of the slope under
independent errors; it knows nothing of which devices are in the database, and the
chips of one year are not independent. Read it as the least uncertainty there is.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.quantity import Quantity

CONFIDENCE = 0.95
FEWEST = 3  # points; two give a line without an error


@dataclass(frozen=True, slots=True)
class Trend:
    """Growth over a period with its 95 % interval."""

    growth: float  # factor by which the rate grows in ``period`` years, and its bounds
    low: float
    high: float
    period: float  # years
    spread: float  # typical factor between a point and the line
    keys: tuple[str, ...]  # the devices, oldest first
    line: tuple[float, float, float, float, float, int]

    def at(self, year: float, within: float = CONFIDENCE) -> tuple[float, float, float]:
        """Low end, middle and high end of the line itself in a year.

        The band is that of the mean: where the line lies, not where a device does.
        """
        middle, level, slope, variance, across, n = self.line
        away = year - middle
        reach = student_t(n - 2, within) * math.sqrt(
            variance * (1 / n + away * away / across)
        )
        log = level + slope * away
        return math.exp(log - reach), math.exp(log), math.exp(log + reach)

    @property
    def doubling(self) -> float:
        """Years in which the rate doubles; infinite where it does not grow."""
        slope = self.line[2]
        return math.log(2) / slope if slope > 0 else math.inf

    def __str__(self) -> str:
        return f"{self.growth:.2f}x ({self.low:.2f} to {self.high:.2f})"


def student_t(freedom: int, within: float = CONFIDENCE) -> float:
    """The t between whose signs lies a share of Student's distribution.

    ``freedom``: degrees of freedom, at least 1.
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
    """The line through (year, log rate), as growth over a period."""
    n = len(years)
    if n != len(rates) or n < FEWEST:
        raise ValueError(f"a trend needs {FEWEST} points or more; {n} given")
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
    line = (middle, level, slope, variance, across, n)
    spread = math.exp(math.sqrt(variance))
    return Trend(growth, low, high, period, spread, tuple(keys), line)


def resampled(
    years: Sequence[float],
    rates: Sequence[float],
    period: float = 2.0,
    runs: int = 2000,
    seed: int = 0,
) -> tuple[float, float]:
    """The interval of a trend's growth by drawing the points again and again.

    Each run draws as many points as there are, with replacement, and fits a line.
    Nothing is assumed of the errors but that the points are a fair draw.
    """
    if runs < 40:
        raise ValueError(f"runs={runs}: a fortieth of them needs 40 or more")
    fit_trend(years, rates)  # refuses what has no trend
    draw = random.Random(seed)
    found: list[float] = []
    points = list(zip(years, map(math.log, rates), strict=True))
    while len(found) < runs:
        some = draw.choices(points, k=len(points))
        middle = math.fsum(x for x, _ in some) / len(some)
        across = math.fsum((x - middle) ** 2 for x, _ in some)
        if across:  # else all of one year
            slope = math.fsum((x - middle) * y for x, y in some) / across
            found.append(math.exp(period * slope))
    found.sort()
    return found[runs // 40], found[-1 - runs // 40]


def _with_hbm(device: Accelerator) -> bool:
    return device.kind == "gpu" and device.memory_type.startswith("HBM")


@dataclass(frozen=True, slots=True)
class Family:
    """A class of devices whose trend makes sense on its own."""

    words: str  # what a reader calls it
    dtype: str  # format of the arithmetic rate that all of them have
    holds: Callable[[Accelerator], bool]  # whether a device belongs to it


FAMILIES = {
    "hbm": Family("Data-centre GPUs", "fp16", _with_hbm),
    "nvidia": Family(
        "Data-centre GPUs of NVIDIA",
        "fp16",
        lambda d: _with_hbm(d) and d.vendor == "NVIDIA",
    ),
    "amd": Family(
        "Data-centre GPUs of AMD",
        "fp16",
        lambda d: _with_hbm(d) and d.vendor == "AMD",
    ),
    "gddr": Family(
        "GPUs with GDDR memory",
        "fp16",
        lambda d: d.kind == "gpu" and d.memory_type.startswith("GDDR"),
    ),
    "tpu": Family("TPUs", "bf16", lambda d: d.kind == "tpu"),
}


def family(
    name: str, first: int = 0, last: int = 9999, dtype: str | None = None
) -> list[Accelerator]:
    """The database's devices of a family, oldest first.

    What is only announced is left out; variants of one chip count each.
    """
    if name not in FAMILIES:
        raise ValueError(f"no family {name!r}: one of {', '.join(FAMILIES)}")
    kin = FAMILIES[name]
    rate = dtype or kin.dtype
    found = [
        d
        for d in (hardware.get(key) for key in hardware.names())
        if kin.holds(d)
        and first <= d.year <= last
        and rate in d.formats
        and _exists(d.fields["memory_bandwidth"])
        and _exists(d.peak(rate))
    ]
    return sorted(found, key=lambda d: (d.year, d.key))


def data_centre_gpus(dtype: str = "fp16") -> list[Accelerator]:
    """The database's GPUs with HBM and a dense rate for a format, oldest first.

    What is only announced is left out; variants of one chip count each.
    """
    return family("hbm", dtype=dtype)


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
