"""What live figures share: numbers chosen or counted, and the point that is chosen."""

from __future__ import annotations

from typing import Unpack

from stacklib.quantity import Quantity

from ..marks import About, Mark, Numbers, dots

CHOSEN = 4  # series of the point chosen


def chosen(value: float, unit: str, label: str) -> Quantity:
    """A number that a control gives."""
    return Quantity(value, unit, label=label, kind="assumption")


def counted(value: float, label: str, unit: str = "") -> Quantity:
    """A number that a run of the figure counted."""
    return Quantity(value, unit, label=label, kind="assumption")


def here(
    x: float | Numbers,
    y: float | Numbers,
    name: str = "chosen",
    evidence: str = "predicted",
    **about: Unpack[About],
) -> Mark:
    """Where the controls stand: rings of their own colour, without a name beside."""
    return dots(x, y, name, evidence, at="none", series=CHOSEN, **about)
