"""Numbers of the section on latency: what has to be in flight, and who can wait."""

from __future__ import annotations

from functools import cache
from statistics import median

from stacklib import gpu, hardware, roofline
from stacklib.gpu.issue.schedule import KERNELS, round_cycles, round_slots
from stacklib.hardware import microarchitecture
from stacklib.quantity import Quantity, Source, bytes_per_element
from stacklib.roofline import HostRoofline
from stacklib.roofline.bound import bakeoff, littles_law
from stacklib.roofline.bound.gemm import gemm_trace, product
from stacklib.roofline.host import pipelines, pointer_chase

from .. import results, runs
from .registry import number

DEVICE = "h100-sxm"
ELEMENTS = 1024
SIMULATED = "counted by stacklib.roofline.host.pipelines"
TOY = {"work": 4, "latency": 36}
SIZE = 2048  # of the products of the bake-off
SCHEDULERS = Quantity(4, "1", label="schedulers a compute unit", kind="assumption")


def _assumed(value: float, unit: str, label: str, where: str = "") -> Quantity:
    """A stated assumption, or a count that ``where`` says who made."""
    source = Source("this section", where, "2026-11-21", "secondary") if where else None
    return Quantity(value, unit, label=label, kind="assumption", source=source)


@cache
def busy_latency() -> Quantity:
    """The latency that the guide's example gives a busy memory."""
    return _assumed(
        600,
        "ns",
        "latency of a load, busy memory",
        "an assumption: between the idle latency and that of a memory at its limit",
    )


def _flying(each: int, idle: bool = False) -> littles_law.InFlight:
    return littles_law.in_flight(DEVICE, each, None if idle else busy_latency())


@number("cores.latency_busy", evidence="spec")
def latency_busy() -> Quantity:
    """Latency of a load from a busy memory, as the learning guide's example has it."""
    return busy_latency()


@number("cores.each", evidence="spec")
def each() -> Quantity:
    """Bytes of one number in fp32."""
    return _assumed(1, "1", "number a thread asks for") * bytes_per_element("fp32")


@number("cores.each_four", evidence="spec")
def each_four() -> Quantity:
    """Bytes of four numbers in fp32, asked for before the thread waits."""
    return _assumed(4, "1", "independent loads") * bytes_per_element("fp32")


@number("cores.toy_latency", evidence="spec")
def toy_latency() -> Quantity:
    """Cycles of a load in the toy program of the timelines."""
    toy = "an assumption, small enough to draw"
    return _assumed(TOY["latency"], "1", "cycles of a load of the toy", toy)


@number("cores.latency_idle", evidence="measured")
def latency_idle() -> Quantity:
    """Latency of a load from the idle memory of an H100, as others measured it."""
    return littles_law.load_latency(DEVICE)


@number("cores.needed", unit="MB")
def needed() -> Quantity:
    """Bytes that have to be in flight for the bandwidth of an H100."""
    return _flying(4).needed


@number("cores.needed_idle", unit="MB")
def needed_idle() -> Quantity:
    """The same at the latency of an idle memory."""
    return _flying(4, idle=True).needed


@number("cores.threads")
def threads() -> Quantity:
    """Threads that must wait at once, with one load of four bytes each."""
    return _flying(4).threads


@number("cores.resident", evidence="spec")
def resident() -> Quantity:
    """Threads that one H100 can hold at once."""
    return _flying(4).resident


@number("cores.reached", unit="%")
def reached() -> Quantity:
    """Share of the bandwidth that all of them reach with four bytes each."""
    return _flying(4).reached


@number("cores.sixteen", unit="%", digits=2)
def sixteen() -> Quantity:
    """Share of the threads that suffices with sixteen bytes each."""
    return _flying(16).occupancy


# -- warps ----------------------------------------------------------------------


def load_cycles() -> Quantity:
    """Latency of an H100's memory in cycles, without the unit for the closed form."""
    cycles = microarchitecture(hardware.get(DEVICE)).latency("dram")
    return (cycles / _assumed(1, "cycle", "one cycle")).named("load latency in cycles")


def warps_each() -> Quantity:
    """Warps that one scheduler of an H100 can hold."""
    held = hardware.get(DEVICE).max_warps_per_unit
    return (held / SCHEDULERS).named("warps a scheduler holds")


def warps_for(kernel: str) -> Quantity:
    """Warps a scheduler needs to fill every slot with one of ``KERNELS``."""
    loop = {k: _assumed(v, "1", k) for k, v in KERNELS[kernel].items()}
    latency = load_cycles()
    alone = round_slots(loop["ilp"], loop["work"]) / round_cycles(
        loop["ilp"], loop["work"], latency, loop["ahead"]
    )
    return (1 / alone).named("warps needed")


@number("cores.load_cycles", evidence="measured")
def cycles_of_a_load() -> Quantity:
    """Cycles of a load from the memory of an H100."""
    return load_cycles()


@number("cores.warps_held", evidence="spec")
def warps_held() -> Quantity:
    """Warps that one scheduler of an H100 holds."""
    return warps_each()


@number("cores.warps_one")
def warps_one() -> Quantity:
    """Warps that hide a load when each has one in flight."""
    return warps_for("one load at a time")


@number("cores.warps_four")
def warps_four() -> Quantity:
    """Warps that hide it when each has four in flight."""
    return warps_for("four independent loads")


@number("cores.warps_tile")
def warps_tile() -> Quantity:
    """Warps that hide it in the loop of a matrix product, loaded a round ahead."""
    return warps_for("tile of a matrix product")


@number("cores.occupancy_tile", unit="%", digits=2)
def occupancy_tile() -> Quantity:
    """Share of the warps that is."""
    return warps_for("tile of a matrix product") / warps_each()


@number("cores.turns", unit="%", evidence="simulated")
def turns() -> Quantity:
    """Slots that eight warps of the toy loop fill when they take turns."""
    return _slots("round robin")


@number("cores.greedy", unit="%", evidence="simulated")
def greedy() -> Quantity:
    """Slots that the same eight warps fill when one goes on until it waits."""
    return _slots("greedy")


def _slots(policy: str) -> Quantity:
    done = gpu.schedule(8, rounds=64, policy=policy, **TOY)
    filled = _assumed(len(done.issued), "1", f"slots filled, {policy} (simulated)")
    return filled / _assumed(done.cycles, "1", "slots (simulated)")


# -- this machine ---------------------------------------------------------------


def _chase(chains: int, level: str = "memory") -> runs.Run:
    return runs.get("pointer_chases", f"{level}-{chains}")


def _host() -> HostRoofline:
    path = results.root() / "benchmarks" / "results" / "host_roofline.json"
    return HostRoofline.load(path)


@number("cores.chase_latency", evidence="measured")
def chase_latency() -> Quantity:
    """Time of a dependent load from this machine's memory, measured beforehand."""
    found = results.load("host_latency")
    assert found is not None, "benchmarks/results/host_latency.json is committed"
    row = next(r for r in found["rows"] if r["level"] == "memory")
    where = "benchmarks/results/host_latency.json"
    source = Source(where, found["device"], found["date"], "measured")
    return Quantity(
        median(row["times_s"]), "s", label="one chain", source=source, kind="measured"
    )


@number("cores.chase_predicted")
def chase_predicted() -> Quantity:
    """Predicted time a load with sixteen chains, committed before they ran."""
    return _chase(16).predicted


@number("cores.chase_measured", evidence="measured")
def chase_measured() -> Quantity:
    """Measured time a load with sixteen chains."""
    return _chase(16).measured


@number("cores.chase_one", evidence="measured")
def chase_one() -> Quantity:
    """Measured time a load with one chain, in the same run."""
    return _chase(1).measured


@number("cores.chase_gain", digits=2, evidence="measured")
def chase_gain() -> Quantity:
    """How many times faster sixteen chains are than one."""
    return _chase(1).measured / _chase(16).measured


@number("cores.chase_error", unit="%", digits=2, evidence="measured")
def chase_error() -> Quantity:
    """Median error of the predicted chases through memory."""
    some = [r for r in runs.load("pointer_chases") if r.case["level"] == "memory"]
    return runs.median_error(some)


@number("cores.l3_miss", digits=2, evidence="measured")
def l3_miss() -> Quantity:
    """Measured over predicted time of one chain in the third-level cache."""
    return _chase(1, "L3").measured / _chase(1, "L3").predicted


@number("cores.l3_measured", evidence="measured")
def l3_measured() -> Quantity:
    """Measured time a load of one chain in the third-level cache."""
    return _chase(1, "L3").measured


@number("cores.l3_predicted")
def l3_predicted() -> Quantity:
    """Predicted time a load of one chain in the third-level cache."""
    return _chase(1, "L3").predicted


@number("cores.l1_gain", digits=2, evidence="measured")
def l1_gain() -> Quantity:
    """Predicted over measured time of sixteen chains in the first-level cache."""
    return _chase(16, "L1").predicted / _chase(16, "L1").measured


@number("cores.stream_lines", digits=2, evidence="measured")
def stream_lines() -> Quantity:
    """Cache lines one core of this machine keeps in flight when it streams."""
    rate = _host().bandwidth_at(_assumed(2**28, "B", "working set"), "read", 1)
    line = _assumed(pointer_chase.LINE, "B", "cache line")
    return littles_law.concurrency(chase_latency(), rate) / line


# -- two cores ------------------------------------------------------------------


@cache
def two_cores() -> dict[str, tuple[pipelines.Outcome, pipelines.Outcome]]:
    """Each program on both cores."""
    return pipelines.compare(ELEMENTS)


def _cycles(name: str, core: int) -> Quantity:
    words = ("latency core", "throughput core")
    value = two_cores()[name][core].cycles
    return _assumed(value, "cycle", f"{name}, {words[core]} (simulated)")


@number("cores.saxpy", digits=2, evidence="simulated")
def saxpy() -> Quantity:
    """Cycles of the latency core over those of the throughput core, saxpy."""
    return _cycles("saxpy", 0) / _cycles("saxpy", 1)


@number("cores.chased", digits=2, evidence="simulated")
def chased() -> Quantity:
    """Cycles of the throughput core over those of the latency core, pointer chase."""
    return _cycles("pointer chase", 1) / _cycles("pointer chase", 0)


@number("cores.guesses", unit="%", digits=2, evidence="simulated")
def guesses() -> Quantity:
    """Share of the branches on data that the latency core guesses wrongly."""
    wrong = two_cores()["branches on data"][0].wrong_guesses
    return _assumed(wrong, "1", "wrong guesses (simulated)") / _assumed(
        ELEMENTS, "1", "branches on data"
    )


@number("cores.lanes", unit="%", digits=2, evidence="simulated")
def lanes() -> Quantity:
    """Share of the lanes that an issued instruction is for, branches on data."""
    share = two_cores()["branches on data"][1].lanes_used
    return _assumed(share, "1", "lanes used", SIMULATED)


@number("cores.chase_lanes", unit="%", digits=2, evidence="simulated")
def chase_lanes() -> Quantity:
    """The same share in the pointer chase."""
    share = two_cores()["pointer chase"][1].lanes_used
    return _assumed(share, "1", "lanes used", SIMULATED)


@number("cores.elements", digits=4, evidence="spec")
def elements() -> Quantity:
    """Elements that the programs work on."""
    return _assumed(ELEMENTS, "1", "elements", "a size that was chosen")


# -- the bake-off ---------------------------------------------------------------


def host_time(n: int) -> float:
    """Predicted seconds of an n x n x n product on this machine."""
    return roofline.predict_gemm(n, n, n, "fp32", _host()).time.si


@number("cores.crossover", evidence="predicted")
def crossover() -> Quantity:
    """Rows from which a square fp32 product is faster on an H100, journey included."""
    rows = bakeoff.crossover(host_time, DEVICE)
    assert rows is not None, "an H100 wins at some size"
    return _assumed(rows, "1", "rows at the crossover", "searched by bakeoff.crossover")


@number("cores.speedup", digits=2, evidence="predicted")
def speedup() -> Quantity:
    """How many times faster the H100 is at 2,048 rows, journey included."""
    return _cpu() / (_gpu() + _journey(3 * SIZE * SIZE * 4))


@number("cores.speedup_there", digits=2, evidence="predicted")
def speedup_there() -> Quantity:
    """The same when everything is there already."""
    return _cpu() / _gpu()


@number("cores.size", digits=4, evidence="spec")
def size() -> Quantity:
    """Rows of the product of the bake-off."""
    return _assumed(SIZE, "1", "rows and columns", "a size that was chosen")


def _cpu() -> Quantity:
    """Measured on this machine, when its roofline was."""
    host = _host()
    point = next(
        p for p in host.points if (p.op, p.dtype, p.size) == ("gemm", "fp32", SIZE)
    )
    where = "benchmarks/results/host_roofline.json"
    source = Source(where, host.device, host.date, "measured")
    seconds = median(point.times_s)
    return Quantity(seconds, "s", label="time here", source=source, kind="measured")


def _gpu() -> Quantity:
    work = product(m=SIZE, n=SIZE, k=SIZE, dtype="fp32")
    return gemm_trace(work, DEVICE, "host")


def _journey(moved: float) -> Quantity:
    link = hardware.get(DEVICE).host_link
    return (_assumed(moved, "B", "bytes on the link") / link).named("time on the link")


@number("cores.gemv_journey", unit="ms", evidence="predicted")
def gemv_journey() -> Quantity:
    """Time the matrix of the matrix-vector product takes to reach an H100."""
    return _journey(runs.get("host_gemv_gemm", "gemv-fp32-8192x8192").bytes.si)


@number("cores.gemv_there", unit="µs", evidence="predicted")
def gemv_there() -> Quantity:
    """Least time of the product on an H100 once the matrix is there."""
    moved = runs.get("host_gemv_gemm", "gemv-fp32-8192x8192").bytes
    return moved / hardware.get(DEVICE).memory_bandwidth
