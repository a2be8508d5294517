"""What live figures share: numbers chosen or counted, and the point that is chosen."""

from __future__ import annotations

from typing import Unpack

from stacklib.quantity import Quantity, chosen
from stacklib.quantity.core import _make

from ..marks import About, Mark, Numbers, dots

__all__ = ["chosen", "counted", "here"]

CHOSEN = 4  # series of the point chosen


def counted(value: float, label: str, unit: str = "") -> Quantity:
    """A number that a run of the figure counted."""
    made = Quantity(float(value), unit, label=label)
    return _make(
        made, kind="counted", note="counted by this figure, run with these controls"
    )


def here(
    x: float | Numbers,
    y: float | Numbers,
    name: str = "chosen",
    **about: Unpack[About],
) -> Mark:
    """Where the controls stand: the reader's ring, without a name beside."""
    return dots(x, y, name, "yours", at="none", series=CHOSEN, **about)
