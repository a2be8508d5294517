"""Series of kernels: what the clock says beside what their authors printed.

A factor is predicted over published rate (published over predicted time): above one
the clock is too fast. What readers of a series want to know is which kernel is the
faster, so pairs that come out in the wrong order are counted too. At most three factors
are fitted, each on the rows it names, and every row is scored by factors that have not
seen its kind of kernel, or its source.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import median
from typing import Any

from stacklib import gpu, hardware
from stacklib.gpu.simt.arguments import Empty
from stacklib.gpu.simt.sampled import Unmodelled
from stacklib.gpu.thread.compile_kernel import parameters

from . import measurements
from .measurements import Measurement, Refusal
from .series import Port, Step, port_of, run
from .systems import device_of

APART = 1.2  # published rates of a pair whose order must be right
FITTED = 3  # factors, at most
UNITS = {"GFLOPS": 1e9, "TFLOPS": 1e12, "GB/s": 1e9}
SECONDS = {"ms": 1e-3, "us": 1e-6}


@dataclass(frozen=True, slots=True)
class Line:
    """A kernel of a series: rates in FLOP/s or B/s, or work over the printed time."""

    series: str
    kernel: str
    kind: str  # transpose, matmul, reduction, ...
    source: str
    published: float
    predicted: float | None  # None where it is refused
    reason: str = ""  # why
    part: str = ""  # of the chip that it waits for; a factor may belong to it

    @property
    def factor(self) -> float:
        """Predicted over published."""
        if self.predicted is None:
            raise ValueError(f"{self.series} {self.kernel}: {self.reason}")
        return self.predicted / self.published


@dataclass(frozen=True, slots=True)
class Summary:
    """How a set of lines came out."""

    name: str
    lines: int
    refused: int
    median: float  # of factors turned above one
    worst: float
    faults: tuple[tuple[str, str], ...]  # pairs in the wrong order, faster first


def published(row: Measurement, work: float) -> float:
    """A row as a rate in base units; ``work``: what its printed time is for."""
    if row.unit in SECONDS:
        return work / (row.value * SECONDS[row.unit])
    if row.unit not in UNITS:
        raise Refusal(f"unit {row.unit!r}: no rate or time of a kernel")
    return row.value * UNITS[row.unit]


# Seconds of all launches of a port for a shape on a device, and the part of the chip
# that the longest waits for.
Clock = Callable[[Port, tuple[int, ...], str], tuple[float, str]]


class Unknown(Empty):
    """What a launch of which only some blocks ran would have left."""

    def reshape(self, *_: Any) -> Unknown:
        """Of any shape."""
        return self

    astype = sum = reshape


def _left(step: Step) -> dict[str, Unknown]:
    """The arrays of a launch by name, without values."""
    names = parameters(step.kernel)[1:]
    given = zip(names, step.args, strict=True)
    return {name: Unknown(tuple(x.shape), x.dtype) for name, x in given if _is_array(x)}


def _is_array(given: Any) -> bool:
    return hasattr(given, "shape") and hasattr(given, "dtype")


def estimated(port: Port, shape: tuple[int, ...], device: str) -> tuple[float, str]:
    """Every launch of a port by `gpu.estimate`, its times added up.

    Authors time a kernel again and again, and with it each launching.
    """
    launching = hardware.efficiency("launch_kernel")
    spent: list[tuple[float, str]] = []

    def go(step: Step) -> Mapping[str, Any]:
        args, registers = step.args, step.registers
        call = (step.kernel, step.grid, step.block, device, *args)
        try:
            made = gpu.estimate(*call, registers=registers, repeated=True)
        except Unmodelled as why:
            raise Refusal(str(why)) from None
        spent.append((made.time + launching, made.bound))
        return _left(step)

    run(port, shape, go)
    return sum(seconds for seconds, _ in spent), max(spent)[1]


def line(row: Measurement, clock: Clock) -> Line:
    """A row with what the clock says of it, or why it says nothing."""
    names = (row.text("series"), row.subject, row.text("kind"), row.source)
    try:
        port = port_of(row)
        device, _ = device_of(row.system)
        ran = [(shape, *clock(port, shape, device)) for shape in port.published]
    except Refusal as refused:
        return Line(*names, row.value, None, str(refused))
    rates = [(port.work(shape) / seconds, part) for shape, seconds, part in ran]
    rate, part = max(rates)
    given = published(row, port.work(port.published[0]))
    return Line(*names, given, rate, "", part)


def read(rows: Iterable[Mapping[str, Any]]) -> list[Line]:
    """The lines of a result file, each with the kind and source of its row."""
    of = {row.id: row for row in measurements.series()}
    return [
        Line(
            *(row["series"], row["kernel"], of[row["id"]].text("kind")),
            *(of[row["id"]].source, row["published"], row["predicted"]),
            *(row["reason"], row["part"]),
        )
        for row in rows
    ]


def lines(clock: Clock, series: Iterable[str] | None = None) -> list[Line]:
    """Every row of family K, or of the series named."""
    wanted = None if series is None else set(series)
    return [
        line(row, clock)
        for row in measurements.series()
        if wanted is None or row.text("series") in wanted
    ]


def off(factor: float) -> float:
    """How far off, either way: one is right."""
    return max(factor, 1 / factor)


def order_faults(found: Sequence[Line]) -> list[tuple[str, str]]:
    """Pairs of a series `APART` or more that come out the other way round, or equal.

    The kernel that is the faster on paper comes first.
    """
    ran = [one for one in found if one.predicted is not None]
    wrong = []
    for one, other in combinations(ran, 2):
        if one.series != other.series:
            continue
        slow, fast = sorted((one, other), key=lambda x: x.published)
        if fast.published < APART * slow.published:
            continue
        if (fast.predicted or 0) <= (slow.predicted or 0):
            wrong.append((fast.kernel, slow.kernel))
    return wrong


def summary(name: str, found: Sequence[Line]) -> Summary:
    """Median and worst of the factors, and the pairs in the wrong order."""
    ran = [off(one.factor) for one in found if one.predicted is not None]
    middle, worst = (median(ran), max(ran)) if ran else (math.nan, math.nan)
    missing = len(found) - len(ran)
    return Summary(name, len(found), missing, middle, worst, tuple(order_faults(found)))


def by(found: Sequence[Line], what: str) -> list[Summary]:
    """One summary a ``series``, ``kind`` or ``source``."""
    if what not in ("series", "kind", "source"):
        raise ValueError(f"what = {what!r}: series, kind or source")
    groups: dict[str, list[Line]] = {}
    for one in found:
        groups.setdefault(getattr(one, what), []).append(one)
    return [summary(name, group) for name, group in groups.items()]


def fit(found: Iterable[Line], parts: Sequence[str]) -> dict[str, float]:
    """A factor for each of these parts: the median of what its lines are off by.

    A part without lines keeps one: no row may speak for it.
    """
    if len(parts) > FITTED:
        raise ValueError(f"{len(parts)} factors: at most {FITTED} are fitted")
    seen: dict[str, list[float]] = {part: [] for part in parts}
    for one in found:
        if one.predicted is not None and one.part in seen:
            seen[one.part].append(math.log(one.factor))
    return {part: math.exp(-median(logs or [0.0])) for part, logs in seen.items()}


def scaled(one: Line, factors: Mapping[str, float]) -> Line:
    """A line after the factor of its part."""
    if one.predicted is None:
        return one
    return replace(one, predicted=one.predicted * factors.get(one.part, 1.0))


def folds(found: Sequence[Line], what: str, parts: Sequence[str]) -> list[Line]:
    """Every line, scaled by factors fitted on all others than its ``kind`` or source.

    ``what``: kind or source; lines come in the order given.
    """
    if what not in ("kind", "source"):
        raise ValueError(f"what = {what!r}: kind or source")
    left_out = {
        name: fit((o for o in found if getattr(o, what) != name), parts)
        for name in {getattr(one, what) for one in found}
    }
    return [scaled(one, left_out[getattr(one, what)]) for one in found]
