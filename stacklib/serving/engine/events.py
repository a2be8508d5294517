"""What happened, step by step, and the clock that says when."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

KEPT_EVENTS = 1 << 16  # of the log, so that a server's does not grow for ever
# Work units: one token's row is one. A step's calls cost what about eight rows do.
STEP_WORK = 8
COPY_WORK = 1  # a block to or from a tier


@dataclass(frozen=True, slots=True)
class Event:
    """One line of an engine's log."""

    step: int
    time: float
    what: str
    request: int | None
    detail: MappingProxyType[str, Any]


class Clock:
    """Time as it is read, or counted in units of work where nothing is given.

    - ``read``: seconds, such as ``time.perf_counter``. Counted time does not depend on
      the machine.
    """

    def __init__(self, read: Callable[[], float] | None = None) -> None:
        self.work = 0
        self._read = read

    def now(self) -> float:
        """The time."""
        return self.work if self._read is None else self._read()


class Log:
    """The newest events of an engine, oldest first."""

    def __init__(self, clock: Clock) -> None:
        self.step = 0
        self.events: deque[Event] = deque(maxlen=KEPT_EVENTS)
        self._clock = clock

    def note(self, what: str, request: int | None = None, **detail: Any) -> None:
        """Write one line, at this step and time."""
        seen = MappingProxyType(detail)
        self.events.append(Event(self.step, self._clock.now(), what, request, seen))
