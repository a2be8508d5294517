"""A pointer chase walked through simulated caches, load by load.

The counting twin of ``chase_model``: the same cycle, through ``Cache`` after
``Cache``, and every load answered by the first that has its line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..warp.coalescing import LINE
from .cache import Cache
from .chain import answers, chain
from .chase_model import ChaseLevel, check, lines_of

LAPS = 2  # the first fills the caches, the second counts
PLACES = 64  # physical memory, in working sets, over which pages are thrown


@dataclass(frozen=True, slots=True)
class Chase:
    """One lap of a chase, through caches that the lap before has filled."""

    levels: tuple[str, ...]  # names, nearest first
    answered: tuple[int, ...]  # loads that each level answered
    latency: float  # mean of all loads, in the unit of the levels' latencies

    @property
    def loads(self) -> int:
        """Loads of the lap."""
        return sum(self.answered)

    @property
    def served(self) -> tuple[float, ...]:
        """Share of the loads that each level answered."""
        return tuple(n / self.loads for n in self.answered)


def addresses(working_set: int, stride: int, page: int | None, seed: int) -> Any:
    """Byte addresses of one lap in the order of the chase, where the pages lie."""
    r = np.random.default_rng(seed)
    order = r.permutation(lines_of(working_set, stride)) * stride
    if page is None:
        return order
    pages = -(-working_set // page)
    place = r.permutation(PLACES * pages)[:pages]
    return place[order // page] * page + order % page


def chase(
    working_set: int,  # bytes from the first line to the last
    levels: Sequence[ChaseLevel],
    stride: int = LINE,  # bytes from one line of the working set to the next
    page: int | None = None,  # bytes of a page
    seed: int = 0,
    policy: str = "lru",
) -> Chase:
    """Walk one random cycle through a working set twice, and count the second time."""
    check(levels, stride)
    lap = addresses(working_set, stride, page, seed)
    caches = [
        Cache(level.size or 0, level.ways, level.line, policy=policy, seed=seed + 1)
        for level in levels[:-1]
    ]
    trace = np.tile(lap, LAPS)
    by: Any = answers(chain(caches, trace), len(trace))[-len(lap) :]
    answered = np.bincount(by, minlength=len(levels)).tolist()
    mean = sum(
        n * level.latency for n, level in zip(answered, levels, strict=True)
    ) / len(lap)
    return Chase(tuple(level.name for level in levels), tuple(answered), mean)
