"""Numbers of the section on schedules: warps that wait, engines that overlap."""

from __future__ import annotations

from functools import cache

from stacklib import gpu, hardware
from stacklib.gpu.chip import slices, streams
from stacklib.gpu.issue.hiding import Hidden, draw, hide
from stacklib.gpu.issue.occupancy import PARTITIONS
from stacklib.gpu.issue.warp_scheduler import Trace
from stacklib.gpu.tensor import dpx as fused
from stacklib.gpu.tensor import tile_copies
from stacklib.hardware import microarchitecture
from stacklib.memory.dram.in_flight import saturate
from stacklib.quantity import Quantity, Source

from .registry import number

DEVICE, NEXT = "h100-sxm", "b200-sxm"
COUNTED = "counted by stacklib.gpu.issue.warp_scheduler"
GPCS = (16, 16, 16, 16, 16, 16, 18, 18)  # units of each: they make 132
JOB = (8.0, 8.0, 8.0)  # ms of the three stages
TILE = 128 * 64 * 2  # bytes of 128 x 64 numbers in bf16


def _assumed(value: float, unit: str, label: str, where: str = "") -> Quantity:
    """A stated assumption, or a count that ``where`` says who made."""
    source = Source("this section", where, "2026-11-22", "secondary") if where else None
    return Quantity(value, unit, label=label, kind="assumption", source=source)


# -- warps that wait --------------------------------------------------------------


@number("schedule.warps", evidence="spec")
def warps() -> Quantity:
    """Warps that a unit of an H100 can hold."""
    return 1 * hardware.get(DEVICE).max_warps_per_unit


@number("schedule.partitions", evidence="spec")
def partitions() -> Quantity:
    """Schedulers of a unit, each with its own warps."""
    return _assumed(PARTITIONS, "1", "schedulers a unit", "NVIDIA's white papers")


@number("schedule.held", evidence="spec")
def held() -> Quantity:
    """Warps that one scheduler has to choose from, at most."""
    return warps() / partitions()


@number("schedule.cycles", evidence="measured")
def cycles() -> Quantity:
    """Cycles of a load from the idle memory of an H100."""
    return _plain(microarchitecture(hardware.get(DEVICE)).latency("dram"))


def _plain(cycles: Quantity) -> Quantity:
    """Cycles as a number, which the text follows with the word."""
    return cycles / _assumed(1, "cycle", "one cycle")


@number("schedule.claimed_cycles", evidence="claimed")
def claimed() -> Quantity:
    """The latency that the claim gives, in cycles."""
    return _plain(claimed_cycles())


def claimed_cycles() -> Quantity:
    """The same with its unit."""
    return _assumed(700, "cycle", "latency of the claim", "source document 001")


@cache
def _hidden(device: str, cycles: int = 0, ns: int = 0) -> Hidden:
    latency = None
    if cycles:
        latency = claimed_cycles() / hardware.get(device).clock
    if ns:
        latency = _assumed(ns, "ns", "latency of a busy memory")
    return hide(threads=1024, device=device, latency=latency)


@number("schedule.all_idle", unit="%")
def all_idle() -> Quantity:
    """Share of an H100's bandwidth of 64 warps with one 4-byte load a thread."""
    return _hidden(DEVICE).share


@number("schedule.all_claimed", unit="%")
def all_claimed() -> Quantity:
    """The same at the latency of the claim, in cycles of the same clock."""
    return _hidden(DEVICE, cycles=700).share


@number("schedule.all_slow", unit="%")
def all_slow() -> Quantity:
    """The same cycles at the lower clock of the PCIe card; all else as before."""
    return hide(threads=1024, latency=slow_latency()).share


@number("schedule.slow_latency", digits=3)
def slow_latency() -> Quantity:
    """What those cycles last at that clock."""
    return claimed_cycles() / hardware.get("h100-pcie").clock


@number("schedule.all_busy", unit="%")
def all_busy() -> Quantity:
    """The same when a load takes 600 ns."""
    return _hidden(DEVICE, ns=600).share


@number("schedule.busy", evidence="spec")
def busy() -> Quantity:
    """Latency of a busy memory, as chapter 1 assumes it."""
    return _assumed(600, "ns", "latency of a busy memory")


@number("schedule.all_line", unit="%", family="C")
def all_line() -> Quantity:
    """The same with lines at the memory, by the closed network of chapter 3."""
    return saturate(DEVICE, 4, 2048).share


@number("schedule.all_b200", unit="%")
def all_b200() -> Quantity:
    """The same on a B200."""
    return _hidden(NEXT).share


@number("schedule.bytes_b200", unit="B", digits=3)
def bytes_b200() -> Quantity:
    """Bytes that each thread of a full B200 must have in flight."""
    chip = hardware.get(NEXT)
    return _hidden(NEXT).needed / chip.max_threads_per_unit


@cache
def _drawn(warps: int, ilp: int) -> tuple[float, Trace]:
    return draw(warps, ilp=ilp)


def _share(warps: int, ilp: int) -> Quantity:
    label = f"share drawn by {warps} warps, {ilp} loads each (simulated)"
    return _assumed(_drawn(warps, ilp)[0], "1", label, COUNTED)


@number("schedule.sixteen", unit="%", evidence="simulated")
def sixteen() -> Quantity:
    """Share that sixteen warps of a scheduler draw, one load each, cycle by cycle."""
    return _share(16, 1)


@number("schedule.four_four", unit="%", evidence="simulated")
def four_four() -> Quantity:
    """Share that four warps draw with four loads each."""
    return _share(4, 4)


@number("schedule.four", unit="%", evidence="simulated")
def four() -> Quantity:
    """Share that four warps draw with one load each."""
    return _share(4, 1)


@number("schedule.slots", unit="%", digits=2, evidence="simulated")
def slots() -> Quantity:
    """Issue slots that the sixteen warps fill."""
    done = _drawn(16, 1)[1]
    issued = _assumed(len(done.issued), "1", "slots filled (simulated)", COUNTED)
    return issued / _assumed(done.cycles, "1", "cycles (simulated)", COUNTED)


@number("schedule.waiting", unit="%", digits=3, evidence="simulated")
def waiting() -> Quantity:
    """Share of the time of these warps that is spent waiting for memory."""
    done = _drawn(16, 1)[1]
    there = done.warps * done.cycles - done.states["done"]
    waited = _assumed(done.states["global memory"], "1", "warp cycles waited", COUNTED)
    return waited / _assumed(there, "1", "warp cycles (simulated)", COUNTED)


# -- arithmetic -------------------------------------------------------------------


@number("schedule.math", evidence="measured")
def math() -> Quantity:
    """Cycles from an FP32 instruction to one that needs its result."""
    return _plain(microarchitecture(hardware.get(DEVICE)).latency("register"))


# -- registers --------------------------------------------------------------------


@number("schedule.registers", evidence="spec")
def registers() -> Quantity:
    """Registers a thread in the row of the table that the text picks."""
    return _assumed(128, "1", "registers a thread", "a row of the table")


@number("schedule.each", evidence="spec")
def each() -> Quantity:
    """Bytes of a number in fp32."""
    return _assumed(4, "B", "bytes of a load")


@number("schedule.wide", evidence="spec")
def wide() -> Quantity:
    """Bytes of four of them."""
    return 4 * each()


def _with(registers: int, each: int, device: str = DEVICE) -> Hidden:
    return hide(threads=256, registers=registers, each=each, device=device)


@number("schedule.warps_128", digits=3)
def warps_128() -> Quantity:
    """Warps a unit holds at 128 registers a thread."""
    found = gpu.occupancy(threads=256, registers=128, device=DEVICE)
    return _assumed(found.warps, "1", "resident warps", "stacklib.gpu.occupancy")


@number("schedule.share_128", unit="%")
def share_128() -> Quantity:
    """Share of an H100's bandwidth at 128 registers and one load a thread."""
    return _with(128, 4).share


@number("schedule.wide_128", unit="%")
def wide_128() -> Quantity:
    """The same with sixteen bytes a thread."""
    return _with(128, 16).share


@number("schedule.wide_128_b200", unit="%")
def wide_128_b200() -> Quantity:
    """The same on a B200."""
    return _with(128, 16, NEXT).share


# -- copies, streams --------------------------------------------------------------


@number("schedule.tile", unit="KiB", evidence="spec")
def tile() -> Quantity:
    """Bytes of a tile of 128 x 64 numbers in bf16."""
    return _assumed(TILE, "B", "bytes of a tile")


def _slots(way: str) -> Quantity:
    found = tile_copies.slots(TILE, way)
    return _assumed(
        found, "1", f"issue slots, {way}", "stacklib.gpu.tensor.tile_copies"
    )


@number("schedule.copy_slots", digits=3)
def copy_slots() -> Quantity:
    """Issue slots of the tile by loads and stores."""
    return _slots("load and store")


@number("schedule.tma_slots", digits=3)
def tma_slots() -> Quantity:
    """Issue slots of the tile by the Tensor Memory Accelerator."""
    return _slots("TMA")


def _time(value: float, label: str) -> Quantity:
    return _assumed(value, "ms", label, "stacklib.gpu.chip.streams")


def _ran(**how: object) -> Quantity:
    made = streams.chunked(JOB, 4, streams=4, **how)  # type: ignore[arg-type]
    return _time(max(r.end for r in streams.run_streams(made)), "end (simulated)")


@number("schedule.stage", evidence="spec")
def stage() -> Quantity:
    """Time of each stage of the job drawn."""
    return _time(JOB[0], "one stage")


@number("schedule.serial")
def serial() -> Quantity:
    """All three, one after the other."""
    return _time(streams.pipeline_time(JOB, 1), "one chunk")


@number("schedule.overlapped", evidence="simulated")
def overlapped() -> Quantity:
    """Four chunks on four streams, an engine a stage."""
    return _ran()


@number("schedule.one_engine", evidence="simulated")
def one_engine() -> Quantity:
    """The same with one copy engine, issued chunk by chunk."""
    return _ran(copy_engines=1)


@number("schedule.one_engine_wide", evidence="simulated")
def one_engine_wide() -> Quantity:
    """The same, issued stage by stage."""
    return _ran(copy_engines=1, order="stage by stage")


@number("schedule.not_pinned", evidence="simulated")
def not_pinned() -> Quantity:
    """Four chunks from memory that is not pinned."""
    return _ran(pinned=False)


@number("schedule.fixed", unit="µs", evidence="spec")
def fixed() -> Quantity:
    """Cost of a command besides its work."""
    return _assumed(10, "us", "fixed cost of a command")


@number("schedule.best_chunks", digits=2)
def best_chunks() -> Quantity:
    """Chunks at which the job is done soonest."""
    return streams.best_chunks([stage()] * 3, fixed())


@number("schedule.best_time", digits=3)
def best_time() -> Quantity:
    """Time of the job with so many."""
    return streams.pipeline_time([stage()] * 3, 40, fixed())


# -- clusters, slices, DPX --------------------------------------------------------


@number("schedule.cluster_units", digits=3)
def cluster_units() -> Quantity:
    """Units of an H100 that clusters of four blocks occupy, one block a unit."""
    many = 4 * slices.clusters_that_fit(GPCS, 4)
    return _assumed(many, "1", "units in clusters", "assumed GPCs of 16 and 18 units")


@number("schedule.units", digits=3, evidence="spec")
def units() -> Quantity:
    """Units of an H100."""
    return 1 * hardware.get(DEVICE).compute_units


@number("schedule.cluster_saves", unit="%", digits=2)
def cluster_saves() -> Quantity:
    """Bytes from the L2 that a cluster of 2 x 2 blocks saves."""
    k = _assumed(64, "1", "length of a step")
    alone = slices.cluster_bytes(128, 128, k)
    return 1 - slices.cluster_bytes(128, 128, k, 2, 2) / alone


@number("schedule.mig_idle", unit="%", digits=3)
def mig_idle() -> Quantity:
    """Memory and bandwidth that nobody has when a GPU is cut into seven."""
    left = float(slices.unused(["1g"] * 7)[1])
    return _assumed(left, "1", "memory of no instance", "stacklib.gpu.chip.slices")


@number("schedule.mig_bandwidth", unit="GB/s", digits=3)
def mig_bandwidth() -> Quantity:
    """Bandwidth of the smallest instance of an H100."""
    part = _assumed(1 / slices.MEMORY_SLICES, "1", "one memory slice")
    return hardware.get(DEVICE).memory_bandwidth * part


@number("schedule.dpx_plain", digits=2)
def dpx_plain() -> Quantity:
    """Instructions of a Smith-Waterman cell without DPX."""
    return _assumed(
        fused.per_cell(False), "1", "a cell, plain", "stacklib.gpu.tensor.dpx"
    )


@number("schedule.dpx_fused", digits=2)
def dpx_fused() -> Quantity:
    """Instructions of the same cell with DPX."""
    return _assumed(
        fused.per_cell(True), "1", "a cell, fused", "stacklib.gpu.tensor.dpx"
    )


@number("schedule.dpx_gain", digits=2)
def dpx_gain() -> Quantity:
    """How many times fewer that is."""
    return dpx_plain() / dpx_fused()


@number("schedule.dpx_three", digits=2)
def dpx_three() -> Quantity:
    """Operations in the largest of the fused instructions."""
    done = len(fused.REPLACES["viaddmax_relu"])
    return _assumed(done, "1", "operations of one instruction", "CUDA Math API")
