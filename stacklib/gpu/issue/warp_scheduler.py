"""One sub-core of a GPU, cycle by cycle: a scheduler, its warps, their scoreboards.

A warp issues in order. Each instruction names the earlier ones of its warp whose
results it needs; it can be issued when all of them are there. The scheduler issues
one instruction a cycle, from one warp. Which warp, if several can, is its policy:
``lrr`` (loosely round robin) takes the next in the ring that can issue, ``gto``
(greedy, then oldest) stays with a warp until it waits, then takes the oldest that can
(T. Rogers et al., Cache-Conscious Wavefront Scheduling, MICRO 2012, section 2).

Loads and stores of global memory go through a queue of so many entries and a port
that takes a request every so many cycles: this sub-core's part of the bandwidth. A
profiler charges every cycle of every warp to a reason, and so does this.

Left out: dual issue, operand collectors, instruction fetch, caches (a load takes the
time of its kind), and the other three sub-cores, which are like this one.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

POLICIES = ("lrr", "gto")
KINDS = ("math", "shared", "global", "store")
# What a profiler calls the states of a warp, with the kind that a result comes from.
REASONS = {
    "math": "arithmetic result",
    "shared": "shared memory",
    "global": "global memory",
    "store": "global memory",
}
STATES = ("issues", "not picked", "arithmetic result", "shared memory",
          "global memory", "queue full", "done")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Op:
    """An instruction of a warp: its kind, and the positions it needs results of."""

    kind: str
    needs: tuple[int, ...] = ()


Program = Sequence[Op]


@dataclass(frozen=True, slots=True)
class SubCore:
    """What a sub-core is built of; latencies in cycles."""

    math: int = 4
    shared: int = 29  # a load from shared memory
    memory: int = 670  # a load from global memory
    queue: int = 10**6  # global loads under way at once
    interval: Fraction | int = 0  # cycles between two requests that the memory takes

    def __post_init__(self) -> None:
        for name in ("math", "shared", "memory", "queue"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} = {value!r}: a whole number from 1 up")
        rate = self.interval
        if isinstance(rate, bool) or not isinstance(rate, (int, Fraction)) or rate < 0:
            raise ValueError(f"interval = {rate!r}: cycles, an int or Fraction from 0")

    def latency(self, kind: str) -> int:
        """Cycles until a result of this kind can be used; a store leaves none."""
        return {"math": self.math, "shared": self.shared, "global": self.memory,
                "store": 1}[kind]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Issued:
    """An instruction that was issued: cycle, warp, position in its program."""

    cycle: int
    warp: int
    at: int


@dataclass(frozen=True, slots=True)
class Trace:
    """What the sub-core did.

    ``states``: cycles of all warps together in each of ``STATES``.
    """

    warps: int
    cycles: int  # cycles until the last instruction was issued, that cycle included
    issued: tuple[Issued, ...]  # every instruction, in order
    states: dict[str, int] = field(hash=False)

    @property
    def utilisation(self) -> float:
        """Share of the cycles in which an instruction was issued."""
        return len(self.issued) / self.cycles

    @property
    def stalled(self) -> int:
        """Cycles in which no warp could issue."""
        return self.cycles - len(self.issued)


class _Memory:
    """The queue and the port of global memory."""

    def __init__(self, core: SubCore) -> None:
        self.core, self.under_way = core, list[int]()
        self.free: Fraction | int = 0

    def room_at(self, cycle: int) -> int:
        """First cycle from this one in which a load finds an entry of the queue."""
        while self.under_way and self.under_way[0] <= cycle:
            heapq.heappop(self.under_way)
        full = len(self.under_way) >= self.core.queue
        return self.under_way[0] if full else cycle

    def take(self, cycle: int, kind: str) -> int:
        """Pass a request on; the cycle in which its result is there."""
        start = max(self.free, cycle)
        self.free = start + self.core.interval
        there = -int(-start // 1) + self.core.latency(kind)
        if kind == "global":
            heapq.heappush(self.under_way, there)
        return there


class _Warp:
    """Where a warp stands, when its results come, and why it waits."""

    def __init__(self, program: Program) -> None:
        self.program, self.at, self.free = program, 0, 0
        self.there: list[int] = []  # cycle of each result so far
        self.ready, self.reason = 0, ""
        self.look()

    def look(self) -> None:
        """The first cycle its next instruction has its inputs, and what holds it."""
        self.ready, self.reason = self.free, ""
        if self.at == len(self.program):
            return
        for need in self.program[self.at].needs:
            if self.there[need] > self.ready:
                self.ready = self.there[need]
                self.reason = REASONS[self.program[need].kind]


def _checked(programs: Sequence[Program], policy: str) -> None:
    if policy not in POLICIES:
        raise ValueError(f"policy = {policy!r}: one of {', '.join(POLICIES)}")
    if not programs:
        raise ValueError("no programs: give one a warp")
    for warp, program in enumerate(programs):
        for at, op in enumerate(program):
            if op.kind not in KINDS:
                raise ValueError(f"kind = {op.kind!r}: one of {', '.join(KINDS)}")
            if any(not 0 <= need < at for need in op.needs):
                raise ValueError(
                    f"warp {warp}, instruction {at} needs {op.needs}: earlier ones only"
                )
        if not program:
            raise ValueError(f"warp {warp} has no instructions")


def run(
    programs: Sequence[Program], core: SubCore | None = None, *, policy: str = "gto"
) -> Trace:
    """Issue every instruction of every warp, and say who waited for what."""
    _checked(programs, policy)
    core = core or SubCore()
    memory, warps = _Memory(core), [_Warp(p) for p in programs]
    issued: list[Issued] = []
    states = dict.fromkeys(STATES, 0)
    cycle, last = 0, -1 if policy == "lrr" else 0
    running = list(range(len(warps)))
    while running:
        room = memory.room_at(cycle)
        can, soonest = -1, 0
        for warp in _order(running, last, policy):
            w = warps[warp]
            loads = w.program[w.at].kind == "global"
            when = max(w.ready, room) if loads else w.ready
            if when <= cycle:
                can = warp
                break
            soonest = when if not soonest else min(soonest, when)
        if can < 0:
            cycle = soonest  # nobody can issue before
            continue
        _issue(warps[can], can, cycle, memory, states, issued)
        if warps[can].at == len(warps[can].program):
            running.remove(can)
        last, cycle = can, cycle + 1
    states["done"] = sum(cycle - w.free for w in warps)
    states["issues"] = len(issued)
    return Trace(len(warps), cycle, tuple(issued), states)


def _order(running: list[int], last: int, policy: str) -> list[int]:
    """Warps in the order in which the scheduler asks them."""
    if policy == "lrr":
        return [w for w in running if w > last] + [w for w in running if w <= last]
    return ([last] if last in running else []) + [w for w in running if w != last]


def _issue(
    w: _Warp, warp: int, cycle: int, memory: _Memory, states: dict[str, int],
    issued: list[Issued],
) -> None:  # fmt: skip
    """Issue one instruction; charge the cycles since the warp's last to reasons."""
    kind = w.program[w.at].kind
    if w.reason:
        states[w.reason] += w.ready - w.free
    if cycle > w.ready:
        full = kind == "global" and len(memory.under_way) == memory.core.queue - 1
        states["queue full" if full else "not picked"] += cycle - w.ready
    if kind in ("global", "store"):
        w.there.append(memory.take(cycle, kind))
    else:
        w.there.append(cycle + memory.core.latency(kind))
    issued.append(Issued(cycle, warp, w.at))
    w.at, w.free = w.at + 1, cycle + 1
    w.look()


def check(
    programs: Sequence[Program], core: SubCore, found: Sequence[Issued]
) -> list[str]:
    """Faults of a schedule, read from who issued when and from nothing else."""
    faults, order = [], sorted(found, key=lambda i: i.cycle)
    for one, two in pairwise(order):
        if one.cycle == two.cycle:
            faults.append(f"cycle {one.cycle}: warps {one.warp} and {two.warp} issue")
    there: dict[tuple[int, int], int] = {}
    at = [0] * len(programs)
    port: Fraction | int = 0
    for i in order:
        if i.at != at[i.warp]:
            faults.append(
                f"warp {i.warp}: instruction {i.at} issued when {at[i.warp]} was next"
            )
            return faults
        at[i.warp] += 1
        op = programs[i.warp][i.at]
        for need in op.needs:
            if there[i.warp, need] > i.cycle:
                faults.append(
                    f"warp {i.warp}: instruction {i.at} in cycle {i.cycle} needs "
                    f"{need}, there in cycle {there[i.warp, need]}"
                )
        start: Fraction | int = i.cycle
        if op.kind in ("global", "store"):
            start = max(port, start)
            port = start + core.interval
        there[i.warp, i.at] = -int(-start // 1) + core.latency(op.kind)
    for warp, program in enumerate(programs):
        if at[warp] != len(program):
            faults.append(f"warp {warp}: {at[warp]} of {len(program)} issued")
    return faults + _queue_faults(programs, core, there, order)


def _queue_faults(
    programs: Sequence[Program], core: SubCore, there: dict[tuple[int, int], int],
    order: list[Issued],
) -> list[str]:  # fmt: skip
    """Cycles in which more loads are under way than the queue has entries."""
    ends = [(i.cycle, there[i.warp, i.at]) for i in order
            if programs[i.warp][i.at].kind == "global"]  # fmt: skip
    changes = sorted([(a, 1) for a, _ in ends] + [(b, -1) for _, b in ends])
    most, level = 0, 0
    for _, step in changes:
        level += step
        most = max(most, level)
    return [f"{most} loads under way, {core.queue} fit"] if most > core.queue else []
