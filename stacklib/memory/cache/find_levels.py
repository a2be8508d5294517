"""The inverse of a chase: from latency by working set back to sizes and latencies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stacklib.roofline.host.plateaus import plateaus

STEP = 1.25  # a level is slower than the one before by this much or more
SPAN = 1.4  # and holds over sizes that differ by this factor


@dataclass(frozen=True, slots=True)
class FoundLevel:
    """A level that a curve shows."""

    latency: float  # median over its sizes, in the unit of the curve
    size: float | None  # bytes at which the latency is half-way
    first: int  # points of the curve that belong to it
    last: int


def find_levels(
    sizes: Sequence[float],  # working sets in bytes, growing
    latencies: Sequence[float],
    step: float = STEP,
    span: float = SPAN,
) -> list[FoundLevel]:
    """Levels in a curve of latency by working set; nothing is known beforehand.

    The curve turned upside down is one of loads a second, which falls in steps as a
    bandwidth does: ``roofline.host.plateaus`` finds them.
    """
    if not all(t > 0 for t in latencies):
        raise ValueError(f"latencies {list(latencies)!r}: give numbers above zero")
    rates = [1 / t for t in latencies]
    return [
        FoundLevel(float(f"{1 / p.rate:.12g}"), p.ends, p.first, p.last)
        for p in plateaus(sizes, rates, step, span)
    ]
