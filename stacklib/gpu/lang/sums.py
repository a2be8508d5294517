"""What is known of a whole number by lane: multiples of unknowns, and a plain number.

Two indices with equal multiples of the same unknowns are neighbours if their plain
numbers are; zeros at the end of all multiples are zeros at the end of the index (the
known bits of H. Warren, *Hacker's Delight*, 2nd ed., section 4-4, of the lowest bits).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..vm.formats import BOOL, Form
from .values import Value

ALL = 64  # zeros at the end of nothing


class Atom:
    """A number of which only zeros at its end are known."""

    __slots__ = ("zeros",)

    def __init__(self, zeros: int) -> None:
        self.zeros = zeros


Unknown = tuple[Atom, int]  # and how often the name it stands for was set


@dataclass(frozen=True, slots=True)
class Sum:
    """Multiples of unknowns, and a plain number."""

    terms: frozenset[tuple[Unknown, int]]
    plain: int

    def plus(self, other: Sum, times: int = 1) -> Sum:
        """With so many times another sum."""
        if not other.terms:
            return Sum(self.terms, self.plain + times * other.plain)
        found = dict(self.terms)
        for unknown, n in other.terms:
            found[unknown] = found.get(unknown, 0) + times * n
        kept = frozenset((unknown, n) for unknown, n in found.items() if n)
        return Sum(kept, self.plain + times * other.plain)

    def zeros(self) -> int:
        """Zeros that the number surely has at its end."""
        of_terms = (unknown[0].zeros + ending(n) for unknown, n in self.terms)
        return min(ending(self.plain), *of_terms, ALL)


NOTHING = Sum(frozenset(), 0)


def ending(number: int) -> int:
    """Zeros at the end of a plain number."""
    return (number & -number).bit_length() - 1 if number else ALL


def plainly(number: int) -> Sum:
    """A plain number."""
    return Sum(frozenset(), number)


def unknown(zeros: int = 0) -> Sum:
    """Another number than all others."""
    return Sum(frozenset([((Atom(zeros), 0), 1)]), 0)


def sum_of(value: Any) -> Sum:
    """What is known of a number or a register now."""
    if not isinstance(value, Value):
        return plainly(int(value))
    if value.sum is None:
        value.sum = unknown()
    if value.home is None or not value.home.version:
        return value.sum
    ((atom, _), n), *_ = value.sum.terms
    return Sum(frozenset([((atom, value.home.version), n)]), 0)


def _as(value: Value, form: Form) -> Sum:
    """What is known of an operand; of a narrower one that may have wrapped, its end."""
    known = sum_of(value)
    if value.form.size >= form.size or not known.terms:
        return known
    if value.wider is None or value.home is not None:
        value.wider = unknown(known.zeros())
    return value.wider


def _product(a: Sum, b: Sum) -> Sum:
    for one, other in ((a, b), (b, a)):
        if not one.terms:
            return NOTHING.plus(other, one.plain)
    return unknown(a.zeros() + b.zeros())


def _least(*operands: Sum) -> Sum:
    return unknown(min(one.zeros() for one in operands))


def _shifted(a: Sum, b: Sum) -> Sum:
    if b.terms or not 0 <= b.plain < ALL:
        return unknown()
    return NOTHING.plus(a, 1 << b.plain)


def _cut(a: Sum, b: Sum) -> Sum:
    return unknown() if b.terms else unknown(max(0, a.zeros() - b.plain))


RULES: dict[str, Callable[..., Sum]] = {
    "MOVE": lambda a: a,
    "ADD": lambda a, b: a.plus(b),
    "SUB": lambda a, b: a.plus(b, -1),
    "NEG": lambda a: NOTHING.plus(a, -1),
    "MUL": _product,
    "MAD": lambda a, b, c: _product(a, b).plus(c),
    "SHL": _shifted,
    "SHR": _cut,
    "AND": lambda a, b: unknown(max(a.zeros(), b.zeros())),
    "MOD": _least,
    "OR": _least,
    "XOR": _least,
    "MIN": _least,
    "MAX": _least,
    "SELECT": lambda _, a, b: _least(a, b),
}


def result_of(name: str, form: Form, operands: Sequence[Any]) -> Sum | None:
    """What is known of an operation's result; None: nothing."""
    if form.floating or form.code == BOOL or name not in RULES:
        return None
    return RULES[name](*(_as(o, form) for o in operands))


def counted(start: Any, step: int) -> Sum:
    """What is known of a counter in all rounds of its loop."""
    return unknown(min(sum_of(start).zeros(), ending(step)))
