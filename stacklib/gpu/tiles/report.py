"""What a launch of tiles did, under the names profilers use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib.hardware import Accelerator
from stacklib.memory.warp.coalescing import SECTOR

from ..issue.occupancy import Occupancy
from ..simt.cache_hits import CacheHits
from ..simt.requests import Traffic
from ..simt.times import Times
from .clock.estimate import Resources


@dataclass(frozen=True, slots=True)
class TileReport:
    """Counts of one launch; what a compiler would decide is an estimate."""

    program: str
    device: Accelerator
    grid: tuple[int, int, int]
    num_warps: int  # of a program
    num_stages: int  # tiles of a loop that are loaded ahead
    traffic: Traffic
    levels: CacheHits
    tensor: dict[str, int]  # matrix instructions, by shape and format
    resources: Resources  # estimate: registers and shared memory of a program
    occupancy: Occupancy  # programs resident on a unit, with that estimate
    waves: float  # programs over what all units hold at once; 0 where none fits
    infeasible: str  # the sum that does not fit, where one does not
    times: Times | None  # seconds by part; None where there is no time
    timeless: str  # why there is none

    @property
    def registers(self) -> int:
        """Of a thread, estimated."""
        return self.resources.registers

    @property
    def shared_bytes(self) -> int:
        """Of a program, estimated."""
        return self.resources.shared_bytes

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
        """Bytes that elements asked for over bytes of the sectors touched."""
        asked = sum(self.traffic.asked.values())
        return asked / self.bytes_moved if self.bytes_moved else 1.0

    @property
    def tensor_instructions(self) -> int:
        """Matrix instructions of all shapes."""
        return sum(self.tensor.values())

    @property
    def time(self) -> float | None:
        """Estimated seconds, without the launching; None where `timeless` says why."""
        return self.times.total if self.times else None

    @property
    def bound(self) -> str:
        """The part of the chip that the launch waits for; empty without a time."""
        return self.times.bound if self.times else ""

    def rows(self) -> list[tuple[str, Any]]:
        """The report, line by line: what, and how much."""
        return [
            ("sectors a request", self.sectors_per_request),
            ("bytes used of bytes moved", self.efficiency),
            ("L1 hit rate", self.levels.l1_hit_rate),
            ("L2 hit rate", self.levels.l2_hit_rate),
            ("bytes from memory", self.levels.read),
            ("bytes to memory", self.levels.written),
            *sorted(self.tensor.items()),
            ("registers a thread (estimate)", self.registers),
            ("shared bytes (estimate)", self.shared_bytes),
            ("programs a unit", self.occupancy.blocks),
            ("occupancy", self.occupancy.occupancy),
            ("limited by", self.infeasible or self.occupancy.limiter),
            *self._timed(),
        ]

    def _timed(self) -> list[tuple[str, Any]]:
        if self.times is None:
            return [("no time", self.timeless)]
        microseconds = 1e6 * self.times.total
        return [("estimated time (µs)", microseconds), ("bound by", self.bound)]

    def lines(self) -> list[dict[str, Any]]:
        """By source line: requests to global memory and their sectors."""
        return [
            {"line": line, "requests": requests, "sectors": sectors}
            for line, (requests, sectors) in sorted(self.traffic.line_sectors.items())
        ]

    def __str__(self) -> str:
        head = f"{self.program} on {self.device.short}, grid {self.grid}"
        head += f" of programs of {self.num_warps} warps"
        width = max(len(name) for name, _ in self.rows())
        lines = (f"  {name:{width}}  {_text(value)}" for name, value in self.rows())
        return "\n".join([head, *lines])


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
