"""What a good die costs: wafer price, dies that fit, dies that work."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

from stacklib.quantity import Quantity, counted

from .data import Range, defect_density, wafer_price
from .spans import Span, span
from .wafers import WAFER, Wafer, grid_dies
from .yields import harvested, negative_binomial

FIELD = (0.026, 0.033)  # m, what a scanner exposes at once; a larger die is not made
# The roadmap's value (ITRS); nobody publishes a foundry's.
CLUSTER = 2.0

Ends: TypeAlias = "Span | Range | Quantity"


@dataclass(frozen=True, slots=True)
class Die:
    """One kind of die on one kind of wafer."""

    area: Quantity  # without the street around it
    gross: Quantity  # whole dies on a wafer
    wafer: Span  # price of the processed wafer
    yields: Span  # share of the dies that can be sold

    @property
    def raw(self) -> Span:
        """Cost of a die whose state is not known."""
        return (self.wafer / self.gross).named("cost of a die as it comes")

    @property
    def cost(self) -> Span:
        """Cost of a die that works: the dead ones are paid for too."""
        return (self.raw / self.yields).named("cost of a good die")

    @property
    def good(self) -> Span:
        """Good dies a wafer."""
        return self.yields * self.gross


def _sides(
    area: Quantity | None, width: Quantity | None, height: Quantity | None
) -> tuple[float, float]:
    """Width and height in metres."""
    if (area is None) == (width is None and height is None):
        raise ValueError("a die is given by its area, or by width and height")
    if area is not None:
        side = math.sqrt(_positive("area", area, "mm2"))
        narrow = min(side, min(FIELD))  # a square too tall for the field turns oblong
        return narrow, side * side / narrow
    if width is None or height is None:
        raise ValueError("width and height are both needed")
    return _positive("width", width, "mm"), _positive("height", height, "mm")


def _positive(name: str, value: Quantity, unit: str) -> float:
    if not isinstance(value, Quantity):
        raise TypeError(f"{name} = {value!r}: write Quantity({value!r}, {unit!r})")
    if value.to(unit).si <= 0:
        raise ValueError(f"{name} = {value.text()}: it must be above zero")
    return value.si


def die(
    area: Quantity | None = None,
    *,
    node: str = "",
    width: Quantity | None = None,
    height: Quantity | None = None,
    price: Ends | None = None,
    defects: Ends | None = None,
    yields: Ends | None = None,
    units: int = 1,
    needed: int = 1,
    share: float = 1.0,
    alpha: float = CLUSTER,
    wafer: Wafer = WAFER,
) -> Die:
    """Cost of a die as a range, from what is said of its wafer.

    Parameters
    ----------
    area : Quantity
        Of a die taken as a square, or as an oblong of the scanner's width where a
        square would not fit its field. Or give both sides.
    node : str
        Such as ``"n5"``: looks up price and defect density.
    width, height : Quantity
        Sides, instead of the area.
    price : Span, Range or Quantity, optional
        Of a wafer, instead of the node's.
    defects : Span, Range or Quantity, optional
        Defects by area, instead of the node's.
    yields : Span, Range or Quantity, optional
        Share of good dies where it is known; defects are not asked for then.
    units, needed : int
        Equal units on the die, and how many must work.
    share : float
        Part of the die that is units; a defect in the rest kills it.
    alpha : float
        How evenly defects fall.
    wafer : Wafer
        Diameter, edge and streets.

    Returns
    -------
    Die

    Raises
    ------
    ValueError
        For a die larger than a scanner exposes at once, sides that are not given
        once, or a yield above one.
    TypeError
        For a plain number where a Quantity is needed.
    UnknownName
        For a node without a price, or without a defect density.

    Examples
    --------
    >>> h100 = die(Quantity(814, "mm2"), node="n5")
    >>> h100.gross.text(), h100.yields.text("%"), h100.cost.text("USD")
    ('67', '48 to 65 %', '310 to 530 USD')
    """
    w, h = _sides(area, width, height)
    _fits_field(w, h)
    if not node and (price is None or (yields is None and defects is None)):
        raise ValueError("a node is needed, or a price and defects (or yields)")
    size = area if area is not None else width * height  # type: ignore[operator]
    gross = counted(grid_dies, w, h, wafer, label="dies on a wafer")
    paid = span(price if price is not None else wafer_price(node))
    if yields is not None:
        works = span(yields)
    else:
        density = span(defects if defects is not None else defect_density(node))
        spare = {"units": units, "needed": needed, "share": share, "alpha": alpha}
        works = _works(size, density, spare)
    if works.high > 1:
        raise ValueError(f"yields {works.text('%')}: no more than all dies are good")
    return Die(size.to("mm2"), gross, paid, works.named("yield"))


def _fits_field(width: float, height: float) -> None:
    sides = sorted((width, height))
    if any(side > most * (1 + 1e-9) for side, most in zip(sides, FIELD, strict=True)):
        mm = [f"{1000 * s:.4g}" for s in (*sides, *FIELD)]
        raise ValueError(
            f"a die of {mm[0]} x {mm[1]} mm does not fit the {mm[2]} x {mm[3]} mm that "
            "a scanner exposes at once"
        )


def ratio(sold: float, whole: float) -> float:
    """Dies that can be sold over dies without a fault."""
    return sold / whole


def _works(area: Quantity, density: Span, spare: dict[str, Any]) -> Span:
    """Yield at both ends of the defect density."""
    shares = []
    for end in (density.high, density.low):
        mean = (area * end).named("defects on a die")
        whole = negative_binomial(mean, spare["alpha"])
        sold = harvested(mean.si, **spare)  # refuses spare units that make no sense
        if spare["units"] > 1:
            label = "times as many with spare units"
            whole = whole * counted(ratio, sold, whole.si, label=label)
        shares.append(whole)
    return Span(*shares)
