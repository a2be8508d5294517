"""What was measured of the book's machine, by level and by width, as quantities.

Joins ``benchmarks/results`` (``host_levels``, ``host_simd``) with the predictions
that were committed before and with what the system reports about itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from stacklib.evidence import results, runs
from stacklib.hardware.this_machine import CacheLevel
from stacklib.quantity import Quantity, Source, log2, recorded
from stacklib.roofline.host import simd as host_simd
from stacklib.roofline.host import streams
from stacklib.roofline.host.simd import Way
from stacklib.roofline.host.streams import Plateau, StreamPoint

LEVELS, SIMD = "host_levels", "host_simd"


@cache
def result(name: str) -> dict[str, Any]:
    """A result file that must be there, read once."""
    return results.need(name)


def source(name: str, where: str) -> Source:
    """Where a measured number of a result file is from."""
    found = result(name)
    title = f"benchmarks/results/{name}.json: {found['device']}"
    return Source(title, where, found["date"][:10], "measured")


def read(name: str, row: str, field: str, unit: str = "", label: str = "") -> Quantity:
    """A value of ``benchmarks/results/<name>.json``."""
    file = f"benchmarks/results/{name}.json"
    return recorded(file, row, field, unit=unit, label=label)


# -- levels ---------------------------------------------------------------------


@cache
def points() -> tuple[StreamPoint, ...]:
    """Every point of the sweep over working sets."""
    return tuple(streams.point(row) for row in result(LEVELS)["rows"])


def rate(point: StreamPoint) -> Quantity:
    """Bandwidth of a point of that sweep, by the median of its times."""
    moved = read(LEVELS, point.id, "bytes", "B", "bytes moved")
    return moved / read(LEVELS, point.id, "times_s/median", "s", "median time")


def spread(point: StreamPoint) -> list[Quantity]:
    """The same by its slow and by its fast times."""
    moved = read(LEVELS, point.id, "bytes", "B", "bytes moved")
    return [moved / read(LEVELS, point.id, f"times_s/{p}", "s") for p in ("p90", "p10")]


def middle(rates: Sequence[Quantity]) -> Quantity:
    """The middle one by size; of an even number the two in ratio."""
    found = sorted(rates, key=lambda rate: rate.si)
    low, high = found[(len(found) - 1) // 2], found[len(found) // 2]
    return high if low is high else (low * high) ** 0.5


def crossing(
    sizes: tuple[Quantity, Quantity], rates: tuple[Quantity, Quantity], half: Quantity
) -> Quantity:
    """Size at which a curve passes ``half`` between two points, in ratio.

    The second one where it jumped over it.
    """
    share = log2(rates[0] / half) / log2(rates[0] / rates[1])
    found = sizes[0] * (sizes[1] / sizes[0]) ** share
    return found if 0 <= share.si < 1 else sizes[1]


def cores() -> int:
    """Threads of the sweep that used the whole machine."""
    return max(p.threads for p in points())


def caches() -> tuple[CacheLevel, ...]:
    """Data caches as the system reported them."""
    return tuple(CacheLevel(**c) for c in result(LEVELS)["machine"]["caches"])


@cache
def predicted_rates(name: str, threads: int) -> dict[int, float]:
    """Predicted B/s by working set, from the file committed before."""
    return {
        r["size"]: r["bytes"] / r["predicted_s"]
        for r in results.prediction(LEVELS)["rows"]
        if (r["stream"], r["threads"]) == (name, threads)
    }


def curve(name: str, threads: int) -> list[StreamPoint]:
    """Measured points of one loop, by working set."""
    return list(streams.curve_of(points(), name, threads))


@cache
def levels(threads: int = 1, name: str = "triad") -> tuple[Plateau, ...]:
    """Levels found in one loop's curve, fastest first."""
    return tuple(streams.found_levels(points(), name, threads))


@dataclass(frozen=True)
class LevelRow:
    """A level of memory: its capacity as reported and as found, and its speed.

    What was not reported, or not found in the curve, is None.
    """

    level: str
    reported: Quantity | None
    found: Quantity | None
    ratio: Quantity | None
    rate: Quantity | None


def level_rows(threads: int = 1) -> list[LevelRow]:
    """Every cache as reported beside the plateau that ends nearest it, and memory."""
    *inner, last = levels(threads)
    told = [reported(place, threads) for place in range(len(caches()))]
    rows = [_level_row(q, _nearest(inner, q.si), threads) for q in told]
    memory = _rate(last, "memory", threads)
    return [*rows, LevelRow("memory", None, None, None, memory)]


def reported(place: int, threads: int = 1) -> Quantity:
    """Bytes of a cache that so many threads have together, as the system reported."""
    cache = caches()[place]
    one = read(LEVELS, f"machine/caches/{place}", "bytes", "B", "bytes of one")
    many = streams.reported([cache], threads)[0] // cache.bytes
    return (one * many if many > 1 else one).named(f"L{cache.level} as reported")


def level_table(threads: int = 1) -> list[dict[str, Any]]:
    """The same rows for people: sizes in the unit that fits them."""
    return [
        {
            "level": row.level,
            "reported": _size(row.reported),
            "found": _size(row.found),
            "found / reported": row.ratio,
            "rate": row.rate,
        }
        for row in level_rows(threads)
    ]


def _size(size: Quantity | None) -> str | None:
    if size is None:
        return None
    unit = "MiB" if size.si >= 2**20 else "KiB"
    return size.text(unit, 3)


def _nearest(found: list[Plateau], size: float) -> Plateau | None:
    """The plateau that ends within a factor of two of a size."""
    near = [p for p in found if p.ends and 0.5 < p.ends / size < 2]
    return min(near, key=lambda p: abs((p.ends or 0) / size - 1), default=None)


def _level_row(told: Quantity, seen: Plateau | None, threads: int) -> LevelRow:
    what = told.label.partition(" ")[0]
    if seen is None or seen.ends is None:
        return LevelRow(what, told, None, None, None)
    points, every = curve("triad", threads), levels(threads)
    after = every[every.index(seen) + 1]
    at = next(n for n, p in enumerate(points) if p.size >= seen.ends)
    low, high = (read(LEVELS, p.id, "size", "B") for p in points[at - 1 : at + 1])
    above, below = map(rate, points[at - 1 : at + 1])
    rates = (_rate(seen, what, threads), _rate(after, "next", threads))
    half = (rates[0] * rates[1]) ** 0.5
    ends = crossing((low, high), (above, below), half).named(f"{what} as found")
    return LevelRow(what, told, ends, ends / told, rates[0])


def _rate(level: Plateau, what: str, threads: int) -> Quantity:
    points = curve("triad", threads)[level.first : level.last + 1]
    return middle([rate(p) for p in points]).named(f"{what} bandwidth")


def memory_rate(name: str, threads: int = 1) -> Quantity:
    """Bandwidth of a loop at its largest working set, counted as STREAM does."""
    return rate(curve(name, threads)[-1]).named(f"{name} beyond the caches")


# -- heights and widths ---------------------------------------------------------


@cache
def cases() -> tuple[Way, ...]:
    """Every case that was run."""
    return tuple(host_simd.case_of(row) for row in result(SIMD)["rows"])


def seconds(id: str) -> Quantity:
    """Median time of one case."""
    case = next((c for c in cases() if c.id == id), None)
    if case is None:
        raise results.ResultError(f"{SIMD}: no case {id!r} was run here")
    return read(SIMD, id, "times_s/median", "s", f"time of {id}")


@dataclass(frozen=True)
class CaseRow:
    """One way to do a thing: predicted and measured time, and speed over the first."""

    how: str
    predicted: Quantity | None
    measured: Quantity
    faster: Quantity


HOW = {
    "python": "a loop in Python",
    "numpy": "NumPy, without its BLAS",
    "numba": "the same loop, by numba",
    "blas": "NumPy's BLAS",
    "c-plain": "C, nothing vectorised",
    "c-o3": "the same C, optimised, in order",
    "c-fast": "the same C, may reorder the sum",
}


def case_rows(op: str) -> list[CaseRow]:
    """The ways to one operation, each against the loop in Python."""
    chosen = [c for c in cases() if c.op == op and c.how in HOW]
    widest = [c for c in cases() if c.op == op and c.how.endswith("-8")][-1:]
    rows = [case_row(c) for c in [*chosen, *widest]]
    return sorted(rows, key=lambda r: r.measured.si, reverse=True)


def case_row(case: Way) -> CaseRow:
    """One row of that table."""
    isa = case.how.partition("-")[0]
    name = HOW.get(case.how, f"C with {isa} intrinsics, eight sums")
    took, told = seconds(case.id), predicted(case.id)
    return CaseRow(name, told, took, seconds(f"{case.op}-python") / took)


def predicted(id: str) -> Quantity | None:
    """Predicted time of a case; None where nothing was."""
    return next((r.predicted for r in runs.load(SIMD) if r.id == id), None)


@dataclass(frozen=True)
class RateRow:
    """One case that is known by its rate: who does it, its times, its rate."""

    what: str
    predicted: Quantity | None
    measured: Quantity
    rate: Quantity


def copy_rows() -> list[RateRow]:
    """The large copies: the C library's, through the cache, and past it."""

    def what(how: str) -> str:
        if how == "libc":
            return "the C library's"
        way = "past" if how.endswith("past-cache") else "through"
        return f"C, stores {way} the cache"

    chosen = [c for c in cases() if c.op == "copy"]
    return [
        RateRow(what(c.how), predicted(c.id), seconds(c.id), copy_rate(c.how))
        for c in chosen
    ]


def peak_rows() -> list[RateRow]:
    """Multiply-adds in registers, by instruction set."""
    chosen = [c for c in cases() if c.op == "peak"]
    return [RateRow(c.how, predicted(c.id), seconds(c.id), peak(c.how)) for c in chosen]


def blas_kernel() -> str:
    """The processor that NumPy's BLAS took this one for."""
    return str(result(SIMD)["blas_kernel"])


def widths() -> list[host_simd.Width]:
    """Speed over scalar code of each instruction set, narrowest first."""
    return host_simd.widths(cases())


def peak(isa: str) -> Quantity:
    """FLOP/s of multiply-adds in registers, one core."""
    case = next(c for c in cases() if c.id == f"peak-{isa}")
    work = runs.foretold(
        case.operations, "FLOP", "multiply-adds of one call", source(SIMD, case.id)
    )
    return (work / seconds(case.id)).named(f"{isa} peak of one core")


def copy_rate(how: str) -> Quantity:
    """Bandwidth of a large copy, both arrays counted."""
    case = next(c for c in cases() if c.id == f"copy-{how}")
    size = runs.foretold(
        case.bytes, "B", "both arrays of the copy", source(SIMD, case.id)
    )
    return (size / seconds(case.id)).named(f"copy rate, {how}")
