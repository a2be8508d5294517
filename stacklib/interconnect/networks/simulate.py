"""A schedule run over a network, link by link.

The messages of a step start together when the step before has ended for all. Messages
of one step share links fairly (max-min, see ``fluid``); those of one pair of nodes go
as one. A message is there after the latency of its way and the time its bytes need,
passed on as they come (cut-through, not stored at each node). Each is spread over all
shortest paths alike, or takes one. Without contention that is alpha + bytes / bandwidth
for each step, as in the closed forms; with it, the simulator says by how much these are
short.

Left out: the sum's arithmetic, protocols, packets and their headers, ranks that go on
before the others.
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
    steps: tuple[Step, ...]
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

    @property
    def latency(self) -> float:
        """Seconds that no bandwidth would save."""
        return sum(step.latency for step in self.steps)


def simulate(
    schedule: Schedule,
    topology: Topology,
    size: float,
    *,
    routing: str = "spread",
    overhead: float = 0.0,
) -> Run:
    """Run a schedule over a network, step by step and link by link.

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
        Seconds that every step costs besides.

    Raises
    ------
    ValueError
        For another number of ranks than the network has chips, more switches than it
        has, and sizes that are no number.

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
    fitting(schedule, topology)
    return _Stepped(ways).run(schedule, number(size), number(overhead))


class _Stepped:
    """Steps one after the other, those that were the same as one before known."""

    def __init__(self, ways: Ways) -> None:
        self.on, self.ways = ways.on, ways
        self.seen: dict[Any, tuple[Step, dict[Pair, float]]] = {}

    def run(self, schedule: Schedule, size: float, overhead: float) -> Run:
        """All steps one after the other."""
        chunk = size / schedule.chunks
        steps = []
        total: dict[Pair, float] = {}
        for sends in schedule.by_step():
            step, loads = self._step(messages_of(sends), chunk)
            steps.append(step._replace(time=step.time + overhead))
            for pair, amount in loads.items():
                total[pair] = total.get(pair, 0.0) + amount
        busy = {pair: amount / self.on.capacity[pair] for pair, amount in total.items()}
        return Run(sum(step.time for step in steps), tuple(steps), total, busy)

    def _step(
        self, messages: Mapping[Pair, int], chunk: float
    ) -> tuple[Step, dict[Pair, float]]:
        key = tuple(sorted(messages.items()))
        if key not in self.seen:
            self.seen[key] = self._timed(messages, chunk)
        return self.seen[key]

    def _timed(
        self, messages: Mapping[Pair, int], chunk: float
    ) -> tuple[Step, dict[Pair, float]]:
        """One step: its messages let loose together."""
        if not messages:
            return Step(0.0, 0.0, None, 0), {}
        ways = [self.ways.way(pair) for pair in messages]
        flows = [
            Flow(count * chunk, share)
            for count, (share, _) in zip(messages.values(), ways, strict=True)
        ]
        loads = {
            pair: chunks * chunk for pair, chunks in self.ways.loads(messages).items()
        }
        there = [
            (after + latency, latency)
            for after, (_, latency) in zip(
                passed(flows, self.on.capacity), ways, strict=True
            )
        ]
        time, latency = max(there)
        busiest = max(loads, key=lambda pair: loads[pair] / self.on.capacity[pair])
        return Step(time, latency, busiest, len(messages)), loads
