"""What it costs to hand kernels to a device: one by one, in streams, as a graph.

The host submits, one submission after the other; the device runs, each stream in
order. A queue lies between them, so that the host may be ahead, until it is full. A
kernel that is shorter than its submission leaves the device waiting; a graph is
submitted once, and its nodes follow each other on the device. In closed form, for n
kernels of e seconds (its start on the device included), a submission of s, S streams:

    time = (j + 1) s + (ceil(n / S) - 1) max(S s, e) + e,     j = (n - 1) mod S

and a barrier after every g kernels ends a round, of which the next begins anew. The
depth of the queue is not in it: from S + 1 places on it changes who waits, and not how
long (``run_launches`` shows both). Left out: what kernels of several streams take from
each other, and the memory that a graph holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stacklib.gpu.chip.streams import Command, Ran, run_streams
from stacklib.quantity import Quantity, ceil, maximum, quoted
from stacklib.quantity.bounds import at_least, whole


def cost(name: str, end: str = "low") -> Quantity:
    """An end of what a submission costs, as documents have it or we judge it.

    ``name``: of ``COSTS``; ``end``: ``low`` or ``high``.
    """
    return quoted(f"launch_{name}.{end}")


# A launch as document 000 has it, a graph's replay there; a launch through the driver;
# an operator of an eager framework; a straight graph, and each of its nodes.
COSTS = ("guide", "guide_replay", "driver", "eager", "replay", "node")


def launch_time(
    kernels: Any,
    kernel_s: Any,
    *,
    submit_s: Any,
    start_s: Any = 0.0,
    streams: Any = 1,
    every: Any | None = None,
    barrier_s: Any = 0.0,
) -> Any:
    """Seconds from the first submission until the host knows that all is done.

    Parameters
    ----------
    kernels : int, Quantity or array
        How many, submitted one by one, round the streams in turn.
    kernel_s, start_s : float, Quantity or array
        Seconds a kernel works, and the device's seconds to start it.
    submit_s : float, Quantity or array
        Seconds the host needs for each: dispatch and driver.
    streams : int, Quantity or array
        Streams whose kernels run at the same time.
    every : int, Quantity or array, optional
        Kernels between two barriers; without it there is one, at the end.
    barrier_s : float, Quantity or array
        Seconds from the last kernel's end until the host goes on.

    Raises
    ------
    ValueError
        For fewer than one kernel, stream or kernel a round, and times below zero.

    Examples
    --------
    >>> round(launch_time(100, 2e-6, submit_s=5e-6) * 1e6)
    502
    """
    at_least(1, kernels=kernels, streams=streams)
    at_least(0, kernel_s=kernel_s, submit_s=submit_s, start_s=start_s)
    at_least(0, barrier_s=barrier_s)
    busy = _plus(kernel_s, start_s)
    if every is None:
        return _plus(_round(kernels, busy, submit_s, streams), barrier_s)
    at_least(1, every=every)
    rounds = ceil(kernels / every)
    last = kernels - (rounds - 1) * every
    full = (rounds - 1) * _round(every, busy, submit_s, streams)
    all_rounds = full + _round(last, busy, submit_s, streams)
    return _plus(all_rounds, rounds * barrier_s if _given(barrier_s) else 0.0)


def _given(seconds: Any) -> bool:
    """Whether a cost is more than the plain zero of a default, which has no unit."""
    return not (isinstance(seconds, float) and seconds == 0.0)


def _plus(seconds: Any, more: Any) -> Any:
    """Their sum; a default's zero can be added to quantities, too."""
    return seconds + more if _given(more) else seconds


def _round(kernels: Any, busy: Any, submit: Any, streams: Any) -> Any:
    """Seconds until the last of some kernels has run, device idle at the start."""
    deep = ceil(kernels / streams)  # kernels of the stream that ends last
    ahead = kernels - (deep - 1) * streams  # submissions until its first
    return ahead * submit + (deep - 1) * maximum(streams * submit, busy) + busy


def replay_time(
    nodes: Any,
    kernel_s: Any,
    *,
    replay_s: Any,
    node_s: Any,
    replays: Any = 1,
    every: Any | None = None,
    barrier_s: Any = 0.0,
) -> Any:
    """Seconds of a straight graph of kernels, replayed so many times.

    Parameters
    ----------
    nodes : int, Quantity or array
        Kernels of the graph, one after the other.
    kernel_s, node_s : float, Quantity or array
        Seconds a kernel works, and from one node to the next.
    replay_s : float, Quantity or array
        Seconds the host needs to submit the whole graph.
    replays, every : int, Quantity or array
        Replays in all, and between two barriers.
    barrier_s : float, Quantity or array
        Seconds from the last kernel's end until the host goes on.

    Raises
    ------
    ValueError
        For fewer than one node or replay, and times below zero.

    Examples
    --------
    >>> round(replay_time(100, 2e-6, replay_s=2.5e-6, node_s=1e-6) * 1e6, 1)
    302.5
    """
    at_least(1, nodes=nodes)
    at_least(0, kernel_s=kernel_s, node_s=node_s)
    return launch_time(
        replays,
        nodes * (kernel_s + node_s),
        submit_s=replay_s,
        every=every,
        barrier_s=barrier_s,
    )


# -- the same, event by event --------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Launches:
    """What a host submits: ``kernels`` submissions of ``nodes`` kernels each."""

    kernels: int
    kernel_s: float
    submit_s: float
    start_s: float = 0.0
    nodes: int = 1  # more than one: each submission is a graph
    streams: int = 1
    every: int | None = None  # submissions between two barriers
    barrier_s: float = 0.0
    depth: int | None = None  # submissions that are not done, at most

    def __post_init__(self) -> None:
        whole(kernels=self.kernels, nodes=self.nodes, streams=self.streams)
        for name in ("every", "depth"):
            if getattr(self, name) is not None:
                whole(**{name: getattr(self, name)})
        at_least(0, kernel_s=self.kernel_s, submit_s=self.submit_s)
        at_least(0, start_s=self.start_s, barrier_s=self.barrier_s)

    @property
    def time(self) -> float:
        """The closed form."""
        told: float = launch_time(
            self.kernels,
            self.nodes * (self.kernel_s + self.start_s),
            submit_s=self.submit_s,
            streams=self.streams,
            every=self.every,
            barrier_s=self.barrier_s,
        )
        return told


@dataclass(frozen=True, slots=True)
class LaunchRun:
    """A run of launches: who did what from when to when."""

    commands: tuple[Command, ...]
    ran: tuple[Ran, ...]
    time: float  # s, until the host knows that all is done
    submitting: float  # s that the host spent submitting
    blocked: float  # s that it waited, for a place or at a barrier
    idle: float  # s in which no stream ran a kernel


def _commands(plan: Launches) -> list[Command]:
    """Submissions on an engine ``host``, kernels on an engine for each stream."""
    host = plan.streams  # number of the stream that the host's own steps are
    out: list[Command] = []
    ends: list[int] = []  # of each submission, its last kernel
    for i in range(plan.kernels):
        waits: list[int] = []
        if plan.depth is not None and i >= plan.depth:
            waits.append(ends[i - plan.depth])  # for a place in the queue
        out.append(Command(host, "host", plan.submit_s, tuple(waits), name="submit"))
        for _ in range(plan.nodes):
            lane = i % plan.streams
            seconds = plan.kernel_s + plan.start_s
            told = (len(out) - 1,)
            out.append(Command(lane, f"lane {lane}", seconds, told, name="kernel"))
        ends.append(len(out) - 1)
        last = i + 1 == plan.kernels
        if last or (plan.every and (i + 1) % plan.every == 0):
            after = tuple(ends[-plan.streams :])
            out.append(Command(host, "host", plan.barrier_s, after, name="barrier"))
    return out


def run_launches(plan: Launches) -> LaunchRun:
    """Run a plan through host, queue and device; ``stream_faults`` can check it.

    A queue of ``depth`` places holds the submissions that are not done: the host
    waits for the one that many before.
    """
    commands = _commands(plan)
    ran = run_streams(commands)
    time = ran[-1].end  # the last barrier
    submitting = plan.kernels * plan.submit_s
    paid = submitting + sum(c.seconds for c in commands if c.name == "barrier")
    kernels = [r for r in ran if commands[r.command].name == "kernel"]
    return LaunchRun(
        tuple(commands),
        tuple(ran),
        time,
        submitting,
        time - paid,
        time - _covered(kernels),
    )


def _covered(ran: Sequence[Ran]) -> float:
    """Seconds in which at least one of some commands ran."""
    total, until = 0.0, 0.0
    for one in sorted(ran, key=lambda r: r.start):
        total += max(0.0, one.end - max(one.start, until))
        until = max(until, one.end)
    return total
