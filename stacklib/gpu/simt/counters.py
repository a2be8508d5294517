"""What a launch counts: warp instructions by kind and by source line."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class Counters:
    """Sums over all warps of a launch."""

    warps: Counter[str] = field(default_factory=Counter)
    lanes: Counter[str] = field(default_factory=Counter)  # lanes that took part
    lines: Counter[tuple[int, str]] = field(default_factory=Counter)
    branches: int = 0  # branches that warps met
    divergent: int = 0  # those at which their lanes parted
    line_divergent: Counter[int] = field(default_factory=Counter)
    first_warp: list[tuple[int, str, tuple[bool, ...]]] = field(default_factory=list)

    @property
    def doubles(self) -> int:
        """Warp instructions that calculate or compare in float64."""
        return self.warps["fp64"]

    def issue(self, kind: str, warps: int, lanes: int, line: int) -> None:
        """Count an instruction that so many warps issued."""
        self.warps[kind] += warps
        self.lanes[kind] += lanes
        self.lines[line, kind] += warps
