"""Streams, events and copy engines: what overlaps with what, and until when.

A stream runs its commands in order. A command also waits for the events it names, and
for its engine, which serves one command at a time in the order in which the host
issued them: one for kernels, and one for copies each way, or one for both ways. Copies
from memory that is not pinned go through a buffer of the driver, and nothing else of
the program runs meanwhile.

The usual case in closed form: a job cut into n chunks, each copied in, computed on and
copied out on a stream of its own. With an engine each, the slowest stage is never
idle between its first chunk and its last:

    time = one chunk through all stages + (n - 1) x its slowest stage

Every command has a fixed cost besides, which n chunks pay n times; so there is a best
n. Left out: kernels that share the chip, and copies that slow kernels down.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stacklib.quantity import maximum
from stacklib.quantity.bounds import above_zero, at_least, whole

ENGINES = ("copy in", "kernel", "copy out")
COPY = {
    2: {"copy in": "copy in", "copy out": "copy out"},
    1: {"copy in": "copies", "copy out": "copies"},
}
ORDERS = ("chunk by chunk", "stage by stage")


@dataclass(frozen=True, slots=True)
class Command:
    """What the host issues: to a stream, for an engine, after events."""

    stream: int  # whose commands run in order
    engine: str  # which serves it
    seconds: float  # how long it takes
    after: tuple[int, ...] = ()
    blocks: bool = False
    name: str = ""  # what it does, for a figure


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that ran: which, from when until when."""

    command: int
    start: float
    end: float


def run_streams(commands: Sequence[Command]) -> list[Ran]:
    """Run commands in the order in which the host issues them."""
    streams: dict[int, float] = {}
    engines: dict[str, float] = {}
    host, done = 0.0, list[Ran]()
    for at, command in enumerate(commands):
        if not command.seconds >= 0:
            raise ValueError(f"command {at} takes {command.seconds!r} s: from 0 on")
        if any(not 0 <= event < at for event in command.after):
            raise ValueError(f"command {at} waits for {command.after}: earlier ones")
        # A copy that is not pinned blocks: the host and all streams wait for it.
        start = max(
            host,
            streams.get(command.stream, 0.0),
            engines.get(command.engine, 0.0),
            *(done[event].end for event in command.after),
            *((r.end for r in done) if command.blocks else ()),
            0.0,
        )
        ran = Ran(at, start, start + command.seconds)
        streams[command.stream] = engines[command.engine] = ran.end
        host = ran.end if command.blocks else host
        done.append(ran)
    return done


def chunked(
    times: Sequence[float],
    chunks: int,
    *,
    streams: int,
    fixed: float = 0.0,
    copy_engines: int = 2,
    pinned: bool = True,
    order: str = "chunk by chunk",
) -> list[Command]:
    """A job of three stages, cut into equal chunks that go round the streams.

    ``times``: seconds of copying in, computing and copying out the whole job;
    ``fixed``: seconds of every command besides.
    """
    whole(chunks=chunks, streams=streams)
    if copy_engines not in COPY:
        raise ValueError(f"copy_engines = {copy_engines!r}: 1 or 2")
    if order not in ORDERS:
        raise ValueError(f"order = {order!r}: one of {', '.join(ORDERS)}")
    at_least(0, fixed=fixed)
    if len(times) != len(ENGINES) or any(not t >= 0 for t in times):
        raise ValueError(f"times = {times!r}: seconds of {', '.join(ENGINES)}")
    pairs = [(chunk, stage) for chunk in range(chunks) for stage in range(3)]
    if order == "stage by stage":
        pairs.sort(key=lambda pair: (pair[1], pair[0]))
    names = [COPY[copy_engines].get(engine, engine) for engine in ENGINES]
    return [
        Command(
            chunk % streams,
            names[stage],
            times[stage] / chunks + fixed,
            blocks=not pinned and stage != 1,
            name=ENGINES[stage],
        )
        for chunk, stage in pairs
    ]


def pipeline_time(times: Sequence[Any], chunks: Any, fixed: Any = 0.0) -> Any:
    """Seconds of ``chunked`` with an engine a stage, pinned, and streams enough."""
    at_least(1, chunks=chunks)
    for time in (*times, fixed):
        at_least(0, time=time)
    each = [time / chunks + fixed for time in times]
    first, second, third = each
    return first + second + third + (chunks - 1) * maximum(first, second, third)


def best_chunks(times: Sequence[Any], fixed: Any) -> Any:
    """Chunks for which ``pipeline_time`` is least, not rounded.

    More chunks shorten the start and the end and cost ``fixed`` each: the root of one
    over the other.

    ``fixed``: seconds of every command besides, above zero.
    """
    above_zero(fixed=fixed)
    for time in times:
        at_least(0, time=time)
    first, second, third = times
    rest = first + second + third - maximum(first, second, third)
    return (rest / fixed) ** 0.5


def fed_in_turn(
    turns: Sequence[float], pieces: int, ahead: Sequence[float], copies: int
) -> float:
    """Seconds until the last of some devices in a row has done the last piece.

    One thread of the host starts the kernels, piece by piece and device by device. It
    waits where a device's queue is full, and for the oldest piece where as many are on
    their way as there are copies of what crosses. Queues that hold less than a piece
    leave the devices to work one at a time.

    ``turns``: seconds of a piece on each device; ``ahead``: pieces whose kernels each
    device's queue holds; ``copies``: pieces on their way at most.
    """
    whole(pieces=pieces, copies=copies)
    for seconds, room in zip(turns, ahead, strict=True):
        above_zero(seconds=seconds, room=room)
    begun: list[list[float]] = [[] for _ in turns]  # of each piece, by device
    host = end = 0.0
    for piece in range(pieces):
        if piece >= copies:
            host = max(host, begun[-1][piece - copies] + turns[-1])
        end = 0.0
        for device, seconds, room in zip(begun, turns, ahead, strict=True):
            end = max(host, end, device[-1] + seconds if device else 0.0)
            device.append(end)
            end += seconds
            if (done := piece + 1 - room) > 0:  # pieces, and a part of one
                last = math.ceil(done) - 1
                host = max(host, device[last] + (done - last) * seconds)
    return end


def stream_faults(commands: Sequence[Command], ran: Sequence[Ran]) -> list[str]:
    """What is wrong with a timeline, read from the times alone."""
    if sorted(r.command for r in ran) != list(range(len(commands))):
        return [f"{len(ran)} commands ran, {len(commands)} were issued, once each"]
    times = {r.command: r for r in ran}
    faults = []
    for at, command in enumerate(commands):
        mine = times[at]
        if abs(mine.end - mine.start - command.seconds) > 1e-12 + 1e-9 * mine.end:
            faults.append(f"command {at} does not take {command.seconds} s")
        for before in range(at):
            other, end = commands[before], times[before].end
            why = ""
            if other.stream == command.stream:
                why = f"stream {command.stream}"
            elif other.engine == command.engine:
                why = f"engine {command.engine!r}"
            elif before in command.after:
                why = "its event"
            elif other.blocks or command.blocks:
                why = "memory that is not pinned"
            if why and mine.start < end - 1e-12:
                faults.append(f"command {at} does not wait for {before}: {why}")
    return faults
