"""The edge of a chip as a resource: bandwidth a millimetre, and stacks that fit.

A stack must stand at an edge of the die that reads it, because its wires are a few
millimetres long. So bandwidth is sold by the millimetre of edge.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from stacklib.hardware import link, stack_fact, stack_generation
from stacklib.quantity import Quantity, assumed, one_of
from stacklib.quantity.bounds import above_zero, at_least

# Base-die processes: the fact that says how much more efficient each is than DRAM's.
PROCESSES = {"DRAM process": None, "N12": "n12_gain", "N3P": "n3p_gain"}


def edge_bandwidth(name: str, *, rate: Quantity | None = None) -> Quantity:
    """Bytes a second for each metre of edge that a stack takes."""
    made = stack_generation(name)
    speed = made.memory.pin_rate if rate is None else rate
    total = (made.memory.pins * speed).to("GB/s")
    return (total / made.width).to("GB/s/mm").named("bandwidth of the edge")


def ucie_edge(package: str) -> Quantity:
    """Most that UCIe gets through a metre of edge, in one direction.

    The published figures count both directions, as 512 GB/s of a module do.
    """
    if package not in ("standard", "advanced"):
        raise ValueError(f"package {package!r}: 'standard' or 'advanced'")
    one = link("ucie_adv")
    share = one.per_direction.si / one.bidirectional.si
    half = assumed(
        share,
        label="one direction of both",
        why="The rate that is quoted of a link counts both ways.",
    )
    return (stack_fact(f"ucie_{package}") * half).named("UCIe, in one direction")


def stacks_along(edge: float, width: float, gap: float = 0.0) -> int:
    """Stacks that fit beside each other along an edge, in closed form."""
    above_zero(edge=edge, width=width)
    at_least(0, gap=gap)
    return math.floor((edge + gap) / (width + gap) + 1e-9)


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rectangle in the plane, its lower left corner first."""

    x: float
    y: float
    width: float
    height: float

    def overlaps(self, other: Rectangle, gap: float = 0.0) -> bool:
        """Whether two rectangles share area, or come nearer than ``gap``."""
        near = gap - 1e-9
        return (
            self.x < other.x + other.width + near
            and other.x < self.x + self.width + near
            and self.y < other.y + other.height + near
            and other.y < self.y + self.height + near
        )


def packed(
    die: tuple[float, float],
    stack: tuple[float, float],
    *,
    sides: int = 2,
    gap: float = 0.0,
    step: float = 0.25,
) -> list[Rectangle]:
    """Stacks placed around a die one by one, wherever the next does not overlap.

    Each side is walked from one end in small steps; a stack is put down at the first
    place where it stands wholly before the edge and clear of those that stand.
    """
    if sides not in (2, 4):
        raise ValueError(f"sides = {sides!r}: 2 (the long ones) or 4")
    for name, value in (("die", min(die)), ("stack", min(stack)), ("step", step)):
        if not 0 < value < math.inf:
            raise ValueError(f"{name}: {value!r} is no positive length")
    long, short = max(die), min(die)
    width, depth = stack
    placed: list[Rectangle] = []
    for side in range(sides):
        edge = long if side < 2 else short
        for number in range(math.floor((edge - width) / step + 1e-9) + 1):
            at = number * step
            one = (
                Rectangle(at, short if side else -depth, width, depth)
                if side < 2
                else Rectangle(long if side == 3 else -depth, at, depth, width)
            )
            if not any(one.overlaps(other, gap) for other in placed):
                placed.append(one)
    return placed


def interface_power(bandwidth: Quantity, process: str) -> Quantity:
    """Power of the stacks' side of the interface, by the base die's process.

    The one published energy is of a 4 nm interface on the processor's side. We let the
    N3P base die cost as much, and scale the others by the gains that TSMC names.
    """
    if process not in PROCESSES:
        raise ValueError(f"process {process!r}: one of {', '.join(PROCESSES)}")
    fact = PROCESSES[process]
    gain = one_of("1", "itself") if fact is None else stack_fact(fact)
    scale = stack_fact("n3p_gain") / gain
    energy = (stack_fact("phy_energy") * scale).named("energy a bit of the base die")
    return (bandwidth.to("bit/s") * energy).to("W").named("power of the interface")
