"""What a fabric is made of, and what a run of it tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from stacklib.quantity import resolve
from stacklib.quantity.bounds import above_zero, at_least, whole
from stacklib.roofline.work.fit import Infeasible

from .dcqcn import Dcqcn

Port = tuple[str, str]  # the node that sends, and the one that it sends to
KNOWN = {
    "forwarding": ("cut", "store"),
    "control": ("drop", "pause", "credit"),
    "routing": ("hash", "spray"),
    "order": ("in order", "any order", "selective"),
}


class Wire(NamedTuple):
    """One direction of a cable."""

    rate: float  # B/s
    delay: float = 0.0  # s


@dataclass(frozen=True, slots=True)
class Rules:
    """How the switches and ports of a fabric behave."""

    forwarding: str = "cut"  # forward a frame's head, or the frame once it is there
    latency: float = 0.0  # s of a switch's pipeline
    header: int = 64  # bytes that cut-through has to read
    control: str = "credit"  # what is done about full buffers
    buffer: float = float("inf")  # bytes: of an output (drop), of an input (others)
    headroom: float = float("inf")  # bytes of an input beyond, for a pause to work
    response: float = 0.0  # s until a pause is obeyed
    routing: str = "hash"  # a path a flow, or a path a frame
    order: str = (
        "in order"  # go-back-N, or placed as they come: a gap is asked for, or not
    )
    patience: float = 0.0  # s that a gap may last before it is asked for (selective)
    timeout: float = 100e-6  # s after which a lost frame is sent again unasked
    dcqcn: Dcqcn | None = None  # how frames are marked and senders slowed, if at all
    jitter: float = 0.0  # s that a wire takes longer, at most: another time each frame
    seed: int = 0  # of the hash, of marks and of jitter

    def __post_init__(self) -> None:
        for name, known in KNOWN.items():
            object.__setattr__(self, name, resolve(getattr(self, name), known, name))
        at_least(0, latency=self.latency, response=self.response)
        at_least(0, patience=self.patience, jitter=self.jitter)
        whole(0, header=self.header)
        above_zero(timeout=self.timeout)
        if not isinstance(self.dcqcn, Dcqcn | None):
            raise ValueError(f"dcqcn = {self.dcqcn!r}: a Dcqcn, or None, is needed")
        for name in ("buffer", "headroom"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} = {getattr(self, name)!r}: bytes from 0 on")


@dataclass(frozen=True, slots=True)
class Flow:
    """Bytes from one host to another, in frames, over one of some paths."""

    paths: tuple[tuple[str, ...], ...]  # nodes, host to host
    size: int  # bytes
    start: float = 0.0  # s
    frame: int = 4096  # bytes of a frame, at most


@dataclass(frozen=True, slots=True)
class FabricRun:
    """What happened: when flows ended, what was lost, marked, held back."""

    ended: tuple[float | None, ...]  # s, of each flow; None where it never did
    frames: int  # that arrived and were taken
    dropped: int
    resent: int
    out_of_order: int
    marked: int
    longest: Mapping[Port, float]  # bytes that waited at an output, at most
    fullest: Mapping[Port, float]  # bytes that an input held, at most
    carried: Mapping[Port, float]  # bytes that a port sent
    paused: Mapping[Port, float]  # s in which a port was told to wait
    circle: tuple[Port, ...]  # ports that wait for each other, where nothing moves

    @property
    def time(self) -> float:
        """Seconds until the last flow that ended had done so."""
        return max((end for end in self.ended if end is not None), default=0.0)

    def faults(self) -> list[str]:
        """What must not be: flows that never end, a circle, frames lost."""
        found = []
        if self.circle:
            nodes = " -> ".join([port[0] for port in self.circle] + [self.circle[0][0]])
            found.append(f"deadlock: {nodes}, each waits for the next one's buffer")
        stuck = sum(end is None for end in self.ended)
        if stuck:
            found.append(f"{stuck} of {len(self.ended)} flows never end")
        if self.dropped:
            found.append(f"{self.dropped} frames are dropped")
        return found


def check(wires: Mapping[Port, Wire], flows: list[Flow], rules: Rules) -> None:
    """Refuse wires without a rate, flows over none, and frames that fit nowhere."""
    for port, wire in wires.items():
        above_zero(**{f"rate of {port[0]} -> {port[1]}": wire.rate})
        at_least(0, **{f"delay of {port[0]} -> {port[1]}": wire.delay})
    for number, flow in enumerate(flows):
        whole(**{f"size of flow {number}": flow.size})
        whole(**{f"frame of flow {number}": flow.frame})
        at_least(0, **{f"start of flow {number}": flow.start})
        if not flow.paths:
            raise ValueError(f"flow {number} has no path")
        if len({path[:2] for path in flow.paths}) > 1:
            raise ValueError(f"flow {number}: its paths begin at several ports")
        for path in flow.paths:
            if len(path) < 2 or len(set(path)) < len(path):
                raise ValueError(f"flow {number}: path {path!r} passes a node twice")
            for port in pairwise(path):
                if port not in wires:
                    raise ValueError(f"flow {number}: no wire {port[0]} -> {port[1]}")
        room = rules.buffer + (rules.headroom if rules.control == "pause" else 0)
        if min(flow.frame, flow.size) > room and any(len(p) > 2 for p in flow.paths):
            raise Infeasible(
                f"flow {number}: a frame of {min(flow.frame, flow.size)} bytes never "
                f"fits into {room:g} bytes of buffer"
            )
