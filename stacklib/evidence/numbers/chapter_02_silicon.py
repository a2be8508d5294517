"""Numbers of chapter 2, what can be printed: dies, processes, Moore's clock."""

from __future__ import annotations

import math
from functools import cache

from stacklib import cost, hardware
from stacklib.cost import moore, yields
from stacklib.cost.chiplets import Pieces, good_dies
from stacklib.cost.dies import Die
from stacklib.cost.moore import Chip, fixed_doubling
from stacklib.cost.nodes import mixed_density
from stacklib.cost.wafers import Wafer, dies_less_edge
from stacklib.quantity import Quantity

from .. import ledger as claims
from .registry import number

WIDTH, HEIGHT, HALF = 0.026, 0.033, 0.0165  # metres: a field, and half of it
DIRT = Quantity(0.1, "1/cm2", label="defects of the first review", kind="assumption")
PAID = Quantity(17000, "USD", label="a wafer, near the dearest", kind="assumption")


@number("silicon.field_width", unit="mm", digits=2, evidence="spec")
def field_width() -> Quantity:
    """Slit of a scanner."""
    return cost.fact("field", "width").low


@number("silicon.field_height", unit="mm", digits=2, evidence="spec")
def field_height() -> Quantity:
    """Its scan."""
    return cost.fact("field", "height").low


@number("silicon.reticle", unit="mm2", digits=3)
def reticle() -> Quantity:
    """What a scanner exposes at once."""
    return cost.reticle()


@number("silicon.h100", unit="mm2", digits=3, evidence="spec")
def h100() -> Quantity:
    """The die of an H100."""
    return hardware.get("h100-sxm").die_area


@number("silicon.h100_share", unit="%", digits=3)
def h100_share() -> Quantity:
    """Of the field."""
    return h100() / cost.reticle()


@number("silicon.b200_dies", digits=1, evidence="spec")
def b200_dies() -> Quantity:
    """Dies of a B200."""
    found = hardware.get("b200-sxm").fields["dies"]
    assert found is not None
    return found


@number("silicon.b200_die", unit="mm2", digits=3, evidence="claimed")
def b200_die() -> Quantity:
    """One of them, as the press has it."""
    return cost.fact("area", "b200_die").low


@cache
def _die(spare: int = 0) -> Die:
    if not spare:
        return cost.die(b200_die(), node="n5")
    return cost.die(b200_die(), node="n5", units=80, needed=80 - spare, share=0.5)


@number("silicon.gross", digits=3)
def gross() -> Quantity:
    """Dies of a B200 on a wafer, counted."""
    return _die().gross


def _textbook(area: float) -> Quantity:
    found = dies_less_edge(area, 300, 1 / math.sqrt(2))
    return Quantity(found, label=f"dies of {area} mm2, the textbook's rim")


@number("silicon.gross_800", digits=2)
def gross_800() -> Quantity:
    """Dies of 800 mm2 by the textbook's formula, whole wafer, no streets."""
    return _textbook(800)


@number("silicon.gross_430", digits=3)
def gross_430() -> Quantity:
    """Dies of 430 mm2, likewise."""
    return _textbook(430)


@number("silicon.gross_858", digits=2)
def gross_858() -> Quantity:
    """Dies of a whole field, likewise."""
    return _textbook(858)


@number("silicon.by_area", digits=2)
def by_area() -> Quantity:
    """Area of the wafer over that of a B200's die."""
    wafer = Quantity(math.pi / 4 * 300**2, "mm2", label="a wafer of 300 mm")
    return wafer / b200_die()


@number("silicon.dirt", unit="1/cm2", digits=1, evidence="claimed")
def dirt() -> Quantity:
    """A defect density in the middle of what is quoted."""
    return DIRT


def _mean() -> Quantity:
    return (b200_die() * DIRT).named("defects on a die")


@number("silicon.mean", digits=1)
def mean() -> Quantity:
    """Defects on a die of a B200, on average."""
    return _mean()


@number("silicon.poisson", unit="%", digits=2)
def poisson() -> Quantity:
    """Dies without a defect, when defects know nothing of each other."""
    return cost.poisson(_mean())


@number("silicon.murphy", unit="%", digits=2)
def murphy() -> Quantity:
    """Dies without a defect, by Murphy's law."""
    return yields.murphy(_mean())


@number("silicon.whole_low", unit="%", digits=2)
def whole_low() -> Quantity:
    """Dies without a defect at the worst quoted density, clustered."""
    return _die().yields.low


@number("silicon.spare_low", unit="%", digits=2)
def spare_low() -> Quantity:
    """Dies that can be sold there with six dead units allowed."""
    return _die(6).yields.low


@number("silicon.two_low", unit="USD", digits=2)
def two_low() -> Quantity:
    """Both dies of a B200, the least: cheapest wafer, cleanest, six spare units."""
    return _die(6).cost.low * b200_dies()


@number("silicon.two_high", unit="USD", digits=2)
def two_high() -> Quantity:
    """Both dies, the most: dearest wafer, dirtiest, no spare unit."""
    return _die().cost.high * b200_dies()


@number("silicon.two_said", unit="USD", digits=1, evidence="claimed")
def two_said() -> Quantity:
    """Both dies in the published bill."""
    return cost.bill("b200-sxm").parts["logic"]


@number("silicon.half_gain", digits=2)
def half_gain() -> Quantity:
    """Good dies of half a field over those of a whole one, counted."""
    half = good_dies(WIDTH, HALF, DIRT.si)
    whole = good_dies(WIDTH, HEIGHT, DIRT.si)
    return Quantity(half / whole, label="good dies, half a field over a field")


@number("silicon.half_gain_textbook", digits=2)
def half_gain_textbook() -> Quantity:
    """The same with the textbook's rim and no streets."""
    counts = [
        _textbook(a) * cost.poisson(Quantity(a, "mm2") * DIRT) for a in (429, 858)
    ]
    return counts[0] / counts[1]


@number("silicon.half_dies", digits=3)
def half_dies() -> Quantity:
    """Half fields on a wafer, counted."""
    return Quantity(cost.grid_dies(WIDTH, HALF), label="half fields on a wafer")


@number("silicon.field_dies", digits=2)
def field_dies() -> Quantity:
    """Whole fields on a wafer, counted."""
    return Quantity(cost.grid_dies(WIDTH, HEIGHT), label="fields on a wafer")


@cache
def _cut(count: int, spare: bool = False) -> Pieces:
    units = {"units": 160, "needed": 144, "share": 0.5} if spare else {}
    return cost.pieces(b200_die(), count, price=PAID, defects=DIRT, **units)  # type: ignore[arg-type]


@number("silicon.cut_one", unit="USD/mm2", digits=2)
def cut_one() -> Quantity:
    """A good square millimetre of one large die, all units needed."""
    return _cut(1).cost


@number("silicon.cut_four", unit="USD/mm2", digits=2)
def cut_four() -> Quantity:
    """The same in four pieces."""
    return _cut(4).cost


@number("silicon.cut_saves", unit="%", digits=2)
def cut_saves() -> Quantity:
    """Saved by four pieces when no unit is spare."""
    return 1 - _cut(4).cost / _cut(1).cost


@number("silicon.spare_saves", unit="%", digits=2)
def spare_saves() -> Quantity:
    """Saved by four pieces when a tenth of the units is spare."""
    return 1 - _cut(4, True).cost / _cut(1, True).cost


@number("silicon.talk", unit="%", digits=2)
def talk() -> Quantity:
    """Assumed part of a piece that links it to the others."""
    return Quantity(0.1, label="part of a piece for links", kind="assumption")


@number("silicon.n4_n2", digits=3)
def n4_n2() -> Quantity:
    """Logic density of N2 over N4, along stated steps."""
    return cost.gain("n4", "n2").middle


@number("silicon.n4_n2_said", digits=2, evidence="claimed")
def n4_n2_said() -> Quantity:
    """The same as a source document has it."""
    return claims.get("n4-n2-density").quantity()


@number("silicon.n4_n2_chip", digits=3)
def n4_n2_chip() -> Quantity:
    """Density of TSMC's mixed chip, N2 over N4."""
    return cost.gain("n4", "n2", "chip").middle


@number("silicon.n4_n2_sram", digits=2)
def n4_n2_sram() -> Quantity:
    """Density of SRAM cells, N2 over N4."""
    return cost.gain("n4", "n2", "sram").middle


@number("silicon.jump", digits=3)
def jump() -> Quantity:
    """A jump, if two even ones make it."""
    return n4_n2() ** 0.5


@number("silicon.power_total", unit="%", digits=2)
def power_total() -> Quantity:
    """Power saved from N4P to N2 at one speed, at most."""
    return 1 - cost.gain("n4", "n2", "power").low


@number("silicon.speed_total", unit="%", digits=2)
def speed_total() -> Quantity:
    """Speed gained from N4P to N2 at one power, at most."""
    return cost.gain("n4", "n2", "speed").high - 1


@number("silicon.mixed", digits=3)
def mixed() -> Quantity:
    """Density of a die half logic, N3E over N5, when only logic shrinks."""
    shares = {"logic": 0.5, "memory": 0.3, "analogue": 0.2}
    gains = {"logic": cost.gain("n5", "n3e").low.si, "memory": 1.0, "analogue": 1.0}
    found = mixed_density(shares, gains)
    return Quantity(found, label="half logic, the rest unchanged")


@number("silicon.chip_step", digits=2, evidence="claimed")
def chip_step() -> Quantity:
    """What TSMC says of such a chip."""
    return cost.gain("n5", "n3e", "chip").low


@number("silicon.logic_step", digits=2, evidence="claimed")
def logic_step() -> Quantity:
    """What TSMC says of logic alone."""
    return cost.gain("n5", "n3e").low


@number("silicon.gate", unit="nm", digits=2, evidence="spec")
def gate() -> Quantity:
    """Gate length of the 3 nm node, by the roadmap."""
    return cost.fact("feature", "gate_n3").low


@number("silicon.gate_pitch", unit="nm", digits=2, evidence="spec")
def gate_pitch() -> Quantity:
    """From gate to gate in N3."""
    return cost.fact("feature", "gate_pitch_n3").low


@number("silicon.metal", unit="nm", digits=2, evidence="spec")
def metal() -> Quantity:
    """From wire to wire in N3, at the finest."""
    return cost.fact("feature", "metal_n3").low


@number("silicon.name_shrink", digits=2)
def name_shrink() -> Quantity:
    """Times that an area would shrink if 5 and 3 nm were lengths."""
    old, new = (Quantity(x, "nm", label=f"{x} nm, a name", kind="assumption")
                for x in (5, 3))  # fmt: skip
    return (old / new) ** 2


@number("silicon.pitch_shrink", digits=3)
def pitch_shrink() -> Quantity:
    """Times that a gate pitch by a wire pitch shrank from N5 to N3."""
    old = (
        cost.fact("feature", "gate_pitch_n5").low * cost.fact("feature", "metal_n5").low
    )
    return old / (gate_pitch() * metal())


def _chip(key: str) -> Chip:
    return next(chip for chip in moore.chips() if key in chip.keys)


@number("silicon.h100_density", digits=3)
def h100_density() -> Quantity:
    """Transistors of an H100 on each square millimetre, in millions."""
    return (_chip("h100_sxm").density / Quantity(1e6, "1/mm2")).named("millions a mm2")


@number("silicon.density_said", digits=3, evidence="claimed")
def density_said() -> Quantity:
    """Millions a square millimetre, as a source document has it."""
    unit = Quantity(1e6, "1/mm2", label="a million a square millimetre")
    return claims.get("h100-density").quantity() / unit


@number("silicon.logic_density", digits=3)
def logic_density() -> Quantity:
    """Logic alone in N4, from measured cells of N5, in millions."""
    packed = cost.fact("packed", "n5").low * cost.gain("n5", "n4").middle
    return packed / Quantity(1e6, "1/mm2")


@number("silicon.doubling", digits=2)
def doubling() -> Quantity:
    """Years in which density doubles, by the line."""
    return Quantity(cost.clock().doubling, label="slope of the line")


@number("silicon.doubling_low", digits=2)
def doubling_low() -> Quantity:
    """The least of its interval."""
    return Quantity(math.log(2) / math.log(cost.clock().high), label="steepest line")


@number("silicon.doubling_high", digits=2)
def doubling_high() -> Quantity:
    """The most of its interval."""
    return Quantity(math.log(2) / math.log(cost.clock().low), label="flattest line")


@number("silicon.chips", digits=1)
def chips() -> Quantity:
    """Chips that the line goes through."""
    return Quantity(len(moore.chips()), label="chips with area and transistors")


@number("silicon.late_doubling", digits=3)
def late_doubling() -> Quantity:
    """Years in which density doubled from A100 to B200."""
    found = fixed_doubling(_chip("a100_sxm_80gb"), _chip("b200_sxm"))
    return found / Quantity(1, "year")


@number("silicon.b200_transistors", digits=3)
def b200_transistors() -> Quantity:
    """Transistors of a B200 over those of an A100."""
    return (
        hardware.get("b200-sxm").transistors / hardware.get("a100-sxm-80gb").transistors
    )


@number("silicon.b200_denser", digits=2)
def b200_denser() -> Quantity:
    """Density of a B200 over that of an A100."""
    return _chip("b200_sxm").density / _chip("a100_sxm_80gb").density


@number("silicon.b200_larger", digits=2)
def b200_larger() -> Quantity:
    """Area of a B200 over that of an A100."""
    return _chip("b200_sxm").area / _chip("a100_sxm_80gb").area


@number("silicon.wafer", unit="mm", digits=1, evidence="spec")
def wafer() -> Quantity:
    """Diameter of a wafer."""
    return Quantity(1000 * Wafer().diameter, "mm", label="diameter of a wafer")


@number("silicon.small_die", unit="mm2", digits=2)
def small_die() -> Quantity:
    """About half a field."""
    return Quantity(430, "mm2", label="about half a field", kind="assumption")


@number("silicon.half", unit="%", digits=2, evidence="claimed")
def half() -> Quantity:
    """Share of a field, as a source document has it."""
    return claims.get("ai5-half-reticle").quantity()


@number("silicon.spare_units", unit="%", digits=2)
def spare_units() -> Quantity:
    """Assumed share of spare units."""
    return Quantity(10, "%", label="spare units", kind="assumption")


@number("silicon.two", digits=1)
def two() -> Quantity:
    """What a doubling multiplies by."""
    return Quantity(2, label="a doubling", kind="constant")


@number("silicon.six", digits=1)
def six() -> Quantity:
    """Units of a B200's die that may be dead."""
    return eighty() - hardware.get("b200-sxm").compute_units / b200_dies()


@number("silicon.eighty", digits=2, evidence="claimed")
def eighty() -> Quantity:
    """Multiprocessors on a die of a B200."""
    return cost.fact("industry", "b200_units").low


@number("silicon.h100_units", digits=3, evidence="spec")
def h100_units() -> Quantity:
    """Multiprocessors that an H100 shows."""
    return hardware.get("h100-sxm").compute_units
