"""Setup of section 1.5 Why does a GPU need so many threads?"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from stacklib import gpu, hardware, roofline
from stacklib.gpu.issue.warp_programs import KERNELS, round_cycles, round_slots
from stacklib.pages.roofline.roofline.five_operations import ceilings
from stacklib.quantity import Quantity, assumed, chosen, counted, one_of, recorded
from stacklib.roofline.bound import bakeoff, littles_law
from stacklib.roofline.bound.gemm import gemm_trace, product

if TYPE_CHECKING:
    from stacklib.evidence import runs

DEVICE = "h100-sxm"
ELEMENTS = 1024
TOY: dict[str, Any] = {"work": 4, "latency": 36}
SIZE = 2048  # of the products of the bake-off
LINE = 64  # bytes of a cache line here


@cache
def busy_latency() -> Quantity:
    """The latency that the guide's example gives a busy memory."""
    why = "It lies between the idle latency and that of a memory at its limit."
    return assumed(600, "ns", "latency of a load, busy memory", why=why)


def flying(each: Quantity, idle: bool = False) -> littles_law.InFlight:
    return littles_law.in_flight(DEVICE, each, None if idle else busy_latency())


def load_cycles() -> Quantity:
    """Latency of an H100's memory in cycles, without the unit for the closed form."""
    cycles = hardware.level(DEVICE, "dram").known("cycles")
    return (cycles / one_of("cycle")).named("load latency in cycles")


def warps_each() -> Quantity:
    """Warps that one scheduler of an H100 can hold."""
    chip = hardware.get(DEVICE)
    schedulers = hardware.microarchitecture(chip).count("warp_schedulers")
    return (chip.max_warps_per_unit / schedulers).named("warps a scheduler holds")


def warps_for(kernel: str) -> Quantity:
    """Warps a scheduler needs to fill every slot with one of ``KERNELS``."""
    loop = {k: chosen(v, label=k) for k, v in KERNELS[kernel].items()}
    latency = load_cycles()
    alone = round_slots(loop["ilp"], loop["work"]) / round_cycles(
        loop["ilp"], loop["work"], latency, loop["ahead"]
    )
    return (1 / alone).named("warps needed")


def filled(policy: str) -> Quantity:
    """Share of the slots that eight warps of the toy loop fill."""
    return counted(
        gpu.schedule,
        8,
        rounds=64,
        policy=policy,
        take="utilisation",
        label=f"slots filled, {policy}",
        **TOY,
    )


# -- chases through this machine's memory --------------------------------------------


def chase(chains: int, level: str = "memory") -> runs.Run:
    from stacklib.evidence import runs

    return runs.get("pointer_chases", f"{level}-{chains}")


def chase_latency() -> Quantity:
    """Time of a dependent load from this machine's memory, measured beforehand."""
    from stacklib.evidence import results

    rows = results.need("host_latency")["rows"]
    [id] = [row["id"] for row in rows if row["level"] == "memory"]
    file, time = "benchmarks/results/host_latency.json", "times_s/median"
    return recorded(file, id, time, unit="s", label="one chain")


def stream_lines() -> Quantity:
    """Cache lines one core of this machine keeps in flight when it streams."""
    rate = ceilings().bandwidth_at(chosen(2**28, "B", "working set"), "read", 1)
    line = chosen(LINE, "B", "cache line")
    return littles_law.concurrency(chase_latency(), rate) / line


# -- two toy cores ---------------------------------------------------------------------


@cache
def ran(program: str, core: str) -> Any:
    """One program on the ``latency`` or the ``throughput`` core."""
    from stacklib.roofline.host import pipelines

    both = pipelines.compare(ELEMENTS)[program]
    return both[("latency", "throughput").index(core)]


def cycles(program: str, core: str) -> Quantity:
    return counted(
        ran, program, core, take="cycles", unit="cycle", label=f"{program}, {core} core"
    )


def guesses() -> Quantity:
    """Share of the branches on data that the latency core guesses wrongly."""
    wrong = counted(ran, "branches on data", "latency", take="wrong_guesses")
    return wrong / chosen(ELEMENTS, label="branches on data")


def lanes(program: str) -> Quantity:
    """Share of the lanes that an issued instruction is for."""
    return counted(ran, program, "throughput", take="lanes_used", label="lanes used")


# -- here, or over there and back ------------------------------------------------------


@cache
def crossover_rows() -> int:
    """Rows from which a square fp32 product is faster on an H100, journey included."""

    def here(n: int) -> float:
        return roofline.predict_gemm(n, n, n, "fp32", ceilings()).time.si

    rows = bakeoff.crossover(here, DEVICE)
    assert rows is not None, "an H100 wins at some size"
    return rows


def ran_here(field: str, unit: str = "", label: str = "", rows: int = SIZE) -> Quantity:
    """A field of the product's run on this machine, when its roofline was measured."""
    host = ceilings()
    point = next(
        p for p in host.points if (p.op, p.dtype, p.size) == ("gemm", "fp32", rows)
    )
    return recorded(host.file, point.id, field, unit=unit, label=label)


def here(rows: int = SIZE) -> Quantity:
    """Its time."""
    return ran_here("times_s/median", "s", "time here", rows)


def there(rows: int = SIZE) -> Quantity:
    work = product(m=rows, n=rows, k=rows, dtype="fp32")
    return gemm_trace(work, DEVICE, "host")


def journey(moved: Quantity) -> Quantity:
    return bakeoff.transfer_time(moved, DEVICE).named("time on the link")


def gemv_bytes() -> Quantity:
    """Bytes of the matrix-vector product that ran here."""
    from stacklib.evidence import runs

    return runs.get("host_gemv_gemm", "gemv-fp32-8192x8192").bytes
