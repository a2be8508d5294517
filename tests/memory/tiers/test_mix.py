"""Mixes of tiers against every placement there is."""

import itertools
import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from stacklib.memory import Tier
from stacklib.memory.tiers.mix import Pages, cheapest_mix, harmonic, zipf_pages
from stacklib.memory.tiers.tier import Need
from stacklib.quantity import Quantity
from stacklib.roofline import Infeasible

from ...rows import refusals


def tier(name, ns, gbs, gb, usd):
    return Tier(
        name,
        Quantity(ns, "ns"),
        Quantity(gbs, "GB/s"),
        Quantity(gb, "GB"),
        Quantity(usd, "USD/GB"),
    )


@st.composite
def cases(draw):
    """Up to three tiers, up to six pages of one size, a need."""
    count = draw(st.integers(1, 3))
    tiers = [
        tier(
            f"t{i}",
            draw(st.sampled_from([1, 7, 40, 300])) * (1 + i / 16),
            draw(st.sampled_from([1, 3, 10])),
            draw(st.sampled_from([1, 2, 4, 9])),
            draw(st.sampled_from([0.1, 1, 5, 20])),
        )
        for i in range(count)
    ]
    heat = sorted(
        draw(st.lists(st.integers(0, 20), min_size=1, max_size=6)), reverse=True
    )
    assume(sum(heat) > 0)
    pages = Pages((1e9,) * len(heat), tuple(h / sum(heat) for h in heat))
    latency = draw(st.sampled_from([2, 20, 100, math.inf])) * 1e-9
    return tiers, pages, Need(1.0, latency, draw(st.sampled_from([0, 2, 8])) * 1e9)


def judged(tiers, pages, need, homes):
    """Cost of one placement; infinite where it will not do."""
    size, heat = [0.0] * len(tiers), [0.0] * len(tiers)
    for home, s, h in zip(homes, pages.sizes, pages.heat, strict=True):
        size[home] += s
        heat[home] += h
    time = sum(t.latency.si * h for t, h in zip(tiers, heat, strict=True))
    if time > need.latency * (1 + 1e-12):
        return math.inf
    for t, s, h in zip(tiers, size, heat, strict=True):
        if s > t.capacity.si or h * need.bandwidth > t.bandwidth.si * (1 + 1e-12):
            return math.inf
    return sum(t.price.si * s for t, s in zip(tiers, size, strict=True))


def found(tiers, pages, need):
    try:
        return cheapest_mix(tiers, pages, need).cost
    except Infeasible:
        return math.inf


@given(cases())
@settings(max_examples=300, deadline=None)
def test_no_placement_that_keeps_the_hottest_nearest_is_cheaper(case):
    tiers, pages, need = case
    order = sorted(range(len(tiers)), key=lambda i: tiers[i].latency.si)
    brute = min(
        judged(tiers, pages, need, [order[rank] for rank in ranks])
        for ranks in itertools.combinations_with_replacement(
            range(len(tiers)), len(pages.sizes)
        )
    )
    assert found(tiers, pages, need) == pytest.approx(brute)


@given(cases())
@settings(max_examples=300, deadline=None)
def test_no_placement_at_all_is_cheaper_where_bandwidth_is_no_matter(case):
    """Every page to every tier: the exchange argument, tried."""
    tiers, pages, need = case
    need = Need(need.capacity, need.latency, 0.0)
    brute = min(
        judged(tiers, pages, need, homes)
        for homes in itertools.product(range(len(tiers)), repeat=len(pages.sizes))
    )
    assert found(tiers, pages, need) == pytest.approx(brute)


def test_a_mix_holds_all_pages_once():
    pages = zipf_pages(1e12, page=2**21, groups=30)
    near, far = tier("near", 100, 1e3, 500, 5), tier("far", 5e4, 10, 1e4, 0.1)
    mix = cheapest_mix([far, near], pages, Need(1, 20e-6, 1e9))
    assert [t.name for t in mix.tiers] == ["near", "far"]
    assert sum(mix.sizes) == pytest.approx(pages.bytes)
    assert sum(mix.heat) == pytest.approx(1)
    alone = pages.bytes * far.price.si
    assert alone < mix.cost < pages.bytes * near.price.si
    assert mix.latency <= 20e-6


def test_what_no_mix_can_do_is_said_with_the_best_there_is():
    pages = zipf_pages(1e12, page=2**21, groups=10)
    only = tier("only", 500, 10, 2000, 1)
    with pytest.raises(Infeasible, match="1,000 GB answers after 500 ns on average"):
        cheapest_mix([only], pages, Need(1, 100e-9))
    with pytest.raises(Infeasible, match="holds 1,000 GB and delivers 50 GB/s"):
        cheapest_mix([only], pages, Need(1, 1, 50e9))
    with pytest.raises(ValueError, match="0 tiers with a price"):
        cheapest_mix([], pages, Need(1))


@given(st.integers(1, 5000), st.integers(0, 5000), st.floats(0, 3))
@settings(deadline=None)
def test_the_harmonic_sum_is_its_terms(first, more, exponent):
    direct = math.fsum(r**-exponent for r in range(first, first + more + 1))
    assert harmonic(first, first + more, exponent) == pytest.approx(direct, rel=1e-8)


@pytest.mark.rows("exponent", [0.0, 0.7, 1.0, 1.4])
def test_groups_are_their_pages(exponent):
    pages = zipf_pages(3000, page=1, exponent=exponent, groups=25)
    law = [rank**-exponent for rank in range(1, 3001)]
    at = 0
    for size, heat in zip(pages.sizes, pages.heat, strict=True):
        mine = law[at : at + int(size)]
        assert heat == pytest.approx(sum(mine) / sum(law))
        at += int(size)
    assert at == 3000


test_pages_that_are_none_are_refused = refusals(
    ((), (), "0 sizes"),
    ((1.0,), (0.5, 0.5), "1 sizes"),
    ((0.0,), (1.0,), "bytes"),
    ((1.0, 1.0), (0.7, 0.7), "sum to"),
    ((1.0, 1.0), (0.2, 0.8), "hottest first"),
    ((math.nan,), (1.0,), "bytes"),
    by=Pages,
)


def test_zipf_refuses_what_has_no_pages():
    for bad in (
        {"capacity": 1, "page": 2},
        {"capacity": math.inf, "page": 1},
        {"capacity": 8, "page": 1, "exponent": -1},
        {"capacity": 8, "page": 1, "groups": 0},
    ):
        with pytest.raises(ValueError):
            zipf_pages(**bad)
