"""How far predictions are off on rows the fit never saw, and how sure a factor is."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..validate import quantile
from .fit import fit, nearby, refit
from .problem import Case, Problem

BY = ("source", "device")
FOLDS = (*BY, "word")  # words of a cell: shape, format, software, link, nodes
FEW = 12  # rows of a word, at the least
DRAWS = 12  # bootstrap replicates
SEED = 20261121
SPAN = (0.05, 0.95)  # the interval that is stored


@dataclass(frozen=True, slots=True)
class Errors:
    """Error quantiles of some rows and how many they are."""

    median: float
    p90: float
    n: int


def group_of(case: Case, by: str) -> str:
    """The source or the device of a row."""
    if by not in BY:
        raise ValueError(f"by={by!r}: one of {', '.join(BY)}")
    return case.source if by == "source" else case.device


def words_of(case: Case) -> set[str]:
    """What it is left out with: its family and each word of its cell, its engine."""
    return {f"{case.family}/{w}" for w in (*case.words, case.software) if w}


def inside(case: Case, by: str, group: str) -> bool:
    """Whether a row is of a group: of a source, of a device, or of a ``word``."""
    return group in words_of(case) if by == "word" else group_of(case, by) == group


def groups(problem: Problem, by: str) -> list[str]:
    """The groups that are left out in turn, in a fixed order.

    Words of a few rows alone are left to the folds of their source and device.
    """
    if by != "word":
        return sorted({group_of(case, by) for case in problem.cases})
    found = Counter(word for case in problem.cases for word in words_of(case))
    all_of = Counter(case.family for case in problem.cases)
    some = {w: n for w, n in found.items() if n < all_of[w.split("/")[0]]}
    return sorted(word for word, n in some.items() if n >= FEW)


def held_out(
    problem: Problem, by: str, group: str, full: Mapping[str, float] | None = None
) -> dict[str, float]:
    """Predictions of a group's rows by factors fitted without that group.

    A factor that no row of the others has moved stands where the fit began. A row
    that it decides is not predicted: there is nothing to predict it with. With the
    values of a ``full`` fit the search begins there.
    """

    def keep(case: Case) -> bool:
        return not inside(case, by, group)

    values = refit(problem, full, keep) if full else fit(problem.only(keep))
    still = [
        n for n, f in problem.factors.items() if not f.fixed and f.begin == values[n]
    ]
    mine = [i for i, c in enumerate(problem.cases) if not keep(c)]
    decided = {i for name in still for i in problem.moved(mine, values, name)}
    with problem.override(values):
        return {
            problem.cases[i].id: problem.cases[i].predict()
            for i in mine
            if i not in decided
        }


def errors(
    cases: Iterable[Case], predicted: Mapping[str, float], unseen: bool = False
) -> dict[str, Errors]:
    """Error quantiles by family key, and by its parts that have bars of their own."""
    misses: dict[str, list[float]] = {}
    for case in cases:
        if case.id in predicted and not (unseen and case.read_back):
            error = abs(predicted[case.id] / case.measured - 1)
            for key in filter(None, (case.key, case.part)):
                misses.setdefault(key, []).append(error)
    return {
        key: Errors(quantile(found, 0.5), quantile(found, 0.9), len(found))
        for key, found in sorted(misses.items())
    }


def draw(
    problem: Problem, number: int, full: Mapping[str, float] | None = None
) -> dict[str, float]:
    """Factors fitted to one bootstrap replicate; those it does not touch left out.

    Groups (one source on one device) are drawn with repetition, then rows within
    each: rows of a group share their faults, and so must be drawn together.
    """
    places: list[int] = []
    for together in problem.parts().values():
        places += _chosen(problem, together, random.Random(SEED + number))
    drawn = problem.drawn(places)
    touched = drawn.touched()
    values = nearby(drawn, full) if full else fit(drawn)
    return {name: value for name, value in values.items() if touched[name]}


def _chosen(
    problem: Problem, together: Iterable[int], chance: random.Random
) -> list[int]:
    rows: dict[tuple[str, str], list[int]] = {}
    for i in together:
        case = problem.cases[i]
        rows.setdefault((case.source, case.device), []).append(i)
    names = sorted(rows)
    return [
        place
        for name in chance.choices(names, k=len(names))
        for place in chance.choices(rows[name], k=len(rows[name]))
    ]


def spans(
    values: Mapping[str, float], draws: Iterable[Mapping[str, float]]
) -> dict[str, tuple[float, float]]:
    """The interval of each factor: 5th to 95th percentile of the replicates."""
    found: dict[str, list[float]] = {name: [value] for name, value in values.items()}
    for drawn in draws:
        for name, value in drawn.items():
            found[name].append(value)
    spans = {}
    for name, value in values.items():
        low, high = (quantile(found[name], share) for share in SPAN)
        spans[name] = (min(low, value), max(high, value))
    return spans
