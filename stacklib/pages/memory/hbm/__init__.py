"""Section 3.7: What is a stack made of?"""

from __future__ import annotations

from functools import cache

from stacklib import hardware
from stacklib.hardware import stack_generation
from stacklib.hardware.stacks import via_counts
from stacklib.memory.dram.bursts import count_stream, stack_bus
from stacklib.memory.stack import bandwidths, builds, generations, shoreline
from stacklib.memory.stack.height import inferred, thickest_die
from stacklib.quantity import Quantity, assumed, ceil, counted

# Devices of the page's first table of builds, in order of their years.
SHOWN = (
    "p100-sxm2 v100-sxm2-32gb a100-sxm-40gb a100-sxm-80gb mi250x h100-sxm h200-sxm "
    "mi300x b200-sxm b300-sxm mi325x mi355x tpu-v7 trainium3 maia200 rubin mi455x"
).split()
MEMORY = {key: stack_generation(key).memory for key in ("hbm2e", "hbm3", "hbm4")}


def stack_rate(key: str) -> Quantity:
    """Bandwidth of a stack at its document's rate: pins times rate."""
    one = MEMORY[key]
    return (one.pins * one.pin_rate).to("B/s").named("bandwidth of a stack")


# -- an H100, backwards ------------------------------------------------------------


@cache
def best(device: str) -> builds.PackageBuild:
    """The first build that gives a device's capacity and bandwidth."""
    return builds.builds_of(device).found[0]


def h100_stack() -> Quantity:
    """Bandwidth of one stack of an H100: pins times rate."""
    rate = MEMORY["hbm3"].pins * hardware.get("h100-sxm").memory_pin_rate
    return rate.to("B/s").named("bandwidth of a stack")


def h100_stacks() -> Quantity:
    """Its bandwidth over that of one, rounded up."""
    why = "Three digits are printed, so the last may be off by half."
    rounding = assumed(0.01, label="rounding of print", why=why)
    bandwidth = hardware.get("h100-sxm").memory_bandwidth
    return ceil((bandwidth / h100_stack()).to("1") - rounding)


def gibi() -> Quantity:
    """How many more bytes the dies of an 80 GB H100 hold than 80 times 10^9."""
    height = counted(best, "h100-sxm", take="height", label="dies of a stack")
    held = h100_stacks() * height * MEMORY["hbm3"].die_capacity.to("B")
    return held / hardware.get("h100-sxm").memory_capacity - 1


def over(device: str) -> Quantity:
    """How much faster a device's pins run than the document of its generation has."""
    build = best(device)
    return build.pin_rate / build.generation.memory.pin_rate - 1


@cache
def stacked() -> tuple[str, ...]:
    """Devices with HBM."""
    devices = (k for k in hardware.names() if builds.generations_of(hardware.get(k)))
    return tuple(devices)


def single() -> int:
    """Those for which just one build gives both figures."""
    return sum(len(builds.builds_of(key).found) == 1 for key in stacked())


# -- accesses, heights, edges ------------------------------------------------------


def row(key: str) -> generations.GenerationRow:
    """A generation put together from its parts."""
    return next(r for r in generations.generation_rows() if r.generation.key == key)


def grown(part: str) -> Quantity:
    """The last generation of HBM over the first."""
    first, last = (generations.generation_rows()[i].stack for i in (0, -1))
    return getattr(last, part) / getattr(first, part)


def slowed(stripes: int) -> float:
    """Full bandwidth over that of reads one stripe apart, one stack of HBM3."""
    bus = stack_bus("hbm3")
    far = count_stream(bus, range(0, stripes * bus.stripe, bus.stripe), size=bus.access)
    return bus.bandwidth / far.bandwidth


def sixteen(gap: Quantity, generation: str) -> Quantity:
    """Thickness left for each of sixteen dies in a module."""
    height = stack_generation(generation).module_height
    return thickest_die(height, 16, gap=gap, rest=inferred().rest)


def vias() -> Quantity:
    """Vias of a die of HBM2E, at least, by Samsung."""
    found = next(c.a_die for c in via_counts() if "HBM2E, 8" in c.name)
    assert found is not None
    return found


def places(edge: Quantity) -> int:
    """Stacks along both sides of a die of this length."""
    width = stack_generation("hbm3e").width
    return 2 * shoreline.stacks_along(edge.si, width.si)


# -- every bandwidth ---------------------------------------------------------------


@cache
def column() -> tuple[bandwidths.Explained, ...]:
    """Every device, and what explains its printed bandwidth."""
    return bandwidths.column()


def explained(how: str) -> int:
    """Devices by what became of them: settled, rounded, or a way of their own."""
    if how == "settled":
        return sum(r.settled for r in column())
    if how == "rounded":
        return sum(r.gap is not None and not r.settled for r in column())
    return sum(r.way == how for r in column())


def widest() -> float:
    """The widest gap among those that are rounded."""
    return max(r.gap for r in column() if r.gap is not None and not r.settled)
