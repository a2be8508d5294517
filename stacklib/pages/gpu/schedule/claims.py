"""Claims on how many warps there are, and what they hide."""

from functools import cache

from stacklib import gpu, hardware
from stacklib.evidence import Finding, claim
from stacklib.gpu.issue.hiding import hide
from stacklib.gpu.issue.sub_core import SubCore, Trace
from stacklib.gpu.issue.warp_programs import KERNELS, chains
from stacklib.gpu.issue.warp_scheduler import run
from stacklib.gpu.tensor.dpx import per_cell
from stacklib.hardware.warp_rules import rule
from stacklib.memory.dram.in_flight import saturate
from stacklib.quantity import (
    Quantity,
    bytes_per_element,
    chosen,
    constant,
    counted,
    minimum,
    one_of,
    quoted,
)
from stacklib.roofline.work.moving import moving_time

DEVICE = "h100-sxm"


@claim("sm-resident-warps")
def resident_warps() -> Finding:
    """Threads a unit can hold, over those of a warp."""
    held = hardware.get(DEVICE).max_threads_per_unit / rule("lanes")
    return Finding(held, why="The most a unit of an H100 holds; a kernel gets fewer.")


@claim("sm-register-file")
def register_file() -> Finding:
    """The file of one unit of an H100, and what it leaves a thread of all its warps."""
    chip = hardware.get(DEVICE)
    threads = (chip.max_warps_per_unit * rule("lanes")).named("threads of all warps")
    words = chip.registers_per_unit / bytes_per_element("fp32")
    return Finding(
        chip.registers_per_unit,
        why=f"With all {chip.max_warps_per_unit.si:.0f} warps it leaves a thread "
        f"{(words / threads).si:.0f} registers of 4 B, of the 255 that it may have: a "
        "kernel that needs more has fewer warps.",
    )


@cache
def changing(warps: int) -> Trace:
    """A scheduler that takes another of its warps in every cycle."""
    return run([chains(1, 100)] * warps, SubCore(math=4), policy="lrr")


@claim("warp-switch-cost")
def switch_cost() -> Finding:
    """Cycles lost by a scheduler that changes warps in every cycle."""
    taken = counted(changing, 4, unit="cycle", label="cycles taken", take="cycles")
    used = counted(len, changing(4).issued, label="instructions, one a cycle")
    lost = taken - used * one_of("cycle")
    each = (lost / (used - 1)).named("cycles lost a change")
    return Finding.true(
        computed=each,
        why="Four warps that change places in every cycle lose none: all of them keep "
        "their registers. The model has that built in. Source: NVIDIA CUDA C++ "
        "programming guide, hardware multithreading.",
    )


def with_lines(device: str, threads: int) -> float:
    """Seconds of a load of 4 B a thread that has the bandwidth lines leave it."""
    chip, line = hardware.get(device), saturate(device, 4, 2048).share
    rate = chip.memory_bandwidth.across(1) * line / chip.compute_units
    return float(moving_time(hide(threads=threads).in_flight, rate).si)


@claim("sm-never-stalls")
def never_stalls() -> Finding:
    """Share of the bandwidth of one 4-byte load a thread, with lines at the memory."""
    idle = hide(threads=1024)
    chip, here = hardware.get(DEVICE), idle.share
    label = "latency of a load with lines"
    lasts = counted(with_lines, DEVICE, 1024, unit="s", label=label)
    wanted = hide(threads=1024, latency=lasts).needed
    drawn = (idle.in_flight / wanted).named("share of the bandwidth, with lines")
    theirs = chosen(700, "cycle", "latency of the claim") / chip.clock
    told = hide(threads=1024, latency=theirs).share
    busy = hide(threads=1024, latency=chosen(600, "ns", "busy memory")).share
    b200 = hide(threads=1024, device="b200-sxm").share
    return Finding.false(
        computed=drawn,
        why=f"One load of 4 B a thread, all 64 warps, an H100. Little's law gives "
        f"{here:.3 %} at its idle latency, {told:.3 %} at 700 cycles, {busy:.3 %} at "
        f"600 ns; with queues at the memory {drawn:.3 %}. On a B200 {b200:.2 %}. The "
        "unit waits in nearly every cycle: it is the memory that may be kept busy.",
    )


@claim("schedulers-4")
def schedulers() -> Finding:
    """Warp instructions that the FP32 lanes of a unit take in a cycle."""
    chip = hardware.get(DEVICE)
    rate = chip.peak("fp32") / (
        chip.compute_units * chip.clock * constant("multiply_add")
    )
    lanes = rate * one_of("cycle")
    return Finding(
        (lanes / rule("lanes")).named("warp instructions a cycle"),
        why="Read back from the FP32 peak: a unit has lanes for so many warps a cycle.",
    )


def filling(kernel: str, latency: float) -> float:
    """Warps of a kernel whose loads take ``latency`` that fill every issue slot."""
    return float(gpu.warps_needed(latency=latency, **KERNELS[kernel]))


@claim("high-occupancy-needed")
def high_occupancy() -> Finding:
    """Occupancy at which the loop of a matrix product fills every issue slot."""
    chip = hardware.get(DEVICE)
    latency = hardware.level(chip, "dram").known("cycles").si
    schedulers = hardware.microarchitecture(chip).count("warp_schedulers")
    held = chip.max_warps_per_unit / schedulers

    def wanted(kernel: str) -> Quantity:
        label = f"warps that fill every slot: {kernel}"
        return minimum(counted(filling, kernel, latency, label=label), held) / held

    tile, single = wanted("tile of a matrix product"), wanted("one load at a time")
    return Finding.false(
        computed=tile.named("occupancy that fills every slot"),
        why=f"Eight loads, a round ahead: {tile:.2 %} of the warps fill every slot; "
        f"one load at a time wants {single:.3 %}.",
    )


@claim("warp-32")
def warp() -> Finding:
    """Threads a unit holds, over warps it holds."""
    chip = hardware.get(DEVICE)
    return Finding(
        (chip.max_threads_per_unit / chip.max_warps_per_unit).named("threads a warp"),
        why="Two limits of the same unit, one in threads and one in warps.",
    )


@claim("dpx-single-instr")
def dpx() -> Finding:
    """Operations that one fused instruction does, counted."""
    plain = counted(per_cell, False, label="instructions of a cell without DPX")
    fused = counted(per_cell, True, label="with DPX")
    return Finding.true(
        computed=quoted("dpx.operations"),
        why=f"Addition, maximum, clamp at zero. A whole cell of Smith-Waterman takes "
        f"{plain} instructions without and {fused} with: {plain / fused:.2} times "
        "fewer, since not all of it fuses.",
    )
