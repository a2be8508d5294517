"""Setup of section 2.1 Where does a thread live?"""

from __future__ import annotations

from functools import cache

from stacklib import gpu, hardware
from stacklib.evidence import results
from stacklib.gpu.chip import chips
from stacklib.gpu.chip.placement import GROUP, Filling
from stacklib.gpu.chip.spec_sheet import SpecSheet, pcie_rate
from stacklib.gpu.issue.occupancy import WARP
from stacklib.plots.live.parts import stand
from stacklib.quantity import Quantity, assumed, ceil, counted, recorded

H100, A100, B200, RTX4090 = "h100-sxm", "a100-sxm-80gb", "b200-sxm", "rtx-4090"


THREADS, BLOCKS, RESIDENT = 100, 133, 1  # the launch of the text


def given(value: float, label: str) -> Quantity:
    """A size of the programming model that a guide states."""
    return assumed(
        value, label=label, why="It is the same on every chip of NVIDIA's so far."
    )


def compared(field: str, label: str) -> Quantity:
    """A count from the comparison with CUDA's own calculator, over all its rows."""
    file, ids = "benchmarks/results/occupancy.json", [row["id"] for row in rows()]
    first, *rest = (recorded(file, id, field, label=f"{field}, {id}") for id in ids)
    return sum(rest, first).named(label)


def warp() -> Quantity:
    """Threads of a warp."""
    return given(WARP, "threads a warp, CUDA programming guide")


def group() -> Quantity:
    """Threads of a warp group."""
    each = given(GROUP, "warps a warp group, PTX ISA")
    return (each * warp()).named("threads a warp group")


def partitions() -> Quantity:
    """Partitions of a unit, each with a scheduler."""
    return hardware.microarchitecture(H100).count("warp_schedulers")


def threads() -> Quantity:
    """Threads of the block in the example."""
    return stand(__name__, "threads", THREADS).named("threads a block")


@cache
def fill() -> Filling:
    return gpu.fill(
        threads=THREADS, blocks=BLOCKS, at_once=RESIDENT, units=int(units().value)
    )


def warps() -> Quantity:
    """Warps of that block."""
    words = "threads over those of a warp, rounded up"
    return counted(fill, take="warps", label=words)


def idle_lanes() -> Quantity:
    """Lanes of its last warp without a thread."""
    return (warps() * warp() - threads()).named("lanes without a thread")


def units() -> Quantity:
    """Compute units of an H100."""
    return chips.chip(H100).units


def unit_lanes() -> Quantity:
    """FP32 lanes of a unit."""
    return gpu.part_count(H100, "fp32_lanes")


def special() -> Quantity:
    """Special functions that a unit finishes in a cycle."""
    return gpu.part_count(H100, "special_lanes")


def lanes() -> Quantity:
    """FP32 lanes of an H100."""
    return gpu.part_total(H100, "fp32_lanes")


def resident() -> Quantity:
    """Threads that an H100 can hold at once."""
    chip = hardware.get(H100)
    return (chip.compute_units * chip.max_threads_per_unit).named("threads held")


def registers() -> Quantity:
    """Registers of all units of an H100."""
    chip = hardware.get(H100)
    return (chip.compute_units * chip.registers_per_unit).named("all registers")


def shared() -> Quantity:
    """Shared memory of all units of an H100."""
    chip = hardware.get(H100)
    return (chip.compute_units * chip.shared_per_unit).named("all shared memory")


def l2() -> Quantity:
    """Its L2."""
    return hardware.get(H100).l2_capacity


@cache
def rows() -> tuple[dict, ...]:
    found = results.load("occupancy")
    return tuple(found["rows"]) if found else ()


@cache
def sheet(sample: str) -> SpecSheet:
    return gpu.spec_sheet(hardware.read_smi(hardware.smi_sample(sample))[0])


def link_slot() -> Quantity:
    """What the sample's slot allows under load: all of the generation, its lanes."""
    read = sheet("rtx4090_idle").reading
    assert read.generation_max is not None and read.lanes is not None
    return pcie_rate(read.generation_max, read.lanes)


def some_blocks() -> Quantity:
    """Blocks of a launch that is one too many for a wave."""
    return stand(__name__, "blocks", BLOCKS).named("blocks")


def some_waves() -> Quantity:
    """Waves that they take, one on each SM."""
    return ceil(some_blocks() / units()).named("waves")


def some_share() -> Quantity:
    """Share of the places that had a block."""
    return (some_blocks() / (some_waves() * units())).named("share of the places")
