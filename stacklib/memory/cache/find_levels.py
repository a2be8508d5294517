"""The inverse of a chase: from latency by working set back to sizes and latencies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stacklib.roofline.host.plateaus import plateaus

__all__ = ["FoundLevel", "find_levels"]

STEP = 1.25  # a level is slower than the one before by this much or more
SPAN = 1.4  # and holds over sizes that differ by this factor


@dataclass(frozen=True, slots=True)
class FoundLevel:
    """A level that a curve shows.

    Attributes
    ----------
    latency : float
        Median over its sizes, in the unit of the curve.
    size : float or None
        Bytes at which the latency is half-way, in ratio, to the next level; None for
        the last, which the curve does not leave.
    first, last : int
        Points of the curve that belong to it.
    """

    latency: float
    size: float | None
    first: int
    last: int


def find_levels(
    sizes: Sequence[float],
    latencies: Sequence[float],
    step: float = STEP,
    span: float = SPAN,
) -> list[FoundLevel]:
    """Levels in a curve of latency by working set; nothing is known beforehand.

    The curve turned upside down is one of loads a second, which falls in steps as a
    bandwidth does: ``roofline.host.plateaus`` finds them.

    Parameters
    ----------
    sizes : sequence of float
        Working sets in bytes, growing.
    latencies : sequence of float
        At each, in any unit.
    step : float
        Ratio of latencies from which two neighbours are two levels. Noise asks for
        more.
    span : float
        Ratio of sizes over which a level must hold.

    Returns
    -------
    list of FoundLevel
        Nearest first.

    Raises
    ------
    ValueError
        For what ``plateaus`` refuses: fewer than four points, sizes that do not grow,
        latencies that are not above zero.

    Examples
    --------
    >>> sizes = [1024 * 2**i for i in range(12)]
    >>> found = find_levels(sizes, [4 if s <= 32768 else 90 for s in sizes])
    >>> [level.latency for level in found]
    [4.0, 90.0]
    """
    if not all(t > 0 for t in latencies):
        raise ValueError(f"latencies {list(latencies)!r}: give numbers above zero")
    rates = [1 / t for t in latencies]
    return [
        FoundLevel(float(f"{1 / p.rate:.12g}"), p.ends, p.first, p.last)
        for p in plateaus(sizes, rates, step, span)
    ]
