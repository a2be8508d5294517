"""Drives as servers that are stepped event by event: queue depth, rate, prefetch.

A drive is so many flash planes at work at once that its rated reads come out: each
takes the drive's latency for a page, and has one page at a time.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass


@dataclass(slots=True)
class Queue:
    """Planes of all drives, each free again at some time."""

    planes: int  # pages that can be read at once
    latency: float  # seconds of each
    depth: int

    def __post_init__(self) -> None:
        if self.planes < 1 or self.depth < 1 or not self.latency > 0:
            raise ValueError(f"planes = {self.planes}, depth = {self.depth}: from 1 on")

    def reads(self, pages: int, start: float, free: list[float]) -> float:
        """Read so many pages from ``start`` on; when the last is there."""
        done = start
        for _ in range(pages):
            end = max(start, free[0]) + self.latency
            heapq.heapreplace(free, end)
            done = max(done, end)
        return done

    def fresh(self) -> list[float]:
        """All planes free at once, as many as can be kept busy."""
        # Planes beyond the depth stay idle.
        return [0.0] * min(self.planes, self.depth)


def run_reads(queue: Queue, pages: int) -> float:
    """Seconds until so many pages, asked for at once, have been read."""
    return queue.reads(pages, 0.0, queue.fresh())


def run_step(
    queue: Queue, *, compute: float, layers: int, pages: int, ahead: bool
) -> float:
    """A decode step, layer by layer.

    ``compute``: seconds of the step without the drives, spread evenly over the layers.
    """
    free, each, now = queue.fresh(), compute / layers, 0.0
    ready = queue.reads(pages, 0.0, free)  # nothing can hide the first layer's
    for layer in range(layers):
        now = max(now, ready)
        if ahead and layer + 1 < layers:
            ready = queue.reads(pages, now, free)
        now += each
        if not ahead and layer + 1 < layers:
            ready = queue.reads(pages, now, free)
    return now
