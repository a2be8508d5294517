"""What memory instructions ask of the memory system, counted as they are issued."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import state as at

KINDS = ("load", "store", "atomic")


@dataclass(slots=True)
class Traffic:
    """Sums over the requests of a launch, and the sectors they touched in order."""

    requests: dict[str, int] = field(default_factory=dict)
    sectors: dict[str, int] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=dict)
    shared_requests: dict[str, int] = field(default_factory=dict)
    phases: dict[str, int] = field(default_factory=dict)
    passes: dict[str, int] = field(default_factory=dict)
    constant_passes: dict[str, int] = field(default_factory=dict)
    line_sectors: dict[int, list[int]] = field(default_factory=dict)
    line_passes: dict[int, list[int]] = field(default_factory=dict)
    log: Any = None  # (requests, state.REQUEST_COLUMNS)
    touched: Any = None  # their sectors, one after the other

    def add(self, field_name: str, kind: str, count: int) -> None:
        """Add to one of the sums by kind."""
        sums = getattr(self, field_name)
        sums[kind] = sums.get(kind, 0) + count

    def count(self, kind: str, space: str, line: int, row: list[int]) -> None:
        """Add what one row of a program asked for."""
        if space == "shared":
            self.add("shared_requests", kind, row[at.C_REQUESTS])
            self.add("phases", kind, row[at.C_PHASES])
            self.add("passes", kind, row[at.C_PASSES])
            of_line = self.line_passes.setdefault(line, [0, 0])
            of_line[1] += row[at.C_PASSES]
        elif space == "constant":
            self.add("constant_passes", kind, row[at.C_PASSES])
            of_line = self.line_passes.setdefault(line, [0, 0])
            of_line[1] += row[at.C_PASSES]
        elif space in ("global", "copy"):
            self.add("requests", kind, row[at.C_REQUESTS])
            self.add("sectors", kind, row[at.C_SECTORS])
            self.add("lines", kind, row[at.C_LINES])
            self.add("asked", kind, row[at.C_ASKED])
            of_line = self.line_sectors.setdefault(line, [0, 0])
            of_line[1] += row[at.C_SECTORS]
        else:
            return
        of_line[0] += row[at.C_REQUESTS]

    def listed(self, log: Any, sectors: Any, machine: Any) -> None:
        """Keep the list of requests."""
        self.log = log[: machine[at.REQUESTS_MADE]]
        self.touched = sectors[: machine[at.SECTORS_MADE]]
