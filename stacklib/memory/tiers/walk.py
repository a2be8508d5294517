"""An access trace through caches and what lies behind them, timed access by access."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..cache.cache import Cache

__all__ = ["TierWalk", "walk_tiers", "zipf_trace"]


@dataclass(frozen=True, slots=True)
class TierWalk:
    """What became of a trace.

    Attributes
    ----------
    served : int array (accesses,)
        Level that had the data, 0 the nearest; the last level holds everything.
    time : float
        Sum of the latencies of all accesses, one after the other.
    hit_rates : tuple of float
        Of every level but the last, among the accesses that reach it; 0 where none
        does.
    """

    served: NDArray[np.int64]
    time: float
    hit_rates: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Latency of an access on average."""
        return self.time / len(self.served)


def walk_tiers(
    caches: Sequence[Cache], latencies: Sequence[float], addresses: ArrayLike
) -> TierWalk:
    """Run loads through a chain of caches and add up how long each took.

    Parameters
    ----------
    caches : sequence of Cache
        Every level but the last, nearest first.
    latencies : sequence of float
        Of an access served by each level, the last included.
    addresses : int array (accesses,)
        Byte addresses, all loads.

    Raises
    ------
    ValueError
        For counts that do not match, a latency that is not above zero, or what
        `Cache.run` refuses.
    """
    if len(latencies) != len(caches) + 1:
        raise ValueError(f"{len(latencies)} latencies for {len(caches)} caches and one")
    if not all(0 < t < np.inf for t in latencies):
        raise ValueError(f"latencies {list(latencies)}: each must be above zero")
    trace = np.asarray(addresses)
    served = np.full(trace.shape, len(caches), np.int64)
    left = np.arange(trace.size)
    rates = []
    for level, cache in enumerate(caches):
        if not len(left):
            rates.append(0.0)
            continue
        traffic = cache.run(trace[left])
        served[left[traffic.hit]] = level
        left = left[~traffic.hit]
        rates.append(traffic.hit_rate)
    time = 0.0
    for level in served.tolist():  # as a clock would: one access, then the next
        time += latencies[level]
    return TierWalk(served, time, tuple(rates))


def zipf_trace(
    pages: int, accesses: int, *, exponent: float = 1.0, page: int = 4096, seed: int = 0
) -> NDArray[np.int64]:
    """Addresses of pages drawn with a chance that falls as 1 / rank ** exponent.

    Parameters
    ----------
    pages, accesses : int
        How many pages there are, and how many draws.
    exponent : float
        0 for even chances.
    page : int
        Bytes of a page; addresses are those of its start.
    seed : int
        Of the draws and of the order of the pages in memory.

    Raises
    ------
    ValueError
        For counts below one.
    """
    if pages < 1 or accesses < 1 or page < 1:
        raise ValueError(f"pages = {pages}, accesses = {accesses}, page = {page}")
    generator = np.random.default_rng(seed)
    weights = np.arange(1, pages + 1, dtype=float) ** -exponent
    edges = np.cumsum(weights) / weights.sum()
    ranks = np.minimum(np.searchsorted(edges, generator.random(accesses)), pages - 1)
    order = generator.permutation(pages)
    found: NDArray[np.int64] = order[ranks].astype(np.int64) * page
    return found
