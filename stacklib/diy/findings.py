"""What a checker says: a broken rule with its sum, or one that cannot be decided.

An ``Amount`` is a sum of products of numbers, each with its unit and where it is from.
It is compared as a float, printed as it stands (``2 x 575 W + 350 W = 1,500 W``) and
turned into a ``Quantity`` with its derivation where a page says it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, reduce
from math import prod
from operator import add, mul
from typing import TYPE_CHECKING, Any, NamedTuple

from stacklib.cost.catalogue import FIELDS, Component
from stacklib.quantity import Quantity, Source, chosen, quoted

if TYPE_CHECKING:
    from .build import Build


class Leaf(NamedTuple):
    """One number of a sum, or the inverse of one."""

    value: float
    unit: str
    make: Callable[[], Quantity]
    inverse: bool = False


def of(part: Component, field: str) -> Leaf:
    """A number of a part; raises where it is unknown."""
    unit = FIELDS[part.kind][field][0]
    return Leaf(part[field], unit, lambda: part.quantity(field))


@cache
def told(key: str) -> Leaf:
    """A number of the file of quotes."""
    found = quoted(key)
    return Leaf(float(found.si), found.unit, lambda: quoted(key))


def given(value: float, unit: str, words: str) -> Leaf:
    """A number that whoever asks has chosen, or that counts what is in the build."""
    return Leaf(value, unit, lambda: chosen(value, unit, words))


def per(leaf: Leaf) -> Leaf:
    """Its inverse."""
    return leaf._replace(inverse=not leaf.inverse)


Term = tuple[Any, ...]  # how often, then each ``Leaf`` that is a factor


@dataclass(frozen=True, slots=True)
class Amount:
    """A sum of products in one unit."""

    terms: tuple[Term, ...]
    unit: str
    words: str

    @property
    def value(self) -> float:
        """The sum as a number."""
        total = 0.0
        for count, *leaves in self.terms:
            total += count * prod(1 / x.value if x.inverse else x.value for x in leaves)
        return total

    def text(self) -> str:
        """The sum as it stands, and its result where that is more than one number."""
        shown = " + ".join(_product(n, leaves) for n, *leaves in self.terms if n)
        result = f"{number(self.value)} {self.unit}".strip()
        said = result if shown in ("", result) else f"{shown} = {result}"
        return said if self.unit else f"{self.words}: {said}"

    def quantity(self) -> Quantity:
        """The sum with its derivation."""
        sums: list[Any] = []
        for count, *leaves in self.terms:
            made = [1 / one.make() if one.inverse else one.make() for one in leaves]
            sums.append(reduce(mul, made if count == 1 else [*made, count]))
        total: Quantity = reduce(add, sums)
        return (total.to(self.unit) if self.unit else total).named(self.words)


def number(value: float) -> str:
    """Four digits that say something, and commas between thousands."""
    return f"{float(f'{value:.4g}'):,.10g}"


def _product(count: float, leaves: list[Leaf]) -> str:
    shown = "" if count == 1 else f" x {number(count)}"
    for leaf in leaves:
        shown += " / " if leaf.inverse else " x "
        shown += f"{number(leaf.value)} {leaf.unit}".strip()
    return shown.removeprefix(" x ")


@dataclass(frozen=True, slots=True)
class Mend:
    """The cheapest change of one field that mends a finding and breaks nothing else."""

    field: str  # of the build, or ``mains``
    says: str  # the change in words
    dollars: float  # more than before; below 0 it saves
    build: Build  # as it is after the change
    mains: float | None = None  # the outlet's voltage after it, where that changes


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that a build breaks, or that cannot be decided.

    ``need`` and ``have`` are amounts where the rule compares numbers: ``sum`` prints
    them, ``need.quantity()`` derives them.
    """

    rule: str  # its id
    verdict: str  # ``broken`` or ``undecided``
    says: str  # what is wrong, in a sentence
    sum: str  # the numbers, with units
    part: str  # the part that breaks it, by name
    sources: tuple[Source, ...]  # of the numbers
    mend: Mend | None = None  # the cheapest change; None where no part alone mends it
    need: Amount | None = None
    have: Amount | None = None


class Broken(NamedTuple):
    """What a rule says of a build that breaks it."""

    part: Component
    says: str
    need: Amount | None = None
    have: Amount | None = None
    sign: str = ">"
    facts: tuple[tuple[Component, str], ...] = ()  # compared texts: part, field

    def sum(self) -> str:
        """What was compared, in one line."""
        if self.need is not None and self.have is not None:
            return f"{self.need.text()} {self.sign} {self.have.text()}"
        return "; ".join(
            f"{p.name}: {FIELDS[p.kind][f][1]} {_plain(p[f])}" for p, f in self.facts
        )

    def sources(self) -> tuple[Source, ...]:
        """Where the numbers are from, without repeats."""
        found: list[Source | None] = [p.sources.get(f) for p, f in self.facts]
        for amount in (self.need, self.have):
            for _, *leaves in amount.terms if amount else ():
                found += [leaf.make().source for leaf in leaves]
        return tuple(dict.fromkeys(one for one in found if one is not None))


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
