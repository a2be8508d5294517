"""When do gains multiply? Every axis alone, all of them jointly, and greedy between.

A space is a grid, its first values are where one stands. Each axis alone gives a gain;
their product is what a story of layers promises. Enumeration gives the joint optimum,
and so says whether the product was too much or too little. Greedy goes through the
axes once, in every order; *settled* goes on until no axis alone helps.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import permutations, product
from numbers import Real
from typing import Any

from stacklib.kernels.plan.search import Measured, SearchError, search
from stacklib.quantity import Quantity
from stacklib.quantity.bounds import whole
from stacklib.roofline.work.fit import Infeasible

from .moe_layer import SPACE, layer_time

MOST, AXES = 200_000, 6  # points, and axes whose orders are all tried
METHODS = ("random", "hill-climb", "evolutionary")
Point = dict[str, Any]
Place = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Alone:
    """One axis moved, all others where they were."""

    value: Any
    seconds: float
    gain: float


@dataclass(frozen=True, slots=True)
class Found:
    """Where a way of searching ended."""

    point: Point
    seconds: float
    paid: int  # points that were asked


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """The joint optimum, what single axes promise, and what greedy gets.

    - ``greedy``: by order of the axes, each moved once
    - ``settled``: from the start on, until no axis alone helps
    - ``stuck``: points that no axis alone improves, the optimum among them
    - ``searches``: by method of ``kernels.plan.search``
    """

    start: Point
    seconds: float  # at the start
    alone: dict[str, Alone]
    best: Found
    greedy: dict[tuple[str, ...], Found]
    settled: Found
    stuck: tuple[tuple[Point, float], ...]
    searches: dict[str, Found]

    def __repr__(self) -> str:
        return (
            f"<Result {self.best.paid:,} points: jointly {self.gain:.2f}, product of "
            f"single gains {self.product:.2f}, greedy loses up to {self.loss:.1%}>"
        )

    @property
    def gain(self) -> float:
        """Of the joint optimum, over the start."""
        return self.seconds / self.best.seconds

    @property
    def product(self) -> float:
        """Of the axes' gains, each alone."""
        return math.prod(each.gain for each in self.alone.values())

    @property
    def ratio(self) -> float:
        """Joint gain over the product: above one where axes need one another."""
        return self.gain / self.product

    @property
    def loss(self) -> float:
        """How much longer the worst order of greedy takes than the optimum."""
        return max(f.seconds for f in self.greedy.values()) / self.best.seconds - 1

    @property
    def worst(self) -> tuple[str, ...]:
        """The order that loses most."""
        return max(self.greedy, key=lambda order: self.greedy[order].seconds)


def codesign(
    space: Mapping[str, Sequence[Any]] | None = None,
    measure: Callable[[Point], float | Quantity | Measured] | None = None,
    *,
    budget: int = 48,
    seed: int = 0,
) -> Result:
    """Single axes, greedy and the joint optimum of a space.

    Parameters
    ----------
    space : mapping of str to sequence, optional
        Values of each axis, that where one stands first. Default: tile, format, size of
        the experts and network of a layer of experts.
    measure : function, optional
        Seconds of a point, as a number, a Quantity or Measured; infinity, or raising
        Infeasible, where it does not fit. Default: ``layer_time``.
    budget : int
        Points that each method of search pays for.
    seed : int
        Of the searches.

    Raises
    ------
    ValueError
        For no axis, an axis that is no list, has no values or one twice, and more
        points or axes than can be tried.
    SearchError
        When the measure fails, or gives what is no time; it names the point.
    Infeasible
        Where the start does not fit.

    Examples
    --------
    >>> space = {"a": [0, 1], "b": [0, 1]}
    >>> apart = codesign(space, lambda p: 8 / (1 + p["a"]) / (1 + p["b"]))
    >>> apart.gain, apart.product, apart.loss
    (4.0, 4.0, 0.0)
    >>> needed = codesign(space, lambda p: 8 - 4 * (p["a"] and p["b"]))
    >>> needed.gain, needed.product, needed.loss
    (2.0, 1.0, 1.0)
    """
    axes = _held(SPACE if space is None else space)
    whole(budget=budget)
    whole(0, seed=seed)
    ask = layer_time if measure is None else measure
    names = tuple(axes)
    grid = {name: range(len(values)) for name, values in axes.items()}
    seconds = {
        place: _seconds(ask, _point(axes, place), start=not any(place))
        for place in product(*grid.values())
    }
    start: Place = (0,) * len(axes)

    def moved(place: Place, axis: int) -> Place:
        """The best along one axis; itself where none is better."""
        along = [(*place[:axis], i, *place[axis + 1 :]) for i in grid[names[axis]]]
        return min(along, key=lambda p: (seconds[p], p != place))

    def walked(place: Place, order: Sequence[int], paid: int = 1) -> tuple[Place, int]:
        """Axis after axis, each to its best."""
        for axis in order:
            place, paid = moved(place, axis), paid + len(grid[names[axis]]) - 1
        return place, paid

    def found(place: Place, paid: int) -> Found:
        return Found(_point(axes, place), seconds[place], paid)

    alone = {}
    for axis, name in enumerate(names):
        place = moved(start, axis)
        gain = seconds[start] / seconds[place]
        alone[name] = Alone(axes[name][place[axis]], seconds[place], gain)
    every = range(len(names))
    greedy = {
        tuple(names[axis] for axis in order): found(*walked(start, order))
        for order in permutations(every)
    }
    settled, then = None, (start, 1)
    while then[0] != settled:
        settled, then = then[0], walked(then[0], every, then[1])
    least: dict[tuple[int, Place, Place], float] = {}  # of each line along an axis
    for place, each in seconds.items():
        least.update((at, min(each, least.get(at, each))) for at in _lines(place))
    stuck = [p for p, s in seconds.items() if all(s == least[at] for at in _lines(p))]
    stuck.sort(key=lambda p: seconds[p])

    def looked(method: str) -> Found:
        """By a search, which asks what is known here."""

        def at(point: Point) -> float:
            return seconds[tuple(point.values())]

        run = search(grid, at, method=method, budget=budget, seed=seed)
        return found(tuple(run.best.point.values()), len(run.trials))

    return Result(
        _point(axes, start),
        seconds[start],
        alone,
        found(min(seconds, key=lambda p: seconds[p]), len(seconds)),
        greedy,
        found(*then),
        tuple((_point(axes, p), seconds[p]) for p in stuck if seconds[p] < math.inf),
        {method: looked(method) for method in METHODS},
    )


def _held(space: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """The axes; refuses a space that cannot be enumerated, before it is written out."""
    if not isinstance(space, Mapping) or not space:
        raise ValueError(f"space = {space!r}: names with values, an axis at the least")
    for name, values in space.items():
        if isinstance(values, str | bytes | Set) or not hasattr(values, "__len__"):
            raise ValueError(
                f"space: {name!r} = {values!r}: a list of values is needed"
            )
        if not len(values):
            raise ValueError(f"space: {name!r} has no values, so there are no points")
    many = math.prod(map(len, space.values()))
    if many > MOST or len(space) > AXES:
        raise ValueError(
            f"space: {len(space)} axes and {many:,} points; at most {AXES} and {MOST:,}"
        )
    for name, values in space.items():
        value, times = Counter(map(repr, values)).most_common(1)[0]
        if times > 1:
            raise ValueError(f"space: {name!r} has {value} twice")
    return {name: list(values) for name, values in space.items()}


def _seconds(ask: Callable[[Point], Any], point: Point, start: bool) -> float:
    """Of a point; infinity for one that does not fit, unless one stands there."""
    try:
        value: Any = ask(dict(point))
        value = value.seconds if isinstance(value, Measured) else value
        value = value.to("s").value if isinstance(value, Quantity) else value
        number = isinstance(value, Real) and not isinstance(value, bool)
        found = float(value) if number else math.nan
    except Infeasible:
        if start:
            raise
        return math.inf
    except Exception as error:
        raise SearchError(f"the measure failed at {point}: {error}") from error
    if not found > 0:
        raise SearchError(f"the measure gave {value!r} at {point}: seconds, above zero")
    if start and math.isinf(found):
        raise Infeasible(f"{point}: the start does not fit")
    return found


def _lines(place: Place) -> list[tuple[int, Place, Place]]:
    """The line of points along each axis that a place is on."""
    return [(axis, place[:axis], place[axis + 1 :]) for axis in range(len(place))]


def _point(axes: Mapping[str, list[Any]], place: Place) -> Point:
    return {n: v[i] for (n, v), i in zip(axes.items(), place, strict=True)}
