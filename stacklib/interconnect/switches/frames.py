"""Frames under way, and the two ends of a flow."""

from __future__ import annotations

from collections import deque

from .fabric import Flow, Port

# DCQCN: Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015.
GAIN, NOTICE, RECOVER = 1 / 256, 50e-6, 55e-6


class Frame:
    """A frame under way."""

    __slots__ = ("at", "flow", "marked", "path", "seq", "size")

    def __init__(self, flow: Sending, seq: int, path: tuple[str, ...]) -> None:
        self.flow, self.seq, self.path = flow, seq, path
        self.size = min(flow.of.frame, flow.of.size - seq * flow.of.frame)
        self.at, self.marked = 0, False

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

    def __init__(self, of: Flow, rate: float, path: tuple[str, ...]) -> None:
        self.of, self.path = of, path
        self.frames = -(-of.size // of.frame)
        self.todo = deque(range(self.frames))
        self.taken: set[int] = set()  # any order; in order, all below ``expected``
        self.expected = self.sent = 0
        self.asked = -1  # the frame that the receiver asked for last
        self.ready = of.start
        self.line = self.rate = self.target = rate
        self.alpha, self.noticed = 1.0, float("-inf")
        self.ended: float | None = None

    def has(self, seq: int) -> bool:
        """Whether a frame has been taken."""
        return seq < self.expected or seq in self.taken

    def slow(self) -> None:
        """DCQCN's cut, for a marked frame."""
        self.alpha = (1 - GAIN) * self.alpha + GAIN
        self.target, self.rate = self.rate, self.rate * (1 - self.alpha / 2)

    def recover(self) -> bool:
        """A step of its way back; whether more are to come."""
        self.alpha *= 1 - GAIN
        self.rate = (self.rate + self.target) / 2
        return self.target - self.rate > 0.01 * self.line
