"""Fitting the factors: one at a time, around and around, until nothing moves.

Coordinate descent. Along one factor the cost is a sum of capped, kinked curves, so
the first round scans its whole range for the valley; later rounds look near where
it was found. Golden sections find the floor. Only rows whose prediction the factor
moves are computed again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from .problem import Case, Factor, Problem, rounded

SCAN = 7  # points across the range in the first round
NEAR = 1.15  # ratio to both sides that later rounds search
SECTIONS = 5  # golden sections: 9 % of the bracket
SWEEPS = 5  # rounds at most
SETTLED = 1e-3  # share of the cost: a round that gains less ends the fit
_GOLDEN = (math.sqrt(5) - 1) / 2


def points(factor: Factor, count: int = SCAN) -> list[float]:
    """Values across the bounds of a factor, evenly by ratio."""
    ratio = factor.most / factor.least
    inner = [factor.least * ratio ** (i / (count - 1)) for i in range(1, count - 1)]
    return [factor.least, *inner, factor.most]


def near(factor: Factor, now: float) -> list[float]:
    """Values to both sides of one, within the bounds."""
    return [max(factor.least, now / NEAR), min(factor.most, now * NEAR)]


def minimise(
    cost: Callable[[float], float], grid: Sequence[float], now: float
) -> float:
    """The best value along one factor; ``now`` where none is better."""
    costs = {x: cost(x) for x in sorted({*grid, now})}
    tried = list(costs)
    best = min(tried, key=lambda x: (costs[x], x != now))
    i = tried.index(best)
    low, high = (
        math.log(tried[max(0, i - 1)]),
        math.log(tried[min(len(tried) - 1, i + 1)]),
    )

    def at(place: float) -> tuple[float, float]:
        x = math.exp(low + place * (high - low))
        costs[x] = cost(x)
        return place, costs[x]

    left, right = 0.0, 1.0
    a, b = at(1 - _GOLDEN), at(_GOLDEN)
    for _ in range(SECTIONS):
        if a[1] <= b[1]:
            right, b = b[0], a
            a = at(right - _GOLDEN * (right - left))
        else:
            left, a = a[0], b
            b = at(left + _GOLDEN * (right - left))
    found = min(costs, key=lambda x: costs[x])
    return found if costs[found] < costs[now] else now


def fit(problem: Problem) -> dict[str, float]:
    """Values of all factors that make the rows' robust loss least.

    Starts from the priors, so that nothing of an earlier fit remains. A factor
    that moves no row, and a physical constant, stay where they began.
    """
    values = {name: f.begin for name, f in problem.factors.items()}
    for part in problem.stages():
        _settle(part, values)
    return values


def refit(
    problem: Problem, full: Mapping[str, float], keep: Callable[[Case], bool]
) -> dict[str, float]:
    """Values without some of the rows, searched from those of a fit to all.

    Only what the missing rows were fitted with is fitted again. A factor that no
    remaining row moves goes back to where a fit begins.
    """
    values, rest = dict(full), problem.only(keep)
    less = {name: len(places) for name, places in rest.parts().items()}
    stages = zip(problem.parts().items(), rest.stages(), strict=True)
    for (name, places), part in stages:
        if less[name] == len(places):
            continue
        told = part.touched()
        for factor, held in part.factors.items():
            if not part.moved(told[factor], values, factor):
                values[factor] = held.begin
        _settle(part, values, warm=True)
    return values


def _settle(problem: Problem, values: dict[str, float], warm: bool = False) -> None:
    """Move the factors of a problem until nothing is gained; the others stand."""
    touched = problem.touched()
    free = [n for n, f in problem.factors.items() if not f.fixed and touched[n]]
    everyone = range(len(problem.cases))
    before = math.inf
    for sweep in range(SWEEPS):
        for name in free:
            factor = problem.factors[name]
            close = warm or sweep > 0
            grid = near(factor, values[name]) if close else points(factor)
            moved = problem.moved(touched[name], values, name)
            values[name] = _along(problem, values, name, moved, grid)
        with problem.override(values):
            after = problem.cost(everyone)
        if before - after < SETTLED * after:
            break
        before = after
    for name in problem.factors:
        values[name] = rounded(values[name])


def _along(
    problem: Problem,
    values: Mapping[str, float],
    name: str,
    places: Sequence[int],
    grid: Sequence[float],
) -> float:
    def cost(x: float) -> float:
        with problem.override({**values, name: x}):
            return problem.cost(places)

    return minimise(cost, grid, values[name]) if places else values[name]
