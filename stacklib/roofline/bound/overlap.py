"""Why the roofline takes the longer of two times, and not their sum.

Work is cut into chunks. While one chunk is computed with, the next one is on its way.
With one chunk nothing overlaps and the times add up; with many, all but the first load
and the last computation hide behind the longer of the two. The roofline is the limit
of infinitely many chunks.
"""

from __future__ import annotations

from typing import Any

from stacklib.quantity import maximum, minimum
from stacklib.quantity.bounds import above_zero, whole


def overlapped_time(t_memory: Any, t_compute: Any, chunks: Any) -> Any:
    """Least time of work cut into equal chunks: the longer, a share of the shorter."""
    shorter = minimum(t_memory, t_compute)
    return maximum(t_memory, t_compute) + shorter / chunks


def simulate_overlap(
    t_memory: float, t_compute: float, chunks: int, buffers: int | None = None
) -> float:
    """The same, chunk by chunk: each computes once it has arrived, in order."""
    if not (0 <= t_memory < float("inf") and 0 <= t_compute < float("inf")):
        raise ValueError(f"times {t_memory!r} and {t_compute!r}: seconds from zero on")
    room = chunks if buffers is None else buffers
    whole(chunks=chunks, buffers=room)
    load, compute = t_memory / chunks, t_compute / chunks
    arrived, done = 0.0, 0.0
    finished: list[float] = []
    for i in range(chunks):
        # A load waits until a buffer is free: two are enough when chunks are alike,
        # with one nothing overlaps.
        free = finished[i - room] if i >= room else 0.0
        arrived = max(arrived, free) + load
        done = max(arrived, done) + compute
        finished.append(done)
    return done


def free_intensity(peak: float, bandwidth: float, chunks: int = 64) -> float:
    """The ridge, found by trying: how much work a byte bears before it costs time.

    Bisects on the simulation, in which the ridge is not written anywhere.
    """
    above_zero(peak=peak, bandwidth=bandwidth)
    moving = 1.0 / bandwidth  # of one byte
    free = simulate_overlap(moving, 0.0, chunks) * (1 + 1 / chunks)

    def costs(intensity: float) -> bool:
        return simulate_overlap(moving, intensity / peak, chunks) > free * (1 + 1e-9)

    low, high = 0.0, 1.0
    while not costs(high):
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if costs(middle) else (middle, high)
    return high
