"""The rules' table, and how a rule is asked.

A rule is a function of a ``Case``: a build, where its parts stand, and the outlet. It
gives nothing where the build keeps it, a ``Broken`` where not, and raises
``UnknownSpec`` where a field that it needs is unknown: then it is undecided. Beside it
stand the fields of a build whose change may mend it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from stacklib.cost.catalogue import Component

from .build import Build
from .findings import Amount, Broken, Leaf
from .placing import Placed, place


class Case:
    """What a rule is asked about."""

    def __init__(self, build: Build, mains: float, continuous: float) -> None:
        self.build, self.mains, self.continuous = build, mains, continuous
        self.asked: dict[str, bool | None] = {}  # what rules have said, by id

    @cached_property
    def placed(self) -> Placed:
        """Where cards and drives stand."""
        return place(self.build)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: its id, what it holds, which fields may mend it, and its check."""

    id: str
    title: str
    mends: tuple[str, ...]
    check: Callable[[Case], Broken | None]


RULES: dict[str, Rule] = {}
Check = Callable[[Case], Broken | None]


def rule(id: str, *mends: str) -> Callable[[Check], Check]:
    """Enter a check in the table; the first line of its docstring is its title."""

    def enter(check: Check) -> Check:
        title = (check.__doc__ or "").strip().splitlines()[0]
        RULES[id] = Rule(id, title, mends, check)
        return check

    return enter


def total(unit: str, words: str, *terms: tuple[float, Leaf]) -> Amount:
    """A sum of counts of one number each."""
    return Amount(tuple((count, (leaf,)) for count, leaf in terms), unit, words)


def counted(parts: tuple[Component, ...]) -> list[tuple[int, Component]]:
    """Equal parts together: how many, and which."""
    return [(parts.count(one), one) for one in dict.fromkeys(parts)]
