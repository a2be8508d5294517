"""When do gains multiply? Every axis alone, all of them jointly, and greedy between.

A space is a grid, its first values are where one stands. Each axis alone gives a gain;
their product is what a story of layers promises. Enumeration gives the joint optimum,
and so says whether the product was too much or too little. Greedy goes through the
axes once, in every order; *settled* goes on until no axis alone helps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from typing import Any

from stacklib.kernels.plan.search import Measured, SearchError, search
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
    measure: Callable[[Point], float | Measured] | None = None,
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
        Seconds of a point, infinity where it does not fit. Default: ``layer_time``.
    budget : int
        Points that each method of search pays for.
    seed : int
        Of the searches.

    Raises
    ------
    ValueError
        For no axis, an axis without values or with one twice, more points or axes than
        can be tried, and what is no time.
    SearchError
        When the measure fails; it names the point.
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
    axes = {n: list(v) for n, v in (SPACE if space is None else space).items()}
    _hold(axes)
    whole(budget=budget)
    whole(0, seed=seed)
    ask = layer_time if measure is None else measure
    names = tuple(axes)
    seconds = {
        place: _seconds(ask, _point(axes, place))
        for place in product(*(range(len(values)) for values in axes.values()))
    }
    start: Place = (0,) * len(axes)
    if math.isinf(seconds[start]):
        raise Infeasible(f"{_point(axes, start)}: the start does not fit")

    def moved(place: Place, axis: int) -> Place:
        """The best along one axis; itself where none is better."""
        along = [
            (*place[:axis], i, *place[axis + 1 :])
            for i in range(len(axes[names[axis]]))
        ]
        return min(along, key=lambda p: (seconds[p], p != place))

    def found(place: Place, paid: int) -> Found:
        return Found(_point(axes, place), seconds[place], paid)

    alone = {}
    for axis, name in enumerate(names):
        place = moved(start, axis)
        gain = seconds[start] / seconds[place]
        alone[name] = Alone(axes[name][place[axis]], seconds[place], gain)
    greedy = {}
    for order in permutations(range(len(names))):
        place, paid = start, 1
        for axis in order:
            place, paid = moved(place, axis), paid + len(axes[names[axis]]) - 1
        greedy[tuple(names[axis] for axis in order)] = found(place, paid)
    stuck = [p for p in seconds if all(moved(p, a) == p for a in range(len(names)))]
    stuck = sorted(
        (p for p in stuck if seconds[p] < math.inf), key=lambda p: seconds[p]
    )
    best = min(seconds, key=lambda p: seconds[p])
    searched = {}
    for method in METHODS:
        run = search(
            axes,
            lambda p: seconds[_place(axes, p)],
            method=method,
            budget=budget,
            seed=seed,
        )
        ended = _place(axes, run.best.point)
        searched[method] = found(ended, len(run.trials))
    return Result(
        _point(axes, start),
        seconds[start],
        alone,
        found(best, len(seconds)),
        greedy,
        _settled(start, moved, found, axes),
        tuple((_point(axes, p), seconds[p]) for p in stuck),
        searched,
    )


def _settled(start: Place, moved: Any, found: Any, axes: Mapping[str, Any]) -> Found:
    """Axis after axis, again and again, until none moves."""
    place, before, paid = start, None, 1
    while place != before:
        before = place
        for axis, values in enumerate(axes.values()):
            place, paid = moved(place, axis), paid + len(values) - 1
    result: Found = found(place, paid)
    return result


def _hold(axes: Mapping[str, list[Any]]) -> None:
    """Refuse a space that cannot be enumerated."""
    if not axes:
        raise ValueError("space = {}: an axis at the least")
    for name, values in axes.items():
        if not values:
            raise ValueError(f"space: {name!r} has no values, so there are no points")
        if twice := [v for i, v in enumerate(values) if v in values[:i]]:
            raise ValueError(f"space: {name!r} has {twice[0]!r} twice")
    many = math.prod(len(values) for values in axes.values())
    if many > MOST or len(axes) > AXES:
        raise ValueError(
            f"space: {len(axes)} axes and {many:,} points; at most {AXES} and {MOST:,}"
        )


def _seconds(ask: Callable[[Point], Any], point: Point) -> float:
    try:
        value: Any = ask(dict(point))
    except (ValueError, LookupError):
        raise
    except Exception as error:
        raise SearchError(f"the measure failed at {point}: {error}") from error
    value = value.seconds if isinstance(value, Measured) else value
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not value > 0:
        raise SearchError(f"the measure gave {value!r} at {point}: seconds, above zero")
    return float(value)


def _point(axes: Mapping[str, list[Any]], place: Place) -> Point:
    return {n: v[i] for (n, v), i in zip(axes.items(), place, strict=True)}


def _place(axes: Mapping[str, list[Any]], point: Mapping[str, Any]) -> Place:
    return tuple(values.index(point[name]) for name, values in axes.items())
