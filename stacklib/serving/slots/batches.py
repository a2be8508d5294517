"""Static against continuous batches, counted in steps.

A static batch lasts as long as its longest answer: for exponential lengths the mean of
the longest of B is H_B = 1 + 1/2 + ... + 1/B times the mean of one (A. Rényi, 1953), so
slots that are refilled at once make H_B times as many tokens a step.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Sequence
from dataclasses import dataclass

from stacklib.quantity.bounds import above_zero, whole


def harmonic(slots: int) -> float:
    """H_B, the gain of continuous batching over static for exponential lengths.

    - ``slots``: B, sequences in a batch.
    """
    whole(slots=slots)
    return sum(1 / each for each in range(1, slots + 1))


@dataclass(frozen=True, slots=True)
class Stay:
    """One sequence in its slot: from its first step until before ``end``."""

    request: int
    slot: int
    start: int
    end: int


def static(lengths: Sequence[int], slots: int) -> tuple[Stay, ...]:
    """Batches one after the other: the next begins when the last of this one ended.

    - ``lengths``: steps of each request, in the order they came.
    """
    _check(lengths, slots)
    stays, start = [], 0
    for first in range(0, len(lengths), slots):
        batch = lengths[first : first + slots]
        stays += [Stay(first + n, n, start, start + x) for n, x in enumerate(batch)]
        start += max(batch)
    return tuple(stays)


def continuous(lengths: Sequence[int], slots: int) -> tuple[Stay, ...]:
    """A slot takes the next request in the step after its last one ended."""
    _check(lengths, slots)
    free = [(0, slot) for slot in range(slots)]
    stays = []
    for request, length in enumerate(lengths):
        start, slot = heapq.heappop(free)
        stays.append(Stay(request, slot, start, start + length))
        heapq.heappush(free, (start + length, slot))
    return tuple(stays)


def steps(stays: Sequence[Stay]) -> int:
    """Steps until all have ended."""
    return max(each.end for each in stays)


def drawn_lengths(requests: int, mean: float, seed: int = 0) -> list[int]:
    """Exponential lengths, rounded up to whole steps.

    - ``mean``: of the exponential, above zero.
    """
    whole(requests=requests)
    above_zero(mean=mean)
    draw = random.Random(seed)
    return [1 + int(draw.expovariate(1 / mean)) for _ in range(requests)]


def _check(lengths: Sequence[int], slots: int) -> None:
    whole(slots=slots)
    if not lengths:
        raise ValueError("lengths is empty: at least one request is needed")
    for length in lengths:
        whole(length=length)
