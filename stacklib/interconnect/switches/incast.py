"""Senders that share one port, frame by frame, fast enough for milliseconds.

A sender hears of its own frames only, and the port serves them in order of arrival: so
one entry a sender, the arrival of its next frame, is all that waits to happen. The same
fabric in ``engine`` ends at the same times, ten times as slowly.

Left out, of what is there: drops, switches before and behind this one, two flows of one
host.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush, heapreplace

from stacklib.quantity.bounds import above_zero, at_least, whole

from .dcqcn import Dcqcn, Pace

NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class Sender:
    """A flow of its own host, and how far it is from the shared port."""

    size: float  # bytes; endless where infinite
    rate: float  # B/s of its wire
    start: float = 0.0  # s
    there: float = 0.0  # s from a frame's first bit until it waits at the port
    back: float = 0.0  # s from its last bit out of the port to the notice here

    def __post_init__(self) -> None:
        above_zero(rate=self.rate)
        at_least(0, start=self.start, there=self.there, back=self.back)
        if self.size != NEVER:
            above_zero(size=self.size)


@dataclass(frozen=True, slots=True)
class Incast:
    """What happened: ends, and every few microseconds the queue and each sender."""

    ended: tuple[float | None, ...]  # s when its last bit had left the port
    every: float  # s between samples
    times: tuple[float, ...]  # s of the samples
    queue: tuple[float, ...]  # bytes that waited
    rates: tuple[tuple[float, ...], ...]  # B/s that each sender had, a row a sample
    sent: tuple[tuple[float, ...], ...]  # bytes of each that the port had begun
    longest: float  # bytes that waited, at most
    marked: int  # frames
    notices: int
    pauses: int

    def goodput(self, since: float, until: float) -> tuple[float, ...]:
        """B/s of each sender through the port, between two samples."""
        a, b = self._between(since, until)
        took = self.times[b] - self.times[a]
        both = zip(self.sent[a], self.sent[b], strict=True)
        return tuple((more - less) / took for less, more in both)

    def mean_queue(self, since: float, until: float) -> float:
        """Mean bytes that waited, between two samples."""
        a, b = self._between(since, until)
        return sum(self.queue[a:b]) / (b - a)

    def _between(self, since: float, until: float) -> tuple[int, int]:
        a, b = round(since / self.every), round(until / self.every)
        if not 0 <= a < b < len(self.times):
            last = (len(self.times) - 1) * self.every
            raise ValueError(
                f"from {since!r} to {until!r} s: samples are from 0 to {last:.3g} s"
            )
        return a, b


def jain(rates: Sequence[float]) -> float:
    """Fairness of some rates: 1 where all are alike, 1/n where one has all.

    (sum x)^2 / (n sum x^2), Jain, Chiu and Hawe, 1984.
    """
    if not rates or not any(rates):
        raise ValueError(f"rates = {rates!r}: at least one above zero is needed")
    return float(sum(rates)) ** 2 / (len(rates) * sum(x * x for x in rates))


def run_incast(
    senders: Sequence[Sender],
    rate: float,
    of: Dcqcn | None = None,
    *,
    frame: int = 4096,
    xoff: float = NEVER,
    until: float = NEVER,
    every: float = 20e-6,
    seed: int = 0,
) -> Incast:
    """Run senders into one port until all have ended, or until a time.

    - ``rate``: B/s of the port; ``of``: how senders are slowed, not at all if None.
    - ``xoff``: bytes of a sender that wait when it is paused (and no longer).
    - ``every``: s between samples.
    """
    senders = list(senders)
    if not senders:
        raise ValueError("senders is empty: at least one Sender is needed")
    above_zero(rate=rate, every=every)
    whole(frame=frame)
    for name, value in (("xoff", xoff), ("until", until)):
        if value != NEVER:
            above_zero(**{name: value})
    if until == NEVER and any(one.size == NEVER for one in senders):
        raise ValueError("until = inf: a sender without an end needs one")
    return _run(senders, rate, of, frame, xoff, until, every, random.Random(seed))


def _run(
    senders: list[Sender],
    rate: float,
    of: Dcqcn | None,
    frame: int,
    xoff: float,
    until: float,
    every: float,
    drawn: random.Random,
) -> Incast:
    many, chance = range(len(senders)), drawn.random
    paces = [Pace(of, one.rate) for one in senders] if of else []
    left = [one.size for one in senders]
    ended: list[float | None] = [None] * len(senders)
    notified, told = [-NEVER] * len(senders), [deque[float]() for _ in many]
    own = [deque[tuple[float, float]]() for _ in many]  # frames: end, bytes
    held, stops = [0.0] * len(senders), [NEVER] * len(senders)
    begun, now_at = [0.0] * len(senders), [0.0] * len(senders)
    queue: deque[tuple[float, int, float]] = deque()  # frames: begin, sender, bytes
    waiting = free = longest = 0.0
    marked = notices = pauses = 0
    times: list[float] = []
    queues: list[float] = []
    rates: list[tuple[float, ...]] = []
    sent: list[tuple[float, ...]] = []
    heap: list[tuple[float, int]] = []
    for i in many:
        heappush(heap, (senders[i].start + senders[i].there, i))
    while heap or queue:
        at, i = heap[0] if heap else (NEVER, -1)
        if at > until and not (queue and queue[0][0] <= until):
            break
        while queue and queue[0][0] <= at:  # frames that leave before that
            begin, j, size = queue.popleft()
            while len(times) * every <= begin:
                times.append(len(times) * every)
                queues.append(waiting)
                rates.append(tuple(now_at))
                sent.append(tuple(begun))
            waiting -= size
            begun[j] += size
            if not of or waiting <= of.kmin:
                continue
            if waiting > of.kmax or chance() < of.marks(waiting):
                marked += 1
                end = begin + size / rate
                if end - notified[j] >= of.notice:
                    notified[j] = end
                    notices += 1
                    told[j].append(end + senders[j].back)
        if i < 0:
            break
        one = senders[i]
        now = at - one.there
        if now >= stops[i]:  # paused: until what waits is no more than xoff
            stops[i], again = NEVER, now
            while held[i] > xoff:
                over, size = own[i].popleft()
                held[i] -= size
                again = max(again, over + one.there)
            if again > now:
                pauses += 1
                heapreplace(heap, (again + one.there, i))
                continue
        size = min(frame, left[i])
        left[i] -= size
        pace = one.rate
        if of:
            while told[i] and told[i][0] <= now:
                paces[i].cut(told[i].popleft())
            paces[i].upto(now)
            pace = paces[i].rate
            paces[i].sent(size)
        now_at[i] = pace if left[i] else 0.0
        begin = max(at, free)
        free = begin + size / rate
        queue.append((begin, i, size))
        waiting += size
        longest = max(longest, waiting)
        if xoff < NEVER:
            while own[i] and own[i][0][0] <= at:
                held[i] -= own[i].popleft()[1]
            own[i].append((free, size))
            held[i] += size
            if held[i] > xoff and stops[i] == NEVER:
                stops[i] = at + one.there
        if left[i]:
            heapreplace(heap, (at + size / pace, i))
        else:
            ended[i] = free if free <= until else None
            heappop(heap)
    return Incast(
        tuple(ended),
        every,
        tuple(times),
        tuple(queues),
        tuple(rates),
        tuple(sent),
        longest,
        marked,
        notices,
        pauses,
    )
