"""A schedule run over a network, link by link, in steps or as its messages can go.

In steps the messages of each start together when the step before has ended for all;
without a barrier each goes as soon as what it needs has come (see ``unstepped``).
Messages share links fairly (max-min, see ``fluid``); those of a step between one pair
of nodes go as one. A message is there after the latency of its way and the time its
bytes need, passed on as they come (cut-through, not stored at each node). Each is
spread over all shortest paths alike, or takes one. Without contention a step is
alpha + bytes / bandwidth, as in the closed forms.

The three agree within a tenth where all messages of a step are alike and as far, and
each waits for one that came in the step before: rings, halving and doubling, all at
once, on switches, meshes, rings and fat trees. Without a barrier a run is shorter where
ways differ, because only those who need a late message wait for it, and where pieces
follow one another, because these hide latency; it is longer where steps keep messages
out of each other's way that now meet.

Left out: the sum's arithmetic, protocols, packets and their headers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from stacklib.interconnect.schedules.schedule import Schedule
from stacklib.quantity.bounds import at_least

from .fluid import Flow, passed
from .links import number
from .paths import Pair
from .topology import Topology
from .unstepped import Free
from .ways import Ways, fitting, messages_of


class Step(NamedTuple):
    """What one step took, and which link it kept busy longest."""

    time: float  # s
    latency: float  # s of it, of the message that came last
    busiest: Pair | None  # None where nothing was sent
    messages: int


@dataclass(frozen=True, slots=True)
class Run:
    """A schedule's time on a network, and the bytes on its links."""

    time: float  # s
    latency: float  # s of it that no bandwidth would save
    steps: tuple[Step, ...]  # empty without a barrier
    done: tuple[float, ...]  # s after which each node has sent and got its last
    bytes: Mapping[Pair, float]  # on each link that was used
    busy: Mapping[Pair, float]  # s in which it would carry them at its full rate

    @property
    def busiest(self) -> Pair | None:
        """The link that is needed longest; None where nothing was sent."""
        return max(self.busy, key=lambda pair: self.busy[pair], default=None)

    @property
    def step_times(self) -> tuple[float, ...]:
        """Seconds of each step."""
        return tuple(step.time for step in self.steps)


def simulate(
    schedule: Schedule,
    topology: Topology,
    size: float,
    *,
    routing: str = "spread",
    overhead: float = 0.0,
    barrier: bool = True,
) -> Run:
    """Run a schedule over a network, link by link.

    Parameters
    ----------
    schedule : Schedule
        Its ranks are the chips of the network; the switches that reduce are the
        network's first.
    topology : Topology
        Of as many chips.
    size : float
        Bytes of one rank's whole array; a chunk is ``size / schedule.chunks``.
    routing : str
        ``spread``: over all shortest paths alike; ``single``: the one of ``routes``.
    overhead : float
        Seconds that every step costs besides; without a barrier every message.
    barrier : bool
        Whether a step begins for all when the one before has ended for all. If not, a
        message begins when what it needs has come and the one before it on the same
        pair's connection has left.

    Raises
    ------
    ValueError
        For another number of ranks than the network has chips, more switches than it
        has, sizes that are no number, and a barrier that is neither true nor false.

    Examples
    --------
    >>> from stacklib.interconnect.schedules.schedule import Schedule
    >>> swap = Schedule("all_gather", "direct", 2, 2, ((0, 0, 1, 0, False),
    ...                                                (0, 1, 0, 1, False)))
    >>> pair = Topology("pair", 2, 2, [(0, 1, 1e9, 1e-6), (1, 0, 1e9, 1e-6)])
    >>> simulate(swap, pair, 2000.0).time
    2e-06
    """
    at_least(0, size=size, overhead=overhead)
    ways = Ways(topology, routing)
    if not isinstance(barrier, bool):
        raise ValueError(f"barrier = {barrier!r}: True for steps, or False")
    fitting(schedule, topology)
    size, overhead = number(size), number(overhead)
    if barrier:
        return _Stepped(ways).run(schedule, size, overhead)
    return _free(schedule, ways, size / schedule.chunks, overhead)


def _free(schedule: Schedule, ways: Ways, chunk: float, overhead: float) -> Run:
    """Without a barrier."""
    ran = Free(schedule, ways, chunk, overhead).run()
    total, busy = _used(ways, messages_of(schedule.sends), chunk)
    return Run(ran.time, ran.latency, (), ran.done, total, busy)


def _used(
    ways: Ways, messages: Mapping[Pair, int], chunk: float
) -> tuple[dict[Pair, float], dict[Pair, float]]:
    """Bytes on each link, and the seconds in which it would carry them."""
    total = {pair: chunks * chunk for pair, chunks in ways.loads(messages).items()}
    busy = {pair: amount / ways.on.capacity[pair] for pair, amount in total.items()}
    return total, busy


class _Stepped:
    """Steps one after the other, those that were the same as one before known."""

    def __init__(self, ways: Ways) -> None:
        self.on, self.ways = ways.on, ways
        self.seen: dict[Any, Step] = {}

    def run(self, schedule: Schedule, size: float, overhead: float) -> Run:
        """All steps one after the other."""
        chunk = size / schedule.chunks
        steps: list[Step] = []
        done = [0.0] * schedule.nodes
        now = 0.0
        for sends in schedule.by_step():
            messages = messages_of(sends)
            step = self._step(messages, chunk)
            steps.append(step._replace(time=step.time + overhead))
            now += steps[-1].time
            for one, other in messages:
                done[one] = done[other] = now
        total, busy = _used(self.ways, messages_of(schedule.sends), chunk)
        late = sum(step.latency for step in steps)
        return Run(now, late, tuple(steps), tuple(done), total, busy)

    def _step(self, messages: Mapping[Pair, int], chunk: float) -> Step:
        key = tuple(sorted(messages.items()))
        if key not in self.seen:
            self.seen[key] = self._timed(messages, chunk)
        return self.seen[key]

    def _timed(self, messages: Mapping[Pair, int], chunk: float) -> Step:
        """One step: its messages let loose together."""
        if not messages:
            return Step(0.0, 0.0, None, 0)
        ways = [self.ways.way(pair) for pair in messages]
        flows = [
            Flow(count * chunk, share)
            for count, (share, _) in zip(messages.values(), ways, strict=True)
        ]
        there = [
            (after + latency, latency)
            for after, (_, latency) in zip(
                passed(flows, self.on.capacity), ways, strict=True
            )
        ]
        _, busy = _used(self.ways, messages, chunk)
        return Step(*max(there), max(busy, key=busy.__getitem__), len(messages))
