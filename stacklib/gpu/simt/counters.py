"""What a launch counts: warp instructions by kind and by source line."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

KINDS = (
    "arithmetic",
    "compare",
    "special",
    "branch",
    "load_global",
    "store_global",
    "atomic_global",
    "load_shared",
    "store_shared",
    "atomic_shared",
    "shuffle",
    "vote",
    "barrier",
)


MOST = 500  # instructions of the first warp that are kept, for drawing


@dataclass(slots=True)
class Counters:
    """Sums over all warps of a launch."""

    warps: Counter[str] = field(default_factory=Counter)
    lanes: Counter[str] = field(default_factory=Counter)  # lanes that took part
    lines: Counter[tuple[int, str]] = field(default_factory=Counter)
    branches: int = 0  # branches that warps met
    divergent: int = 0  # those at which their lanes parted
    line_divergent: Counter[int] = field(default_factory=Counter)
    waits: Counter[str] = field(default_factory=Counter)
    doubles: int = 0  # warp instructions that calculate or compare in float64
    first_warp: list[tuple[int, str, tuple[bool, ...]]] = field(default_factory=list)

    def issue(
        self, kind: str, warps: int, lanes: int, line: int, times: int = 1
    ) -> None:
        """Count one instruction of so many warps."""
        self.warps[kind] += warps * times
        self.lanes[kind] += lanes * times
        self.lines[line, kind] += warps * times
