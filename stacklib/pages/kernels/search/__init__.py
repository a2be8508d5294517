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
from stacklib.pages import figures_of
from stacklib.pages.figures_of import claimed as claim
from stacklib.quantity import Quantity, chosen, counted, counting, quoted, recorded

__all__ = ["METHODS", "SPACE", "run", "seconds"]

NAME = "kernel_search"
FILE = f"benchmarks/results/{NAME}.json"
SEEDS, BUDGET = 20, 64
TAKEN = "128x256x64"  # the first tile in the list of Triton's tutorial on products
CUBE = "64x64x64"
VERSIONS = ("v3", "v4", "v5", "v6", "v7", "v9", "v10")  # v8 and v11 change no time
SHARE = 0.2  # of the GPU's time that we give attention


@cache
def file() -> dict[str, Any]:
    """The timings of every tile."""
    return results.need(NAME)


@cache
def rows() -> dict[str, dict[str, Any]]:
    """One row a tile, by its name."""
    return {row["id"]: row for row in file()["rows"]}


SPACE: dict[str, list[int]] = file()["space"]


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


def time_of(tile: str) -> Quantity:
    """Measured time of a tile."""
    return recorded(FILE, tile, "times_s/median", unit="s", label=f"time of {tile}")


def fastest() -> str:
    """The name of the fastest tile."""
    return min(times(), key=lambda name: times()[name])


def best() -> Quantity:
    """Measured time of the fastest tile."""
    return time_of(fastest()).named("time of the fastest tile")


def over(tile: str) -> Quantity:
    """A tile's time over that of the fastest."""
    return (time_of(tile) / best()).named(f"{tile} over the fastest")


def slowest() -> Quantity:
    """The slowest tile's time over that of the fastest."""
    return over(max(times(), key=lambda name: times()[name]))


@counting("best of {method} after {after}", unit="s")
def found(method: str, after: int = BUDGET) -> float:
    """Time of the best tile after so many trials, median of the seeds."""
    return curves()[method].middle[after - 1]


@counting("{end} of {method} after {after}", unit="s")
def reached(method: str, after: int, end: str) -> float:
    """The same at an end of the seeds, ``low`` or ``high``."""
    return float(getattr(curves()[method], end)[after - 1])


def ends(method: str, after: int) -> tuple[Quantity, Quantity]:
    """Both."""
    return reached(method, after, "low"), reached(method, after, "high")


@counting("{method} after {after}, above")
def above(method: str, after: int = BUDGET) -> float:
    """How far that lies above the fastest."""
    return max(0.0, float(curves()[method].middle[after - 1] / least() - 1))


def foretold(method: str, after: int = BUDGET) -> Quantity:
    """The same as predicted: the searches on the sums of the tile's profile."""
    told = {row["id"]: row for row in results.prediction(NAME)["rows"]}
    label = f"{method} after {after}, predicted"
    ratio = figures_of.foretold(NAME, told[method][str(after)][1], "", label)
    return (ratio - 1).named(f"{label}, above")


@counting("trials of {method} to {within:.0%}")
@cache
def trials(method: str, within: float = 0.01) -> float:
    """Trials until the best is so near the fastest, mean of the seeds."""
    reach = (1 + within) * least()
    curves_of = (run(method, seed, len(times())).curve for seed in range(SEEDS))
    return mean(
        next(at for at, value in enumerate(curve, 1) if value <= reach)
        for curve in curves_of
    )


def near(within: float, columns: int | None = None) -> Quantity:
    """Tiles so near the fastest, of all or of those with so many columns."""
    near_it = [
        name
        for name, t in times().items()
        if t <= (1 + within) * least() and columns in (None, rows()[name]["tile_n"])
    ]
    wide = " wide" if columns else ""
    return counted(len, near_it, label=f"tiles within {within:.0%}{wide}")


def every() -> Quantity:
    """Tiles of the space."""
    return counted(len, rows(), label="tiles")


def values() -> Quantity:
    """Values of each parameter of a tile."""
    return counted(len, SPACE["tile_m"], label="values")


def size() -> Quantity:
    """Rows, columns and steps of the product that was timed."""
    return recorded(FILE, "", "size", label="rows of the product")


def first(within: float) -> Quantity:
    """Trials until the first of those, drawn at random, expected."""
    return ((every() + 1) / (near(within) + 1)).named(f"draws to {within:.0%}")


def missed(within: float, budget: int = BUDGET) -> Quantity:
    """Chance that none of those is among so many draws, one draw like another."""
    none = (1 - near(within) / every()) ** budget
    return none.named(f"chance to miss all within {within:.0%}")


def expected() -> Quantity:
    """How far above the fastest the best of a random budget lies, in the mean."""
    mean_of = counted(expected_best, list(times().values()), BUDGET, unit="s")
    return (mean_of / best() - 1).named("best of a random budget, mean, above")


# -- what the profile's name was worth -------------------------------------------------


@counting(
    lambda bottleneck, advised: (
        f"{bottleneck}: {'advice' if advised else 'any step'} that helps"
    )
)
@cache
def helps(bottleneck: str, *, advised: bool = True) -> float:
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


def tiles_of(bottleneck: str) -> Quantity:
    """Tiles that the profile gives a name."""
    so = [name for name, row in rows().items() if row["bottleneck"] == bottleneck]
    return counted(len, so, label=f"tiles named {bottleneck}")


# -- how far a timing can be trusted ---------------------------------------------------


LAST = (4, 5)  # which of a tile's timings the last round made


def again(name: str) -> Quantity:
    """A tile's time in the last round."""
    first, second = (recorded(FILE, name, f"times_s/{n}", unit="s") for n in LAST)
    return ((first + second) / 2).named(f"{name}, last round")


def luck() -> Quantity:
    """How far the fastest by the first rounds lies above the fastest of the last."""
    timed = {name: row["times_s"] for name, row in rows().items()}
    winner = min(timed, key=lambda name: median(timed[name][: LAST[0]]))
    fastest = min(timed, key=lambda name: median(timed[name][LAST[0] :]))
    return (again(winner) / again(fastest) - 1).named("the winner, timed again")


@counting("spread of a tile's timings, median")
def spread() -> float:
    """Second slowest less second fastest of a tile's timings over their median."""
    return median(
        (sorted(row["times_s"])[-2] - sorted(row["times_s"])[1]) / times()[name]
        for name, row in rows().items()
    )


# -- searches that others ran ----------------------------------------------------------


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
    return quoted("avo.port")


def version_time(version: str) -> Quantity:
    """Time of a version of the tutorial's kernel for all tiles of queries."""
    label = f"time of {version}"
    return counted(nki.schedule, version, take="time", unit="s", label=label)


@counting("share of the peak, {version}")
def version_share(version: str) -> float:
    """Share of the bf16 peak of its core."""
    made = nki.engines()
    return nki.schedule(version).rate / (2 * nki.PARTITIONS**2 * made.tensor)
