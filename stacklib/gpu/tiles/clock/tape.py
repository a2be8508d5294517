"""One program's warp instructions: all its warps issue the same, on other elements.

Instructions stand in columns; what a memory instruction asks for differs by warp and is
looked up when the streams are put together (`record`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...issue.streams import KIND, NEEDS, NONE

Made = tuple[int, int]  # where the instructions that made a result begin, how many
NOTHING: Made = (0, 0)


@dataclass(slots=True)
class Tape:
    """The instructions of a warp, written down in runs of equal ones."""

    kind: list[Any] = field(default_factory=list)
    needs: list[Any] = field(default_factory=list)
    line: list[Any] = field(default_factory=list)
    fixed: list[Any] = field(default_factory=list)  # row of `rows`, or -1
    memory: list[Any] = field(default_factory=list)  # memory operation, or -1
    turn: list[Any] = field(default_factory=list)  # which of its requests
    arrive: list[Any] = field(default_factory=list)
    wait: list[Any] = field(default_factory=list)
    rows: list[tuple[int, ...]] = field(default_factory=list)
    events: list[int] = field(default_factory=list)  # arrivals of each
    place: int = 0

    def run(
        self,
        kind: str,
        count: float,
        needs: tuple[Made, ...] = (),
        line: int = 0,
        *,
        row: tuple[int, ...] = (),
        memory: int = NONE,
        chain: bool = False,
        stride: int = 0,
        arrive: int = NONE,
        wait: int = NONE,
    ) -> Made:
        """So many instructions; the j-th needs its share of what others made.

        ``chain``: each needs the one before; ``stride``: the one so many before.
        """
        n = max(1, round(count))
        step: Any = np.arange(n)
        columns = [start + step * made // n for start, made in needs if made]
        back = 1 if chain else stride
        if back:
            columns.append(np.where(step >= back, self.place + step - back, NONE))
        held: Any = np.full((n, NEEDS), NONE)
        for at, column in enumerate(columns[:NEEDS]):
            held[:, at] = column
        self.needs.append(held)
        one: Any = np.ones(n, np.int64)
        self.kind.append(one * KIND[kind])
        self.line.append(one * line)
        self.fixed.append(one * (self._row(row) if row else NONE))
        self.memory.append(one * memory)
        self.turn.append(step)
        self.arrive.append(one * arrive)
        self.wait.append(one * wait)
        self.place += n
        return self.place - n, n

    def _row(self, row: tuple[int, ...]) -> int:
        if row not in self.rows:
            self.rows.append(row)
        return self.rows.index(row)

    def event(self, arrivals: int) -> int:
        """A new event."""
        self.events.append(arrivals)
        return len(self.events) - 1

    def barrier(self, warps: int, line: int) -> None:
        """All warps of the program wait for each other."""
        event = self.event(warps)
        self.run("barrier", 1, line=line, arrive=event, wait=event)

    def columns(self) -> dict[str, Any]:
        """Every column in one piece."""
        names = ("kind", "needs", "line", "fixed", "memory", "turn", "arrive", "wait")
        return {name: np.concatenate(getattr(self, name)) for name in names}
