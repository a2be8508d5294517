"""A schedule without a barrier: each message goes as soon as it may.

What a step sends between one pair is a message, as in steps. It begins when all that
its sender adds to these chunks before has come, and when the message before it has left
on the same pair's connection: a connection keeps the order of the schedule, as NCCL's
channels and MSCCL's thread blocks do. Of messages of one sender over one link those of
an earlier step go first, where they can. What comes before a chunk's old value has been
sent waits in a buffer, without an end. So every rank reads and adds the same as in
steps, whatever overtakes what.

Connections share links fairly (``fluid``), and share anew when one begins or ends; only
those are counted anew that meet it on a link, or meet one that does. The next message
of a connection follows its bytes, not their arrival, so that a pipeline waits for the
latency of its way once, where steps wait for it at each piece.

Left out: credits that a receiver gives back, and the time to add.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import heappop, heappush

from stacklib.interconnect.schedules.schedule import Schedule, Send

from .fluid import Flow, rates
from .paths import Pair
from .ways import Ways

NEAR = 1e-12  # of the time: events of one moment, apart by rounding
BEGIN, LEFT, COME = range(3)  # kinds of events


@dataclass(slots=True)
class _Cell:
    """A node's chunk: who wrote it last, and who read that since."""

    step: int = -1
    writers: list[int] = field(default_factory=list)
    readers: list[int] = field(default_factory=list)
    before: tuple[list[int], list[int]] = ([], [])  # of the step's writers


@dataclass(slots=True)
class _Wire:
    """What is under way on a pair's connection."""

    message: int = -1  # none
    left: float = 0.0  # bytes
    since: float = 0.0
    rate: float = 0.0
    version: int = 0  # of its end


@dataclass(slots=True)
class Unstepped:
    """When a run ends, for each node, and the latency on the way to its end."""

    time: float
    done: tuple[float, ...]
    latency: float


class Free:
    """One run: what each message waits for, and what is under way."""

    def __init__(self, schedule: Schedule, ways: Ways, chunk: float, wait: float):
        self.ways, self.wait = ways, wait
        self.pairs: list[Pair] = []  # of each message, its step, and its bytes
        self.steps: list[int] = []
        self.bytes: list[float] = []
        self.to_begin: list[int] = []  # how many things each waits for
        self.to_write: list[int] = []
        self.on_left: list[list[int]] = []  # ~i: i may write
        self.on_written: list[list[int]] = []
        self.done = [0.0] * schedule.nodes
        self.end = 0.0, 0.0  # and the latency on the way there
        self.wires: dict[Pair, _Wire] = {}
        self.users: dict[Pair, set[Pair]] = {}  # connections on a link
        self.sending: dict[int, set[Pair]] = {}  # those of a node
        self.held: dict[int, list[int]] = {}  # messages that let others go first
        self.touched: dict[Pair, bool] = {}  # whether it was busy before this moment
        self.shared: dict[tuple[Pair, ...], list[float]] = {}
        self.events: list[tuple[float, int, int, int, int]] = []
        self.number, self.now = 0, 0.0
        self._order(schedule.by_step(), chunk)
        self.late = [0.0] * len(self.pairs)  # latency on the way to a message's begin

    def _order(self, steps: Iterable[tuple[Send, ...]], chunk: float) -> None:
        """What waits for what: a chunk's reads and writes, a connection's messages."""
        cells: dict[tuple[int, int], _Cell] = {}
        last: dict[Pair, int] = {}
        for step, sends in enumerate(steps):
            here: dict[Pair, int] = {}
            for send in sends:
                pair = send[1:3]
                if pair not in here:
                    here[pair] = self._message(pair, step, last.get(pair))
                self.bytes[here[pair]] += chunk
                cell = cells.setdefault((send.source, send.chunk), _Cell())
                for writer in cell.writers:
                    self._after(self.on_written[writer], here[pair])
                cell.readers.append(here[pair])
            for send in sends:
                at = here[send[1:3]]
                cell = cells.setdefault((send.destination, send.chunk), _Cell())
                if cell.step < step:
                    cell.before = cell.writers, cell.readers
                    cell.step, cell.writers, cell.readers = step, [], []
                cell.writers.append(at)
                for writer in cell.before[0]:
                    self._after(self.on_written[writer], ~at)
                for reader in cell.before[1]:
                    self._after(self.on_left[reader], ~at)
            last |= here

    def _message(self, pair: Pair, step: int, before: int | None) -> int:
        """A new one, after another on the same connection."""
        at = len(self.pairs)
        self.pairs.append(pair)
        self.steps.append(step)
        self.bytes.append(0.0)
        self.to_begin.append(0)
        self.to_write.append(1)  # its own arrival
        self.on_left.append([])
        self.on_written.append([])
        if before is not None:
            self._after(self.on_left[before], at)
        return at

    def _after(self, waiting: list[int], at: int) -> None:
        waiting.append(at)
        if at < 0:
            self.to_write[~at] += 1
        else:
            self.to_begin[at] += 1

    def run(self) -> Unstepped:
        """All events in order of time; those of one moment together."""
        for at, many in enumerate(self.to_begin):
            if not many:
                self._event(self.wait, BEGIN, at)
        while self.events:
            self.now = self.events[0][0]
            limit = self.now * (1 + NEAR)
            while self.events and self.events[0][0] <= limit:
                _, _, kind, at, version = heappop(self.events)
                if kind == BEGIN:
                    self._begin(at)
                elif kind == COME:
                    self._met([~at], self._came(at))
                elif version == self.wires[self.pairs[at]].version:
                    self._left(at)
            self._share()
        return Unstepped(self.end[0], tuple(self.done), self.end[1])

    def _event(self, after: float, kind: int, at: int, version: int = 0) -> None:
        self.number += 1
        when = self.now + after
        heappush(self.events, (when, self.number, kind, at, version))

    def _met(self, waiting: Iterable[int], late: float) -> None:
        """One thing less that each of some waits for; ``late``: latency until now."""
        queue = list(waiting)
        for at in queue:
            if at >= 0:
                self.to_begin[at] -= 1
                if not self.to_begin[at]:
                    self.late[at] = late
                    self._event(self.wait, BEGIN, at)
            else:
                self.to_write[~at] -= 1
                if not self.to_write[~at]:
                    self._finished(self.pairs[~at][1], late)
                    queue += self.on_written[~at]

    def _came(self, at: int) -> float:
        return self.late[at] + self.ways.way(self.pairs[at]).latency

    def _finished(self, node: int, late: float) -> None:
        self.done[node] = self.now
        self.end = max(self.end, (self.now, late))

    def _begin(self, at: int) -> None:
        """A message's first byte goes on its connection."""
        source, node = pair = self.pairs[at]
        if source == node:  # what stays in a chip uses no link
            self._met(self.on_left[at], self.late[at])
            self._met([~at], self.late[at])
            return
        sending = self.sending.setdefault(source, set())
        share = self.ways.way(pair).share
        for other in sending:
            first = self.steps[self.wires[other].message] < self.steps[at]
            if first and not share.keys().isdisjoint(self.ways.way(other).share):
                self.held.setdefault(source, []).append(at)
                return
        sending.add(pair)
        wire = self.wires.setdefault(pair, _Wire())
        self.touched.setdefault(pair, False)
        wire.message, wire.left, wire.since = at, self.bytes[at], self.now
        if wire.rate:  # as it went before, unless others come or go
            wire.version += 1
            self._event(wire.left / wire.rate, LEFT, at, wire.version)
        for link in share:
            self.users.setdefault(link, set()).add(pair)

    def _left(self, at: int) -> None:
        """A message's last byte has left."""
        pair = self.pairs[at]
        self.touched.setdefault(pair, True)
        self.wires[pair].message = -1
        share, latency = self.ways.way(pair)
        for link in share:
            self.users[link].discard(pair)
        self.sending[pair[0]].discard(pair)
        for other in sorted(self.held.pop(pair[0], ())):
            self.late[other] = self.late[at]
            self._event(0.0, BEGIN, other)
        self._finished(pair[0], self.late[at])
        self._event(latency, COME, at)
        self._met(self.on_left[at], self.late[at])

    def _share(self) -> None:
        """Rates anew where a connection has begun to send, or stopped."""
        changed = [
            pair
            for pair, busy in self.touched.items()
            if (self.wires[pair].message >= 0) != busy
        ]
        self.touched.clear()
        seen: set[Pair] = set()
        for pair in sorted(changed):
            if pair not in seen:
                self._pace(sorted(self._meeting(pair, seen)))

    def _meeting(self, first: Pair, seen: set[Pair]) -> list[Pair]:
        """Connections that share a link with one, or with one of these."""
        found, queue = [], [first]
        links: set[Pair] = set()
        seen.add(first)
        for pair in queue:
            if self.wires[pair].message >= 0:
                found.append(pair)
            for link in self.ways.way(pair).share:
                if link not in links:
                    links.add(link)
                    more = self.users.get(link, set()) - seen
                    seen |= more
                    queue += more
        return found

    def _pace(self, pairs: list[Pair]) -> None:
        """The rates of connections that meet, and when their messages have left."""
        key = tuple(pairs)
        pace = self.shared.get(key)
        if pace is None:
            flows = [Flow(1.0, self.ways.way(pair).share) for pair in pairs]
            pace = self.shared[key] = rates(flows, self.ways.on.capacity)
        for pair, rate in zip(pairs, pace, strict=True):
            wire = self.wires[pair]
            if rate != wire.rate or not wire.version:
                wire.left -= wire.rate * (self.now - wire.since)
                wire.since, wire.rate = self.now, rate
                wire.version += 1
                after = max(0.0, wire.left) / rate
                self._event(after, LEFT, wire.message, wire.version)
