"""The rules' table, how a rule is asked, and what most of them compare.

A rule yields, for a ``Case``, nothing or a ``Broken`` for each thing that it holds; the
first that is broken is its answer. It raises ``UnknownSpec`` where a field that it
needs is unknown: then it is undecided. Beside it stand the fields of a build whose
change may mend it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from stacklib.cost.catalogue import Component

from .build import Build
from .findings import Amount, Broken, Term, given, of
from .placing import Placed, place

Asked = Broken | None
Found = Iterator[Asked]
Fact = tuple[Component, str]  # a part's field


class Case:
    """What a rule is asked about: a build, where its parts stand, and the outlet."""

    def __init__(self, build: Build, mains: float, continuous: float) -> None:
        self.build, self.mains, self.continuous = build, mains, continuous
        self.asked: dict[str, bool | None] = {}  # what rules have said, by id

    cpu = property(lambda self: self.build.cpu)
    board = property(lambda self: self.build.board)
    box = property(lambda self: self.build.case)
    cards = property(lambda self: tuple(dict.fromkeys(self.build.gpus)))  # each once

    @cached_property
    def placed(self) -> Placed:
        """Where cards and drives stand."""
        return place(self.build)


Check = Callable[[Case], Found]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: its id, what it holds, which fields may mend it, and its check."""

    id: str
    title: str
    mends: tuple[str, ...]
    all: Check

    def check(self, case: Case) -> Broken | None:
        """The first thing that is broken."""
        return next(filter(None, self.all(case)), None)


RULES: dict[str, Rule] = {}


def rule(id: str, *mends: str) -> Callable[[Check], Check]:
    """Enter a check in the table; its docstring is the rule's title."""

    def enter(check: Check) -> Check:
        RULES[id] = Rule(id, check.__doc__ or "", mends, check)
        return check

    return enter


def total(words: str, *terms: Term, unit: str = "") -> Amount:
    """A sum of products, in the first unit that a factor of the first one has."""
    units = (leaf.unit for leaf in terms[0][1:])
    return Amount(terms, unit or next(filter(None, units), ""), words)


def one(part: Component, field: str, words: str) -> Amount:
    """A number of a part."""
    return total(words, (1, of(part, field)))


def every(parts: Sequence[Component], words: str, *fields: str) -> Amount:
    """The sum over parts of a number, or of a product of several."""
    return total(words, *((n, *(of(p, f) for f in fields)) for n, p in counted(parts)))


def count(value: float, words: str) -> Amount:
    """What is counted in the build."""
    return total(words, (1, given(value, "", words)))


def counted(parts: Sequence[Component]) -> list[tuple[int, Component]]:
    """Equal parts together: how many, and which."""
    return [(parts.count(part), part) for part in dict.fromkeys(parts)]


def over(part: Component, says: str, need: Amount, have: Amount) -> Asked:
    """What is broken where the need is more than what there is."""
    return Broken(part, says, need, have) if need.value > have.value else None


def clash(a: Fact, b: Fact, says: str, culprit: Component | None = None) -> Broken:
    """Two facts that do not go together; ``says`` names the parts as {0} and {1}."""
    told = says.format(a[0].name, b[0].name)
    return Broken(culprit or a[0], told, facts=(a, b))


def unlike(a: Fact, b: Fact, says: str, culprit: Component | None = None) -> Asked:
    """What is broken where a fact is not another's, or not in its list."""
    fact, known = a[0][a[1]], b[0][b[1]]
    fine = fact in known if isinstance(known, tuple) else fact == known
    return None if fine else clash(a, b, says, culprit)
