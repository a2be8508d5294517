"""Tiers of memory: what an access costs on average, and the cheapest that will do.

A tier is four numbers: how long until the data is there, how much comes a second, how
much it holds, and what a byte costs. Latencies are from the question to the answer,
*served there*: what a pointer chase measures, lookups on the way included.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from stacklib.quantity import Quantity
from stacklib.quantity.bounds import above_zero, is_whole
from stacklib.roofline import Infeasible


@dataclass(frozen=True, slots=True)
class Tier:
    """One place where a byte may live.

    Attributes
    ----------
    name : str
        What the reader sees.
    latency : Quantity
        Seconds from the question to the answer when the data is here.
    bandwidth : Quantity
        Bytes a second, one direction.
    capacity : Quantity
        Bytes it holds.
    price : Quantity or None
        USD a byte; None where nobody quotes one.
    energy : Quantity or None
        Joules a bit of the part itself.
    """

    name: str
    latency: Quantity
    bandwidth: Quantity
    capacity: Quantity
    price: Quantity | None = None
    energy: Quantity | None = None

    def field(self, name: str) -> Quantity | None:
        """A column by its name."""
        return getattr(self, name)


@dataclass(frozen=True, slots=True)
class Need:
    """What the data asks of its home."""

    capacity: float  # bytes
    latency: float = math.inf  # longest wait in seconds that is bearable
    bandwidth: float = 0.0  # bytes a second that must come

    def __post_init__(self) -> None:
        for name in ("capacity", "latency", "bandwidth"):
            value = getattr(self, name)
            plain = isinstance(value, float) or is_whole(value)
            floor = value >= 0 if name == "bandwidth" else plain and value > 0
            if not plain or math.isnan(value) or not floor:
                raise ValueError(f"{name} = {value!r}: a positive number is needed")
        if math.isinf(self.capacity) or math.isinf(self.bandwidth):
            raise ValueError(f"{self}: only the latency may be infinite")


# -- how long on average -------------------------------------------------------


def _checked_rates(hit_rates: Sequence[Any], levels: int) -> None:
    if len(hit_rates) != levels - 1:
        raise ValueError(
            f"{len(hit_rates)} hit rates for {levels} levels: every level but the "
            "last has one, the last holds everything"
        )
    for rate in hit_rates:
        if isinstance(rate, bool) or not 0 <= getattr(rate, "si", rate) <= 1:
            raise ValueError(f"hit rate {rate!r}: a share from 0 to 1 is needed")


def misses_of(hit_rates: Sequence[Any]) -> list[Any]:
    """Share of all accesses that reach each level, the first included."""
    reach: list[Any] = [1.0]
    for rate in hit_rates:
        reach.append(reach[-1] * (1 - rate))
    return reach


def average_access_time(latencies: Sequence[Any], hit_rates: Sequence[Any]) -> Any:
    """Mean latency of a chain of levels: each level's share times its latency.

    ``latencies``: seconds (or cycles) of an access served by each level, nearest first.
    """
    if not latencies:
        raise ValueError("a chain needs at least one level")
    _checked_rates(hit_rates, len(latencies))
    reach = misses_of(hit_rates)
    served = [r * h for r, h in zip(reach, hit_rates, strict=False)] + [reach[-1]]
    total = served[0] * latencies[0]
    for share, latency in zip(served[1:], latencies[1:], strict=True):
        total = total + share * latency
    return total


def textbook_access_time(times: Sequence[Any], hit_rates: Sequence[Any]) -> Any:
    """The same from what each level *adds*: t1 + m1 (t2 + m2 (t3 + ...))."""
    if not times:
        raise ValueError("a chain needs at least one level")
    _checked_rates(hit_rates, len(times))
    total = times[-1]
    for time, rate in zip(reversed(times[:-1]), reversed(hit_rates), strict=True):
        # The textbook's times add: each level delays an access that reaches it by its
        # own.
        total = time + (1 - rate) * total
    return total


# -- rule of ten ---------------------------------------------------------------


def steps(values: Sequence[Any]) -> list[Any]:
    """Each value over the one before."""
    return [after / before for before, after in pairwise(values)]


def geometric_step(values: Sequence[Any]) -> Any:
    """The one factor which, taken every step, leads from the first to the last."""
    if len(values) < 2:
        raise ValueError(f"{len(values)} values have no step between them")
    whole = values[-1] / values[0]
    root = whole ** (1 / (len(values) - 1))
    return root.named("typical step") if isinstance(root, Quantity) else root


# -- where a byte should live --------------------------------------------------


def shortfalls(tier: Tier, need: Need) -> list[str]:
    """Why a tier will not do, each with its sum; empty when it will."""
    found = []
    if tier.capacity.si < need.capacity:
        want = Quantity(need.capacity / 1e9, "GB")
        found.append(f"{want:.3 GB} > {tier.capacity:.3 GB} that it holds")
    if tier.latency.si > need.latency:
        have, want = Quantity(tier.latency.si, "s"), Quantity(need.latency, "s")
        found.append(f"answers after {have}, {want} is asked")
    if tier.bandwidth.si < need.bandwidth:
        want = Quantity(need.bandwidth / 1e9, "GB/s")
        found.append(f"delivers {tier.bandwidth:.3 GB/s}, {want:.3 GB/s} is asked")
    return found


def cheapest_tier(tiers: Iterable[Tier], need: Need) -> Tier:
    """The tier with the lowest price a byte that meets the need; ties to the faster.

    Parameters
    ----------
    tiers : iterable of Tier
        Candidates; one without a price is never chosen.
    need : Need
        What is asked.

    Raises
    ------
    Infeasible
        When none will do; the message says why each fails.
    ValueError
        For no candidates.
    """
    candidates = list(tiers)
    if not candidates:
        raise ValueError("no tiers to choose from")
    able = [t for t in candidates if t.price is not None and not shortfalls(t, need)]
    if not able:
        reasons = (
            f"{t.name}: {'; '.join(shortfalls(t, need)) or 'no price known'}"
            for t in candidates
        )
        raise Infeasible(" | ".join(reasons))
    return min(able, key=lambda t: (t.price.si if t.price else 0.0, t.latency.si))


def break_even_interval(
    page: Any, price_per_byte: Any, drive_price: Any, reads_per_second: Any
) -> Any:
    """Seconds between uses at which a page in memory costs what fetching it costs.

    A page in memory ties up its bytes of memory for good; on a drive it ties up the
    share of the drive that one read in this interval takes (Gray and Putzolu, *The
    5 minute rule*, SIGMOD 1987).

    ``price_per_byte``: USD a byte of memory; ``drive_price``: USD of one drive.
    """
    above_zero(
        page=page,
        price_per_byte=price_per_byte,
        drive_price=drive_price,
        reads_per_second=reads_per_second,
    )
    return drive_price / reads_per_second / (page * price_per_byte)
