"""Section 4.11: Who finds the best tile?

All tiles of a space were timed once on the book's machine, so that a search replays
stored timings. Plain Python: the live figure and the page's loop run in the browser.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from statistics import mean, median
from typing import Any

from stacklib.evidence import results
from stacklib.kernels.plan import published
from stacklib.kernels.plan.search import (
    METHODS,
    Band,
    Measured,
    Search,
    bands,
    expected_best,
    search,
)
from stacklib.kernels.plan.tile_profile import MOVES
from stacklib.kernels.schedule import nki
from stacklib.pages.figures_of import claimed as claim
from stacklib.quantity import Quantity, Source, chosen, counted, counting
from stacklib.quantity.core import _make

__all__ = ["METHODS", "SPACE", "run", "seconds"]

NAME = "kernel_search"
FILE = f"benchmarks/results/{NAME}.json"
SEEDS, BUDGET = 20, 64
TAKEN = "128x256x64"  # the first tile in the list of Triton's tutorial on products
CUBE = "64x64x64"
VERSIONS = ("v3", "v4", "v5", "v6", "v7", "v9", "v10")  # v8 and v11 change no time
SHARE = 0.2  # of the GPU's time that we give attention


@cache
def recorded() -> dict[str, Any]:
    """The timings of every tile."""
    return results.need(NAME)


@cache
def rows() -> dict[str, dict[str, Any]]:
    """One row a tile, by its name."""
    return {row["id"]: row for row in recorded()["rows"]}


SPACE: dict[str, list[int]] = recorded()["space"]


@cache
def times() -> dict[str, float]:
    """Median seconds of every tile."""
    return {name: median(row["times_s"]) for name, row in rows().items()}


@cache
def least() -> float:
    """Seconds of the fastest tile."""
    return min(times().values())


def named(point: Mapping[str, Any]) -> str:
    """The name of a tile."""
    return "x".join(str(point[axis]) for axis in SPACE)


def seconds(*tile: int) -> float:
    """Stored seconds of a tile: rows, columns, steps of the sum."""
    return times()["x".join(map(str, tile))]


def measure(point: Mapping[str, Any]) -> Measured:
    """What a search is told of a tile: its stored time, and its profile's name."""
    name = named(point)
    return Measured(times()[name], rows()[name]["bottleneck"])


@cache
def run(method: str, seed: int, budget: int = BUDGET) -> Search:
    """A search on the stored timings."""
    return search(SPACE, measure, method=method, budget=budget, seed=seed, moves=MOVES)


@cache
def curves() -> dict[str, Band]:
    """Best so far of every method over the seeds."""
    found = bands(SPACE, measure, budget=BUDGET, seeds=SEEDS, moves=MOVES)
    return {band.method: band for band in found}


# -- numbers of the text ---------------------------------------------------------------


def _read(value: float, label: str, unit: str = "", where: str = "") -> Quantity:
    """A number that follows from the stored timings."""
    date = recorded()["date"]
    source = Source(FILE, where or "counted in it", date, "measured")
    return Quantity(value, unit, label=label, source=source, kind="measured")


def time_of(tile: str) -> Quantity:
    """Measured time of a tile."""
    return _read(times()[tile], f"time of {tile}", "s", recorded()["device"])


def best() -> Quantity:
    """Measured time of the fastest tile."""
    return _read(least(), "time of the fastest tile", "s", recorded()["device"])


def over(tile: str) -> Quantity:
    """A tile's time over that of the fastest."""
    return (time_of(tile) / best()).named(f"{tile} over the fastest")


def slowest() -> Quantity:
    """The slowest tile's time over that of the fastest."""
    return over(max(times(), key=lambda name: times()[name]))


def found(method: str, after: int = BUDGET) -> Quantity:
    """Time of the best tile after so many trials, median of the seeds."""
    value = curves()[method].middle[after - 1]
    return _read(value, f"best of {method} after {after}", "s")


def above(method: str, after: int = BUDGET) -> Quantity:
    """How far that lies above the fastest."""
    value = round(curves()[method].middle[after - 1] / least() - 1, 9)
    return _read(value, f"{method} after {after}, above")


def foretold(method: str, after: int = BUDGET) -> Quantity:
    """The same as predicted: the searches on the sums of the tile's profile."""
    told = {row["id"]: row for row in results.prediction(NAME)["rows"]}
    source = Source(
        f"benchmarks/predictions/{NAME}.json",
        "committed before the run",
        recorded()["date"],
        "measured",
    )
    label = f"{method} after {after}, predicted"
    made = Quantity(told[method][str(after)][1], "", label=label, source=source)
    ratio = _make(made, kind="counted")
    return (ratio - 1).named(f"{label}, above")


@cache
def _trials(method: str, within: float) -> float:
    reach = (1 + within) * least()
    curves_of = (run(method, seed, len(times())).curve for seed in range(SEEDS))
    return mean(
        next(at for at, value in enumerate(curve, 1) if value <= reach)
        for curve in curves_of
    )


def trials(method: str, within: float = 0.01) -> Quantity:
    """Trials until the best is so near the fastest, mean of the seeds."""
    return _read(_trials(method, within), f"trials of {method} to {within:.0%}")


def near(within: float, columns: int | None = None) -> Quantity:
    """Tiles so near the fastest, of all or of those with so many columns."""
    count = sum(
        t <= (1 + within) * least() and columns in (None, rows()[name]["tile_n"])
        for name, t in times().items()
    )
    return _read(count, f"tiles within {within:.0%}{' wide' if columns else ''}")


def first(within: float) -> Quantity:
    """Trials until the first of those, drawn at random, expected."""
    every = chosen(len(times()), label="tiles")
    return ((every + 1) / (near(within) + 1)).named(f"draws to {within:.0%}")


def missed(within: float, budget: int = BUDGET) -> Quantity:
    """Chance that none of those is among so many draws, one draw like another."""
    every = chosen(len(times()), label="tiles")
    none = (1 - near(within) / every) ** budget
    return none.named(f"chance to miss all within {within:.0%}")


def expected() -> Quantity:
    """How far above the fastest the best of a random budget lies, in the mean."""
    mean_of = counted(expected_best, list(times().values()), BUDGET, unit="s")
    return (mean_of / best() - 1).named("best of a random budget, mean, above")


# -- what the profile's name was worth -------------------------------------------------


@cache
def _helps(bottleneck: str, advised: bool) -> float:
    """Share of steps that make a tile faster: the first advised, or any."""
    better: list[float] = []
    for name, row in rows().items():
        if row["bottleneck"] == bottleneck:
            steps = MOVES[bottleneck][:1] if advised else _steps()
            tried = [_stepped(row, axis, by) for axis, by in steps]
            mine = [times()[t] < times()[name] for t in tried if t]
            better += [mean(mine)] if mine else []
    return mean(better)


def _steps() -> list[tuple[str, int]]:
    return [(axis, by) for axis in SPACE for by in (1, -1)]


def _stepped(row: Mapping[str, Any], axis: str, by: int) -> str | None:
    at = SPACE[axis].index(row[axis]) + by
    inside = 0 <= at < len(SPACE[axis])
    return named({**row, axis: SPACE[axis][at]}) if inside else None


def helps(bottleneck: str, *, advised: bool = True) -> Quantity:
    """The same with its derivation."""
    label = f"{bottleneck}: {'advice' if advised else 'any step'} that helps"
    return _read(_helps(bottleneck, advised), label)


def tiles_of(bottleneck: str) -> Quantity:
    """Tiles that the profile gives a name."""
    count = sum(row["bottleneck"] == bottleneck for row in rows().values())
    return _read(count, f"tiles named {bottleneck}")


# -- how far a timing can be trusted ---------------------------------------------------


def _part(name: str, last: bool) -> float:
    """Median of a tile's timings: of the last round, or of those before."""
    timed = rows()[name]["times_s"]
    return median(timed[-2:] if last else timed[:-2])


def luck() -> Quantity:
    """How far the fastest by the first rounds lies above the fastest of the last."""
    winner = min(rows(), key=lambda name: _part(name, False))
    again = min(_part(name, True) for name in rows())
    return _read(_part(winner, True) / again - 1, "the winner, timed again")


def spread() -> Quantity:
    """Second slowest less second fastest of a tile's timings over their median."""
    found_ = [
        (sorted(row["times_s"])[-2] - sorted(row["times_s"])[1]) / times()[name]
        for name, row in rows().items()
    ]
    return _read(median(found_), "spread of a tile's timings, median")


# -- searches that others ran ----------------------------------------------------------


def days() -> Quantity:
    """How long the search of the paper ran."""
    return claim("avo-seven-days")


def payback(share: float = SHARE) -> Quantity:
    """GPU-hours from which on that search has paid, were it run on one GPU."""
    gain = published.gain("avo-cudnn").high
    return counted(
        published.payback,
        24 * published.SEARCH_DAYS,
        share,
        gain,
        unit="h",
        label="GPU-hours until a search has paid",
    )


def saved(share: float = SHARE) -> Quantity:
    """Share of the GPU's time that its gain is worth."""
    gain = claim("avo-cudnn-3p5")
    part = chosen(share, label="share of attention")
    return (part * (1 - 1 / (1 + gain))).named("saved of all time")


def port() -> Quantity:
    """Minutes in which the search went on to grouped queries."""
    source = Source("arXiv 2603.24517", "abstract", "2026-11-25", "secondary")
    return Quantity(
        published.PORT_MINUTES, "min", label="port", source=source, kind="claimed"
    )


def version_time(version: str) -> Quantity:
    """Time of a version of the tutorial's kernel for all tiles of queries."""
    label = f"time of {version}"
    return counted(nki.schedule, version, take="time", unit="s", label=label)


@counting("share of the peak, {version}")
def version_share(version: str) -> float:
    """Share of the bf16 peak of its core."""
    made = nki.engines()
    return nki.schedule(version).rate / (2 * nki.PARTITIONS**2 * made.tensor)
