"""Numbers at the boundary of a formula: what is too small, or none, is refused."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any


def at_least(low: float, **values: Any) -> None:
    """Refuse numbers below a bound, NaN, infinity and truth values.

    ``low``: the least that is allowed, in SI units.
    """
    _check(values, lambda x: low <= x < math.inf, f"from {low} up")


def above_zero(**values: Any) -> None:
    """Refuse what is not above zero, NaN, infinity and truth values."""
    _check(values, lambda x: 0 < x < math.inf, "above zero")


def whole(least: int = 1, **values: Any) -> None:
    """Refuse what is not a whole number, or one below ``least``; truth values too."""
    for name, value in values.items():
        if not is_whole(value) or value < least:
            raise ValueError(
                f"{name} = {value!r}: a whole number from {least} is needed"
            )


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number, Python's or NumPy's, and no truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def _check(values: dict[str, Any], allowed: Any, words: str) -> None:
    for name, value in values.items():
        for one in _numbers(value):
            if not isinstance(one, int | float) or isinstance(one, bool):
                fine = False
            else:
                fine = allowed(one)
            if not fine:
                raise ValueError(f"{name} = {value!r}: a number {words} is needed")


def _numbers(value: Any) -> list[Any]:
    """A value's SI numbers, as Python's own."""
    found = getattr(value, "si", value)
    if hasattr(found, "dtype"):  # an array, or one number of NumPy's
        listed = found.ravel().tolist()
        return listed if isinstance(listed, list) else [listed]
    return [found]
