"""Searching for a kernel's parameters: four ways, the same budget each.

A space is a grid: a list of values for each parameter, in their order. A measure gives
the seconds of a point, infinity where it does not fit, and perhaps the *name of the
bottleneck*, as a profiler would. Every method pays for each point once; a point that it
asks for again costs nothing.

- ``random``: points in random order. Its best after b of n points is known in closed
  form (``expected_best``), so that the others can be held against it without luck.
- ``hill-climb``: to the first neighbour that is faster; a new start where none is.
- ``evolutionary``: children of the fittest, crossed and mutated (mu + lambda).
- ``guided``: the bottleneck's name says which parameter to move and where to, from the
  best point on: what an agent does that reads the profile, as in AVO (T. Chen et al.,
  arXiv 2603.24517, 2026), without an agent. Where the advice is used up it climbs.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import quantiles
from typing import Any

from stacklib.quantity import resolve
from stacklib.quantity.bounds import whole

from .search_methods import METHODS, Grid, Moves, Place, Trial, proposals

BUDGET = 64  # points: an eighth of the space that `benchmarks/kernel_search.py` times


class SearchError(ValueError):
    """A measure failed; the message names the point."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What a measure may give: seconds, and what they were spent on."""

    seconds: float
    bottleneck: str = ""


@dataclass(frozen=True, slots=True)
class Search:
    """What a search found, trial by trial."""

    method: str
    seed: int
    trials: tuple[Trial, ...]

    @property
    def best(self) -> Trial:
        """The fastest point."""
        return min(self.trials, key=lambda trial: trial.seconds)

    @property
    def curve(self) -> list[float]:
        """Least seconds so far, after each trial."""
        least, out = math.inf, []
        for trial in self.trials:
            least = min(least, trial.seconds)
            out.append(least)
        return out


def search(
    space: Mapping[str, Sequence[Any]],
    measure: Callable[[dict[str, Any]], float | Measured],
    *,
    method: str,
    budget: int = BUDGET,
    seed: int = 0,
    moves: Moves | None = None,
) -> Search:
    """Look for the fastest point of a space.

    Parameters
    ----------
    space : mapping of str to sequence
        Values of each parameter, in the order in which they are neighbours.
    measure : function
        Seconds of a point; infinity where it does not fit.
    method : str
        Of ``METHODS``.
    budget : int
        Points paid for, at most; all of a smaller space.
    seed : int
        The same seed tries the same points.
    moves : mapping, optional
        For ``guided``: what to try for each name of a bottleneck, best first.

    Raises
    ------
    ValueError
        For a space without parameters, a parameter without values, a budget below one;
        for ``guided`` without ``moves``, or moves of a parameter there is none of.
    SearchError
        When the measure fails, or gives what is no time; it names the point.

    Examples
    --------
    >>> found = search({"tile": [16, 32, 64]}, lambda p: abs(p["tile"] - 30),
    ...                method="random", budget=3, seed=0)
    >>> dict(found.best.point)
    {'tile': 32}
    """
    method = resolve(method, METHODS, "method of search")
    whole(budget=budget)
    grid = Grid({name: list(values) for name, values in space.items()})
    if not grid.axes:
        raise ValueError("space = {}: no parameter to search")
    for name, values in grid.axes.items():
        if not values:
            raise ValueError(f"space: {name!r} has no values, so there are no points")
    rng = random.Random(f"{method} {seed}")
    places = proposals(method, grid, rng, moves)
    seen: dict[Place, Trial] = {}
    place, repeated = next(places), 0
    while len(seen) < min(budget, math.prod(grid.sizes)):
        repeated = repeated + 1 if place in seen else 0
        if repeated > 50:  # it goes round in circles: a point nobody has tried
            place = _unseen(grid, seen, rng)
        if place not in seen:
            seen[place] = _measured(measure, grid.point(place))
        place = places.send(seen[place])
    return Search(method, seed, tuple(seen.values()))


def _measured(measure: Callable[[dict[str, Any]], Any], point: dict[str, Any]) -> Trial:
    try:
        found: Any = measure(dict(point))
    except Exception as error:
        raise SearchError(
            f"the measure failed at {point}: {type(error).__name__}: {error}"
        ) from error
    name = ""
    if isinstance(found, Measured):
        found, name = found.seconds, found.bottleneck
    number = isinstance(found, int | float) and not isinstance(found, bool)
    if not number or not found >= 0:
        raise SearchError(f"the measure gave {found!r} at {point}: seconds, 0 or more")
    return Trial(point, float(found), name)


def _unseen(grid: Grid, seen: Mapping[Place, Trial], rng: random.Random) -> Place:
    while (place := grid.anywhere(rng)) in seen:
        pass
    return place


# -- curves ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Band:
    """Best so far over many seeds, after each trial: median and tenths."""

    method: str
    low: list[float]  # a tenth of the seeds is better
    middle: list[float]
    high: list[float]


def bands(
    space: Mapping[str, Sequence[Any]],
    measure: Callable[[dict[str, Any]], float | Measured],
    *,
    budget: int,
    seeds: int = 20,
    methods: Sequence[str] = METHODS,
    moves: Moves | None = None,
) -> list[Band]:
    """Best-so-far curves of every method over the same seeds and budget."""
    whole(2, seeds=seeds)
    out = []
    for method in methods:
        curves = [
            search(
                space, measure, method=method, budget=budget, seed=seed, moves=moves
            ).curve
            for seed in range(seeds)
        ]
        tenths = [
            quantiles(at, n=10, method="inclusive") for at in zip(*curves, strict=True)
        ]
        out.append(Band(method, *([t[i] for t in tenths] for i in (0, 4, 8))))
    return out


def expected_best(seconds: Sequence[float], budget: int) -> float:
    """Mean of the least of so many points drawn at random, none twice.

    The i-th fastest of n is the least of b with probability C(n - i, b - 1) / C(n, b).
    """
    n = len(seconds)
    whole(budget=budget)
    if budget > n:
        raise ValueError(f"budget = {budget}: there are {n} points")
    total = math.comb(n, budget)
    return math.fsum(
        x * (math.comb(n - i, budget - 1) / total)
        for i, x in enumerate(sorted(seconds), start=1)
    )
