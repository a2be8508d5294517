"""An access trace through caches and what lies behind them, by a clock."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stacklib.quantity.bounds import whole

from ..cache.cache import Cache
from ..cache.chain import answers, chain


@dataclass(frozen=True, slots=True)
class TierWalk:
    """What became of a trace."""

    served: NDArray[np.int64]  # (accesses,) level that had the data, 0 the nearest
    time: float  # when the last access was answered
    mean: float  # latency of an access on average
    hit_rates: tuple[float, ...]


def walk_tiers(
    caches: Sequence[Cache],
    latencies: Sequence[float],
    addresses: ArrayLike,
    in_flight: int = 1,
) -> TierWalk:
    """Run loads through a chain of caches, so many under way at once, by a clock.

    The mean latency is read off the clock: the loads under way, added up over time,
    over how many there were (Little, 1961).
    """
    if len(latencies) != len(caches) + 1:
        raise ValueError(f"{len(latencies)} latencies for {len(caches)} caches and one")
    if not all(0 < t < np.inf for t in latencies):
        raise ValueError(f"latencies {list(latencies)}: each must be above zero")
    whole(in_flight=in_flight)
    trace = np.asarray(addresses)
    found = chain(caches, trace) if caches else []
    served = answers(found, len(trace))
    rates = [traffic.hit_rate for traffic in found]
    rates += [0.0] * (len(caches) - len(rates))
    waits = (latencies[level] for level in served.tolist())
    time, waited = _clock(waits, in_flight)
    return TierWalk(served, time, waited / len(served), tuple(rates))


def _clock(waits: Iterable[float], in_flight: int) -> tuple[float, float]:
    """When the last load is answered, and the loads under way added up over time."""
    now = waited = 0.0
    ends: list[float] = []  # of the loads under way

    def advance() -> None:
        nonlocal now, waited
        under_way, end = len(ends), heapq.heappop(ends)
        waited += under_way * (end - now)
        now = end

    for wait in waits:
        if len(ends) == in_flight:
            advance()
        heapq.heappush(ends, now + wait)
    while ends:
        advance()
    return now, waited


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
    return order[ranks].astype(np.int64) * page
