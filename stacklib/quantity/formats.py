"""``f"{time:.2f}"`` and ``f"{time:.2 ms}"``: what may stand behind the colon."""

from __future__ import annotations

import re

from .core import Quantity
from .units import readable

# As Python formats a float, then perhaps a unit: the width holds number and unit.
FLOAT = re.compile(
    r"(?:(?P<fill>.)??(?P<align>[<>^]))?(?P<width>\d*)"
    r"(?P<number>[+ ]?,?(?:\.\d+)?[eEfFgG]|\.\d+%)?(?:\s+(?P<unit>\S.*))?"
)
OURS = re.compile(r"(?:\.(\d+))?\s*(.*)")  # significant digits and a unit


def formatted(q: Quantity, spec: str) -> str:
    """A quantity by a format spec: Python's for floats, or digits and unit."""
    found = FLOAT.fullmatch(spec)
    if found is None:
        ours = OURS.fullmatch(spec)
        assert ours is not None
        return q.text(ours[2] or None, int(ours[1] or 3))
    number, unit = found["number"], found["unit"]
    text = decimals(q, number, unit) if number else q.text(unit)
    return f"{text:{found['fill'] or ' '}{found['align'] or '>'}{found['width']}}"


def decimals(q: Quantity, number: str, unit: str | None) -> str:
    """The number as Python would print a float, in the unit that ``text`` picks."""
    if number.endswith("%"):
        number, unit = number.replace("%", "f"), "%"
    q = q.to(unit) if unit else q
    shown = q.shown
    if not unit and shown.factor == 1.0:
        shown = readable(q.si, shown)
    return shown.behind(f"{q.si / shown.factor:{number}}")
