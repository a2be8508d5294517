"""Time of a launch: one multiprocessor replayed, the rest extrapolated.

The busiest unit counts: 133 blocks on 132 units take as long as 264. Its blocks go
through the schedulers, ports and queues of ``issue.replay``; whole waves that are left
out take as long as one that is steady. What each part of the chip needs for its work
alone is a bound: nothing beats it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..issue.replay import Replayed
from ..issue.timeline import Stretch, timeline
from ..issue.waves import Launch

BUSY = 0.6  # a part that is busy for less of the time is not what a launch waits for


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of a launch, and the least that each part of the chip would take."""

    launch: Launch = field(repr=False)

    @property
    def replayed(self) -> Replayed:
        """What the multiprocessor did, cycle by cycle."""
        return self.launch.replayed

    @property
    def total(self) -> float:
        """Seconds of the launch, without the launching."""
        return self.launch.seconds

    def parts(self) -> dict[str, float]:
        """Least seconds of each part by name."""
        done = self.replayed
        scale = self.launch.blocks / done.streams.blocks / done.machine.clock
        return {name: cycles * scale for name, cycles in self.launch.bounds.items()}

    @property
    def bound(self) -> str:
        """The busiest part, or ``latency`` where none is busy most of the time."""
        parts = self.parts()
        busiest = max(parts, key=lambda name: parts[name])
        return busiest if parts[busiest] >= BUSY * self.total else "latency"

    @property
    def stalls(self) -> dict[str, float]:
        """Share of the warps' cycles by reason, as Nsight Compute names them."""
        found = {name: n for name, n in self.replayed.stalls.items() if n}
        whole = sum(found.values())
        return {name: n / whole for name, n in found.items()}

    @property
    def lines(self) -> dict[int, dict[str, int]]:
        """Cycles of the replayed warps by source line and reason."""
        return self.replayed.by_line

    def timeline(self, warps: Sequence[int]) -> list[Stretch]:
        """What these warps did, one stretch of cycles after the other."""
        return timeline(self.replayed, warps)
