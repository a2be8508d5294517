"""Numbers of chapter 2, several dies in one package."""

from __future__ import annotations

from functools import cache

from stacklib import cost, hardware
from stacklib.cost.packages import Package, implied_bond, link_rate, package_yield
from stacklib.quantity import Quantity

from .. import ledger as claims
from .registry import number

DIES, STACKS = 2, 8


@cache
def bond() -> Quantity:
    """Share of placements that survive, from what a B200's bill loses."""
    parts = cost.bill("b200-sxm").parts
    good = parts["logic"] + parts["memory"] + parts["packaging"]
    found: Quantity = implied_bond(good, parts["yield_loss"], DIES + STACKS)
    return found.named("placements that survive")


@cache
def b200() -> Package:
    """A B200 from wafers, quotes of memory and of packaging: CoWoS-L, as it is sold."""
    each = cost.span(cost.memory_price("hbm3e")) * Quantity(24, "GB", label="a stack")
    return cost.package(
        cost.fact("area", "b200_die").low, dies=DIES, stacks=STACKS, stack=each,
        interposer="cowos_l", bond=bond(), units=80, needed=74, share=0.5,
    )  # fmt: skip


def silicon(device: str) -> Quantity:
    """Least area of dies and stacks: those of H100, B200 or Rubin."""
    sites = {"h100": 6, "b200": STACKS, "rubin": STACKS}[device]
    die = {
        "h100": hardware.get("h100-sxm").die_area,
        "b200": cost.fact("area", "b200_die").low * DIES,
        "rubin": cost.reticle() * DIES,
    }[device]
    stacks = Quantity(sites, label="sites for stacks", kind="assumption")
    return (die + stacks * cost.fact("footprint", "hbm").low).to("mm2")


@number("package.hbm", unit="mm2", digits=3, evidence="spec")
def hbm() -> Quantity:
    """What a stack of HBM covers."""
    return cost.fact("footprint", "hbm").low


@number("package.h100", unit="mm2", digits=4)
def h100() -> Quantity:
    """Die and six sites of an H100, side by side."""
    return silicon("h100")


@number("package.h100_reticles", digits=2)
def h100_reticles() -> Quantity:
    """The same over a field."""
    return silicon("h100") / cost.reticle()


@number("package.b200", unit="mm2", digits=4)
def b200_area() -> Quantity:
    """Dies and stacks of a B200, side by side."""
    return silicon("b200")


@number("package.b200_reticles", digits=2)
def b200_reticles() -> Quantity:
    """The same over a field."""
    return silicon("b200") / cost.reticle()


@number("package.rubin_reticles", digits=2)
def rubin_reticles() -> Quantity:
    """Two whole fields and eight stacks, over a field."""
    return silicon("rubin") / cost.reticle()


@number("package.s_reticles", digits=2, evidence="spec")
def s_reticles() -> Quantity:
    """Fields that CoWoS-S carries."""
    return cost.fact("carries", "cowos_s").high


@number("package.l_reticles", digits=2, evidence="claimed")
def l_reticles() -> Quantity:
    """Fields that CoWoS-L is planned to carry in 2026."""
    quotes = cost.fact("carries", "cowos_l").quotes
    return next(q.value for q in quotes if q.date == "2026")


@number("package.square_count", digits=1)
def square_count() -> Quantity:
    """Squares of that size that fit on a wafer, counted."""
    side = (l_reticles() * cost.reticle()).si ** 0.5
    return Quantity(cost.grid_dies(side, side), label="squares on a wafer")


@number("package.rubin_count", digits=1, evidence="claimed")
def rubin_count() -> Quantity:
    """Packages of Rubin on a wafer, as a bank reports."""
    return cost.fact("capacity", "rubin_a_wafer").low


@number("package.bumps", unit="1/mm2", digits=3)
def bumps() -> Quantity:
    """Micro-bumps an area at the coarse end."""
    return cost.bumps(cost.fact("pitch", "microbump").high)


@number("package.micro", unit="µm", digits=2, evidence="spec")
def micro() -> Quantity:
    """Pitch of micro-bumps, the coarse end."""
    return cost.fact("pitch", "microbump").high


@number("package.micro_fine", unit="µm", digits=2, evidence="spec")
def micro_fine() -> Quantity:
    """Pitch of micro-bumps, the fine end."""
    return cost.fact("pitch", "microbump").low


@number("package.hybrid", unit="µm", digits=2, evidence="spec")
def hybrid() -> Quantity:
    """Pitch of hybrid bonds, the coarse end."""
    return cost.fact("pitch", "hybrid").high


@number("package.hybrid_fine", unit="µm", digits=2, evidence="claimed")
def hybrid_fine() -> Quantity:
    """Pitch of hybrid bonds, planned."""
    return cost.fact("pitch", "hybrid").low


@number("package.denser_low", digits=2)
def denser_low() -> Quantity:
    """Connections an area, coarse hybrid bonds over fine micro-bumps."""
    return cost.bumps(hybrid()) / cost.bumps(micro_fine())


@number("package.denser_high", digits=3)
def denser_high() -> Quantity:
    """Connections an area, fine hybrid bonds over coarse micro-bumps."""
    return cost.bumps(hybrid_fine()) / cost.bumps(micro())


@number("package.nvhbi", unit="TB/s", digits=2, evidence="spec")
def nvhbi() -> Quantity:
    """Between the two dies of a Blackwell, both directions."""
    found = hardware.link("nv-hbi").fields["bidirectional"]
    assert found is not None
    return found


LANE = Quantity(16, "Gbit/s", label="rate of a signal", kind="assumption")
CARRY = Quantity(0.5, label="bumps that carry signals", kind="assumption")


@number("package.lane", unit="Gbit/s", digits=2)
def lane() -> Quantity:
    """Assumed rate of one signal."""
    return LANE


@number("package.strip", unit="mm", digits=2)
def strip() -> Quantity:
    """Depth of the strip of micro-bumps along a field's long edge that carries it."""
    both = Quantity(nvhbi().si * 8, "bit/s", label="NV-HBI, both directions")
    edge = cost.fact("field", "height").low
    return both / link_rate(edge, 1, micro(), LANE, CARRY)


@number("package.strip_share", unit="%", digits=2)
def strip_share() -> Quantity:
    """Of the width of a field."""
    return strip() / cost.fact("field", "width").low


@number("package.bond", unit="%", digits=3)
def bond_share() -> Quantity:
    """Share of placements that survive, from what the bill loses."""
    return bond()


@number("package.loss", unit="USD", digits=2, evidence="claimed")
def loss() -> Quantity:
    """Lost with failed packages, in the published bill of a B200."""
    return cost.bill("b200-sxm").parts["yield_loss"]


@number("package.placements", digits=2)
def placements() -> Quantity:
    """Dies and stacks of a B200."""
    return Quantity(DIES + STACKS, label="dies and stacks")


@number("package.works", unit="%", digits=2)
def works() -> Quantity:
    """Packages that work."""
    return b200().works.low


@number("package.parts_low", unit="USD", digits=2)
def parts_low() -> Quantity:
    """Good parts of a B200, the least."""
    return b200().parts.low


@number("package.parts_high", unit="USD", digits=2)
def parts_high() -> Quantity:
    """Good parts of a B200, the most."""
    return b200().parts.high


@number("package.lost_high", unit="USD", digits=2)
def lost_high() -> Quantity:
    """What a working B200 bears of failed ones, the most."""
    return b200().lost


@number("package.blind", unit="%", digits=2)
def blind() -> Quantity:
    """Packages that would work if dies were placed untested, at their worst yield."""
    die = cost.die(cost.fact("area", "b200_die").low, node="n5").yields.low
    found: Quantity = package_yield(DIES, STACKS, die=die, bond=bond(), order="blind")
    return found


@number("package.capacity_first", digits=2, evidence="claimed")
def capacity_first() -> Quantity:
    """CoWoS wafers a month in 2024."""
    return cost.fact("capacity", "cowos_2024").low


@number("package.capacity_low", digits=2, evidence="claimed")
def capacity_low() -> Quantity:
    """At the end of 2026, the lowest report."""
    return cost.fact("capacity", "cowos_2026").low


@number("package.capacity_high", digits=2, evidence="claimed")
def capacity_high() -> Quantity:
    """At the end of 2026, the highest report."""
    return cost.fact("capacity", "cowos_2026").high


@number("package.rubins", digits=2)
def rubins() -> Quantity:
    """Packages a month that the lowest report would make, if all were Rubin."""
    return capacity_low() * rubin_count()


@number("package.said_value", unit="USD", digits=1, evidence="claimed")
def said_value() -> Quantity:
    """What a source document says a package is worth."""
    return claims.get("package-50k").quantity()


@number("package.stacks", digits=1, evidence="spec")
def stacks() -> Quantity:
    """Stacks of a B200."""
    return hardware.get("b200-sxm").memory_stacks


@number("package.bill", unit="USD", digits=2, evidence="claimed")
def bill_total() -> Quantity:
    """A whole B200 by the published bill."""
    return cost.bill("b200-sxm").total


@number("package.built_low", unit="USD", digits=2)
def built_low() -> Quantity:
    """A working package of a B200, from wafers and quotes, the least."""
    return b200().cost.low


@number("package.built_high", unit="USD", digits=2)
def built_high() -> Quantity:
    """The same, the most."""
    return b200().cost.high


def _sold() -> list[Quantity]:
    quotes = cost.prices("b200-sxm")
    return sorted((q.value for q in quotes if q.what == "purchase"), key=lambda v: v.si)


@number("package.sold_low", unit="USD", digits=2, evidence="claimed")
def sold_low() -> Quantity:
    """What a B200 is offered for, the lowest quote."""
    return 1 * _sold()[0]


@number("package.sold_high", unit="USD", digits=2, evidence="claimed")
def sold_high() -> Quantity:
    """The highest quote."""
    return 1 * _sold()[-1]


@number("package.sold_over", digits=2)
def sold_over() -> Quantity:
    """What the document writes for a package over the bill of the same author."""
    return said_value() / bill_total()
