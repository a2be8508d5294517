"""What a gigabyte costs to make: SRAM from a bit cell, DRAM from a density.

Three numbers make the price of SRAM: the area of a cell, the share of a memory that is
cells, and what a wafer costs. ``sram`` divides areas; ``sram_counted`` lays dies on a
wafer and counts, which finds the rim and the streets that the division leaves out.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from stacklib import hardware
from stacklib.quantity import Quantity, assumed, ceil, chosen, constant, one_of
from stacklib.quantity.bounds import above_zero

from .data import wafer_price
from .dies import Die, die
from .making import fact, keys
from .spans import Span, least, most, span
from .wafers import WAFER, grid_dies
from .yields import check_shares

GIGABYTE = one_of("GB", "a gigabyte")


def array_efficiency() -> Span:
    """Share of an SRAM that is bit cells: least of a whole die, most of a block.

    From densities that include the circuits around the cells, times the cell's area.
    The low end is a die sold as cache, tags, wires and connections included.
    """
    node = {"n3": "n3", "n2": "n2", "vcache": "n7"}
    found = [span(fact("array", key)) * _cell_of(node[key]) for key in keys("array")]
    both = Span(least(*found), most(*found))
    return Span(both.low.to("1"), both.high.to("1")).named("share that is cells")


def _cell_of(node: str) -> Quantity:
    """The larger of a node's cells: what blocks of the usual variant are made of."""
    bit = one_of("bit", "a bit")
    return fact("cell", node).high / bit


def sram_area(node: str, efficiency: Span | Quantity | None = None) -> Span:
    """Silicon that holds one gigabyte (10^9 bytes) of SRAM."""
    used = array_efficiency() if efficiency is None else span(efficiency)
    if used.high > 1:
        raise ValueError(
            f"efficiency {used.text()}: cells fill no more than everything"
        )
    bits = (GIGABYTE.to("bit") / one_of("bit")).named("bits of a gigabyte")
    return (span(fact("cell", node)) * bits / used).named("area of a gigabyte")


def wafer_area() -> Quantity:
    """Of a whole wafer, its rim with it."""
    d = assumed(
        WAFER.diameter, "m", "wafer diameter", why="Every leading line runs them."
    )
    return (constant("disc") * d**2).named("area of a wafer")


def sram(node: str, efficiency: Span | Quantity | None = None) -> Span:
    """Dollars of bare silicon a gigabyte of SRAM: its part of a wafer's price.

    No rim, no streets, no dead dies: the least it can be.

    Parameters
    ----------
    node, efficiency
        As ``sram_area`` takes them.

    Raises
    ------
    UnknownName
        For a node without a known cell or wafer price.
    ValueError
        For an efficiency above one.

    Examples
    --------
    >>> sram("n5").text("USD/GB")
    '46 to 110 USD/GB'
    """
    rate = span(wafer_price(node)) / wafer_area()
    found = sram_area(node, efficiency) * rate / GIGABYTE
    return found.to("USD/GB").named("SRAM, silicon alone")


def sram_counted(node: str, megabytes: float = 64, share: float = 0.5) -> float:
    """The middle of ``sram``, by laying dies on a wafer and counting their bytes."""
    above_zero(megabytes=megabytes)
    check_shares(share=share)
    cell = span(fact("cell", node)).middle.si
    side = math.sqrt(8e6 * megabytes * cell / share)
    gigabytes = grid_dies(side, side) * megabytes / 1000
    return span(wafer_price(node)).middle.si / gigabytes


def dram_wafer() -> Span:
    """What a processed DRAM wafer costs its maker.

    Nobody says. At least an analyst's old rule of thumb; at most all that the makers
    spend in a quarter, research and packaging included, over the wafers they start.
    """
    margin = fact("industry", "margin").low
    spent = fact("dollars", "revenue").low * (1 - margin)
    month = fact("industry", "hbm_wafers").low / fact("industry", "hbm_share").low
    started = (3 * month).named("wafers of a quarter")
    most_it_can_be = spent.named("spent in a quarter") / started
    return Span(fact("wafer", "dram").low, most_it_can_be).named("DRAM wafer")


def _bits(gbit: float) -> Quantity:
    above_zero(gbit=gbit)
    return chosen(gbit, "Gibit", label="bits of a die")


def dram_die(gbit: float = 16, process: str = "d1a") -> Die:
    """A DDR die: its size from the density of its process, its cost from the wafer."""
    return _die(_bits(gbit) / span(fact("density", process)).middle)


def hbm_die(gbit: float = 24, process: str = "d1a") -> tuple[Die, Die]:
    """The smallest and the largest HBM die that published figures allow."""
    plain = _bits(gbit) / span(fact("density", process)).middle
    larger = fact("larger", "hbm")
    return _die(plain * larger.low), _die(plain * larger.high)


def _die(area: Quantity) -> Die:
    return die(
        area.to("mm2").named("area of a DRAM die"),
        price=dram_wafer(),
        yields=span(fact("works", "dram")),
    )


def sold(gbit: float) -> Quantity:
    """Gigabytes a die is sold as: a *16 Gb* die is called 2 GB."""
    return chosen(gbit / 8, "GB", label="gigabytes a die is sold as")


def dram(gbit: float = 16, process: str = "d1a") -> Span:
    """Dollars a gigabyte of good DDR dies, neither packaged nor tested further.

    Parameters
    ----------
    gbit, process
        As ``dram_die`` takes them.

    Raises
    ------
    ValueError, UnknownName
        As there.

    Examples
    --------
    >>> dram().text("USD/GB")
    '0.7 to 1.8 USD/GB'
    """
    return (dram_die(gbit, process).cost / sold(gbit)).to("USD/GB").named("DDR dies")


@dataclass(frozen=True, slots=True)
class Held:
    """Chips that keep so many bytes in their SRAM."""

    device: hardware.Accelerator
    chips: Quantity
    silicon: Span  # their wafers, rims and all, nothing else
    price: Quantity | None  # what they are said to sell for; None where nobody says
    node: str  # whose wafers are priced

    @property
    def process(self) -> str:
        """``N16 for GlobalFoundries 14nm``: whose wafers stand in for its own."""
        own, size = self.device.process, self.node.lstrip("n")
        named = own.startswith("TSMC") and size in re.findall(r"\d+", own)
        return self.node.upper() if named else f"{self.node.upper()} for {own}"


def held(size: Quantity, device: str, node: str) -> Held:
    """The chips whose SRAM together holds ``size``, and what their silicon costs."""
    chip = hardware.get(device)
    if "sram" not in chip.memory_type.lower():
        raise ValueError(f"{chip.key} has {chip.memory_type}: a chip of SRAM is needed")
    chips = ceil(size / chip.memory_capacity).named("chips")
    area = chip.die_area
    if area.si > 0.026 * 0.033:  # a wafer is one chip
        each = span(wafer_price(node))
    else:
        each = die(area, price=wafer_price(node), yields=one_of("1", "all")).raw
    said = chip.fields["purchase_price"]
    price = None if said is None else said.across(chips)
    return Held(chip, chips, (each * chips).named("silicon"), price, node)
