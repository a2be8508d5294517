"""What a profiler would print about a launch, under the names profilers use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib.hardware import Accelerator
from stacklib.memory.warp.coalescing import SECTOR

from ..issue.occupancy import Occupancy
from .cache_hits import CacheHits
from .counters import Counters
from .requests import Traffic
from .times import Times


@dataclass(frozen=True, slots=True)
class Report:
    """Counts of one launch, and its estimated time."""

    kernel: str
    device: Accelerator  # whose units, caches and rates were used
    grid: tuple[int, int, int]  # sizes as launched
    block: tuple[int, int, int]
    registers: int  # a thread, as given
    shared_bytes: int  # a block, as declared by the kernel
    occupancy: Occupancy  # blocks resident on a unit, and what keeps more away
    waves: float  # blocks over what all units hold at once
    counters: Counters  # instructions
    traffic: Traffic  # requests
    levels: CacheHits  # cache hits and bytes
    times: Times  # seconds by part
    # Threads' own arrays: name, registers or local memory, bytes a thread.
    own: tuple[tuple[str, str, int], ...] = ()

    @property
    def instructions(self) -> int:
        """Warp instructions issued."""
        return sum(self.counters.warps.values())

    @property
    def active_lanes(self) -> float:
        """Lanes that take part in an instruction, of 32."""
        return sum(self.counters.lanes.values()) / max(1, self.instructions)

    @property
    def branch_efficiency(self) -> float:
        """Share of the branches at which a warp's lanes stayed together."""
        if not self.counters.branches:
            return 1.0
        return 1 - self.counters.divergent / self.counters.branches

    @property
    def sectors_per_request(self) -> float:
        """Sectors of 32 bytes a warp's request to global memory touches."""
        requests = sum(self.traffic.requests.values())
        return sum(self.traffic.sectors.values()) / requests if requests else 0.0

    @property
    def bytes_moved(self) -> int:
        """Bytes of the sectors that requests touched."""
        return SECTOR * sum(self.traffic.sectors.values())

    @property
    def efficiency(self) -> float:
        """Bytes that lanes asked for over bytes of the sectors touched."""
        asked = sum(self.traffic.asked.values())
        return asked / self.bytes_moved if self.bytes_moved else 1.0

    @property
    def bank_conflicts(self) -> int:
        """Passes over shared memory beyond one a phase, as profilers count them."""
        return sum(self.traffic.passes.values()) - sum(self.traffic.phases.values())

    @property
    def barriers(self) -> int:
        """Barrier instructions of all warps."""
        return self.counters.warps["barrier"]

    @property
    def time(self) -> float:
        """Estimated seconds, without the launching."""
        return self.times.total

    @property
    def bound(self) -> str:
        """The part of the chip that the launch waits for."""
        return self.times.bound

    def rows(self) -> list[tuple[str, Any]]:
        """The report, line by line: what, and how much."""
        return [
            ("warp instructions", self.instructions),
            ("active lanes an instruction", self.active_lanes),
            ("branch efficiency", self.branch_efficiency),
            ("sectors a request", self.sectors_per_request),
            ("bytes used of bytes moved", self.efficiency),
            ("L1 hit rate", self.levels.l1_hit_rate),
            ("L2 hit rate", self.levels.l2_hit_rate),
            ("bytes from memory", self.levels.read),
            ("bytes to memory", self.levels.written),
            ("shared-memory passes", sum(self.traffic.passes.values())),
            ("bank conflicts", self.bank_conflicts),
            ("barriers", self.barriers),
            ("blocks a unit", self.occupancy.blocks),
            ("occupancy", self.occupancy.occupancy),
            ("limited by", self.occupancy.limiter),
            ("estimated time (µs)", 1e6 * self.time),
            ("bound by", self.bound),
            *((name, f"{size} B in {where}") for name, where, size in self.own),
        ]

    def lines(self) -> list[dict[str, Any]]:
        """The same by source line: instructions, lanes parted, sectors, passes."""
        numbers = sorted({line for line, _ in self.counters.lines})
        return [
            {
                "line": line,
                "instructions": sum(
                    n for (at, _), n in self.counters.lines.items() if at == line
                ),
                "divergent": self.counters.line_divergent[line],
                "sectors": self.traffic.line_sectors.get(line, [0, 0])[1],
                "passes": self.traffic.line_passes.get(line, [0, 0])[1],
            }
            for line in numbers
        ]

    def __str__(self) -> str:
        head = f"{self.kernel} on {self.device.short}, grid {self.grid}"
        head += f" of blocks {self.block}"
        width = max(len(name) for name, _ in self.rows())
        return "\n".join(
            [
                head,
                *(f"  {name:{width}}  {_text(value)}" for name, value in self.rows()),
            ]
        )


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
