"""Where a search looks next: four methods on a grid, each a generator of places.

A generator proposes a place and is sent what it cost; the budget is `search`'s affair.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stacklib.quantity import resolve

METHODS = ("random", "hill-climb", "evolutionary", "guided")
PARENTS = 8  # that an evolutionary search keeps: a fifth of the budgets here
MUTATE = 0.4  # chance that a child's parameter takes a step: about one of three
Place = tuple[int, ...]  # of a point, by index along each axis
Moves = Mapping[str, Sequence[tuple[str, int]]]  # bottleneck: (parameter, step), ...
Proposals = Generator[Place, "Trial", None]


@dataclass(frozen=True, slots=True)
class Trial:
    """A point that was paid for."""

    point: Mapping[str, Any]
    seconds: float
    bottleneck: str = ""


@dataclass(frozen=True)
class Grid:
    """A space, and where one may go in it."""

    axes: dict[str, list[Any]]

    @property
    def sizes(self) -> list[int]:
        """Values along each axis."""
        return [len(values) for values in self.axes.values()]

    def point(self, place: Place) -> dict[str, Any]:
        """The values at a place."""
        return {
            name: values[at]
            for (name, values), at in zip(self.axes.items(), place, strict=True)
        }

    def anywhere(self, rng: random.Random) -> Place:
        """A random place."""
        return tuple(rng.randrange(size) for size in self.sizes)

    def step(self, place: Place, axis: int, by: int) -> Place | None:
        """A step along an axis, or None where the grid ends."""
        at = place[axis] + by
        if not 0 <= at < self.sizes[axis]:
            return None
        return (*place[:axis], at, *place[axis + 1 :])

    def neighbours(self, place: Place) -> list[Place]:
        """Places one step away."""
        steps = [(axis, by) for axis in range(len(place)) for by in (1, -1)]
        found = (self.step(place, axis, by) for axis, by in steps)
        return [other for other in found if other is not None]


def proposals(
    method: str, grid: Grid, rng: random.Random, moves: Moves | None
) -> Proposals:
    """The places of a method, checked that it has what it needs."""
    if method == "random":
        return _random(grid, rng)
    if method == "hill-climb":
        return _hill_climb(grid, rng)
    if method == "evolutionary":
        return _evolutionary(grid, rng)
    if not moves:
        raise ValueError("guided search needs moves: what to do about each bottleneck")
    numbers = list(grid.axes)
    known = {
        name: [
            (numbers.index(resolve(axis, numbers, "parameter")), by)
            for axis, by in steps
        ]
        for name, steps in moves.items()
    }
    return _guided(grid, rng, known)


def _random(grid: Grid, rng: random.Random) -> Proposals:
    while True:
        yield grid.anywhere(rng)


def _climb(grid: Grid, rng: random.Random, here: Place, cost: float) -> Proposals:
    """To faster neighbours, until there is none."""
    while True:
        around = grid.neighbours(here)
        rng.shuffle(around)
        for place in around:
            trial = yield place
            if trial.seconds < cost:
                here, cost = place, trial.seconds
                break
        else:
            return


def _hill_climb(grid: Grid, rng: random.Random) -> Proposals:
    while True:
        here = grid.anywhere(rng)
        trial = yield here
        yield from _climb(grid, rng, here, trial.seconds)


def _evolutionary(grid: Grid, rng: random.Random) -> Proposals:
    herd: list[tuple[float, Place]] = []
    for _ in range(PARENTS):
        place = grid.anywhere(rng)
        trial = yield place
        herd.append((trial.seconds, place))
    while True:
        mother, father = (min(rng.sample(herd, 2))[1] for _ in range(2))
        child = tuple(rng.choice(genes) for genes in zip(mother, father, strict=True))
        for axis in range(len(child)):
            if rng.random() < MUTATE:
                child = grid.step(child, axis, rng.choice((-2, -1, 1, 2))) or child
        trial = yield child
        herd = sorted({*herd, (trial.seconds, child)})[:PARENTS]


def _guided(
    grid: Grid, rng: random.Random, moves: Mapping[str, Sequence[tuple[int, int]]]
) -> Proposals:
    while True:
        here = grid.anywhere(rng)
        trial = yield here
        moved = True
        while moved:
            moved = False
            for axis, by in moves.get(trial.bottleneck, ()):
                place = grid.step(here, axis, by)
                if place is None:
                    continue
                other = yield place
                if other.seconds < trial.seconds:
                    here, trial, moved = place, other, True
                    break
        yield from _climb(grid, rng, here, trial.seconds)
