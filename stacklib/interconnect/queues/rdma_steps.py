"""An RDMA write from GPU memory to GPU memory, step by step, as events.

Whoever starts the write, the bytes go the same way: the port reads them from GPU
memory, and the other port writes them to GPU memory. What differs is who tells the
port. The GPU writes the element into a ring in its own memory and rings, so that the
port has to fetch the element. A proxy thread of the CPU finds a request that the GPU
has left in host memory, makes the element of it, and pushes it into the port together
with the doorbell (what mlx5 calls BlueFlame).

A step takes ``latency`` seconds, and what does it is ``busy`` for part of them, after
which the next message may begin. So n messages pass in

    time = sum of latencies + (n - 1) x the longest busy

The first term is what one message sees, the second what many see. Left out: the way
back of credits, retries, the remote side's waiting for its flag.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from stacklib.quantity import maximum
from stacklib.quantity.bounds import above_zero, at_least, whole


class Step(NamedTuple):
    """A step of the way: who does it, and for how long."""

    name: str
    by: str  # what is busy with it
    latency: Any  # s until the next step can begin
    busy: Any  # s until its next message can begin


@dataclass(frozen=True, slots=True)
class Way:
    """What a message meets between two GPUs; times in s, of one message."""

    bus: Any  # there and back over PCIe; a write that nobody answers takes half
    bus_rate: Any  # B/s, one direction
    port: Any  # in one port, on its way out or in
    port_gap: Any  # between two messages that a port starts
    network: Any  # switches and cables between the ports
    rate: Any  # B/s of the port, one direction
    gpu: Any  # until a GPU's write can be seen in its own memory
    proxy: Any  # a CPU thread's, for one request


def write_steps(way: Way, size: Any, start: str = "gpu") -> tuple[Step, ...]:
    """The steps of a write until the bytes lie in the other GPU's memory.

    - ``size``: bytes of the message; ``start``: by the ``gpu`` or a ``proxy`` thread.

    Bytes are passed on as they come, so that they cost a time once in the latency, at
    the slower of bus and wire, and keep each of the two busy for its own.
    """
    above_zero(size=size, rate=way.rate, bus_rate=way.bus_rate)
    at_least(0, bus=way.bus, port=way.port, network=way.network, gpu=way.gpu)
    at_least(0, proxy=way.proxy, port_gap=way.port_gap)
    none, half = 0 * way.bus, way.bus / 2
    over_bus, over_wire = size / way.bus_rate, size / way.rate
    first: tuple[Step, ...]
    if start == "gpu":
        first = (
            Step("reserve a slot", "GPU", way.gpu, none),
            Step("write the element", "GPU", way.gpu, none),
            Step("ring the doorbell", "bus out", half, none),
            Step("fetch the element", "port", way.bus, way.port_gap),
        )
    elif start == "proxy":
        first = (
            Step("leave a request", "bus out", half, none),
            Step("find it, make the element", "CPU", way.proxy, way.proxy),
            Step("push it with the doorbell", "bus out", half, way.port_gap),
        )
    else:
        raise ValueError(f"start = {start!r}: gpu or proxy")
    slower = maximum(over_bus, over_wire)
    return (
        *first,
        Step("read GPU memory", "bus in", way.bus, over_bus),
        Step("send", "port", way.port + slower, maximum(way.port_gap, over_wire)),
        Step("cross the network", "switches", way.network, none),
        Step("write GPU memory", "far port", way.port + half, over_bus),
    )


def completion_steps(way: Way) -> tuple[Step, ...]:
    """From there until the sender may use its buffer again."""
    none, half = 0 * way.bus, way.bus / 2
    return (
        Step("acknowledge", "far port", way.network, none),
        Step("write the completion", "port", way.port + half, way.port_gap),
    )


def steps_time(steps: Sequence[Step], messages: Any = 1) -> Any:
    """Seconds of some messages, one behind the other: the closed form."""
    at_least(1, messages=messages)
    total = steps[0].latency
    for step in steps[1:]:
        total = total + step.latency
    return total + (messages - 1) * longest_busy(steps)


def longest_busy(steps: Sequence[Step]) -> Any:
    """Seconds between two messages once the way is full."""
    return maximum(*(step.busy for step in steps))


class Event(NamedTuple):
    """A step of a message, from when until when."""

    message: int
    step: int
    start: float
    end: float


def run_steps(steps: Sequence[Step], messages: int = 1) -> list[Event]:
    """Every step of every message, in the order in which they begin.

    A step serves messages in order, the next one ``busy`` after it began with the last.
    """
    whole(messages=messages)
    free, made = [0.0] * len(steps), list[Event]()
    for message in range(messages):
        now = 0.0
        for at, step in enumerate(steps):
            latency, busy = (float(getattr(x, "si", x)) for x in step[2:])
            start = max(now, free[at])
            free[at], now = start + busy, start + latency
            made.append(Event(message, at, start, now))
    return sorted(made, key=lambda event: (event.start, event.message, event.step))


def event_faults(steps: Sequence[Step], events: Sequence[Event]) -> list[str]:
    """What is wrong with a run, read from its times alone."""
    found = []
    ends: dict[tuple[int, int], float] = {}
    last: dict[int, float] = {}
    for event in sorted(events, key=lambda e: (e.message, e.step)):
        name = f"message {event.message}, {steps[event.step].name}"
        before = ends.get((event.message, event.step - 1), 0.0)
        if event.start < before:
            found.append(f"{name}: begins before the step before has ended")
        busy = float(getattr(steps[event.step].busy, "si", steps[event.step].busy))
        if event.start < last.get(event.step, 0.0) - 1e-15:
            found.append(f"{name}: {steps[event.step].by} is still busy")
        last[event.step] = event.start + busy
        ends[event.message, event.step] = event.end
    return found
