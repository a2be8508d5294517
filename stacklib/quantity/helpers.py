"""The few functions a scalar model may use besides arithmetic.

Each takes floats, quantities or NumPy arrays, so that a model written once is
fast, traces itself, or sweeps. NumPy is touched only when an array comes in.
"""

from __future__ import annotations

import math
from typing import Any

from .core import Quantity, _computed, _wrap
from .meeting import Comparison, same_basis
from .units import UnitError, canonical


def _numpy(*values: Any) -> Any:
    """NumPy when any value is an array, else None."""
    if any(hasattr(v, "__array__") and getattr(v, "shape", ()) != () for v in values):
        import numpy

        return numpy
    return None


_PLAIN = (float, int)


def _pick(name: str, values: tuple[Any, ...], choose: Any) -> Any:
    for value in values:
        if type(value) not in _PLAIN:
            break
    else:  # the hot case of sweeps and fits
        return choose(values)
    numpy = _numpy(*values)
    if numpy is not None:
        out = values[0]
        for value in values[1:]:
            out = getattr(numpy, f"{name}imum")(out, value)
        return out
    if not any(isinstance(v, Quantity) for v in values):
        return choose(values)
    parts = [_wrap(v) for v in values]
    tags = parts[0].tags
    for part in parts[1:]:
        tags = tags | same_basis(parts[0], part, name)
    best = choose(parts, key=lambda q: q.si)
    shown = canonical(best.shown.dims, tags)
    return _computed(best.si, shown, name, tuple(parts))


def maximum(*values: Any) -> Any:
    """The largest value.

    Parameters
    ----------
    *values : float, Quantity or array
        Quantities of one unit; arrays are compared elementwise.
    """
    if len(values) == 2:  # the hot case of sweeps and fits
        one, other = values
        if type(one) is float and type(other) is float:
            return other if other > one else one
    return _pick("max", values, max)


def minimum(*values: Any) -> Any:
    """The smallest value.

    Parameters
    ----------
    *values : float, Quantity or array
        Quantities of one unit; arrays are compared elementwise.
    """
    if len(values) == 2:
        one, other = values
        if type(one) is float and type(other) is float:
            return other if other < one else one
    return _pick("min", values, min)


def _plain(name: str, value: Any, function: Any) -> Any:
    if type(value) in _PLAIN:
        return function(value)
    numpy = _numpy(value)
    if numpy is not None:
        return getattr(numpy, name)(value)
    if not isinstance(value, Quantity):
        return function(value)
    if value.shown.dims:
        raise UnitError(f"{name}({value.text()}): only of a plain number; divide first")
    if name == "log2" and value.si <= 0:
        raise UnitError(f"log2({value.text()}): needs a positive number")
    return _computed(function(value.si), canonical(()), name, (value,))


def exp(value: Any) -> Any:
    """The exponential of ``value``, which must have no unit."""
    return _plain("exp", value, math.exp)


def ceil(value: Any) -> Any:
    """Smallest whole number not below ``value``, which must have no unit."""
    return _plain("ceil", value, math.ceil)


def log2(value: Any) -> Any:
    """Base-2 logarithm.

    Parameters
    ----------
    value : float, Quantity or array
        Positive, without unit.
    """
    return _plain("log2", value, math.log2)


def where(condition: Any, yes: Any, no: Any) -> Any:
    """``yes`` where ``condition`` holds, else ``no``; both are kept as inputs."""
    if type(condition) is bool and type(yes) in _PLAIN and type(no) in _PLAIN:
        return yes if condition else no  # the hot case of sweeps and fits
    numpy = _numpy(condition, yes, no)
    if numpy is not None:
        return numpy.where(condition, yes, no)
    if not any(isinstance(v, Quantity) for v in (yes, no)):
        return yes if condition else no
    a, b = _wrap(yes), _wrap(no)
    tags = same_basis(a, b, "or")
    chosen = a if condition else b
    inputs = (condition, a, b) if isinstance(condition, Comparison) else (a, b)
    return _computed(chosen.si, canonical(a.shown.dims, tags), "where", inputs)
