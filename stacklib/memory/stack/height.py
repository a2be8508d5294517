"""How tall a stack is: dies, what joins them, and the rest, inside a fixed height.

A module may be 720 µm high up to HBM3E and 775 µm from HBM4. What twelve or sixteen
dies leave for each is a division, and it says when bumps have to go.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stacklib.hardware import stack_fact, stack_generation
from stacklib.quantity import Quantity, chosen
from stacklib.quantity.bounds import whole


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of a section, in micrometres from the bottom."""

    name: str
    bottom: float
    top: float


@dataclass(frozen=True, slots=True)
class Section:
    """A stack cut open; lengths in micrometres."""

    dies: int  # DRAM dies
    die: float  # thickness of each
    gap: float  # under each die: bumps and what fills between them
    rest: float  # base die, what the top die has more than the others, and mould

    def __post_init__(self) -> None:
        whole(dies=self.dies)
        for name, least in (("die", "above"), ("gap", "from"), ("rest", "from")):
            value = getattr(self, name)
            if not (value > 0 if least == "above" else value >= 0):
                raise ValueError(f"{name} = {value!r} µm: a length {least} 0 is needed")

    @property
    def height(self) -> float:
        """Closed form: rest and, for each die, its thickness and its gap."""
        return self.rest + self.dies * (self.die + self.gap)

    def layers(self) -> Iterator[Layer]:
        """Layer by layer from the bottom, with the rest split under and over the dies.

        The base is drawn as thick as a die, or the whole rest where that is less.
        """
        base = min(self.rest, self.die)
        at = base
        if base:
            yield Layer("base die", 0.0, at)
        for number in range(1, self.dies + 1):
            if self.gap:
                yield Layer("gap", at, at + self.gap)
                at += self.gap
            yield Layer(f"die {number}", at, at + self.die)
            at += self.die
        if self.rest > base:
            yield Layer("mould", at, at + self.rest - base)


def thickest_die(
    height: Quantity, dies: int, *, gap: Quantity, rest: Quantity
) -> Quantity:
    """What is left for each die inside a height."""
    count = chosen(dies, label="dies")
    left = (height - rest) / count - gap
    if left.si <= 0:
        used = f"{dies} gaps of {gap:µm} and {rest:µm} of rest"
        raise ValueError(f"{used} leave nothing of {height:µm}")
    return left.to("µm").named("thickness of a die")


@dataclass(frozen=True, slots=True)
class Inferred:
    """Thicknesses that follow from what one maker has published."""

    thick: Quantity  # of eight dies
    gap: Quantity
    rest: Quantity


def inferred(short: int = 8, tall: int = 12) -> Inferred:
    """Gap and rest from two stacks of one height.

    ``tall`` dies of the published thin thickness t are as high as ``short`` dies of
    T = t / (1 - thinned): short (T + g) = tall (t + g), whatever the rest is. So the
    gap g follows, and the rest is what the module has left.
    """
    thin, thinned = stack_fact("thin_die"), stack_fact("thinner")
    if not 0 < short < tall:
        raise ValueError(f"{short} and {tall} dies: the second must be more")
    few, many = (chosen(n, label=f"{n} dies") for n in (short, tall))
    thick = (thin / (1 - thinned)).to("µm").named("thickness of a thicker die")
    gap = ((few * thick - many * thin) / (many - few)).to("µm").named("gap inferred")
    if gap.si <= 0:
        raise ValueError(f"{tall} dies of {thin:µm} are already taller: no gap is left")
    height = stack_generation("hbm3").module_height
    rest = (height - many * (thin + gap)).to("µm").named("rest inferred")
    return Inferred(thick, gap, rest)


def gap_share(dies: int, height: Quantity, gap: Quantity) -> Quantity:
    """Share of a module that is gaps: what hybrid bonding takes away."""
    count = chosen(dies, label="gaps")
    return (count * gap / height).named("share of the height that is gaps")
