"""Lanes of a warp that tell each other something, each lane a thread of Python.

Lanes run on until each waits, has ended, or is at a barrier of the block. Of those that
wait, the ones at the place that stands first in the source go on together: lanes that
skipped a branch wait behind it for those inside. Where lanes go round a loop and skip
the place in some rounds, that rule does not say who belongs together: callers avoid it.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

SECONDS = 20  # a lane waits for the others, before it is taken to hang


class Meeting:
    """Where lanes of one warp meet."""

    def __init__(self, lanes: int) -> None:
        self.running, self.at_barrier = lanes, 0
        self.changed = threading.Condition()
        self.waiting: dict[int, tuple[Any, Any]] = {}
        self.told: dict[int, dict[int, Any]] = {}

    def exchange(self, lane: int, given: Any) -> dict[int, Any]:
        """What the lanes that are at this place give, by lane."""
        place = stack()
        with self.changed:
            self.waiting[lane] = place, given
            self._stopped()
            while lane not in self.told:
                if not self.changed.wait(SECONDS):
                    raise TimeoutError(f"lane {lane} waits for its warp")
            return self.told.pop(lane)

    def left(self, for_barrier: bool = False) -> None:
        """A lane has ended, or waits for its block."""
        with self.changed:
            self.at_barrier += for_barrier
            self._stopped()

    def back(self) -> None:
        """The barrier of the block is complete: its lanes run again."""
        with self.changed:
            self.running += self.at_barrier
            self.at_barrier = 0

    def _stopped(self) -> None:
        self.running -= 1
        if self.running or not self.waiting:
            return
        first = min(place for place, _ in self.waiting.values())
        group = {n: got for n, (place, got) in self.waiting.items() if place == first}
        for lane in group:
            del self.waiting[lane]
            self.told[lane] = group
        self.running += len(group)
        self.changed.notify_all()


def stack() -> tuple[int, ...]:
    """Lines of the kernel and of the functions it is in, the kernel's first."""
    frame: Any = sys._getframe(1)
    while frame.f_globals.get("__name__", "").startswith("stacklib.gpu.simt.one_"):
        frame = frame.f_back
    file, lines = frame.f_code.co_filename, []
    while frame is not None and frame.f_code.co_filename == file:
        lines.append(frame.f_lineno)
        frame = frame.f_back
    return tuple(reversed(lines))


class Exchanges:
    """Shuffles, votes, matches and sums over the lanes that are there."""

    lane: int
    lanes = 32  # of a warp
    meeting: Meeting

    def shuffle(self, value: Any, source: Any, width: int = 0) -> Any:
        """The value of a lane of the same part of the warp."""
        width = width or self.lanes
        first = self.lane // width * width
        return self.meeting.exchange(self.lane, value)[first + int(source) % width]

    def shuffle_down(self, value: Any, delta: Any, width: int = 0) -> Any:
        """The value of the lane above."""
        width = width or self.lanes
        inside = self.lane % width + int(delta) < width
        given = self.meeting.exchange(self.lane, value)
        return given[self.lane + int(delta) * inside]

    def shuffle_up(self, value: Any, delta: Any, width: int = 0) -> Any:
        """The value of the lane below."""
        inside = self.lane % (width or self.lanes) >= int(delta)
        given = self.meeting.exchange(self.lane, value)
        return given[self.lane - int(delta) * inside]

    def shuffle_xor(self, value: Any, bits: Any, width: int = 0) -> Any:
        """The value of the lane whose number differs in these bits."""
        source = self.lane ^ int(bits)
        width = width or self.lanes
        inside = source // width <= self.lane // width
        given = self.meeting.exchange(self.lane, value)
        return given[source if inside else self.lane]

    def ballot(self, test: Any) -> int:
        """A bit for each lane for which it holds."""
        given = self.meeting.exchange(self.lane, bool(test))
        return sum(1 << lane for lane, held in given.items() if held)

    def any(self, test: Any) -> bool:
        """Whether it holds for some lane."""
        return any(self.meeting.exchange(self.lane, bool(test)).values())

    def all(self, test: Any) -> bool:
        """Whether it holds for every lane."""
        return all(self.meeting.exchange(self.lane, bool(test)).values())

    def active_mask(self) -> int:
        """A bit for each lane that is here."""
        return self.ballot(True)

    def match_any(self, value: Any) -> int:
        """A bit for each lane with the same value."""
        given = self.meeting.exchange(self.lane, value)
        return sum(1 << lane for lane, other in given.items() if other == value)

    def reduce_add(self, value: Any) -> Any:
        """The sum over the lanes that are here."""
        return sum(self.meeting.exchange(self.lane, value).values())

    def reduce_max(self, value: Any) -> Any:
        """The largest over the lanes that are here."""
        return max(self.meeting.exchange(self.lane, value).values())

    def reduce_min(self, value: Any) -> Any:
        """The smallest over the lanes that are here."""
        return min(self.meeting.exchange(self.lane, value).values())
