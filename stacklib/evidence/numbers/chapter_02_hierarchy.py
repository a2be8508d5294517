"""Numbers of the section on the hierarchy: threads, lanes, units, and nvidia-smi."""

from __future__ import annotations

from functools import cache

from stacklib import gpu, hardware
from stacklib.gpu.chip import chips
from stacklib.gpu.chip.placement import GROUP, Filling
from stacklib.gpu.chip.spec_sheet import SpecSheet, pcie_rate
from stacklib.gpu.issue.occupancy import MOST_THREADS, PARTITIONS, WARP
from stacklib.quantity import Quantity

from .. import results
from .registry import number

H100, A100, B200, RTX4090 = "h100-sxm", "a100-sxm-80gb", "b200-sxm", "rtx-4090"
THREADS, BLOCKS, RESIDENT = 100, 133, 1  # the launch of the text


def _count(value: float, label: str, unit: str = "1") -> Quantity:
    return Quantity(value, unit, label=label, kind="assumption")


# -- the mapping ----------------------------------------------------------------


@number("hierarchy.block", digits=4)
def block() -> Quantity:
    """Most threads of a block."""
    return _count(MOST_THREADS, "threads a block, CUDA programming guide")


@number("hierarchy.warp")
def warp() -> Quantity:
    """Threads of a warp."""
    return _count(WARP, "threads a warp, CUDA programming guide")


@number("hierarchy.group")
def group() -> Quantity:
    """Threads of a warp group."""
    each = _count(GROUP, "warps a warp group, PTX ISA")
    return (each * warp()).named("threads a warp group")


@number("hierarchy.partitions")
def partitions() -> Quantity:
    """Partitions of a unit."""
    return _count(PARTITIONS, "partitions a unit, NVIDIA white papers")


@number("hierarchy.threads")
def threads() -> Quantity:
    """Threads of the block in the example."""
    return _count(THREADS, "threads a block, chosen")


@cache
def _fill() -> Filling:
    return gpu.fill(threads=THREADS, blocks=BLOCKS, at_once=RESIDENT,
                    units=int(units().value))  # fmt: skip


@number("hierarchy.warps")
def warps() -> Quantity:
    """Warps of that block."""
    return _count(_fill().warps, "threads over those of a warp, rounded up")


@number("hierarchy.idle_lanes")
def idle_lanes() -> Quantity:
    """Lanes of its last warp without a thread."""
    return (warps() * warp() - threads()).named("lanes without a thread")


@number("hierarchy.idle_share", unit="%", digits=2)
def idle_share() -> Quantity:
    """Share of its lanes without a thread."""
    return idle_lanes() / (warps() * warp())


# -- the tree -------------------------------------------------------------------


@number("hierarchy.units", evidence="spec")
def units() -> Quantity:
    """Compute units of an H100."""
    return chips.chip(H100).units


@number("hierarchy.designed", evidence="spec")
def designed() -> Quantity:
    """Compute units of its die."""
    return chips.chip(H100).units_designed


@number("hierarchy.harvested")
def harvested() -> Quantity:
    """Compute units of it that are switched off."""
    return chips.chip(H100).harvested


@number("hierarchy.gpcs", evidence="spec")
def gpcs() -> Quantity:
    """Clusters of its die."""
    return chips.chip(H100).gpcs


@number("hierarchy.pcie_units", evidence="spec")
def pcie_units() -> Quantity:
    """Compute units of the PCIe card with the same die."""
    return chips.chip("h100-pcie").units


@number("hierarchy.b200_units", evidence="spec")
def b200_units() -> Quantity:
    """Compute units of a B200."""
    return chips.chip(B200).units


@number("hierarchy.b200_designed", evidence="spec")
def b200_designed() -> Quantity:
    """Compute units of its two dies."""
    return chips.chip(B200).units_designed


@number("hierarchy.unit_lanes", evidence="spec")
def unit_lanes() -> Quantity:
    """FP32 lanes of a unit."""
    return gpu.part_count(H100, "fp32_lanes")


@number("hierarchy.partition_lanes")
def partition_lanes() -> Quantity:
    """FP32 lanes of a partition."""
    return unit_lanes() / partitions()


@number("hierarchy.special", evidence="spec")
def special() -> Quantity:
    """Special functions that a unit finishes in a cycle."""
    return gpu.part_count(H100, "special_lanes")


@number("hierarchy.special_cycles")
def special_cycles() -> Quantity:
    """Cycles in which a partition takes one exponential a lane of a warp."""
    return warp() / (special() / partitions())


@number("hierarchy.lanes", digits=4)
def lanes() -> Quantity:
    """FP32 lanes of an H100."""
    return gpu.part_total(H100, "fp32_lanes")


@number("hierarchy.cores")
def cores() -> Quantity:
    """Tensor cores of an H100."""
    return gpu.part_total(H100, "tensor_cores")


@number("hierarchy.resident", digits=4)
def resident() -> Quantity:
    """Threads that an H100 can hold at once."""
    chip = hardware.get(H100)
    return (chip.compute_units * chip.max_threads_per_unit).named("threads held")


@number("hierarchy.threads_a_lane")
def threads_a_lane() -> Quantity:
    """Threads held for every FP32 lane."""
    return resident() / lanes()


@number("hierarchy.file", unit="KiB", evidence="spec")
def register_file() -> Quantity:
    """Registers of a unit."""
    return hardware.get(H100).registers_per_unit


@number("hierarchy.registers", unit="MiB", digits=2)
def registers() -> Quantity:
    """Registers of all units of an H100."""
    chip = hardware.get(H100)
    return (chip.compute_units * chip.registers_per_unit).named("all registers")


@number("hierarchy.shared", unit="MiB", digits=2)
def shared() -> Quantity:
    """Shared memory of all units of an H100."""
    chip = hardware.get(H100)
    return (chip.compute_units * chip.shared_per_unit).named("all shared memory")


@number("hierarchy.l2", unit="MiB", evidence="spec")
def l2() -> Quantity:
    """Its L2."""
    return hardware.get(H100).l2_capacity


@number("hierarchy.inside_over_l2", digits=2)
def inside_over_l2() -> Quantity:
    """Registers and shared memory of all units over the L2."""
    return (registers() + shared()) / l2()


@number("hierarchy.one_lane", unit="%", digits=1)
def one_lane() -> Quantity:
    """One lane of all FP32 lanes."""
    return _count(1, "one lane") / lanes()


# -- CUDA's calculator ----------------------------------------------------------


@cache
def _rows() -> tuple[dict, ...]:
    found = results.load("occupancy")
    return tuple(found["rows"]) if found else ()


@number("hierarchy.cases", evidence="measured", digits=4)
def cases() -> Quantity:
    """Launches whose occupancy was held against CUDA's calculator."""
    return _count(sum(row["cases"] for row in _rows()), "cases compared")


@number("hierarchy.capabilities", evidence="measured")
def capabilities() -> Quantity:
    """Compute capabilities on which."""
    return _count(len(_rows()), "compute capabilities")


@number("hierarchy.disagree", evidence="measured")
def disagree() -> Quantity:
    """Cases in which blocks or limiter differ."""
    return _count(sum(row["disagreements"] for row in _rows()), "cases that differ")


# -- nvidia-smi -----------------------------------------------------------------


@cache
def _sheet(sample: str) -> SpecSheet:
    return gpu.spec_sheet(hardware.read_smi(hardware.smi_sample(sample))[0])


@number("hierarchy.smi_memory", unit="GB")
def smi_memory() -> Quantity:
    """Memory of the H100 in the sample, in the data sheet's unit."""
    return _sheet("h100_busy").memory


@number("hierarchy.sheet_memory", unit="GB", evidence="spec")
def sheet_memory() -> Quantity:
    """Memory on the data sheet of an H100."""
    return hardware.get(H100).memory_capacity


@number("hierarchy.peak", unit="TFLOP/s", evidence="spec")
def peak() -> Quantity:
    """Its printed BF16 rate."""
    return _sheet("h100_busy").peak


@number("hierarchy.peak_now", unit="TFLOP/s")
def peak_now() -> Quantity:
    """The same at the clock in the sample."""
    return _sheet("h100_busy").peak_now


@number("hierarchy.ridge", unit="FLOP/B")
def ridge() -> Quantity:
    """Ridge by the data sheet."""
    return _sheet("h100_busy").ridge


@number("hierarchy.ridge_now", unit="FLOP/B")
def ridge_now() -> Quantity:
    """Ridge at the clock in the sample."""
    return _sheet("h100_busy").ridge_now


@number("hierarchy.link", unit="GB/s per_direction")
def link() -> Quantity:
    """PCI Express of an RTX 4090 in a full slot, one direction."""
    return _sheet("rtx4090_idle").link


@number("hierarchy.link_now", unit="GB/s per_direction")
def link_now() -> Quantity:
    """The same as the idle card in the sample shows it."""
    return _sheet("rtx4090_idle").link_now


@number("hierarchy.link_slot", unit="GB/s per_direction")
def link_slot() -> Quantity:
    """What the sample's slot allows under load: all of the generation, its lanes."""
    read = _sheet("rtx4090_idle").reading
    assert read.generation_max is not None and read.lanes is not None
    return pcie_rate(read.generation_max, read.lanes)
