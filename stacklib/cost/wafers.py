"""How many dies a round wafer gives: two formulas, and counting them one by one.

A die at the rim that sticks out is lost, so a wafer gives fewer dies than its area
over theirs, and large dies lose more. The formulas say how many on average; counting
lays the grid on the wafer and moves it until it holds the most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

from stacklib.quantity.bounds import above_zero, at_least
from stacklib.quantity.helpers import exp

DE_VRIES = 0.58  # coefficient of the rim; the plain derivation has 1/sqrt(2) = 0.71
OFFSETS = 32  # places tried in each direction, per pitch


@dataclass(frozen=True, slots=True)
class Wafer:
    """What a grid of dies is laid on."""

    diameter: float = 0.300  # metres
    edge: float = 0.003  # ring at the rim on which nothing works, metres
    scribe: float = 0.0001  # street between two dies, where the saw runs, metres

    def __post_init__(self) -> None:
        at_least(0, diameter=self.diameter, edge=self.edge, scribe=self.scribe)
        if not 2 * self.edge < self.diameter:
            raise ValueError(
                f"edge = {self.edge!r} m on both sides leaves nothing of "
                f"{self.diameter!r} m"
            )

    @property
    def radius(self) -> float:
        """Of the circle in which a die must lie, metres."""
        return self.diameter / 2 - self.edge


WAFER = Wafer()


def dies_less_edge(area: Any, diameter: Any, coefficient: Any = DE_VRIES) -> Any:
    """Area of the wafer over that of a die, less the dies that the rim cuts.

    ``pi d^2 / 4S - c pi d / sqrt(S)``, where 0.58 is the coefficient de Vries fitted to
    counts (IEEE Trans. Semiconductor Manufacturing 18, 2005).

    ``area``: of a die with its share of the streets, in m2.
    """
    above_zero(area=area, diameter=diameter)
    at_least(0, coefficient=coefficient)
    # The textbook's coefficient is 1 / sqrt(2).
    return math.pi * diameter * (diameter / (4 * area) - coefficient / area**0.5)


def dies_exponential(area: Any, diameter: Any, coefficient: float = DE_VRIES) -> Any:
    """The same rim as a factor that never goes below zero: ``exp(-4 c sqrt(S) / d)``.

    Equal to ``dies_less_edge`` where the die is small.
    """
    above_zero(area=area, diameter=diameter)
    at_least(0, coefficient=coefficient)
    whole = math.pi * diameter**2 / (4 * area)
    return whole * exp(-4 * coefficient * area**0.5 / diameter)


def _rows(height: float, pitch: float, offset: float, radius: float) -> list[float]:
    """Half width of the circle over each row that fits, from one offset of the grid."""
    found = []
    first = math.ceil((-radius - offset) / pitch)
    for j in range(first, first + int(2 * radius / pitch) + 2):
        low = offset + j * pitch
        far = max(abs(low), abs(low + height))
        if far < radius:
            found.append(math.sqrt(radius * radius - far * far))
    return found


def _in_row(half: float, width: float, pitch: float, offset: float) -> int:
    """Dies of one row whose columns stand at ``offset + i * pitch``."""
    last = math.floor((half - width - offset) / pitch + 1e-9)
    return max(0, last - math.ceil((-half - offset) / pitch - 1e-9) + 1)


@cache
def _best(width: float, height: float, wafer: Wafer) -> tuple[int, float, float]:
    """Most dies of one grid, and where its rows and columns begin."""
    above_zero(width=width, height=height)
    across, up = width + wafer.scribe, height + wafer.scribe
    steps = [i * up / OFFSETS for i in range(OFFSETS)]
    best = (0, 0.0, 0.0)
    for down in sorted({*steps, -height / 2, wafer.scribe / 2}):
        halves = _rows(height, up, down, wafer.radius)
        for start in sorted(
            {-half for half in halves} | {-width / 2, wafer.scribe / 2}
        ):
            count = sum(_in_row(h, width, across, start) for h in halves)
            if count > best[0]:
                best = (count, down, start)
    return best


def grid_dies(width: float, height: float, wafer: Wafer = WAFER) -> int:
    """Whole dies of one grid on a wafer, where the grid lies best.

    One of the best grids has a die that touches the circle on its left, so columns
    are tried where each row begins. Rows are tried at ``OFFSETS`` places of a pitch
    and at the two symmetric ones.

    Parameters
    ----------
    width, height : float
        Of a die, metres.
    wafer : Wafer
        Diameter, edge and streets.

    Raises
    ------
    ValueError
        For a side that is not positive and finite.

    Examples
    --------
    >>> grid_dies(0.026, 0.033)
    64
    """
    return _best(width, height, wafer)[0]


def lay(width: float, height: float, wafer: Wafer = WAFER) -> list[tuple[float, float]]:
    """Lower left corners of the dies of ``grid_dies``, metres from the centre."""
    count, down, start = _best(width, height, wafer)
    across, up = width + wafer.scribe, height + wafer.scribe
    found = []
    for j in range(-int(wafer.diameter / up) - 2, int(wafer.diameter / up) + 2):
        low = down + j * up
        far = max(abs(low), abs(low + height))
        if not count or far >= wafer.radius:
            continue
        half = math.sqrt(wafer.radius**2 - far**2)
        first = math.ceil((-half - start) / across - 1e-9)
        many = _in_row(half, width, across, start)
        found += [(start + (first + i) * across, low) for i in range(many)]
    return found
