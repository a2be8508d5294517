"""How many machines read, how many write, and how many requests both can do.

Floats or quantities: tokens of a request over tokens a second of a machine.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from typing import Any

from stacklib.quantity.bounds import above_zero, whole

from ..simulation.results import Simulation

STEP = 1.05  # from one rate that is tried to the next
SHARE = 0.9  # of the requests, whose limits are to be met: that of DistServe


def mix(first: int, second: int, read: Any, written: Any) -> Any:
    """Tokens written per token read at which both pools are full.

    - ``first``, ``second``: machines that read and that write
    - ``read``, ``written``: tokens a second of one
    """
    whole(first=first, second=second)
    return second * written / (first * read)


def readers(prompt: Any, new: Any, read: Any, written: Any) -> Any:
    """Machines that read per machine that writes, where neither waits.

    - ``prompt``, ``new``: tokens of a request
    """
    return (prompt / read) / (new / written)


def capacity(
    first: int, second: int, prompt: Any, new: Any, read: Any, written: Any
) -> Any:
    """Requests a second: of the pool that is full first."""
    whole(first=first, second=second)
    return min(first * read / prompt, second * written / new)


def sustained(
    served: Callable[[float], Simulation],
    slo: Mapping[str, float],
    *,
    share: float = SHARE,
    least: float = 1.0,
    most: float = 200.0,
) -> float:
    """The highest rate at which so many requests meet every limit; 0 where none does.

    A rate a twentieth higher misses them, and rates above that are taken to miss, too.

    - ``served``: a simulation of so many requests a second
    - ``slo``: limits as of `Simulation.goodput`
    """
    above_zero(least=least, most=most, share=share)
    if share > 1:
        raise ValueError(f"share = {share}: at most 1")
    rates = [least]
    while rates[-1] * STEP <= most:
        rates.append(rates[-1] * STEP)
    misses = bisect_left(
        rates, True, key=lambda rate: served(rate).goodput(slo).share < share
    )
    return rates[misses - 1] if misses else 0.0
