"""A fabric frame by frame: output queues, inputs that push back, senders that resend.

Every port sends one frame at a time, in order of arrival. An input counts what it holds
until that has been sent on: with ``pause`` it stops the port before it beyond a
threshold, with ``credit`` that port sends only what fits. With ``drop`` a full output
loses frames, and the sender goes back (RoCE's go-back-N) or sends what is missing, at
once where a gap is asked for and else after a timeout. A host takes turns among its
flows; a flow whose frames come marked is slowed by DCQCN.

Left out: priorities and virtual lanes (one class), bit errors, acknowledgements' own
bytes, shared buffers of a switch.
"""

from __future__ import annotations

import random
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from typing import Any

from .circles import find_circle
from .fabric import FabricRun, Flow, Port, Rules, Wire, check
from .frames import Frame, Sending

EVENTS = 3_000_000  # and a hundred a frame: beyond, nobody gets anywhere


def run_fabric(
    wires: Mapping[Port, Wire], flows: Sequence[Flow], rules: Rules | None = None
) -> FabricRun:
    """Run flows over wires until nothing moves any more.

    Parameters
    ----------
    wires : mapping
        A ``Wire`` for each direction of each cable, by the names of its two ends.
    flows : sequence of Flow
        What hosts send, over which paths.
    rules : Rules, optional
        How switches and ports behave; cut-through with credits and endless buffers.

    Returns
    -------
    FabricRun
        When flows ended, what was lost, and ``.faults()``.

    Raises
    ------
    ValueError
        For no flow, a flow over a wire that is not there, or a rate that is none;
        ``Infeasible``, with the sum, for a frame larger than a buffer.
    RuntimeError
        Where senders resend for ever.

    Examples
    --------
    >>> wires = {("a", "s"): Wire(50e9), ("s", "b"): Wire(50e9)}
    >>> run = run_fabric(wires, [Flow((("a", "s", "b"),), 5000, frame=5000)])
    >>> f"{1e9 * run.time:.2f} ns"
    '101.28 ns'
    """
    rules = rules or Rules()
    check(wires, list(flows), rules)
    if not flows:
        raise ValueError("flows is empty: at least one Flow is needed")
    return _Fabric(wires, flows, rules).run()


class _Fabric:
    """Ports, inputs and flows, and what is to happen next."""

    def __init__(
        self, wires: Mapping[Port, Wire], flows: Sequence[Flow], rules: Rules
    ) -> None:
        self.wires, self.rules, self.now = wires, rules, 0.0
        self.drawn = random.Random(rules.seed)
        self.marking = random.Random(rules.seed)
        self.events: list[tuple[float, int, Callable[..., None], Any]] = []
        self.number = 0
        self.queues: dict[Port, deque[Frame]] = {port: deque() for port in wires}
        self.waiting: dict[Port, float] = dict.fromkeys(wires, 0.0)
        self.held: dict[Port, float] = dict.fromkeys(wires, 0.0)
        self.away: dict[Port, float] = dict.fromkeys(wires, 0.0)  # credits
        self.busy: set[Port] = set()
        self.asked: set[Port] = set()  # inputs that have asked for a pause
        self.stopped: dict[Port, float] = {}  # ports that obey one, since when
        self.longest: dict[Port, float] = defaultdict(float)
        self.fullest: dict[Port, float] = defaultdict(float)
        self.carried: dict[Port, float] = defaultdict(float)
        self.paused: dict[Port, float] = defaultdict(float)
        self.dropped = self.out_of_order = self.marked = 0
        self.sending = [self._flow(flow) for flow in flows]
        self.hosts: dict[Port, deque[Sending]] = defaultdict(deque)
        self.middle = {node for flow in flows for p in flow.paths for node in p[1:-1]}
        for one in self.sending:
            self._at(one.of.start, self._begin, one)

    def _flow(self, flow: Flow) -> Sending:
        path = self.drawn.choice(flow.paths)
        rate = self.wires[path[0], path[1]].rate
        return Sending(flow, rate, path, self.rules.dcqcn)

    def _at(self, time: float, what: Callable[..., None], about: Any) -> None:
        self.number += 1
        heappush(self.events, (time, self.number, what, about))

    def run(self) -> FabricRun:
        """Event by event."""
        most = EVENTS + 100 * sum(one.frames for one in self.sending)
        while self.events:
            if self.number > most:
                raise RuntimeError(f"{most} events and no end: frames are resent")
            self.now, _, what, about = heappop(self.events)
            what(about)
        for port, since in self.stopped.items():
            self.paused[port] += self.now - since
        sent = sum(one.sent for one in self.sending)
        taken = sum(one.expected + len(one.taken) for one in self.sending)
        stuck = any(one.ended is None for one in self.sending)
        return FabricRun(
            tuple(one.ended for one in self.sending),
            taken,
            self.dropped,
            max(0, sent - sum(one.frames for one in self.sending)),
            self.out_of_order,
            self.marked,
            dict(self.longest),
            dict(self.fullest),
            dict(self.carried),
            dict(self.paused),
            find_circle(self.queues) if stuck else (),
        )

    # -- ports -------------------------------------------------------------------------

    def _try(self, port: Port) -> None:
        """Let a port begin its next frame, if it has one and may."""
        if port in self.busy or port in self.stopped:
            return
        queue = self.queues[port]
        if not queue and port in self.hosts:
            self._take_turn(port)
        if not queue:
            return
        frame, wire = queue[0], self.wires[port]
        inside = port[1] in self.middle
        if self.rules.control == "credit" and inside:
            if self.away[port] + frame.size > self.rules.buffer:
                return
            self.away[port] += frame.size
        queue.popleft()
        self.waiting[port] -= frame.size
        self.busy.add(port)
        self.carried[port] += frame.size
        if self.rules.dcqcn and port[0] in self.middle:
            self._mark(frame, self.rules.dcqcn.marks(self.waiting[port]))
        self._at(self.now + frame.size / wire.rate, self._sent, (port, frame))
        there = self.now + wire.delay
        if self.rules.jitter:
            there += self.rules.jitter * self.drawn.random()
        if inside:
            self._at(there, self._came, (port, frame))
        else:
            self._at(there + frame.size / wire.rate, self._deliver, frame)

    def _mark(self, frame: Frame, chance: float) -> None:
        """A frame leaves a queue: it is marked by what stays behind."""
        if chance and (chance == 1 or self.marking.random() < chance):
            frame.marked = True
            self.marked += 1

    def _take_turn(self, port: Port) -> None:
        """A host's next frame, of the flow whose turn it is."""
        flows, soonest = self.hosts[port], float("inf")
        for _ in range(len(flows)):
            one = flows.popleft()
            if not one.todo:
                continue
            flows.append(one)
            if one.ready > self.now:
                soonest = min(soonest, one.ready)
                continue
            path = one.path
            if self.rules.routing == "spray":  # round robin over its paths
                path = one.of.paths[one.sent % len(one.of.paths)]
            frame = Frame(one, one.todo.popleft(), path)
            one.send(self.now, frame)
            self.queues[port].append(frame)
            self.waiting[port] += frame.size
            return
        if soonest < float("inf"):
            self._at(soonest, self._try, port)

    def _sent(self, about: tuple[Port, Frame]) -> None:
        """A frame has left: its port is free, and the input that held it."""
        port, frame = about
        self.busy.discard(port)
        if port[0] in self.middle:
            before = frame.path[frame.path.index(port[0]) - 1], port[0]
            self.held[before] -= frame.size
            delay = self.wires[before].delay
            if self.rules.control == "credit":
                self._at(self.now + delay, self._credit, (before, frame.size))
            elif before in self.asked and self.held[before] <= self.rules.buffer:
                self.asked.discard(before)
                self._at(self.now + delay, self._resume, before)
        self._try(port)

    def _credit(self, about: tuple[Port, int]) -> None:
        port, size = about
        self.away[port] -= size
        self._try(port)

    def _pause(self, port: Port) -> None:
        if port in self.asked:  # it may have been called off by now
            self.stopped.setdefault(port, self.now)

    def _resume(self, port: Port) -> None:
        if port not in self.asked and port in self.stopped:
            self.paused[port] += self.now - self.stopped.pop(port)
            self._try(port)

    # -- switches ----------------------------------------------------------------------

    def _came(self, about: tuple[Port, Frame]) -> None:
        """A frame's head is at a switch."""
        port, frame = about
        rules, wire = self.rules, self.wires[port]
        if rules.control == "pause":
            if self.held[port] + frame.size > rules.buffer + rules.headroom:
                self._lose(frame)
                return
            if self.held[port] + frame.size > rules.buffer and port not in self.asked:
                self.asked.add(port)
                # At worst it waits behind a frame that goes the other way.
                wait = frame.flow.of.frame / wire.rate + wire.delay + rules.response
                self._at(self.now + wait, self._pause, port)
        self.held[port] += frame.size
        self.fullest[port] = max(self.fullest[port], self.held[port])
        frame.at += 1
        cut = rules.forwarding == "cut" and self.wires[frame.port].rate <= wire.rate
        known = min(rules.header, frame.size) if cut else frame.size
        self._at(self.now + known / wire.rate + rules.latency, self._enter, frame)

    def _enter(self, frame: Frame) -> None:
        """A frame knows its output and waits there."""
        port = frame.port
        after = self.waiting[port] + frame.size
        if self.rules.control == "drop" and after > self.rules.buffer:
            self.held[frame.came] -= frame.size
            self._lose(frame)
            return
        self.waiting[port] = after
        self.longest[port] = max(self.longest[port], after)
        self.queues[port].append(frame)
        self._try(port)

    def _lose(self, frame: Frame) -> None:
        self.dropped += 1
        self._at(self.now + self.rules.timeout, self._overdue, frame)

    # -- flows -------------------------------------------------------------------------

    def _deliver(self, frame: Frame) -> None:
        """A frame is there: taken, thrown away, or what is missing is asked for."""
        one, seq = frame.flow, frame.seq
        slowed = self.rules.dcqcn
        if slowed and frame.marked and self.now - one.noticed >= slowed.notice:
            one.noticed = self.now
            self._at(self.now + self._back(frame), self._slow, one)
        if one.has(seq):
            return
        if seq > one.expected + len(one.taken):
            self.out_of_order += 1
        if self.rules.order != "in order":
            one.taken.add(seq)
            if self.rules.order == "selective" and seq > one.newest + 1:
                gap = frame, range(one.newest + 1, seq)
                self._at(self.now + self.rules.patience, self._ask, gap)
            one.newest = max(one.newest, seq)
        elif seq == one.expected:
            one.expected += 1
        else:  # thrown away
            if one.asked != one.expected:
                one.asked = one.expected
                self._at(self.now + self._back(frame), self._resend, one)
            if seq == one.frames - 1:  # nobody comes after it to tell of a gap
                self._at(self.now + self.rules.timeout, self._overdue, frame)
        if one.ended is None and one.expected + len(one.taken) == one.frames:
            one.ended = self.now

    def _back(self, frame: Frame) -> float:
        """Seconds of the way back for a word, past all queues."""
        ports = pairwise(frame.path)
        wires = sum(self.wires[port].delay for port in ports)
        return wires + (len(frame.path) - 2) * self.rules.latency

    def _ask(self, about: tuple[Frame, range]) -> None:
        """A gap has lasted long enough: what still misses of it is asked for."""
        frame, gap = about
        missing = [seq for seq in gap if not frame.flow.has(seq)]
        if missing:
            self._at(self.now + self._back(frame), self._repeat, (frame, missing))

    def _repeat(self, about: tuple[Frame, list[int]]) -> None:
        """Send what went before a frame that came, and did not come, before all new."""
        frame, missing = about
        one = frame.flow
        lost = [seq for seq in missing if one.latest[seq] < frame.serial]
        one.todo.extendleft(reversed([seq for seq in lost if seq not in one.todo]))
        self._begin(one)

    def _resend(self, one: Sending) -> None:
        """Go back to the frame that is missing, and send all from there on."""
        one.todo = deque(range(one.expected, one.frames))
        self._begin(one)

    def _begin(self, one: Sending) -> None:
        """A flow has something to send: it takes part in its host's turns."""
        port = one.path[0], one.path[1]
        if one not in self.hosts[port]:
            self.hosts[port].append(one)
        self._try(port)

    def _overdue(self, frame: Frame) -> None:
        """A lost frame's time is over: send it again, if nobody has asked for it."""
        one, seq = frame.flow, frame.seq
        if one.has(seq):
            return
        if self.rules.order != "in order":  # the others are on their way
            if one.latest[seq] == frame.serial and seq not in one.todo:
                one.todo.append(seq)
                self._begin(one)
        elif one.todo:
            self._at(self.now + self.rules.timeout, self._overdue, frame)
        else:
            one.asked = -1
            self._resend(one)

    def _slow(self, one: Sending) -> None:
        """A notice has come back to its sender."""
        if one.pace:
            one.pace.cut(self.now)
