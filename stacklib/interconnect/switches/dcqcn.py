"""DCQCN: a switch marks, a receiver tells, and a sender lowers its rate and raises it.

Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015, and
Zhu et al., ECN or Delay, CoNEXT 2016. The hyper increase is that of IEEE 802.1Qau,
from which DCQCN has its three stages. Rates are B/s, times seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from stacklib.quantity.bounds import above_zero, at_least, share, whole

BASE = 5e9  # B/s of the ports that the constants below are for
ABOVE = ("notice", "decay", "timer", "counter", "additive", "floor", "pmax", "gain")
GROW = ("kmin", "kmax", "counter", "additive", "hyper", "floor")


@dataclass(frozen=True, slots=True)
class Dcqcn:
    """Constants of the three points, for ports of ``BASE``.

    Timers and gain are the paper's. The marking is what Alibaba runs (HPCC's simulator,
    run.py: 100 kB, 400 kB and .2 for each 25 Gbit/s). The paper's steps are a
    thousandth of a port, htsim's a twentieth; these are four thousandths, and the
    counter is what a port sends in 100 us. With ``PAPER`` a sender alone needs tens
    of milliseconds until its rate is back.
    """

    kmin: float = 160e3  # bytes that stay behind from which on frames are marked
    kmax: float = 640e3  # bytes from which on all are
    pmax: float = 0.2  # share marked just below that
    notice: float = 50e-6  # s between two notices to a flow, at least
    gain: float = 1 / 256  # weight of one period in alpha
    decay: float = 55e-6  # s without a notice after which alpha shrinks
    timer: float = 55e-6  # s between two increases
    counter: float = 500e3  # bytes between two increases
    fast: int = 5  # increases that only halve the distance to the target
    additive: float = 20e6  # B/s added to the target in each one after those
    hyper: float = 20e6  # B/s added, times the steps past both
    floor: float = 12.5e6  # B/s that a sender keeps

    def __post_init__(self) -> None:
        for name in ABOVE:
            above_zero(**{name: getattr(self, name)})
        at_least(0, kmin=self.kmin, hyper=self.hyper)
        at_least(self.kmin, kmax=self.kmax)
        share(pmax=self.pmax, gain=self.gain)
        whole(0, fast=self.fast)

    def scaled(self, rate: float) -> Dcqcn:
        """The same for ports of another rate: bytes and steps grow with it."""
        above_zero(rate=rate)
        by = rate / BASE
        return replace(self, **{name: by * getattr(self, name) for name in GROW})

    def marks(self, queue: float) -> float:
        """Chance that a frame is marked that leaves so many bytes behind."""
        if queue <= self.kmin:
            return 0.0
        if queue > self.kmax:
            return 1.0
        return self.pmax * (queue - self.kmin) / (self.kmax - self.kmin)


# Table 2 of the fluid model; of hyper increase the papers print no step.
PAPER = Dcqcn(5e3, 200e3, 0.01, counter=10e6, additive=5e6, hyper=50e6)


class Pace:
    """A sender's rate: the reaction point."""

    __slots__ = (
        "alpha",
        "bytes",
        "counts",
        "decays",
        "line",
        "of",
        "rate",
        "target",
        "ticks",
        "times",
    )

    def __init__(self, of: Dcqcn, line: float) -> None:
        self.of, self.line = of, line
        self.rate = self.target = line
        self.alpha, self.bytes = 1.0, 0.0
        self.times = self.counts = 0  # increases by the timer, and by the counter
        self.decays = self.ticks = float("inf")  # when alpha shrinks, when T is over

    def cut(self, now: float) -> None:
        """A notice has come: less, by half of alpha, and all counts begin anew."""
        self.upto(now)
        of = self.of
        self.target = self.rate
        self.rate = max(self.rate * (1 - self.alpha / 2), min(of.floor, self.rate))
        self.alpha = (1 - of.gain) * self.alpha + of.gain
        self.times = self.counts = 0
        self.bytes = 0.0
        self.decays, self.ticks = now + of.decay, now + of.timer

    def upto(self, now: float) -> None:
        """Let its timers run until then."""
        if self.decays <= now:
            periods = 1 + (now - self.decays) // self.of.decay
            self.alpha *= (1 - self.of.gain) ** periods
            self.decays += periods * self.of.decay
        while self.ticks <= now:
            self.ticks += self.of.timer
            self.times += 1
            self._raise()

    def sent(self, size: float) -> None:
        """Count bytes that have left."""
        if self.rate < self.line:
            self.bytes += size
            if self.bytes >= self.of.counter:
                self.bytes -= self.of.counter
                self.counts += 1
                self._raise()

    def _raise(self) -> None:
        """One increase: fast recovery, additive, or hyper."""
        of, both = self.of, min(self.times, self.counts)
        if both > of.fast:
            self.target += (both - of.fast) * of.hyper
        elif max(self.times, self.counts) > of.fast:
            self.target += of.additive
        self.target = min(self.target, self.line)
        self.rate = (self.rate + self.target) / 2
        if self.rate > 0.999 * self.line:  # the limit is taken off
            self.rate, self.ticks = self.line, float("inf")
