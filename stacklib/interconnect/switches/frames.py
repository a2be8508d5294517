"""Frames under way, and the two ends of a flow."""

from __future__ import annotations

from collections import deque

from .dcqcn import Dcqcn, Pace
from .fabric import Flow, Port


class Frame:
    """A frame under way."""

    __slots__ = ("at", "flow", "marked", "path", "seq", "serial", "size")

    def __init__(self, flow: Sending, seq: int, path: tuple[str, ...]) -> None:
        self.flow, self.seq, self.path = flow, seq, path
        self.size = min(flow.of.frame, flow.of.size - seq * flow.of.frame)
        self.at, self.marked = 0, False
        self.serial = flow.sent  # frames that its flow had sent before

    @property
    def port(self) -> Port:
        """Where it is sent next."""
        return self.path[self.at], self.path[self.at + 1]

    @property
    def came(self) -> Port:
        """The port that sent it here."""
        return self.path[self.at - 1], self.path[self.at]


class Sending:
    """A flow's sender and receiver."""

    def __init__(
        self, of: Flow, rate: float, path: tuple[str, ...], slowed: Dcqcn | None
    ) -> None:
        self.of, self.path = of, path
        self.frames = -(-of.size // of.frame)
        self.todo = deque(range(self.frames))
        self.taken: set[int] = set()  # any order; in order, all below ``expected``
        self.expected = self.sent = 0
        self.newest = -1  # the frame farthest on that has come
        self.latest: dict[int, int] = {}  # serial of each frame's last sending
        self.asked = -1  # the frame that the receiver asked for last
        self.ready = of.start
        self.line = rate
        self.pace = Pace(slowed, rate) if slowed else None
        self.noticed = float("-inf")
        self.ended: float | None = None

    def has(self, seq: int) -> bool:
        """Whether a frame has been taken."""
        return seq < self.expected or seq in self.taken

    def send(self, now: float, frame: Frame) -> None:
        """A frame leaves: the next one may when its time at the flow's rate is over."""
        rate = self.line
        if self.pace:
            self.pace.upto(now)
            rate = self.pace.rate
            self.pace.sent(frame.size)
        self.latest[frame.seq] = self.sent
        self.sent += 1
        self.ready = now + frame.size / rate
