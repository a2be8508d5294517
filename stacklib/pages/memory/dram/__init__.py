"""Section 3.8: Why does memory not run at its own speed?"""

from __future__ import annotations

from functools import cache

from stacklib import hardware
from stacklib.evidence import runs
from stacklib.memory import DramChannel, dram_part, hbm_stack
from stacklib.memory.dram import cell as cells
from stacklib.memory.dram.in_flight import Saturation, saturate
from stacklib.memory.dram.parts import dram_names
from stacklib.memory.dram.rates import binding_rule, chunk_interval, random_rate
from stacklib.memory.dram.traffic import PATTERNS, Outcome, chunks, outcome
from stacklib.memory.dram.verify import rules
from stacklib.quantity import Quantity, assumed, chosen, one_of, recorded
from stacklib.roofline.bound import littles_law

from . import published

DEVICE = "h100-sxm"
CELL = cells.typical_cell()
DDR4, DDR5, HBM3 = map(dram_part, ("ddr4-3200", "ddr5-6400", "hbm3"))
BEFORE = "hbm3_march"  # the preset that another one replaced
BURSTS, QUEUE = 2000, 64  # of a simulated number: short enough for plain Python
KEPT = "row:bank:group:column"  # a mapping that keeps neighbours in one row


@cache
def ran(channel: str, pattern: str) -> Outcome:
    """A pattern on a channel over four refresh intervals."""
    return outcome(DramChannel(channel), pattern, 4)


def signal() -> float:
    """Share of the supply by which a full cell moves its bitline."""
    return CELL.signal(0.0) / CELL.supply


def electrons() -> float:
    """Charge of half the supply on a cell, in electrons."""
    return CELL.electrons


def retention(celsius: float) -> float:
    """Seconds until a cell can no longer be read: spare charge over leakage."""
    return CELL.retention(celsius)


def weakest() -> float:
    """Seconds that the weakest of very many cells lasts, by a count of weak ones."""
    facts = {name: q.si for name, q in cells.cell_facts().items()}
    typical, many = CELL.retention(), facts["weak_of"]
    width = cells.spread(typical, facts["weak"], many, facts["weak_ms"])
    return cells.weakest(typical, width, many)


def open_row() -> Quantity:
    """From the read to the end of its data, row open, DDR4."""
    return DDR4.cl + DDR4.burst_time


def at_random(part: str, banks: int | None = None) -> Quantity:
    """Share of the peak that random bursts get, refresh left out."""
    return random_rate(part, banks) / dram_part(part).bandwidth


def in_pieces(part: str, size: int) -> Quantity:
    """Share of the peak of aligned pieces at random places, each in one row."""
    p = dram_part(part)
    clock = p.per_clock / p.pin_rate * one_of("bit", "bit of a pin")
    bursts = chosen(size, "B", label="bytes of a piece") / p.burst
    interval = chunk_interval(
        bursts, p.burst_time, p.ccd_l * clock, p.rc, p.bank_count, p.rrd_s, p.faw
    )
    share = bursts * p.burst_time / interval
    return share.named(f"{p.short}, random pieces")


def binding() -> list[dict[str, object]]:
    """Each channel: how far apart each rule keeps random bursts, and which binds."""
    rows: list[dict[str, object]] = []
    for p in map(dram_part, dram_names()):
        limits = {
            "burst": p.burst_time,
            "row cycle / banks": p.rc / p.bank_count,
            "activates": p.rrd_s,
            "tFAW / 4": p.faw / 4,
        }
        rows.append(
            {"channel": p.short, **limits, "binds": binding_rule(p.clocks("none"))}
            | {"share": at_random(p.key)}
        )
    return rows


def random_preset() -> Quantity:
    """The same from DDR5 with the window of four activates of Ramulator's preset."""
    why = "Ramulator 2.1 sets it in _resolve_nFAW; the preset states none."
    window = assumed(20, "ns", "tFAW of the preset", why=why)
    return DDR5.burst_time / (window / 4)


@cache
def steady(name: str, pattern: str, size: int = 0, **how: object) -> float:
    """Share of the time that the bus is busy in a short simulation."""
    if pattern == "chunks":
        trace, stores = chunks(name, BURSTS, size)
    else:
        trace, stores = PATTERNS[pattern](name, BURSTS)
    settings = {"queue": QUEUE, "refresh": "none", **how}
    served = DramChannel(name, **settings).run(trace, stores)  # type: ignore[arg-type]
    return served.steady


def rule_count() -> int:
    """Rules between two commands that the second program checks."""
    return len(rules(DDR5.clocks()))


def eight_stacks(rate: float) -> Quantity:
    """Bandwidth of eight stacks of HBM3E at a rate of their pins."""
    stack = hbm_stack(8, die_gbit=24, gbit_per_pin=rate)
    return chosen(8, label="stacks") * stack.bandwidth


def rubin_pin() -> Quantity:
    """Rate that Rubin's bandwidth asks of each of its pins."""
    chip = hardware.get("rubin")
    pins = chip.memory_stacks * hardware.memory("hbm4").pins
    return (chip.memory_bandwidth / pins).to("bit/s")


# -- bytes in flight ---------------------------------------------------------------


def needed(latency: Quantity | None = None) -> Quantity:
    """Bytes that a compute unit of an H100 must have in flight."""
    flying = littles_law.in_flight(DEVICE, 4, latency)
    return flying.needed / hardware.get(DEVICE).compute_units


def add(threads: int, width: int) -> Saturation:
    """A vector add: two loads and a store of so many bytes a thread."""
    return saturate(DEVICE, 2 * width, threads, stored=width)


@cache
def threads_for(width: int, share: float) -> int:
    """Fewest threads of a unit, in whole warps, that reach a share."""
    return next(n for n in range(32, 2049, 32) if add(n, width).share.si >= share)


def worst(device: str, knee: bool) -> Quantity:
    """Largest error of a sweep; before the bus is full, or after."""
    points = (p for k in published.KERNELS for p in published.sweep(device, k))
    errors = [
        p.told.share / p.share - 1 for p in points if (p.told.idle_limit.si < 1) == knee
    ]
    return max(map(abs, errors), key=lambda error: error.si)


def chains(many: int) -> Quantity:
    """Pointer chases of a run through this machine's memory."""
    file = "benchmarks/results/pointer_chases.json"
    return recorded(file, f"memory-{many}", "chains", label="chases")


def chase(chains: int) -> Quantity:
    """Bytes a second of so many pointer chases through this machine's memory."""
    run = runs.get("pointer_chases", f"memory-{chains}")
    why = "Linux reports it of its caches; no document was read."
    return assumed(64, "B", "cache line", why=why) / run.measured
