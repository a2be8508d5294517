"""A device that takes work through a queue: what a timer on the host looks at.

The host enqueues kernels, each at a cost, and goes on. The device runs them in
order. ``SimulatedDevice`` keeps both clocks as numbers, so that what a timer reads
can be set against what was really done; ``stacklib.roofline.timing.threaded`` has
the same calls and a real clock.
"""

from __future__ import annotations

import math
import random
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Kernel:
    """Work for the device."""

    name: str  # two kernels of one name share operands and compiled code
    seconds: float
    cold: float = 0.0  # extra seconds when its operands have to be fetched first
    used: bool = True  # whether anybody reads its result

    def __post_init__(self) -> None:
        for words, value in (("seconds", self.seconds), ("cold", self.cold)):
            if not 0 <= value < math.inf:
                raise ValueError(f"kernel {self.name!r}: {words}={value!r}; 0 or more")


@dataclass(frozen=True, slots=True)
class Event:
    """A mark in the queue; ``seconds`` is when the device came to it."""

    seconds: float


class Device(Protocol):
    """What a timer may do with a device."""

    def clock(self) -> float:
        """The host's clock, in seconds."""

    def launch(self, kernel: Kernel) -> None:
        """Enqueue a kernel and return at once."""

    def synchronize(self) -> None:
        """Return when the queue is empty."""

    def record(self) -> Any:
        """Enqueue a mark."""

    def elapsed(self, first: Any, last: Any) -> float:
        """Seconds the device took from one mark to another."""

    def flush(self) -> None:
        """Fill the device's cache with something else."""


@dataclass
class SimulatedDevice:
    """A device whose clocks are numbers: the same calls give the same readings."""

    launch_s: float = 5e-6  # seconds the host spends on each launch
    first_s: float = 0.0  # seconds the host spends once for each kernel name
    depth: int | None = None  # kernels the queue holds; the host waits when it is full
    tick_s: float = 0.0  # step of the host's clock; a reading is rounded down to it
    offset_s: float = 0.0  # what the host's clock shows at the start
    elides: bool = False  # whether kernels whose result nobody uses are dropped
    boost: float = 1.0
    boost_s: float = 0.0  # busy seconds until it is warm
    others_s: float = 0.0
    seed: int = 0  # of that other work
    host: float = field(default=0.0, init=False)  # present time of the host
    device: float = field(default=0.0, init=False)
    busy: float = field(default=0.0, init=False)  # seconds the device has worked
    ran: int = field(default=0, init=False)  # kernels it ran

    def __post_init__(self) -> None:
        times = ("launch_s", "first_s", "tick_s", "offset_s", "boost_s", "others_s")
        for name in times:
            value = getattr(self, name)
            if not 0 <= value < math.inf:
                raise ValueError(f"{name}={value!r}: seconds, 0 or more")
        if self.depth is not None and self.depth < 2:
            raise ValueError(f"depth={self.depth!r}: a queue holds 2 kernels or more")
        if not 1 <= self.boost < math.inf:
            raise ValueError(f"boost={self.boost!r}: 1 or more")
        self.host = self.offset_s
        self._ends: deque[float] = deque()
        self._known: set[str] = set()
        self._cached = ""
        self._draw = random.Random(self.seed)

    def clock(self) -> float:
        """The host's time, rounded down to a tick."""
        if not self.tick_s:
            return self.host
        return math.floor(self.host / self.tick_s + 1e-9) * self.tick_s

    def launch(self, kernel: Kernel) -> None:
        """Enqueue a kernel: the host pays for the launch, the device works later."""
        # The first launch of a kernel pays for compiling and loading it.
        if kernel.name not in self._known:
            self._known.add(kernel.name)
            self.host += self.first_s
        if self.elides and not kernel.used:
            return  # it was never compiled into the program
        # The queue is full: the host waits for the oldest kernel.
        if self.depth is not None and len(self._ends) == self.depth:
            self.host = max(self.host, self._ends.popleft())
        self.host += self.launch_s
        start = max(self.host, self.device)
        self.device = start + self._seconds(kernel)
        self.busy += self.device - start
        self.ran += 1
        self._ends.append(self.device)
        while self._ends and self._ends[0] <= self.host:
            self._ends.popleft()

    def _seconds(self, kernel: Kernel) -> float:
        missing = 0.0 if kernel.name == self._cached else kernel.cold
        self._cached = kernel.name
        work = kernel.seconds + missing
        cool = max(self.boost_s - self.busy, 0.0)  # busy seconds left at the boost
        seconds = min(work / self.boost, cool) + max(work - cool * self.boost, 0.0)
        # Other work only ever adds.
        others = self._draw.expovariate(1 / self.others_s) if self.others_s else 0.0
        return seconds + others

    def synchronize(self) -> None:
        """The host waits until the device has done everything."""
        self.host = max(self.host, self.device)
        self._ends.clear()

    def record(self) -> Event:
        """A mark that the device passes once all before it is done."""
        return Event(max(self.host, self.device))

    def elapsed(self, first: Event, last: Event) -> float:
        """Seconds between two marks, on the device's clock."""
        return last.seconds - first.seconds

    def flush(self) -> None:
        """Fill the cache with something else; costs no time here."""
        self._cached = ""
