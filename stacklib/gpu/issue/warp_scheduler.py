"""One sub-core of a GPU, cycle by cycle: a scheduler, its warps, their scoreboards.

A warp issues in order, one instruction a cycle at most. Each instruction names the
earlier ones of its warp whose results it needs; it can be issued when all of them are
there. The scheduler has so many slots a cycle, each for another warp. Which warps, if
more can, is its policy:

- ``lrr`` (loosely round robin) takes the next in the ring that can issue;
- ``gto`` (greedy, then oldest) stays with a warp until it waits, then takes the oldest
  that can (T. Rogers et al., Cache-Conscious Wavefront Scheduling, MICRO 2012, 2);
- ``greedy`` stays as ``gto`` does, then takes the one that has been ready longest:
  first come, first served, so that nobody is left alone at the end.

Loads and stores of global memory go through a queue of so many entries and a port
that takes a request every so many cycles: this sub-core's part of the bandwidth. A
profiler charges every cycle of every warp to a reason, and so does this.

Left out: operand collectors, instruction fetch, caches (a load takes the time of its
kind), and the other three sub-cores, which are like this one.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from fractions import Fraction
from operator import attrgetter

from .sub_core import KINDS, STATES, Issued, Program, SubCore, Trace

# What a profiler calls the states of a warp, with the kind that a result comes from.
REASONS = {
    "math": "arithmetic result",
    "shared": "shared memory",
    "global": "global memory",
    "store": "global memory",
}


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

    __slots__ = ("at", "free", "kind", "number", "program", "ready", "reason", "there")

    def __init__(self, number: int, program: Program) -> None:
        self.number, self.program, self.at, self.free = number, program, 0, 0
        self.there: list[int] = []  # cycle of each result so far
        self.look()

    def look(self) -> None:
        """Its next instruction, the first cycle that has its inputs, what holds it."""
        self.ready, self.reason, self.kind = self.free, "", ""
        if self.at == len(self.program):
            return
        op = self.program[self.at]
        self.kind = op.kind
        for need in op.needs:
            if self.there[need] > self.ready:
                self.ready = self.there[need]
                self.reason = REASONS[self.program[need].kind]


# The ready warps, in order of their numbers, as the scheduler asks them.
Order = Callable[[list[_Warp], list[int]], list[_Warp]]


def _ring(ready: list[_Warp], last: list[int]) -> list[_Warp]:
    after = last[-1] if last else -1
    return [w for w in ready if w.number > after] + [
        w for w in ready if w.number <= after
    ]


def _stay(ready: list[_Warp], last: list[int]) -> list[_Warp]:
    return [w for w in ready if w.number in last] + [
        w for w in ready if w.number not in last
    ]


def _stay_in_line(ready: list[_Warp], last: list[int]) -> list[_Warp]:
    return _stay(sorted(ready, key=attrgetter("ready")), last)


_ORDERS: dict[str, Order] = {"lrr": _ring, "gto": _stay, "greedy": _stay_in_line}
POLICIES = tuple(_ORDERS)


def _checked(programs: Sequence[Program], policy: str) -> None:
    if policy not in POLICIES:
        raise ValueError(f"policy = {policy!r}: one of {', '.join(POLICIES)}")
    if not programs:
        raise ValueError("no programs: give one a warp")
    # Warps that share a program are checked once.
    for warp, program in {id(p): (n, p) for n, p in enumerate(programs)}.values():
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
    done, order = _Running(programs, core or SubCore()), _ORDERS[policy]
    cycle, last = 0, list[int]()
    while done.running:
        ready = [w for w in done.running if w.ready <= cycle]
        if picked := done.issue(cycle, order(ready, last)):
            last, cycle = picked, cycle + 1
        else:
            cycle = done.soonest(cycle)  # nobody can issue before
    return done.trace(cycle)


class _Running:
    """A sub-core at work: its warps, its memory, what was issued, who waited."""

    def __init__(self, programs: Sequence[Program], core: SubCore) -> None:
        self.core, self.memory = core, _Memory(core)
        self.warps = [_Warp(n, program) for n, program in enumerate(programs)]
        self.running = self.warps
        self.issued: list[Issued] = []
        self.states = dict.fromkeys(STATES, 0)
        self.latency = {kind: core.latency(kind) for kind in KINDS}

    def soonest(self, cycle: int) -> int:
        """First cycle in which a warp can issue, if none can in this one."""
        room = self.memory.room_at(cycle)
        return min(
            max(w.ready, room) if w.kind == "global" else w.ready for w in self.running
        )

    def issue(self, cycle: int, asked: list[_Warp]) -> list[int]:
        """Fill the slots of a cycle with the first warps that can: their numbers."""
        picked: list[int] = []
        for w in asked:
            if w.kind == "global" and self.memory.room_at(cycle) > cycle:
                continue
            self.charge(w, cycle)
            self.pass_on(w, cycle)
            picked.append(w.number)
            if not w.kind:
                self.running = [other for other in self.running if other is not w]
            if len(picked) == self.core.issue:
                break
        return picked

    def charge(self, w: _Warp, cycle: int) -> None:
        """Charge the cycles since the warp's last instruction to reasons."""
        if w.reason:
            self.states[w.reason] += w.ready - w.free
        if cycle > w.ready:
            under_way, queue = self.memory.under_way, self.core.queue
            full = w.kind == "global" and len(under_way) == queue - 1
            self.states["queue full" if full else "not picked"] += cycle - w.ready

    def pass_on(self, w: _Warp, cycle: int) -> None:
        """Issue the next instruction of a warp."""
        asks = w.kind in ("global", "store")
        there = (
            self.memory.take(cycle, w.kind) if asks else cycle + self.latency[w.kind]
        )
        w.there.append(there)
        self.issued.append(Issued(cycle, w.number, w.at))
        w.at, w.free = w.at + 1, cycle + 1
        w.look()

    def trace(self, cycle: int) -> Trace:
        """What was done up to the last instruction."""
        states = {
            **self.states,
            "issues": len(self.issued),
            "done": sum(cycle - w.free for w in self.warps),
        }
        programs = tuple(w.program for w in self.warps)
        return Trace(programs, self.core, cycle, tuple(self.issued), states)
