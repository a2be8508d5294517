"""Faults of a schedule of a multiprocessor, read from who issued when.

It knows nothing of the replay's loop: it takes what was issued in its order, follows
the results, ports, queues and events of the machine, and says what could not have been.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import ceil

from ._replay_kernel import LINE, SENT
from .machine import Machine, Way
from .streams import KINDS, NONE, Streams


@dataclass(frozen=True, slots=True)
class Schedule:
    """Who issued when: cycle and place among all of each instruction, warps' cores."""

    when: Sequence[int]
    serial: Sequence[int]
    sub_core: Sequence[int]


def check_schedule(
    streams: Streams, machine: Machine, resident: int, found: Schedule
) -> list[str]:
    """Faults of a schedule; none for one that the machine could have run."""
    order = sorted(range(len(streams)), key=lambda i: found.serial[i])
    walk = _Walk(streams, machine, found)
    for i in order:
        walk.issue(i)
    return [*walk.faults, *_order(streams, found), *_blocks(walk, resident)]


@dataclass
class _Walk:
    """The schedule followed instruction by instruction."""

    streams: Streams
    machine: Machine
    found: Schedule
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        s = self.streams
        self.warp_of = [w for w in range(s.warps) for _ in s.of(w)]
        self.there: dict[int, int] = {}
        self.free: dict[tuple[int, str], Fraction] = defaultdict(Fraction)
        self.server: dict[str, Fraction] = defaultdict(Fraction)
        self.queues: dict[int, list[int]] = defaultdict(list)  # cycles they leave it
        self.flying: list[tuple[int, int]] = []  # landing, sectors
        self.written = Fraction(0)  # cycles of memory that stores took
        self.arrived: dict[int, list[int]] = defaultdict(list)
        self.slots: dict[tuple[int, int], list[int]] = defaultdict(list)
        self.stored: dict[int, int] = defaultdict(int)
        self.ends: dict[int, int] = defaultdict(int)
        self.sent = 0

    def fault(self, i: int, said: str) -> None:
        """Remember a fault of an instruction."""
        warp = self.warp_of[i]
        place = i - int(self.streams.first[warp])
        cycle = int(self.found.when[i])
        self.faults.append(f"warp {warp}, instruction {place} in cycle {cycle}: {said}")

    def issue(self, i: int) -> None:
        """One instruction: what it needs, what it takes, when its result is there."""
        way = self.machine.way(KINDS[self.streams.kind[i]])
        core, cycle = int(self.found.sub_core[self.warp_of[i]]), int(self.found.when[i])
        self._slot(i, core, cycle)
        self._needs(i, way, cycle)
        self._events(i, cycle)
        hold = self._port(i, way, core, cycle)
        self.sent = 0
        land = max(cycle + way.latency, cycle + int(hold) + 1 if hold else 0)
        if way.route in ("shared", "global", "store"):
            land = self._memory(i, way, core, cycle)
        self.there[i] = land
        if way.route == "store":
            warp = self.warp_of[i]
            self.stored[warp] = max(self.stored[warp], land)
        self._done(i, way, land)

    def _slot(self, i: int, core: int, cycle: int) -> None:
        taken = self.slots[core, cycle]
        if len(taken) >= self.machine.slots:
            self.fault(i, f"no slot of sub-core {core} is left")
        if self.warp_of[i] in taken:
            self.fault(i, "its warp has issued already")
        taken.append(self.warp_of[i])

    def _needs(self, i: int, way: Way, cycle: int) -> None:
        first = int(self.streams.first[self.warp_of[i]])
        for need in self.streams.needs[i]:
            if need != NONE and self.there.get(first + int(need), cycle + 1) > cycle:
                self.fault(i, f"needs instruction {need}, whose result is not there")
        if way.route == "fence" and self.stored[self.warp_of[i]] > cycle:
            self.fault(i, "a store before the fence is not done")
        if i > first:
            before = self.machine.way(KINDS[self.streams.kind[i - 1]])
            if cycle < self.found.when[i - 1] + before.after:
                self.fault(i, "the branch before it is not resolved")

    def _events(self, i: int, cycle: int) -> None:
        s = self.streams
        waits = {int(s.wait[i])} - {int(s.arrive[i]), NONE}
        if i > s.first[self.warp_of[i]] and s.wait[i - 1] == s.arrive[i - 1]:
            waits |= {int(s.wait[i - 1])} - {NONE}
        for event in waits:
            came = self.arrived[event]
            if len(came) < s.events[event]:
                self.fault(
                    i, f"event {event}: {len(came)} of {s.events[event]} arrived"
                )
            elif max(came) > cycle:
                self.fault(i, f"event {event} is complete in cycle {max(came)}")

    def _ticks(self, cycles: object) -> Fraction:
        """Cycles as the machine counts them, in whole ticks."""
        tick = self.machine.tick
        return Fraction(round(cycles * tick), tick)  # type: ignore[operator]

    def _port(self, i: int, way: Way, core: int, cycle: int) -> Fraction:
        """Take the port that is free first; the cycles of a matrix product."""
        if not way.ports:
            return Fraction(0)
        port = min(way.ports, key=lambda p: self.free[core, p])
        if self.free[core, port] >= cycle + 1:
            self.fault(i, f"port {port} is taken until cycle {self.free[core, port]}")
        hold, product = self._ticks(way.hold), Fraction(0)
        if way.route == "mma":
            hold = product = Fraction(self._asks(i)[0])
        self.free[core, port] = max(self.free[core, port], Fraction(cycle)) + hold
        return product

    def _asks(self, i: int) -> tuple[int, ...]:
        row = int(self.streams.request[i])
        return (1, 0, 0, 0, 0) if row == NONE else tuple(self.streams.requests[row])

    def _queue(self, i: int, way: Way, core: int, cycle: int) -> None:
        """Places in the sub-core's queue, and sectors on their way."""
        _, _, far, deep, _ = self._asks(i)
        if way.queued:
            inside = sum(left > cycle for left in self.queues[core])
            if inside >= self.machine.queue:
                self.fault(i, f"{inside} wait in the queue of sub-core {core}")
        if way.counted and far + deep:
            self.flying = [(t, n) for t, n in self.flying if t > cycle]
            on_way = sum(n for _, n in self.flying)
            if on_way and on_way + far + deep > self.machine.misses:
                self.fault(i, f"{on_way} sectors under way, {self.machine.misses} fit")

    def _memory(self, i: int, way: Way, core: int, cycle: int) -> int:
        """Through the load/store unit, the L2 and memory; the cycle it lands."""
        self._queue(i, way, core, cycle)
        m, (passes, near, far, deep, turns) = self.machine, self._asks(i)
        sectors = near + far + deep
        begun, service = Fraction(cycle), Fraction(0)
        if way.queued:
            service = passes * self._ticks(m.lsu_pass)
            service = max(service, sectors * self._ticks(m.l1_sector))
            if way.route == "shared":
                service = max(service, turns * self._ticks(m.shared_turn))
            begun = max(begun, self.server["lsu"])
            self.server["lsu"] = begun + service
            self.queues[core].append(ceil(begun))
        if way.route == "shared":
            return ceil(begun + service) - 1 + way.latency
        if not far + deep:
            return ceil(begun + service) - 1 + m.l1_latency
        asks = (passes, far, deep, turns)
        land = self._beyond(way, begun, begun + service - 1, asks)
        if way.counted:
            self.flying.append((land, far + deep))
        return land

    def _beyond(
        self, way: Way, begun: Fraction, passed: Fraction, asks: tuple[int, ...]
    ) -> int:
        """Sectors that the L1 lacks, through servers of so many cycles a sector."""
        m, (passes, far, deep, turns) = self.machine, asks
        places = far + deep
        if way.route == "store":
            places = max(places, LINE * min(passes, places))
        start, tail = self._serve("l2", begun, places, m.l2_sector)
        tail = max(tail, passed)
        self.sent = ceil(tail) + m.l1_latency
        lands = [ceil(tail) + (m.l2_latency if far else 0)]
        if deep:
            took = m.l2_latency if way.route == "store" else self._loads(start)
            early = max(Fraction(0), start - self._ticks(m.burst))
            _, last = self._serve("memory", early, deep, m.memory_sector)
            if way.route == "store":
                self.written += deep * self._ticks(m.memory_sector)
            self.sent = ceil(max(last, tail)) + m.l1_latency
            lands.append(ceil(max(last, tail)) + took)
        if turns:
            _, last = self._serve("atomic", start, turns, m.global_turn)
            lands.append(ceil(last) + m.l2_latency)
        return max(lands)

    def _loads(self, start: Fraction) -> int:
        """Cycles until memory answers: more where it is written, too."""
        m, least = self.machine, Fraction(1, self.machine.tick)
        share = self.written / max(least, start, self.written)
        return m.memory_latency + int(m.written_wait * share)

    def _serve(
        self, name: str, begun: Fraction, count: int, each: object
    ) -> tuple[Fraction, Fraction]:
        """When a server begins with a request, and with the last part of it."""
        start = max(self.server[name], begun)
        self.server[name] = start + count * self._ticks(each)
        return start, self.server[name] - self._ticks(each)

    def _done(self, i: int, way: Way, land: int) -> None:
        event = int(self.streams.arrive[i])
        if event != NONE:
            self.arrived[event].append(land)
        block = int(self.streams.block[self.warp_of[i]])
        held = self.sent if way.drains == SENT else land
        last = max(int(self.found.when[i]) + 1, held if way.drains else 0)
        self.ends[block] = max(self.ends[block], last)


def _order(streams: Streams, found: Schedule) -> list[str]:
    """Warps issue in order, and the order of all is that of the cycles."""
    faults = []
    for warp in range(streams.warps):
        for before, i in pairwise(streams.of(warp)):
            if found.when[i] <= found.when[before]:
                faults.append(f"warp {warp} issues {i} not after {before}")
    by_serial = sorted(range(len(streams)), key=lambda i: found.serial[i])
    for before, i in pairwise(by_serial):
        if found.when[i] < found.when[before]:
            faults.append(f"instruction {i} is counted after {before}, issued before")
    return faults


def _blocks(walk: _Walk, resident: int) -> list[str]:
    """No more blocks at once than are resident: each starts when one has ended."""
    s, faults = walk.streams, []
    begins: dict[int, int] = {}
    for warp in range(s.warps):
        block, start = int(s.block[warp]), int(walk.found.when[s.first[warp]])
        begins[block] = min(begins.get(block, start), start)
    ends, late = sorted(walk.ends.values()), walk.machine.block_start
    for place, (start, block) in enumerate(sorted((t, b) for b, t in begins.items())):
        if place >= resident and start < ends[place - resident] + late:
            faults.append(f"block {block} starts in cycle {start} as one too many")
    return faults
