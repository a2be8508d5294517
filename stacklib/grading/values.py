"""What a reader's answer gave, as a plain value of Python, whatever kind it was.

A right number is right as an int, a fraction, a NumPy scalar or a ``Quantity`` in any
unit of the right kind; a list may be a tuple, an array or a generator. What is none of
these is a ``Mistake`` that says what is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from itertools import islice
from numbers import Real
from typing import Any

from stacklib.quantity import Quantity, UnitError

LONGEST = 100_000  # of a list that is read to its end


class Mistake(AssertionError):
    """A wrong answer; the message says what is wrong with it."""


def read(value: Any, unit: str = "") -> float:
    """The reader's value as a plain number of ``unit``; Mistake where it is none."""
    wanted = f"a number in {unit}" if unit else "a number"
    if value is None:
        raise Mistake(f"nothing came back: {wanted} is asked for; is a return missing?")
    if isinstance(value, Quantity):
        return converted(value, unit, wanted)
    if getattr(value, "shape", None) == ():
        value = value.item()  # a scalar of NumPy, or an array without axes
    if isinstance(value, bool) or not isinstance(value, (Real, Decimal)):
        kind = type(value).__name__
        raise Mistake(f"{clip(value)} is of type {kind}: {wanted} is asked for")
    if not math.isfinite(value):
        raise Mistake(f"{float(value)} is no answer: {wanted} is asked for")
    return float(value)


def converted(value: Quantity, unit: str, wanted: str) -> float:
    """A quantity in ``unit``. Whether FLOP are carried along as a unit or counted as
    plain numbers is the reader's choice; one without a unit is a plain number.
    """
    flop, errors = Quantity(1, "FLOP"), []
    for candidate in (value, value * flop, value / flop):
        try:
            return float(candidate.to(unit or "1").value)
        except UnitError as error:
            errors.append(error)
    if not value.unit:
        return float(value.value)
    raise Mistake(f"{value}: {wanted} is asked for ({errors[0]})")


def whole(value: Any) -> int:
    """The reader's value as a whole number; Mistake where it is none."""
    number = read(value)
    if not number.is_integer():
        raise Mistake(f"{shown(number, '')}: a whole number is asked for")
    return int(number)


def sequence(value: Any, what: str, count: int | None = None) -> list[Any]:
    """The reader's list, tuple, array or generator as a list, of ``count`` items if
    that is given; Mistake, with ``what`` is asked for, where it is none.
    """
    if value is None:
        raise Mistake(f"nothing came back: {what} is asked for; is a return missing?")
    unordered = (str, bytes, Mapping, set, frozenset)
    if isinstance(value, unordered) or not hasattr(value, "__iter__"):
        raise Mistake(f"{clip(value)}: {what} is asked for")
    if getattr(value, "shape", None) == ():
        raise Mistake(f"{clip(value)}: {what} is asked for")
    items = list(islice(value, LONGEST))
    if count is not None and len(items) != count:
        raise Mistake(f"{clip(items)}: {what} is asked for, which is {count} items")
    return items


def numbers(value: Any, what: str) -> list[float]:
    """The reader's list of numbers."""
    return [read(item) for item in sequence(value, what)]


def truth(value: Any) -> bool:
    """The reader's True or False, in Python's words or NumPy's."""
    if getattr(value, "shape", None) == ():
        value = value.item()
    if value is None:
        raise Mistake("nothing came back: True or False is asked for")
    if not isinstance(value, (bool, int)) or value not in (0, 1):
        raise Mistake(f"{clip(value)}: True or False is asked for")
    return bool(value)


def alike(value: Any, expected: Any) -> bool:
    """Whether two values are the same, whatever kind of number or list they are."""
    if isinstance(expected, (tuple, list)):
        if isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__iter__"):
            return False
        items = list(islice(value, LONGEST))
        return len(items) == len(expected) and all(map(alike, items, expected))
    if isinstance(expected, bool) or isinstance(expected, str) or expected is None:
        try:
            return bool(value == expected) and (
                isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")
            ) == isinstance(expected, bool)
        except ValueError:  # an array is neither true nor false
            return False
    try:
        return read(value) == expected
    except Mistake:
        return False


def shown(value: float, unit: str) -> str:
    """A number as messages print it: a count in full."""
    count = value.is_integer() and abs(value) < 1e7
    return f"{value:.0f} {unit}".rstrip() if count else f"{value:.4g} {unit}".rstrip()


def clip(value: Any, width: int = 60) -> str:
    """The repr of a reader's value, cut to fit a line."""
    text = repr(value)
    return text if len(text) <= width else text[: width - 3] + "..."
