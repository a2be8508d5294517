"""One large die, or the same silicon in pieces: what a good square millimetre costs.

Pieces work more often, and more of them fit on a round wafer. Against that, each piece
spends area on talking to the others, and each must be placed without breaking.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from stacklib.quantity import Quantity, chosen, counted
from stacklib.quantity.bounds import at_least, whole

from .dies import CLUSTER, FIELD
from .wafers import WAFER, Wafer, grid_dies
from .yields import check_shares, harvested, poisson


@dataclass(frozen=True, slots=True)
class Pieces:
    """A design cut into equal dies."""

    count: int  # dies of it
    area: Quantity  # of one, with what it spends on talking
    gross: int  # dies on a wafer
    good: float  # share of them that can be sold
    works: float  # share of joined designs that work
    cost: Quantity  # dollars of logic for each useful, working square millimetre


def working(gross: float, good: float, works: float) -> float:
    """Packages of a wafer that work: pieces, their yield, that of the assembly."""
    return gross * good * works


def pieces(
    area: Quantity,
    count: int,
    *,
    price: Quantity,
    defects: Quantity,
    talk: float = 0.1,
    bond: float = 0.99,
    units: int = 1,
    needed: int = 1,
    share: float = 1.0,
    alpha: float = CLUSTER,
    wafer: Wafer = WAFER,
) -> Pieces:
    """Cut a design into equal dies and price its working silicon.

    Parameters
    ----------
    area : Quantity
        Useful silicon of the design.
    count : int
        Dies it is cut into; one is the monolith, which neither talks nor is joined.
    price : Quantity
        Of a wafer.
    defects : Quantity
        By area.
    talk : float
        Part of each piece that links it to the others.
    bond : float
        Share of placements that survive.
    units, needed : int
        Equal units of the whole design and how many it needs, shared out evenly.
    share : float
        Part of a die that is units.
    alpha : float
        Cluster parameter of the defects.
    wafer : Wafer
        What they are printed on.

    Raises
    ------
    ValueError
        For a piece larger than a scanner exposes at once, units that the pieces
        cannot share, or a talk or bond that is no share.

    Examples
    --------
    >>> usd, dirt = Quantity(17000, "USD"), Quantity(0.1, "1/cm2")
    >>> whole, four = (pieces(Quantity(800, "mm2"), n, price=usd, defects=dirt)
    ...                for n in (1, 4))
    >>> whole.cost.text("USD/mm2", 2), four.cost.text("USD/mm2", 2)
    ('0.61 USD/mm²', '0.41 USD/mm²')
    """
    whole(count=count)
    at_least(0, talk=talk)
    if talk >= 1:
        raise ValueError(f"talk = {talk!r}: part of a piece, from 0 and below 1")
    check_shares(bond=bond)
    if units == needed:  # none to spare: a piece is one unit
        units = needed = count
    if units % count or needed % count:
        raise ValueError(
            f"{needed} of {units} units do not share out evenly over {count} pieces"
        )
    overhead = talk if count > 1 else 0.0
    linked = 1 - chosen(overhead, label="share of the links")
    each = (area / count / linked).to("mm2")
    side = min(math.sqrt(each.si), min(FIELD))
    if each.si / side > max(FIELD) * (1 + 1e-9):
        raise ValueError(
            f"a piece of {each.text()} does not fit what a scanner exposes at once; "
            f"cut into more than {count}"
        )
    gross = grid_dies(side, each.si / side, wafer)
    mean = (each * defects).si
    good = harvested(
        mean, units=units // count, needed=needed // count, share=share, alpha=alpha
    )
    works = bond**count if count > 1 else 1.0
    alive = counted(working, gross, good, works, label="good dies of a wafer")
    spent = price * count / alive
    return Pieces(
        count,
        each,
        gross,
        good,
        works,
        (spent / area).named("a good square millimetre"),
    )


def good_dies(
    width: float, height: float, defects: float, wafer: Wafer = WAFER
) -> float:
    """Dies of a wafer without a defect, when defects fall independently.

    ``width``, ``height``: metres.
    """
    return grid_dies(width, height, wafer) * poisson(width * height * defects)
