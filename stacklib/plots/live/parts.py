"""What live figures share: numbers chosen or counted, and the point that is chosen."""

from __future__ import annotations

from typing import Unpack

from stacklib.quantity import Quantity, chosen
from stacklib.quantity import counted as of_run

from ..marks import About, Mark, Numbers, dots

__all__ = ["chosen", "counted", "here"]

CHOSEN = 4  # series of the point chosen


def counted(value: float, label: str, unit: str = "") -> Quantity:
    """A number that a run of the figure counted."""
    return of_run(float, value, unit=unit, label=label)


def here(
    x: float | Numbers,
    y: float | Numbers,
    name: str = "chosen",
    evidence: str = "predicted",
    **about: Unpack[About],
) -> Mark:
    """Where the controls stand: rings of their own colour, without a name beside."""
    return dots(x, y, name, evidence, at="none", series=CHOSEN, **about)
