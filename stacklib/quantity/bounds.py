"""Numbers at the boundary of a formula: what is too small, or none, is refused."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any

_LONG = 200  # letters of a bad value


def at_least(low: float, **values: Any) -> None:
    """Refuse numbers below a bound, NaN, infinity and truth values.

    ``low``: the least that is allowed, in SI units.
    """
    _check(values, lambda x: low <= x < math.inf, f"from {low} up")


def above_zero(**values: Any) -> None:
    """Refuse what is not above zero, NaN, infinity and truth values."""
    _check(values, lambda x: 0 < x < math.inf, "above zero")


def share(**values: Any) -> None:
    """Refuse what is not from 0 to 1, NaN and truth values."""
    _check(values, lambda x: 0 <= x <= 1, "from 0 to 1")


def whole(least: int = 1, **values: Any) -> None:
    """Refuse what is not a whole number, or one below ``least``; truth values too."""
    for name, value in values.items():
        if not is_whole(value) or value < least:
            raise ValueError(
                f"{name} = {_said(value)}: a whole number from {least} is needed"
            )


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number, Python's or NumPy's, and no truth value."""
    if type(value) is int:  # as nearly all are; of others the class is asked
        return True
    return isinstance(value, Integral) and not isinstance(value, bool)


def whole_floats(least: int = 1, **values: Any) -> Any:
    """One value as a float, or an array of floats, that hold whole numbers.

    Refuses what ``whole`` refuses, also where a single number of an array is wrong.
    """
    ((name, value),) = values.items()
    at_least(least, **values)
    floats = value * 1.0  # so that no product of counts runs over
    if hasattr(floats, "shape") and not floats.shape:
        floats = float(floats)
    uneven = floats % 1 != 0
    if uneven.any() if hasattr(uneven, "any") else uneven:
        bad = f"{name} = {_said(value)}"
        raise ValueError(f"{bad}: whole numbers from {least} are needed")
    return floats


def _check(values: dict[str, Any], allowed: Any, words: str) -> None:
    for name, value in values.items():
        for one in _numbers(value):
            if not isinstance(one, int | float) or isinstance(one, bool):
                fine = False
            else:
                fine = allowed(one)
            if not fine:
                raise ValueError(f"{name} = {_said(value)}: a number {words} is needed")


def _said(value: Any) -> str:
    """A bad value in a message, and no more of it than a reader looks at."""
    text = repr(value)
    return text if len(text) <= _LONG else f"{text[:_LONG]}..."


def _numbers(value: Any) -> list[Any]:
    """A value's SI numbers, as Python's own."""
    found = getattr(value, "si", value)
    if not hasattr(found, "dtype"):
        return [found]
    # An array, or one number of NumPy's; NaN is the least and the largest of any.
    if not found.size or found.dtype.kind not in "iuf":
        return found.ravel().tolist()
    return [found.min().item(), found.max().item()]
