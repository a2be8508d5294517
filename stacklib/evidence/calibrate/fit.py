"""Fitting the factors: one at a time, around and around, until nothing moves.

Coordinate descent. Along one factor the cost is a sum of capped, kinked curves, so
the first round scans its whole range for the valley; later rounds look near where
it was found. Golden sections find the floor. Only rows whose prediction the factor
moves are computed again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping, Sequence

from .problem import Case, Factor, Problem, rounded

SCAN = 7  # points across the range in the first round
NEAR = 1.15  # ratio to both sides that later rounds search
SECTIONS = 5  # golden sections: 9 % of the bracket
SWEEPS = 5  # rounds at most
SETTLED = 1e-3  # share of the cost: a round that gains less ends the fit
NEARLY, FEWER = 4e-3, 2  # the same two for a search that begins near its end
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
    cost: Callable[[float], float],
    grid: Sequence[float],
    now: float,
    sections: int = SECTIONS,
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
    for _ in range(sections):
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

    What the missing rows had moved is searched again. Of that, a factor which no
    remaining row moves goes back to where a fit begins.
    """
    values = dict(full)
    gone = [i for i, case in enumerate(problem.cases) if not keep(case)]
    spoken = {name for name in problem.factors if problem.moved(gone, full, name)}
    for part in problem.only(keep).stages():
        rows = _moved(part, values, spoken)
        for name, moved in rows.items():
            if not moved:
                values[name] = part.factors[name].begin
        _settle(part, values, rows)
    return values


def _moved(
    problem: Problem, values: Mapping[str, float], names: Container[str]
) -> dict[str, list[int]]:
    """Rows that each of some factors moves."""
    touched = problem.touched()
    return {
        name: problem.moved(touched[name], values, name)
        for name, factor in problem.factors.items()
        if name in names and not factor.fixed
    }


def nearby(problem: Problem, full: Mapping[str, float]) -> dict[str, float]:
    """Values of all factors, searched from those of a fit to rows much like these."""
    values = dict(full)
    for part in problem.stages():
        _settle(part, values, _moved(part, values, part.factors))
    return values


def _settle(
    problem: Problem,
    values: dict[str, float],
    warm: Mapping[str, Sequence[int]] | None = None,
) -> None:
    """Move the factors of a problem until nothing is gained; the others stand.

    ``warm``: the rows of those that are to move, from where they are.
    """
    touched = problem.touched()
    free = [n for n, f in problem.factors.items() if not f.fixed and touched[n]]
    if warm is not None:
        free = [name for name in free if warm.get(name)]
    everyone = range(len(problem.cases))
    before = math.inf
    if warm is not None:
        with problem.override(values):
            before = problem.cost(everyone)
    for sweep in range(SWEEPS if free else 0):
        for name in free:
            factor = problem.factors[name]
            if warm is not None:
                grid, moved = near(factor, values[name]), warm[name]
            else:
                grid = near(factor, values[name]) if sweep else points(factor)
                moved = problem.moved(touched[name], values, name)
            sections = SECTIONS if warm is None else FEWER
            values[name] = _along(problem, values, name, moved, grid, sections)
        with problem.override(values):
            after = problem.cost(everyone)
        if before - after < (SETTLED if warm is None else NEARLY) * after:
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
    sections: int,
) -> float:
    def cost(x: float) -> float:
        with problem.override({**values, name: x}):
            return problem.cost(places)

    if not places:
        return values[name]
    return minimise(cost, grid, values[name], sections)
