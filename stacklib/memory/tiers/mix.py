"""The cheapest mix of tiers for data of which some is asked for more than the rest.

Data is split into pages of different heat. The hottest go to the nearest tier: to
swap a hotter page of a far tier with a cooler one of a near tier never makes the mean
access longer, and costs nothing. So a mix is a list of cuts in the pages sorted by
heat, and the cheapest is found by trying the cuts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations, pairwise

from stacklib.quantity import Quantity
from stacklib.roofline import Infeasible

from .tier import Need, Tier


@dataclass(frozen=True, slots=True)
class Pages:
    """Data in groups of equal heat, the hottest first."""

    sizes: tuple[float, ...]  # bytes of each group
    heat: tuple[float, ...]  # share of the accesses that each takes; they sum to 1

    def __post_init__(self) -> None:
        if not self.sizes or len(self.sizes) != len(self.heat):
            raise ValueError(f"{len(self.sizes)} sizes for {len(self.heat)} shares")
        if not all(0 < s < math.inf for s in self.sizes):
            raise ValueError(f"sizes {self.sizes}: bytes above zero are needed")
        if not all(h >= 0 for h in self.heat) or abs(sum(self.heat) - 1) > 1e-6:
            raise ValueError(f"shares sum to {sum(self.heat)}: they must sum to 1")
        density = [h / s for h, s in zip(self.heat, self.sizes, strict=True)]
        if any(b > a * (1 + 1e-9) for a, b in pairwise(density)):
            raise ValueError("groups must come hottest first, by accesses a byte")

    @property
    def bytes(self) -> float:
        """All of them."""
        return sum(self.sizes)


def harmonic(first: int, last: int, exponent: float) -> float:
    """Sum of 1 / rank ** exponent from ``first`` to ``last``, both included.

    The first two hundred terms one by one, the rest by the Euler-Maclaurin formula
    with its first two corrections, which is then right to nine digits.
    """
    exact = range(first, min(last, first + 200) + 1)
    total = math.fsum(rank**-exponent for rank in exact)
    a, b = first + 201, last
    if a > b:
        return total
    if exponent == 1:
        area = math.log(b / a)
    else:
        area = (b ** (1 - exponent) - a ** (1 - exponent)) / (1 - exponent)
    ends = (a**-exponent + b**-exponent) / 2
    bend = exponent * (a ** (-exponent - 1) - b ** (-exponent - 1)) / 12
    return total + area + ends + bend


def zipf_pages(
    capacity: float, *, page: float, exponent: float = 1.0, groups: int = 60
) -> Pages:
    """Pages whose heat falls as 1 / rank ** exponent, in groups of growing size.

    ``capacity``: bytes of all pages; ``page``: bytes of one.
    """
    if not 0 < page <= capacity < math.inf:
        raise ValueError(f"page = {page!r} of capacity = {capacity!r}: 0 < page <= it")
    if not 0 <= exponent < 20 or groups < 1:
        raise ValueError(f"exponent = {exponent!r}, groups = {groups!r}")
    count = math.ceil(capacity / page)
    growth = count ** (1 / groups)
    ends = sorted({min(count, math.ceil(growth**g - 1e-9)) for g in range(groups + 1)})
    starts = [1, *(end + 1 for end in ends[:-1])]
    heat = [harmonic(a, b, exponent) for a, b in zip(starts, ends, strict=True)]
    whole = math.fsum(heat)
    sizes = [(b - a + 1) * page for a, b in zip(starts, ends, strict=True)]
    return Pages(tuple(sizes), tuple(h / whole for h in heat))


@dataclass(frozen=True, slots=True)
class Mix:
    """Who holds what."""

    tiers: tuple[Tier, ...]  # those used, nearest first
    sizes: tuple[float, ...]  # bytes in each
    heat: tuple[float, ...]  # its share of the accesses
    cost: float  # USD
    latency: float  # mean seconds of an access


def _placed(tiers: Sequence[Tier], sizes: list[float], heat: list[float]) -> Mix:
    cost = sum(t.price.si * s for t, s in zip(tiers, sizes, strict=True) if t.price)
    time = sum(t.latency.si * h for t, h in zip(tiers, heat, strict=True))
    return Mix(tuple(tiers), tuple(sizes), tuple(heat), cost, time)


def _fits(mix: Mix, need: Need) -> bool:
    held = zip(mix.tiers, mix.sizes, mix.heat, strict=True)
    return mix.latency <= need.latency and all(
        s <= t.capacity.si and h * need.bandwidth <= t.bandwidth.si for t, s, h in held
    )


def _mixes(tiers: Sequence[Tier], pages: Pages) -> Iterator[Mix]:
    """Every way to cut the sorted pages among some of the tiers."""
    size = [0.0, *accumulate(pages.sizes)]
    heat = [0.0, *accumulate(pages.heat)]
    groups = len(pages.sizes)
    for used in range(1, min(len(tiers), groups) + 1):
        for chosen in combinations(tiers, used):
            for cuts in combinations(range(1, groups), used - 1):
                at = (0, *cuts, groups)
                yield _placed(
                    chosen,
                    [size[b] - size[a] for a, b in pairwise(at)],
                    [heat[b] - heat[a] for a, b in pairwise(at)],
                )


def cheapest_mix(
    tiers: Sequence[Tier], pages: Pages, need: Need, *, most: int = 3
) -> Mix:
    """The cheapest placement of sorted pages that meets the need on average.

    Every tier must hold its pages and deliver its share of the accesses; the mean
    latency must be met. With groups of one size this is the cheapest of all
    placements, if each tier but the last used could deliver everything; else it is
    the cheapest of those that keep the hottest nearest and cut between groups.
    """
    priced = sorted((t for t in tiers if t.price), key=lambda t: t.latency.si)
    if not priced or most < 1:
        raise ValueError(f"{len(priced)} tiers with a price, {most} to use")
    best: Mix | None = None
    fastest: Mix | None = None
    for mix in _mixes(priced, pages):
        if len(mix.tiers) > most:
            break  # the counts of tiers grow
        if _fits(mix, Need(need.capacity, math.inf, need.bandwidth)):
            if fastest is None or mix.latency < fastest.latency:
                fastest = mix
            if mix.latency <= need.latency and (best is None or mix.cost < best.cost):
                best = mix
    if best is None:
        raise Infeasible(_why_none(fastest, pages, need))
    return best


def _why_none(fastest: Mix | None, pages: Pages, need: Need) -> str:
    size = Quantity(pages.bytes / 1e9, "GB")
    if fastest is None:
        rate = Quantity(need.bandwidth / 1e9, "GB/s")
        return f"no mix holds {size:.3 GB} and delivers {rate:.3 GB/s}"
    time, want = Quantity(fastest.latency, "s"), Quantity(need.latency, "s")
    return (
        f"the fastest mix that holds {size:.3 GB} answers after {time} on average, "
        f"{want} is asked"
    )
