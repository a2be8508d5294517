"""Setup of section 2.6 What can be printed at all?"""

from __future__ import annotations

import math
from functools import cache

from stacklib import cost, hardware
from stacklib.cost import moore
from stacklib.cost.chiplets import Pieces, good_dies
from stacklib.cost.dies import Die
from stacklib.cost.moore import Chip, fixed_doubling
from stacklib.cost.nodes import mixed_density
from stacklib.cost.wafers import Wafer, dies_less_edge
from stacklib.evidence import ledger as claims
from stacklib.memory.ladder.energy import wire_energy, wire_length
from stacklib.pages.gpu import journey
from stacklib.plots.live.parts import stand
from stacklib.quantity import Quantity, chosen, constant, counted, counting, one_of

WIDTH, HEIGHT, HALF = 0.026, 0.033, 0.0165  # metres: a field, and half of it


PAID = chosen(17000, "USD", label="a wafer, near the dearest")


def dirt() -> Quantity:
    """The density of defects of the page's napkin."""
    wafer_part = chosen(100, "cm2", label="an area")
    return (stand(__name__, "defects", 10) / wafer_part).named("a defect density")


def h100() -> Quantity:
    """The die of an H100."""
    return hardware.get("h100-sxm").die_area


def b200_dies() -> Quantity:
    """Dies of a B200."""
    return hardware.get("b200-sxm").dies


def b200_die() -> Quantity:
    """One of them, as the press has it."""
    return cost.fact("area", "b200_die").low


@cache
def die(spare: int = 0) -> Die:
    if not spare:
        return cost.die(b200_die(), node="n5")
    return cost.die(b200_die(), node="n5", units=80, needed=80 - spare, share=0.5)


def textbook(size: float) -> Quantity:
    rim = chosen(0.5, label="half: the textbook's rim") ** 0.5
    found: Quantity = dies_less_edge(area(size), wafer(), rim)
    return found.named(f"dies of {size} mm², the textbook's rim")


def by_area() -> Quantity:
    """Area of the wafer over that of a B200's die."""
    return constant("disc") * wafer() ** 2 / b200_die()


def mean() -> Quantity:
    return (b200_die() * dirt()).named("defects on a die")


def half_gain() -> Quantity:
    """Good dies of half a field over those of a whole one, counted."""
    half, whole = (
        counted(good_dies, WIDTH, side, dirt().si, label=f"good dies of {words}")
        for side, words in ((HALF, "half a field"), (HEIGHT, "a field"))
    )
    return half / whole


def area(size: float) -> Quantity:
    """A die's, as the page takes it."""
    return chosen(size, "mm2", f"a die of {size} mm²")


def half_gain_textbook() -> Quantity:
    """The same with the textbook's rim and no streets."""
    counts = [textbook(a) * cost.poisson(area(a) * dirt()) for a in (429, 858)]
    return counts[0] / counts[1]


@cache
def cut(count: int, spare: bool = False) -> Pieces:
    units = {"units": 160, "needed": 144, "share": 0.5} if spare else {}
    return cost.pieces(b200_die(), count, price=PAID, defects=dirt(), **units)  # type: ignore[arg-type]


def n4_n2() -> Quantity:
    """Logic density of N2 over N4, along stated steps."""
    return cost.gain("n4", "n2").middle


def mixed() -> Quantity:
    """Density of a die half logic, N3E over N5, when only logic shrinks."""
    parts = {"logic": 50, "memory": 30, "analogue": 20}
    shares = {part: chosen(n, "%", f"share of {part}") for part, n in parts.items()}
    same = {part: chosen(1, label=f"gain of {part}") for part in parts}
    gains = {**same, "logic": cost.gain("n5", "n3e").low}
    return mixed_density(shares, gains).named("half logic, the rest unchanged")


def gate_pitch() -> Quantity:
    """From gate to gate in N3E."""
    return cost.fact("feature", "gate_pitch_n3").high  # that of N3E, the looser node


def metal() -> Quantity:
    """From wire to wire in N3E, at the finest."""
    return cost.fact("feature", "metal_n3").low


def name_shrink() -> Quantity:
    """Times that an area would shrink if 5 and 3 nm were lengths."""
    old, new = (chosen(x, "nm", label=f"{x} nm, a name") for x in (5, 3))
    return (old / new) ** 2


def pitch_shrink() -> Quantity:
    """Times that a gate pitch by a wire pitch shrank from N5 to N3E."""
    old = (
        cost.fact("feature", "gate_pitch_n5").low * cost.fact("feature", "metal_n5").low
    )
    return old / (gate_pitch() * metal())


def chip(key: str) -> Chip:
    return next(chip for chip in moore.chips() if key in chip.keys)


def millions() -> Quantity:
    """A million a square millimetre."""
    return constant("million") * one_of("1/mm2")


def density_said() -> Quantity:
    """Millions a square millimetre, as a text has it."""
    return claims.get("h100-density").quantity() / millions()


def logic_density() -> Quantity:
    """Logic alone in N4, from measured cells of N5, in millions."""
    packed = cost.fact("packed", "n5").low * cost.gain("n5", "n4").middle
    return packed / millions()


def late_doubling() -> Quantity:
    """Years in which density doubled from A100 to B200."""
    found = fixed_doubling(chip("a100_sxm_80gb"), chip("b200_sxm"))
    return found / one_of("year")


def wafer() -> Quantity:
    """Diameter of a wafer."""
    words = "diameter of a wafer"
    return counted(Wafer, take="diameter", unit="m", shown="mm", label=words)


def doubling(growth: str) -> float:
    """Years to twice the density at one end of the line's growth: log 2 / log g."""
    return math.log(2) / math.log(getattr(cost.clock(), growth))


def half() -> Quantity:
    """Share of a field, as a text has it."""
    return claims.get("ai5-half-reticle").quantity()


def eighty() -> Quantity:
    """Multiprocessors on a die of a B200."""
    return cost.fact("industry", "b200_units").low


SPARES = 6  # multiprocessors of a B200's die that may be dead


def rim() -> Quantity:
    """Dies that the rim cuts, by the textbook: its length over a die's diagonal."""
    pi = 4 * constant("disc")  # of a disc: area over the square of its diameter
    found: Quantity = pi * wafer() / (2 * area(800)) ** 0.5
    return found.named("dies that the rim cuts")


def way() -> Quantity:
    """Mean way of a bit across the die of an H100."""
    return wire_length(h100()).to("mm").named("mean way across an H100's die")


def die_side() -> Quantity:
    """Side of a square as large as that die."""
    return (h100() ** 0.5).to("mm").named("side of a square of an H100's die")


def nearest() -> Quantity:
    """Way to an SM beside its controller: a tenth of a side."""
    return (die_side() * chosen(0.1, label="a tenth of a side")).named("a short way")


def farthest() -> Quantity:
    """From a corner to the corner across: both sides."""
    return (die_side() * chosen(2, label="sides")).named("the longest way")


def bit_over(length: Quantity) -> Quantity:
    """Joules of a bit over so much wire."""
    return (length * wire_energy()).named(f"energy of a bit over {length.label}")


def read_each() -> Quantity:
    """Bytes that one of eight chips reads for a token."""
    return journey.slots("memory").work


def wires_per_token() -> Quantity:
    """Joules of moving what a token reads across the dies of eight chips."""
    bits = read_each() * chosen(8, label="chips") * constant("byte")
    return (bits * bit_over(way())).to("J").named("wires of eight dies, per token")


def wires_power() -> Quantity:
    """Watts of these wires on one chip that reads at full rate."""
    rate = hardware.get("h100-sxm").memory_bandwidth * constant("byte")
    return (rate * bit_over(way())).to("W").named("wires of one die, reading")


def states(spare: int) -> list[int]:
    """State of each die of one wafer of a B200's, defects thrown at it."""
    from .live import throw

    return throw(round(die().gross.si), mean().si, spare)


STATES = ("without a defect", "sold with dead units", "thrown away")


@counting(lambda state, spare: f"dies {STATES[state]}, {spare} spare")
def so_many(state: int, spare: int) -> int:
    """Dies of that wafer in one state."""
    return states(spare).count(state)


def napkin_cost() -> Quantity:
    """Price of a wafer over dies by formula times Poisson's share."""
    good = textbook(800) * cost.poisson(mean())
    return (PAID / good).named("a good die by formula")


def power() -> Quantity:
    """Design power of an H100."""
    return hardware.get("h100-sxm").tdp
