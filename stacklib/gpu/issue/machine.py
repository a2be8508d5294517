"""One multiprocessor as the replay sees it: what each kind of instruction goes through.

An instruction takes one of the ports of its sub-core for some cycles. Those of memory
then wait in the sub-core's queue for the one load/store unit of the multiprocessor,
which takes a pass at a time; sectors that the L1 lacks go on to the L2 and to memory,
which take one every so many cycles. Latencies, lanes and rates are the database's
(``hardware.levels``, ``ports``); a memory's rate is the unit's part of what streams
draw.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from stacklib import hardware
from stacklib.hardware import Accelerator, UnknownSpec
from stacklib.quantity import resolve
from stacklib.quantity.bounds import whole
from stacklib.roofline.bound import hierarchy
from stacklib.roofline.work.bounds import device_of

from . import _replay_kernel as kernel
from . import ports
from .occupancy import WARP, partitions_of
from .streams import KINDS

PORTS = ("fma", "fma2", "alu", "fp16", "fp64", "special", "tensor", "branch")
SECTOR, LINE = 32, 128  # bytes
_ROUTES = {
    "plain": kernel.PLAIN,
    "shared": kernel.SHARED,
    "global": kernel.GLOBAL,
    "store": kernel.STORE,
    "mma": kernel.MMA,
    "fence": kernel.FENCE,
}
Cycles = int | float | Fraction


@dataclass(frozen=True, slots=True)
class Way:
    """What an instruction of a kind goes through, and what those behind it wait for."""

    ports: tuple[str, ...] = ()  # any one of them
    hold: Cycles = 0  # cycles it takes the port
    latency: int = 1
    route: str = "plain"
    why: str = "wait"  # reason of those who wait for its result
    full: str = "math_pipe_throttle"  # and of those who wait for its port
    queued: bool = False
    counted: bool = False  # among the sectors on their way
    after: int = 0  # cycles until the warp's next instruction
    drains: int = 0  # 1: the block's end waits until it is back, 2: until sent

    def row(self, tick: int) -> list[int]:
        """Its row of the kernel's table."""
        numbers = [PORTS.index(port) for port in self.ports] + [-1, -1]
        return [
            *(numbers[0], numbers[1], round(self.hold * tick), self.latency),
            *(_ROUTES[self.route], kernel.REASON[self.why], kernel.REASON[self.full]),
            *(int(self.queued), int(self.counted), self.after, self.drains),
        ]


@dataclass(frozen=True, slots=True)
class Machine:
    """A multiprocessor: ways by kind, and what its parts take, in cycles."""

    name: str
    ways: Mapping[str, Way]
    sub_cores: int = 4
    slots: int = 1  # instructions a sub-core issues in a cycle
    queue: int = 1  # memory instructions that wait in a sub-core
    misses: int = 1 << 40  # sectors on their way
    l1_sector: Cycles = 0
    l2_sector: Cycles = 0
    memory_sector: Cycles = 0
    shared_turn: Cycles = 1
    global_turn: Cycles = 1
    l1_latency: int = 1
    l2_latency: int = 1
    memory_latency: int = 1
    block_start: int = 0  # cycles from a block's end to the next one's start
    lsu_pass: Cycles = 1  # of the load/store unit
    written_wait: int = 0  # of a load, more, where all that memory does is stores
    burst: Cycles = 0  # of its part of the memory that a unit may use later
    tick: int = 4096  # parts of a cycle
    clock: float = 0.0  # Hz

    def way(self, kind: str) -> Way:
        """What a kind goes through; KeyError's message names the machine."""
        if kind not in self.ways:
            raise ValueError(f"{self.name} has no port for {kind!r}")
        return self.ways[kind]

    def table(self) -> list[int]:
        """Rows of all kinds; one without a way is never asked for."""
        none = Way()
        return [x for k in KINDS for x in self.ways.get(k, none).row(self.tick)]

    def size(self, policy: int, resident: int, width: int) -> list[int]:
        """The kernel's scalars, in its order."""
        sectors = (self.l1_sector, self.l2_sector, self.memory_sector)
        turns = (self.shared_turn, self.global_turn)
        return [
            *(self.sub_cores, len(PORTS), self.slots, policy, self.tick, self.queue),
            *(self.misses, resident, width),
            *(round(cycles * self.tick) for cycles in (*sectors, *turns)),
            *(self.l1_latency, self.l2_latency, self.memory_latency, self.block_start),
            *(round(self.lsu_pass * self.tick), self.written_wait),
            round(self.burst * self.tick),
        ]


def machine_of(
    device: str | Accelerator, *, active: int | None = None, stores: bool = False
) -> Machine:
    """A multiprocessor of a device, with its part of the memory's rate.

    ``active``: units that share the memory, all by default; ``stores``: whether the
    memory is written, too, which makes it slower.
    """
    chip = device_of(device)
    units = int(chip.compute_units.si)
    whole(active=units if active is None else active)
    return _made(chip, min(units, active or units), "mixed" if stores else "read")


def product_cycles(device: str | Accelerator, dtype: str, multiply_adds: int) -> int:
    """Cycles that a matrix product holds the tensor port of its sub-core.

    ``multiply_adds``: of the instruction; the rate is the device's dense peak.
    """
    chip = device_of(device)
    whole(multiply_adds=multiply_adds)
    peak = chip.peaks[resolve(dtype, chip.peaks, f"format of {chip.key}")]
    if peak.per_unit_per_cycle is None:
        raise UnknownSpec(f"{chip.key}: the {dtype} rate of a unit is unknown")
    each = peak.per_unit_per_cycle.si / 2 / partitions_of(chip)
    return max(1, math.ceil(multiply_adds / each))


def _made(chip: Accelerator, active: int, traffic: str) -> Machine:
    key = ports.architecture_of(chip)
    drawn = hierarchy.stream_rate(chip, traffic).rate / active
    clock, units = chip.clock.si, int(chip.compute_units.si)
    return Machine(
        chip.key,
        ways_of(chip.key) if hardware.get(chip.key) is chip else _ways(chip),
        sub_cores=partitions_of(chip),
        queue=_count(key, "queue"),
        misses=_count(key, "misses"),
        l1_sector=SECTOR / hardware.level(chip, "l1").known("width").si,
        l2_sector=max(
            SECTOR * active / units / hardware.level(chip, "l2").known("width").si,
            SECTOR / _count(key, "l2_port"),
        ),
        memory_sector=SECTOR * clock / drawn,
        shared_turn=ports.constant(key, "atomic_turn").si,
        global_turn=hardware.efficiency("atomic_turn"),
        l1_latency=_load(chip, "l1"),
        l2_latency=_load(chip, "l2"),
        memory_latency=_load(chip, "dram"),
        block_start=_count(key, "block_start"),
        lsu_pass=LINE / ports.constant(key, "pass_bytes").si,
        written_wait=_count(key, "written_wait"),
        burst=hardware.efficiency("memory_burst") * _load(chip, "dram"),
        clock=clock,
    )


def _count(key: str, name: str) -> int:
    return round(ports.constant(key, name).si)


def _load(chip: Accelerator, level: str) -> int:
    return round(hierarchy.load_cycles(chip, level))


@cache
def ways_of(name: str) -> dict[str, Way]:
    """Ways of every kind on a device of the database."""
    return _ways(hardware.get(name))


def _ways(chip: Accelerator) -> dict[str, Way]:
    return {**_arithmetic(chip), **_near(chip), **_far(), **_waiting(chip)}


def _arithmetic(chip: Accelerator) -> dict[str, Way]:
    """Kinds that take a port of their sub-core for a while."""
    key, parts = ports.architecture_of(chip), partitions_of(chip)

    def of(port: tuple[str, ...], lanes: float, name: str, why: str = "wait") -> Way:
        cycles = -(-WARP * parts * len(port) // lanes)
        took = round(ports.latency_of(chip, key, f"{name}_latency"))
        return Way(port, int(cycles), max(took, int(cycles)), why=why)

    def lanes(name: str) -> float:
        return ports.constant(key, f"{name}_lanes").si

    floats = ("fma",) if ports.fp32_lanes(chip) == 64 else ("fma", "fma2")
    own = {"own": ("alu",), "second": ("fma2",), "both": ("fma", "fma2")}
    doubles = ports.fp64_lanes(chip)  # None: refused where a kernel uses them
    whole_numbers = own[ports.integers(key)]
    integer = of(whole_numbers, lanes("int32"), "int")
    branch = of(("branch",), lanes("branch"), "branch")
    return {
        "fp32": of(floats, ports.fp32_lanes(chip), "fp32"),
        "fp16": of(("fp16",), lanes("fp16"), "fp16"),
        **({"fp64": of(("fp64",), doubles, "fp64")} if doubles else {}),
        "int": integer,
        "move": integer,
        "vote": of(whole_numbers, lanes("vote"), "vote"),
        "special": of(("special",), lanes("special"), "special", "short_scoreboard"),
        "convert": of(("special",), lanes("convert"), "special", "short_scoreboard"),
        "branch": Way(branch.ports, branch.hold, branch.latency, after=branch.latency),
        "mma": Way(("tensor",), 0, _count(key, "mma_latency"), "mma"),
    }


def _near(chip: Accelerator) -> dict[str, Way]:
    """Kinds that pass the shared memory's crossbar, and constants."""
    key = ports.architecture_of(chip)

    def of(name: str) -> Way:
        return Way(
            latency=round(ports.latency_of(chip, key, name)),
            route="shared",
            why="short_scoreboard",
            full="mio_throttle",
            queued=True,
            drains=kernel.BACK,
        )

    shared = of("shared_latency")
    named = ("load_shared", "store_shared", "atomic_shared")
    constant = Way(latency=_count(key, "constant_latency"), why="short_scoreboard")
    return {
        **dict.fromkeys(named, shared),
        "shuffle": of("shuffle_latency"),
        "load_constant": constant,
    }


def _far() -> dict[str, Way]:
    """Kinds that may go beyond the multiprocessor."""

    def of(route: str, queued: bool = True, drains: int = kernel.BACK) -> Way:
        return Way(
            route=route,
            why="long_scoreboard",
            full="lg_throttle",
            queued=queued,
            counted=queued,
            drains=drains,
        )

    loads = ("load_global", "load_local", "async_copy")
    stores = of("store", drains=kernel.SENT)
    return {
        **dict.fromkeys(loads, of("global")),
        # Who needs what an atomic gives back waits for it; a block's end does not.
        "atomic_global": of("global", drains=kernel.SENT),
        **dict.fromkeys(("store_global", "store_local"), stores),
        "bulk_copy": of("global", queued=False),  # its engine is not the load unit
    }


def _waiting(chip: Accelerator) -> dict[str, Way]:
    """Kinds that arrive, wait, or end."""
    took = _count(ports.architecture_of(chip), "barrier_latency")
    meet = Way(latency=took, why="barrier")
    return {
        "barrier": meet,
        "arrive": meet,
        "wait": Way(),
        "fence": Way(route="fence", why="membar"),
        "exit": Way(),
    }
