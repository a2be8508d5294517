"""Setup of section 1.5 Why does a GPU need so many threads?"""

from __future__ import annotations

from functools import cache
from statistics import median

from stacklib import gpu, hardware, roofline
from stacklib.evidence import results, runs
from stacklib.gpu.issue.schedule import KERNELS, round_cycles, round_slots
from stacklib.hardware import microarchitecture
from stacklib.quantity import Quantity, Source, bytes_per_element
from stacklib.roofline import HostRoofline
from stacklib.roofline.bound import bakeoff, littles_law
from stacklib.roofline.bound.gemm import gemm_trace, product
from stacklib.roofline.host import pipelines, pointer_chase

DEVICE = "h100-sxm"


ELEMENTS = 1024


SIMULATED = "counted by stacklib.roofline.host.pipelines"


TOY = {"work": 4, "latency": 36}


SIZE = 2048  # of the products of the bake-off


SCHEDULERS = Quantity(4, "1", label="schedulers a compute unit", kind="assumption")


def assumed(value: float, unit: str, label: str, where: str = "") -> Quantity:
    """A stated assumption, or a count that ``where`` says who made."""
    source = Source("this section", where, "2026-11-21", "secondary") if where else None
    return Quantity(value, unit, label=label, kind="assumption", source=source)


@cache
def busy_latency() -> Quantity:
    """The latency that the guide's example gives a busy memory."""
    return assumed(
        600,
        "ns",
        "latency of a load, busy memory",
        "an assumption: between the idle latency and that of a memory at its limit",
    )


def flying(each: int, idle: bool = False) -> littles_law.InFlight:
    return littles_law.in_flight(DEVICE, each, None if idle else busy_latency())


def each() -> Quantity:
    """Bytes of one number in fp32."""
    return assumed(1, "1", "number a thread asks for") * bytes_per_element("fp32")


def toy_latency() -> Quantity:
    """Cycles of a load in the toy program of the timelines."""
    toy = "an assumption, small enough to draw"
    return assumed(TOY["latency"], "1", "cycles of a load of the toy", toy)


def load_cycles() -> Quantity:
    """Latency of an H100's memory in cycles, without the unit for the closed form."""
    cycles = microarchitecture(hardware.get(DEVICE)).latency("dram")
    return (cycles / assumed(1, "cycle", "one cycle")).named("load latency in cycles")


def warps_each() -> Quantity:
    """Warps that one scheduler of an H100 can hold."""
    held = hardware.get(DEVICE).max_warps_per_unit
    return (held / SCHEDULERS).named("warps a scheduler holds")


def warps_for(kernel: str) -> Quantity:
    """Warps a scheduler needs to fill every slot with one of ``KERNELS``."""
    loop = {k: assumed(v, "1", k) for k, v in KERNELS[kernel].items()}
    latency = load_cycles()
    alone = round_slots(loop["ilp"], loop["work"]) / round_cycles(
        loop["ilp"], loop["work"], latency, loop["ahead"]
    )
    return (1 / alone).named("warps needed")


def slots(policy: str) -> Quantity:
    done = gpu.schedule(8, rounds=64, policy=policy, **TOY)
    filled = assumed(len(done.issued), "1", f"slots filled, {policy} (simulated)")
    return filled / assumed(done.cycles, "1", "slots (simulated)")


def chase(chains: int, level: str = "memory") -> runs.Run:
    return runs.get("pointer_chases", f"{level}-{chains}")


def host() -> HostRoofline:
    path = results.root() / "benchmarks" / "results" / "host_roofline.json"
    return HostRoofline.load(path)


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


def chase_error() -> Quantity:
    """Median error of the predicted chases through memory."""
    some = [r for r in runs.load("pointer_chases") if r.case["level"] == "memory"]
    return runs.median_error(some)


def stream_lines() -> Quantity:
    """Cache lines one core of this machine keeps in flight when it streams."""
    rate = host().bandwidth_at(assumed(2**28, "B", "working set"), "read", 1)
    line = assumed(pointer_chase.LINE, "B", "cache line")
    return littles_law.concurrency(chase_latency(), rate) / line


@cache
def two_cores() -> dict[str, tuple[pipelines.Outcome, pipelines.Outcome]]:
    """Each program on both cores."""
    return pipelines.compare(ELEMENTS)


def cycles(name: str, core: int) -> Quantity:
    words = ("latency core", "throughput core")
    value = two_cores()[name][core].cycles
    return assumed(value, "cycle", f"{name}, {words[core]} (simulated)")


def guesses() -> Quantity:
    """Share of the branches on data that the latency core guesses wrongly."""
    wrong = two_cores()["branches on data"][0].wrong_guesses
    return assumed(wrong, "1", "wrong guesses (simulated)") / assumed(
        ELEMENTS, "1", "branches on data"
    )


def lanes() -> Quantity:
    """Share of the lanes that an issued instruction is for, branches on data."""
    share = two_cores()["branches on data"][1].lanes_used
    return assumed(share, "1", "lanes used", SIMULATED)


def chase_lanes() -> Quantity:
    """The same share in the pointer chase."""
    share = two_cores()["pointer chase"][1].lanes_used
    return assumed(share, "1", "lanes used", SIMULATED)


def host_time(n: int) -> float:
    """Predicted seconds of an n x n x n product on this machine."""
    return roofline.predict_gemm(n, n, n, "fp32", host()).time.si


def crossover() -> Quantity:
    """Rows from which a square fp32 product is faster on an H100, journey included."""
    rows = bakeoff.crossover(host_time, DEVICE)
    assert rows is not None, "an H100 wins at some size"
    return assumed(rows, "1", "rows at the crossover", "searched by bakeoff.crossover")


def cpu() -> Quantity:
    """Measured on this machine, when its roofline was."""
    host = host()
    point = next(
        p for p in host.points if (p.op, p.dtype, p.size) == ("gemm", "fp32", SIZE)
    )
    where = "benchmarks/results/host_roofline.json"
    source = Source(where, host.device, host.date, "measured")
    seconds = median(point.times_s)
    return Quantity(seconds, "s", label="time here", source=source, kind="measured")


def gpu() -> Quantity:
    work = product(m=SIZE, n=SIZE, k=SIZE, dtype="fp32")
    return gemm_trace(work, DEVICE, "host")


def journey(moved: float) -> Quantity:
    link = hardware.get(DEVICE).host_link
    return (assumed(moved, "B", "bytes on the link") / link).named("time on the link")


def gemv_there() -> Quantity:
    """Least time of the product on an H100 once the matrix is there."""
    moved = runs.get("host_gemv_gemm", "gemv-fp32-8192x8192").bytes
    return moved / hardware.get(DEVICE).memory_bandwidth
