"""Collectives whose caller may pad them: none takes longer than a larger one.

NCCL's tables have borders, at which a larger array takes less time: another protocol is
chosen, or a tree's share of its bandwidth rises. A batch of one token more would then
seem to make a step shorter. An engine that knows the borders sends a few bytes more;
who leaves all to the library does not.
"""

from __future__ import annotations

from functools import lru_cache
from math import frexp
from typing import Any

from stacklib.hardware.factors import efficiency_moved

from .machine import Fabric
from .timed import Timed, collective_time

FAR = 2  # doublings of a size beyond its own, in which a border may lie that helps
_PARTS = 4  # points of a doubling whose choices are compared


def padded_time(collective: str, size: float, on: Fabric, *, direct: bool) -> float:
    """Seconds of a collective of so many bytes, or of more where an engine gains by it.

    - ``collective``, ``size``, ``on``, ``direct``: as ``collective_time`` has them
    """
    own = collective_time(collective, size, on, direct=direct).time
    if not direct:
        return own
    octave, moved = frexp(size)[1] - 1, efficiency_moved()
    later = (
        time
        for each in range(octave, octave + 1 + FAR)
        for start, time in _borders(collective, on, each, moved)
        if start >= size
    )
    return min(own, *later)


@lru_cache(maxsize=4096)
def _borders(
    collective: str, on: Fabric, octave: int, moved: Any
) -> tuple[tuple[float, float], ...]:
    """Sizes of a doubling from which another choice holds or a table's row begins."""

    def at(size: int) -> Timed:
        return collective_time(collective, size, on, direct=True)

    def way(found: Timed) -> tuple[str, str]:
        return found.algorithm, found.protocol

    low, step = 1 << octave, max(1, (1 << octave) // _PARTS)
    before = at(low)
    found = [(float(low), before.time)]
    for high in range(low + step, (2 << octave) + 1, step):
        here, first = at(high), high
        while way(here) != way(before) and first - low > 1:
            middle = (low + first) // 2
            if way(at(middle)) == way(here):
                first = middle
            else:
                low = middle
        if way(here) != way(before):
            found.append((float(first), at(first).time))
        low, before = high, here
    return tuple(found)
