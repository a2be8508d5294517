"""Setup of section 2.7 How do you put two dies together?"""

from __future__ import annotations

from functools import cache

from stacklib import cost, hardware
from stacklib.cost.packages import Package, implied_bond, link_rate, package_yield
from stacklib.evidence import ledger as claims
from stacklib.hardware import stack_generation
from stacklib.memory.stack.shoreline import stacks_along
from stacklib.pages.gpu import journey
from stacklib.pages.gpu import silicon as printed
from stacklib.quantity import Quantity, assumed, chosen, constant, counted, counting
from stacklib.roofline.work.moving import memory_time

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
    return hardware.link("nv-hbi").bidirectional


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
    return package_yield(DIES, STACKS, die=die, bond=bond(), order="blind")


def capacity_low() -> Quantity:
    """At the end of 2026, the lowest report."""
    return cost.fact("capacity", "cowos_2026").low


def said_value() -> Quantity:
    """What a text says a package is worth."""
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


B200 = "b200-sxm"
# How many dies, and which of a die's sides faces the memory.
LAYOUTS = {
    "one die": (1, "height"),
    "joined at short edges": (2, "height"),
    "joined at long edges": (2, "width"),
}


def stack_width() -> Quantity:
    """Edge that a stack of a B200 takes."""
    return stack_generation(hardware.get(B200).memory_type).width.to("mm")


def stack_depth() -> Quantity:
    """The other side of the stack."""
    return stack_generation(hardware.get(B200).memory_type).depth.to("mm")


def stack_rate() -> Quantity:
    """Bandwidth of one stack of a B200."""
    one = hardware.get(B200)
    return (one.memory_bandwidth / one.memory_stacks).named("a stack of a B200")


def edge_rate() -> Quantity:
    """The same for each length of edge."""
    return (stack_rate() / stack_width()).to("GB/s/mm").named("memory, by its edge")


def edge(layout: str) -> Quantity:
    """Edge that faces memory, on each of two sides; dies as large as a field."""
    dies, side = LAYOUTS[layout]
    many = chosen(dies, label="dies side by side")
    return (cost.fact("field", side).low * many).named(f"edge, {layout}").to("mm")


def sites(layout: str) -> Quantity:
    """Stacks that fit along both."""
    one = counted(along, edge(layout), stack_width(), label="stacks on a side")
    return (one * chosen(2, label="sides with memory")).named(f"stacks, {layout}")


def along(length: Quantity, width: Quantity) -> int:
    """Stacks of a width that fit beside each other along an edge."""
    return stacks_along(length.si, width.si)


def drawn(layout: str) -> Quantity:
    """Bandwidth of so many stacks."""
    return (sites(layout) * stack_rate()).to("TB/s").named(f"bandwidth, {layout}")


def link_edge_rate() -> Quantity:
    """What passes between two dies by the length of the edge where they touch."""
    touch = cost.fact("field", "height").low
    return (nvhbi() / touch).to("GB/s/mm").named("between dies, by the edge")


def token_time() -> Quantity:
    """Time in which a B200 reads what each of eight chips reads for a token."""
    read = journey.slots("memory").work
    return memory_time(read, B200).to("ms").named("token, B200")


def large_yield() -> Quantity:
    """Good dies if both were one: twice the area to escape with."""
    twice = printed.mean() * chosen(DIES, label="areas in one")
    return cost.poisson(twice).named("a die as large as both, without a defect")


def small_yield() -> Quantity:
    """Good dies of one."""
    return cost.poisson(printed.mean()).named("one die, without a defect")


@counting(
    lambda tested: "pairs of tested dies" if tested else "large dies without a defect"
)
def good_pairs(tested: bool) -> int:
    """Packages that the drawn wafer gives, as pairs of tested dies or as large dies."""
    good = [state == 0 for state in printed.states(0)]
    half = len(good) // 2
    if tested:
        return sum(good) // 2
    return sum(a and b for a, b in zip(good[:half], good[half:], strict=True))


def pins() -> Quantity:
    """Data pins of a stack of a B200."""
    return stack_generation(hardware.get(B200).memory_type).memory.pins
