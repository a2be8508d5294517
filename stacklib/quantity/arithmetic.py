"""What a sum, a product and a power make of two numbers and of their units."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from .meeting import rates_at_one_clock, same_basis, same_clock
from .units import HERTZ, Unit, UnitError, canonical, join_tags, keep_tags

if TYPE_CHECKING:
    from .core import Quantity


def finite(value: object) -> float:
    """One finite number; UnitError for anything else."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number and not hasattr(value, "__float__"):
        raise UnitError(f"a quantity needs a number, not {value!r}")
    if isinstance(value, bool) or (hasattr(value, "shape") and value.shape != ()):
        raise UnitError(f"a quantity is one number, not {value!r}; sweep with floats")
    result = float(value)  # type: ignore[arg-type]
    if not math.isfinite(result):
        raise UnitError(f"a quantity needs a finite number, not {value!r}")
    return result


def total(a: Quantity, b: Quantity, op: str) -> tuple[float, Unit]:
    """SI value and unit of a sum or difference, in the first one's unit."""
    tags = same_basis(a, b, op)
    shown = a.shown if tags == a.tags else replace(a.shown, tags=tags)
    return (a.si + b.si if op == "+" else a.si - b.si), shown


def product(a: Quantity, b: Quantity, op: str) -> tuple[float, Unit]:
    """SI value and unit of a product or quotient."""
    tags = join_tags(a.tags, b.tags, lambda: f"{a.text()} {op} {b.text()}")
    if HERTZ in (a.shown.dims, b.shown.dims):
        same_clock(a, b, op)
    if op == "/" and any(tag.startswith("@") for tag in tags):
        rates_at_one_clock(a, b, op)
    if op == "/" and b.si == 0:
        raise UnitError(f"{a.text()} / {b.text()}: division by zero")
    sign = 1 if op == "*" else -1
    powers = dict(a.shown.dims)
    for name, power in b.shown.dims:
        powers[name] = powers.get(name, 0) + sign * power
    dims = tuple(sorted((n, p) for n, p in powers.items() if p))
    si = a.si * b.si if op == "*" else a.si / b.si
    shown = canonical(dims, tags)
    if not b.shown.dims and dims == a.shown.dims:
        shown = replace(a.shown, tags=keep_tags(tags, dims))  # 80 GB / 2 stays in GB
    return si, shown


def raised(q: Quantity, power: object) -> tuple[float, Unit]:
    """SI value and unit of a power.

    An exponent may be a quantity without a unit, such as a fitted one, if the base has
    none either.
    """
    if not q.shown.dims and getattr(getattr(power, "shown", None), "dims", True) == ():
        power = power.si  # type: ignore[attr-defined]
    if not isinstance(power, (int, float)) or isinstance(power, bool):
        raise UnitError(f"a power is a plain number, not {power!r}")
    dims = [(n, p * power) for n, p in q.shown.dims]
    if any(p != int(p) for _, p in dims):
        raise UnitError(f"{q.text()} to the power {power} has no unit")
    return q.si**power, canonical(tuple((n, int(p)) for n, p in dims if p), q.tags)
