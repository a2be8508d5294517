"""Claims on how many warps there are, and what they hide."""

from __future__ import annotations

from stacklib import gpu, hardware
from stacklib.evidence import Finding, claim, given
from stacklib.gpu.issue.hiding import hide
from stacklib.gpu.issue.occupancy import PARTITIONS
from stacklib.gpu.issue.schedule import KERNELS
from stacklib.gpu.issue.warp_programs import chains
from stacklib.gpu.issue.warp_scheduler import SubCore, run
from stacklib.gpu.tensor.dpx import REPLACES, per_cell
from stacklib.memory.dram.in_flight import saturate
from stacklib.quantity import Quantity, Source

DEVICE = "h100-sxm"


def _threads() -> Quantity:
    return given(32, "1", "threads a warp")


@claim("sm-resident-warps")
def resident_warps() -> Finding:
    """Threads a unit can hold, over those of a warp."""
    held = hardware.get(DEVICE).max_threads_per_unit / _threads()
    return Finding(held, why="The most a unit of an H100 holds; a kernel gets fewer.")


@claim("sm-register-file")
def register_file() -> Finding:
    """Bytes for the registers of all warps, at the most a thread may have."""
    chip = hardware.get(DEVICE)
    warps, word = chip.max_warps_per_unit, given(4, "B", "bytes of a register")

    def state(registers: int) -> Quantity:
        each = given(registers, "1", f"{registers} registers a thread")
        return (warps * _threads() * each * word).named("registers of all warps")

    most, few = state(255), state(32)
    return Finding(
        most,
        condition="no thread has more than 32 registers",
        then=few,
        why=f"A thread may have 255 registers, and all 64 warps then {most:.3 KiB}; "
        f"the file is {chip.registers_per_unit}. It is the number of warps that gives.",
    )


@claim("warp-switch-cost")
def switch_cost() -> Finding:
    """Cycles lost by a scheduler that changes warps in every cycle."""
    done = run([chains(1, 100)] * 4, SubCore(math=4), policy="lrr")
    where = "stacklib.gpu.issue.warp_scheduler"
    taken = given(done.cycles, "cycle", "cycles taken", where)
    used = given(len(done.issued), "cycle", "cycles in which one is issued", where)
    changes = given(len(done.issued) - 1, "1", "changes of warp", where)
    each = ((taken - used) / changes).named("cycles lost a change")
    return Finding(
        each,
        why="Four warps that change places in every cycle lose none: all of them keep "
        "their registers. A property of the design, which the model has built in.",
    )


@claim("sm-never-stalls")
def never_stalls() -> Finding:
    """Share of the bandwidth of one 4-byte load a thread, with lines at the memory."""
    idle = hide(threads=1024)
    chip, here, line = hardware.get(DEVICE), idle.share, saturate(DEVICE, 4, 2048).share
    rate = chip.memory_bandwidth.si * line.si / chip.compute_units.si
    lasts = given(
        idle.in_flight.si / rate, "s", "latency of a load with lines",
        "stacklib.memory.dram.in_flight.saturate, section 3.8",
    )  # fmt: skip
    wanted = hide(threads=1024, latency=lasts).needed
    drawn = (idle.in_flight / wanted).named("share of the bandwidth, with lines")
    theirs = given(700, "cycle", "latency of the claim") / chip.clock
    told = hide(threads=1024, latency=theirs).share
    busy = hide(threads=1024, latency=given(600, "ns", "latency, busy memory")).share
    b200 = hide(threads=1024, device="b200-sxm").share
    return Finding(
        drawn,
        why=f"One load of 4 B a thread, all 64 warps, an H100. Little's law gives "
        f"{here:.3 %} at its idle latency, {told:.3 %} at 700 cycles, {busy:.3 %} at "
        f"600 ns; with queues at the memory {drawn:.3 %}. On a B200 {b200:.2 %}. The "
        "unit waits in nearly every cycle: it is the memory that may be kept busy.",
    )


@claim("schedulers-4")
def schedulers() -> Finding:
    """Warp instructions that the FP32 lanes of a unit take in a cycle."""
    chip = hardware.get(DEVICE)
    flop = given(2, "FLOP", "a multiplication and an addition")
    cycle = given(1, "cycle", "one cycle")
    rate = chip.peak("fp32") / (chip.compute_units * chip.clock * flop)
    lanes = rate * cycle
    return Finding(
        (lanes / _threads()).named("warp instructions a cycle"),
        why="Read back from the FP32 peak: a unit has lanes for so many warps a cycle.",
    )


@claim("high-occupancy-needed")
def high_occupancy() -> Finding:
    """Occupancy at which the loop of a matrix product fills every issue slot."""
    chip = hardware.get(DEVICE)
    latency = hardware.microarchitecture(chip).latency("dram").si
    held = chip.max_warps_per_unit / given(PARTITIONS, "1", "schedulers a unit")

    def wanted(kernel: str) -> Quantity:
        warps = gpu.warps_needed(latency=latency, **KERNELS[kernel])
        label = f"warps that fill every slot, or all there are: {kernel}"
        used = given(min(warps, held.si), "1", label, "stacklib.gpu.warps_needed")
        return used / held

    tile, single = wanted("tile of a matrix product"), wanted("one load at a time")
    return Finding(
        tile.named("occupancy that fills every slot"),
        condition="each warp has a single load under way",
        then=single.named("occupancy that is wanted"),
        why=f"Eight loads, a round ahead: {tile:.2 %} of the warps fill every slot.",
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
    done = len(REPLACES["viaddmax_relu"])
    source = Source("CUDA Math API", "DPX, __viaddmax_s32_relu", "2026-11-22", "vendor")
    plain = given(per_cell(False), "1", "instructions of a cell without DPX",
                     "stacklib.gpu.tensor.dpx")  # fmt: skip
    fused = given(per_cell(True), "1", "with DPX", "stacklib.gpu.tensor.dpx")
    return Finding(
        Quantity(done, label="operations of one instruction", kind="spec",
                 source=source),
        why=f"Addition, maximum, clamp at zero. A whole cell of Smith-Waterman takes "
        f"{plain} instructions without and {fused} with: {plain / fused:.2} times "
        "fewer, since not all of it fuses.",
    )  # fmt: skip
