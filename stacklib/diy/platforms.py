"""The cheapest machine around some cards that every rule allows: exact, by bounds.

Parts are chosen field by field, the cheapest first. A rule is asked as soon as the
fields are there that it looks at; a branch ends where one is broken or cannot be
decided, or where the parts so far and the cheapest of all others cost more than the
best machine found. Where no part of a field helps, the search goes back to the last
field that the broken rules looked at. A verdict is kept by what its rule saw.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple, cast

from stacklib.cost.catalogue import Component
from stacklib.hardware.accelerator import UnknownSpec

from .build import KIND_OF, MANY, OPTIONAL, Build
from .rules import RULES, Case

# First what cards leave least choice of: supplies, then what the board decides.
CHOSEN = ("psu", "board", "cpu", "memory", "risers", "case", "cooling", "storage")
MOST_CARDS = 8
# How many of one part are tried.
COUNTS = {"memory": (1, 2, 4, 8, 12), "psu": (1, 2), "risers": range(MOST_CARDS + 1)}
Value = Any  # a part, or a tuple of parts


class Offer(NamedTuple):
    """What may stand in a field, and its price."""

    dollars: float
    name: str
    value: Value


class Unassigned(Exception):
    """A rule looked at a field that is not chosen yet."""

    def __init__(self, field: str) -> None:
        self.field = field


class Partial:
    """A build of which some fields are chosen; it says which were looked at."""

    def __init__(self, fixed: Mapping[str, Value]) -> None:
        free = [field for field in (*OPTIONAL, "slots") if field not in CHOSEN]
        self.values: dict[str, Value] = {**dict.fromkeys(free, ()), "peer": False}
        self.values |= {"circuits": 1, **fixed}
        # What stands for a field's value where verdicts are kept.
        self.marks: dict[str, Hashable] = {
            field: tuple(map(id, value)) if isinstance(value, tuple) else value
            for field, value in self.values.items()
        }
        self.seen: set[str] = set()

    def __getattr__(self, field: str) -> Value:
        self.seen.add(field)
        try:
            return self.values[field]
        except KeyError:
            raise Unassigned(field) from None

    def choose(self, field: str, offer: Offer) -> None:
        """Put an offer into a field."""
        self.values[field], self.marks[field] = offer.value, id(offer)

    def clear(self, field: str) -> None:
        """Take it out again."""
        self.values.pop(field, None)
        self.marks.pop(field, None)


Looked = tuple[str, ...]
Limit = Callable[[Case], bool]


class Verdict(NamedTuple):
    """Whether a rule holds, and the fields that it looked at; or what it waits for."""

    holds: bool
    looked: Looked = ()
    waits: str = ""


class Judge:
    """Verdicts of all rules for one outlet, kept by what each rule looked at."""

    def __init__(self, mains: float, continuous: float) -> None:
        self.mains, self.continuous = mains, continuous
        self.least: dict[str, list[str]] = {}  # fields a rule needs, the last first
        self.kept: dict[str, dict[Looked, dict[tuple[Hashable, ...], Verdict]]] = {}

    def asked(self, name: str, partial: Partial, extra: Limit | None) -> Verdict:
        """What a rule says of the fields that are chosen."""
        kept = self.kept.setdefault(name, {})
        marks = partial.marks
        for looked, verdicts in kept.items():
            try:
                found = verdicts.get(tuple([marks[field] for field in looked]))
            except KeyError:
                continue
            if found is not None:
                return found
        if kept:  # until all that it looked at elsewhere is chosen
            for field in self.least[name]:
                if field not in marks:
                    return Verdict(True, (), field)
        partial.seen = set()
        case = Case(cast(Build, partial), self.mains, self.continuous)
        try:
            holds = extra(case) if extra else RULES[name].check(case) is None
        except Unassigned as wanted:
            return Verdict(True, (), wanted.field)
        except UnknownSpec:
            holds = False
        looked = tuple(sorted(partial.seen))
        made = Verdict(holds, looked)
        kept.setdefault(looked, {})[tuple([marks[f] for f in looked])] = made
        mine = [field for field in reversed(CHOSEN) if field in looked]
        if name not in self.least or len(mine) < len(self.least[name]):
            self.least[name] = mine
        return made


def offers(
    catalogue: Mapping[str, Sequence[Component]], date: str | None
) -> dict[str, list[Offer]]:
    """What may stand in each field, the cheapest first; parts without a price not."""
    found: dict[str, list[Offer]] = {}
    for field in CHOSEN:
        rows: dict[Value, Offer] = {}
        for part in catalogue.get(KIND_OF[field], ()):
            if (dollars := part.dollars_on(date)) is not None:
                for many in COUNTS.get(field, (1,)):
                    value = (part,) * many if field in MANY else part
                    rows[value] = Offer(many * dollars, part.key, value)
        found[field] = sorted(rows.values(), key=lambda row: row[:2])
    return found


def cheapest(
    judge: Judge,
    fixed: Mapping[str, Value],
    known: Mapping[str, list[Offer]],
    most: float,
    extra: Mapping[str, Limit] | None = None,
    least: float = 0.0,
) -> tuple[float, dict[str, Value]] | None:
    """Dollars and fields of the cheapest machine around what is given, or None.

    - ``most``: dollars that all of them may cost together
    - ``fixed``: the fields that are given: cards and their limit
    - ``least``: dollars below which none is, known from a search that asks less
    - ``extra``: by name what else must hold, asked like a rule
    """
    lowest = [min((o.dollars for o in known[f]), default=inf) for f in CHOSEN]
    rest = [sum(lowest[i:]) for i in range(len(CHOSEN) + 1)]
    best: tuple[float, dict[str, Value]] | None = None
    asked: dict[str, Limit | None] = {**dict.fromkeys(RULES), **(extra or {})}
    every = frozenset(CHOSEN)

    def go(
        depth: int, spent: float, waiting: dict[str, tuple[str, ...]]
    ) -> frozenset[str]:
        """Search on; the fields that are to blame that no more was found."""
        nonlocal best
        if depth == len(CHOSEN):
            best = spent, dict(partial.values)
            return every
        field, blamed = CHOSEN[depth], frozenset[str]()
        for offer in known[field]:
            cost = spent + offer.dollars + rest[depth + 1]
            if cost > most or (best and max(cost, least) >= best[0]):
                blamed = every  # its price
                break
            if field == "risers" and len(offer.value) not in (0, many):
                continue  # one a card, or none
            partial.choose(field, offer)
            left, broken = _left(field, waiting)
            if left is not None:
                broken = go(depth + 1, spent + offer.dollars, left)
                if field not in broken:
                    blamed = broken
                    break
            blamed |= broken
        partial.clear(field)
        return blamed - {field}

    def _left(
        field: str, waiting: dict[str, tuple[str, ...]]
    ) -> tuple[dict[str, tuple[str, ...]] | None, frozenset[str]]:
        """Rules by the field they wait for; None, and fields, where one is broken."""
        found = dict(waiting)
        for name in found.pop(field, ()):
            verdict = judge.asked(name, partial, asked[name])
            if not verdict.holds:
                return None, frozenset(verdict.looked)
            if verdict.waits:
                found[verdict.waits] = (*found.get(verdict.waits, ()), name)
        return found, frozenset()

    partial, many = Partial(fixed), len(fixed["gpus"])
    start, _ = _left("", {"": tuple(asked)})
    if start is not None:
        go(0, 0.0, start)
    return best
