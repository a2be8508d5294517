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
    """What became of a trace."""

    served: NDArray[np.int64]  # (accesses,) level that had the data, 0 the nearest
    time: float  # sum of the latencies of all accesses, one after the other
    hit_rates: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Latency of an access on average."""
        return self.time / len(self.served)


def walk_tiers(
    caches: Sequence[Cache], latencies: Sequence[float], addresses: ArrayLike
) -> TierWalk:
    """Run loads through a chain of caches and add up how long each took."""
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

    ``page``: bytes of a page; addresses are those of its start.
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
