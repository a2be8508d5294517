"""Setup of section 2.7 How do you put two dies together?"""

from __future__ import annotations

from functools import cache

from stacklib import cost, hardware
from stacklib.cost.packages import Package, implied_bond, link_rate, package_yield
from stacklib.evidence import ledger as claims
from stacklib.quantity import Quantity, assumed, chosen, constant, counted

DIES, STACKS = 2, 8
STACK = assumed(
    24,
    "GB",
    label="a stack",
    why="Stacks sold at the time have eight dies of 24 Gbit each.",
)


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
    each = cost.span(cost.memory_price("hbm3e")) * STACK
    return cost.package(
        cost.fact("area", "b200_die").low,
        dies=DIES,
        stacks=STACKS,
        stack=each,
        interposer="cowos_l",
        bond=bond(),
        units=80,
        needed=74,
        share=0.5,
    )


def silicon(device: str) -> Quantity:
    """Least area of dies and stacks: those of H100, B200 or Rubin."""
    sites = {"h100": 6, "b200": STACKS, "rubin": STACKS}[device]
    die = {
        "h100": hardware.get("h100-sxm").die_area,
        "b200": cost.fact("area", "b200_die").low * DIES,
        "rubin": cost.reticle() * DIES,
    }[device]
    stacks = chosen(sites, label="sites for stacks")
    return (die + stacks * cost.fact("footprint", "hbm").low).to("mm2")


def l_reticles() -> Quantity:
    """Fields that CoWoS-L is planned to carry in 2026."""
    quotes = cost.fact("carries", "cowos_l").quotes
    return next(q.value for q in quotes if q.date == "2026")


def square_count() -> Quantity:
    """Squares of that size that fit on a wafer, counted."""
    side = (l_reticles() * cost.reticle()).si ** 0.5
    return counted(cost.grid_dies, side, side, label="squares on a wafer")


def rubin_count() -> Quantity:
    """Packages of Rubin on a wafer, as a bank reports."""
    return cost.fact("capacity", "rubin_a_wafer").low


def micro() -> Quantity:
    """Pitch of micro-bumps, the coarse end."""
    return cost.fact("pitch", "microbump").high


def micro_fine() -> Quantity:
    """Pitch of micro-bumps, the fine end."""
    return cost.fact("pitch", "microbump").low


def hybrid() -> Quantity:
    """Pitch of hybrid bonds, the coarse end."""
    return cost.fact("pitch", "hybrid").high


def hybrid_fine() -> Quantity:
    """Pitch of hybrid bonds, planned."""
    return cost.fact("pitch", "hybrid").low


def nvhbi() -> Quantity:
    """Between the two dies of a Blackwell, both directions."""
    found = hardware.link("nv-hbi").fields["bidirectional"]
    assert found is not None
    return found


LANE = chosen(16, "Gbit/s", label="rate of a signal")


CARRY = chosen(0.5, label="bumps that carry signals")


def strip() -> Quantity:
    """Depth of the strip of micro-bumps along a field's long edge that carries it."""
    both = (nvhbi() * constant("byte")).named("NV-HBI, both directions")
    edge = cost.fact("field", "height").low
    return both / link_rate(edge, 1, micro(), LANE, CARRY)


def blind() -> Quantity:
    """Packages that would work if dies were placed untested, at their worst yield."""
    die = cost.die(cost.fact("area", "b200_die").low, node="n5").yields.low
    found: Quantity = package_yield(DIES, STACKS, die=die, bond=bond(), order="blind")
    return found


def capacity_low() -> Quantity:
    """At the end of 2026, the lowest report."""
    return cost.fact("capacity", "cowos_2026").low


def said_value() -> Quantity:
    """What a source document says a package is worth."""
    return claims.get("package-50k").quantity()


def stacks() -> Quantity:
    """Stacks of a B200."""
    return hardware.get("b200-sxm").memory_stacks


def b200_placements() -> Quantity:
    """Dies and stacks of a B200."""
    return (hardware.get("b200-sxm").dies + stacks()).named("dies and stacks")


def bill_total() -> Quantity:
    """A whole B200 by the published bill."""
    return cost.bill("b200-sxm").total


def sold() -> list[Quantity]:
    quotes = cost.prices("b200-sxm")
    return sorted((q.value for q in quotes if q.what == "purchase"), key=lambda v: v.si)
