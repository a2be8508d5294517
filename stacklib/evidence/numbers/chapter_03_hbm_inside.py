"""Numbers of the section on stacks: inside one, along the edge, the whole column."""

from __future__ import annotations

from functools import cache

from stacklib import hardware
from stacklib.hardware import stack_fact, stack_generation
from stacklib.hardware.stacks import via_counts
from stacklib.memory.stack import bandwidths, shoreline
from stacklib.memory.stack import height as stack_height
from stacklib.memory.stack.height import thickest_die
from stacklib.memory.stack.shoreline import interface_power, ucie_edge
from stacklib.quantity import Quantity

from .registry import number


def _count(value: float, label: str) -> Quantity:
    return Quantity(value, "1", label=label, kind="assumption")


# --- inside -------------------------------------------------------------------------


@number("hbm.thin", unit="µm", evidence="claimed")
def thin() -> Quantity:
    """Thickness of a die in a stack of twelve, by SK hynix."""
    return stack_fact("thin_die")


@number("hbm.thinner", unit="%", evidence="claimed")
def thinner() -> Quantity:
    """How much thinner the dies of twelve are than those of eight, by SK hynix."""
    return stack_fact("thinner")


@number("hbm.thick", unit="µm")
def thick() -> Quantity:
    """Thickness of a die in a stack of eight that follows."""
    return stack_height.inferred().thick


@number("hbm.gap", unit="µm")
def gap() -> Quantity:
    """Gap between dies that follows."""
    return stack_height.inferred().gap


@number("hbm.rest", unit="µm")
def rest() -> Quantity:
    """Height left for base die, top and mould."""
    return stack_height.inferred().rest


@number("hbm.module", unit="µm", evidence="spec")
def module() -> Quantity:
    """Height of a module up to HBM3E."""
    return stack_generation("hbm3").module_height


@number("hbm.module_hbm4", unit="µm", evidence="spec")
def module_hbm4() -> Quantity:
    """Height of a module of HBM4."""
    return stack_generation("hbm4").module_height


@number("hbm.gap_share", unit="%")
def gap_share() -> Quantity:
    """Share of a 12-high module that is gaps: what goes without bumps."""
    return stack_height.gap_share(12, module(), gap())


@number("hbm.hybrid", unit="%", digits=2, evidence="claimed")
def hybrid() -> Quantity:
    """How much shorter a stack is without bumps, at least, by Samsung."""
    return stack_fact("hybrid_shorter")


def _sixteen(gap: Quantity, height: Quantity) -> Quantity:
    return thickest_die(height, 16, gap=gap, rest=rest())


@number("hbm.sixteen_old", unit="µm")
def sixteen_old() -> Quantity:
    """Thickness left for each of sixteen dies with bumps under the old height."""
    return _sixteen(gap(), module())


@number("hbm.sixteen", unit="µm")
def sixteen() -> Quantity:
    """Thickness left for each of sixteen dies with bumps in an HBM4 module."""
    return _sixteen(gap(), module_hbm4())


@number("hbm.sixteen_hybrid", unit="µm")
def sixteen_hybrid() -> Quantity:
    """Thickness left for each of sixteen dies without bumps in an HBM4 module."""
    return _sixteen(Quantity(0, "µm", label="no gap", kind="assumption"), module_hbm4())


@number("hbm.vias_die", evidence="claimed")
def vias_die() -> Quantity:
    """Vias of a die of HBM2E, at least, by Samsung."""
    found = next(c.a_die for c in via_counts() if "HBM2E, 8" in c.name)
    assert found is not None
    return found


@number("hbm.vias_a_pin", digits=2)
def vias_a_pin() -> Quantity:
    """Vias of a die for each data pin of the stack."""
    return vias_die() / stack_generation("hbm2e").memory.pins


@number("hbm.power_bumps", evidence="claimed")
def power_bumps() -> Quantity:
    """Bumps for power under a base die of HBM4, by Samsung."""
    return stack_fact("power_bumps")


# --- the edge -----------------------------------------------------------------------


@number("hbm.reticle_long", unit="mm", evidence="spec")
def reticle_long() -> Quantity:
    """Long side of the largest field of a scanner."""
    return stack_fact("reticle_long")


@number("hbm.width", unit="mm", evidence="spec")
def width() -> Quantity:
    """Width of a stack along the edge."""
    return stack_generation("hbm3e").width


def _places(edge: Quantity) -> Quantity:
    along = shoreline.stacks_along(edge.si, width().si)
    return _count(2 * along, f"stacks along two edges of {edge.to('mm').value:g} mm")


@number("hbm.places_one")
def places_one() -> Quantity:
    """Stacks that fit along the two long edges of one reticle-sized die."""
    return _places(reticle_long())


@number("hbm.places_two")
def places_two() -> Quantity:
    """Stacks that fit along two reticle-sized dies joined at their long edges."""
    return _places(2 * stack_fact("reticle_short"))


@number("hbm.edge_hbm3e", unit="GB/s/mm")
def edge_hbm3e() -> Quantity:
    """Bandwidth of HBM3E for each millimetre of edge."""
    return shoreline.edge_bandwidth("hbm3e")


@number("hbm.edge_hbm4", unit="GB/s/mm")
def edge_hbm4() -> Quantity:
    """Bandwidth of HBM4 for each millimetre of edge."""
    return shoreline.edge_bandwidth("hbm4")


@number("hbm.edge_ucie", unit="GB/s/mm", evidence="claimed")
def edge_ucie() -> Quantity:
    """Bandwidth of UCIe on silicon for each millimetre of edge, in one direction."""
    return ucie_edge("advanced")


@number("hbm.edge_gain", digits=2)
def edge_gain() -> Quantity:
    """UCIe on silicon over HBM4, a millimetre of edge."""
    return edge_ucie() / edge_hbm4()


@number("hbm.phy", unit="pJ/bit", digits=2, evidence="measured")
def phy() -> Quantity:
    """Energy of an HBM3 interface in 4 nm, as its makers measured it."""
    return stack_fact("phy_energy")


@number("hbm.n12_gain", digits=2, evidence="claimed")
def n12_gain() -> Quantity:
    """Efficiency of a base die in N12 over a DRAM process, by TSMC."""
    return stack_fact("n12_gain")


@number("hbm.n3p_gain", digits=2, evidence="claimed")
def n3p_gain() -> Quantity:
    """Efficiency of a base die in N3P over a DRAM process, by TSMC."""
    return stack_fact("n3p_gain")


def _rubin() -> Quantity:
    return hardware.get("rubin").memory_bandwidth


@number("hbm.power_dram", unit="W")
def power_dram() -> Quantity:
    """Power of Rubin's base-die interfaces if made in a DRAM process."""
    return interface_power(_rubin(), "DRAM process")


@number("hbm.power_n12", unit="W")
def power_n12() -> Quantity:
    """The same in N12."""
    return interface_power(_rubin(), "N12")


@number("hbm.power_n3p", unit="W")
def power_n3p() -> Quantity:
    """The same in N3P."""
    return interface_power(_rubin(), "N3P")


# --- the whole column ---------------------------------------------------------------


@cache
def _column() -> tuple[bandwidths.Explained, ...]:
    return bandwidths.column()


@number("hbm.column")
def column() -> Quantity:
    """Devices of the database, this machine left out."""
    return _count(len(_column()), "devices of the database")


@number("hbm.settled")
def settled() -> Quantity:
    """Devices whose printed bandwidth their parts give within two per cent."""
    return _count(sum(row.settled for row in _column()), "rows settled")


@number("hbm.rounded")
def rounded() -> Quantity:
    """Devices whose printed bandwidth is rounded by more, as the database says."""
    wide = sum(row.gap is not None and not row.settled for row in _column())
    return _count(wide, "rows with a reason")


@number("hbm.rounding", unit="%", digits=2)
def rounding() -> Quantity:
    """The gap that all of these have: 1,024 printed as 1,000."""
    wide = [r.gap for r in _column() if r.gap is not None and not r.settled]
    return _count(max(wide), "widest gap of the column")


@number("hbm.open")
def open_rows() -> Quantity:
    """Devices whose pins or rate nobody has printed."""
    return _count(sum(row.way == "open" for row in _column()), "rows left open")


@number("hbm.sram")
def sram() -> Quantity:
    """Devices that have no DRAM."""
    return _count(sum(row.way == "no DRAM" for row in _column()), "rows without DRAM")
