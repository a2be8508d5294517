"""Average access time, rule of ten, and the cheapest home of a byte."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.memory import Cache, Tier, cheapest_tier
from stacklib.memory.cache import reuse
from stacklib.memory.tiers import tier as t
from stacklib.memory.tiers import walk
from stacklib.memory.tiers.tier import Need, average_access_time
from stacklib.quantity import Quantity
from stacklib.roofline import Infeasible

from ...rows import refusals

RATES = st.lists(st.floats(0, 1), max_size=5)


def tier(name="a", ns=10.0, gbs=100.0, gb=100.0, usd=1.0):
    price = None if usd is None else Quantity(usd, "USD/GB")
    return Tier(
        name, Quantity(ns, "ns"), Quantity(gbs, "GB/s"), Quantity(gb, "GB"), price
    )


@given(RATES, st.data())
def test_shares_times_latencies_are_the_textbooks_sum_of_penalties(rates, data):
    adds = data.draw(
        st.lists(st.floats(1, 1e6), min_size=len(rates) + 1, max_size=len(rates) + 1)
    )
    served = np.cumsum(adds).tolist()
    assert average_access_time(served, rates) == pytest.approx(
        t.textbook_access_time(adds, rates), rel=1e-9
    )


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=200),
    st.sampled_from([1, 2, 4]),
    st.sampled_from([1, 2, 4]),
    st.integers(1, 9),
)
@settings(max_examples=60, deadline=None)
def test_a_trace_takes_what_its_hit_rates_predict(lines, small, factor, in_flight):
    """Closed form with measured rates, and a clock with several loads under way."""
    caches = [Cache(64 * small, small, 64), Cache(64 * small * factor * 2, small, 64)]
    times = [3.0, 20.0, 500.0]
    done = walk.walk_tiers(caches, times, np.array(lines) * 64, in_flight)
    told = average_access_time(times, done.hit_rates)
    assert done.mean == pytest.approx(told)
    least = told * len(lines) / min(in_flight, len(lines))
    assert least <= done.time * (1 + 1e-9) <= least + times[-1] + 1e-6
    for level in range(2):  # and what each cache saw is what it would see alone
        seen = np.array(lines)[done.served >= level] * 64
        if len(seen):
            assert done.hit_rates[level] == caches[level].run(seen).hit_rate
        else:
            assert done.hit_rates[level] == 0


def test_rates_foretold_from_reuse_give_the_time_of_the_walk():
    """Neither the rates nor the time are the simulator's."""
    trace = walk.zipf_trace(2000, 40_000, seed=3)
    caches = [Cache(4096 * 64, 64, 4096), Cache(4096 * 512, 512, 4096)]
    hits = [reuse.hit_curve(trace)[n] for n in (64, 512)]
    times = [3.0, 20.0, 500.0]
    # What the larger cache sees is what the smaller one missed.
    rates = [hits[0], (hits[1] - hits[0]) / (1 - hits[0])]
    done = walk.walk_tiers(caches, times, trace, in_flight=4)
    assert done.mean == pytest.approx(average_access_time(times, rates), rel=0.02)


def test_a_line_of_the_nearer_cache_waits_for_all_of_its_parts():
    near, far = Cache(128, 1, 128), Cache(256, 4, 64)
    done = walk.walk_tiers([near, far], [1, 10, 100], [0, 128, 64, 0])
    assert done.served.tolist() == [2, 2, 1, 0]


def test_quantities_floats_and_arrays_give_the_same():
    plain = average_access_time([30.0, 270.0, 670.0], [0.5, 0.8])
    quantities = average_access_time(
        [Quantity(x, "ns") for x in (30, 270, 670)], [0.5, Quantity(0.8)]
    )
    arrays = average_access_time([np.array([30.0]), 270.0, 670.0], [0.5, 0.8])
    assert quantities.to("ns").value == pytest.approx(plain) == pytest.approx(arrays[0])
    adds = [Quantity(x, "ns") for x in (30, 240, 400)]
    assert t.textbook_access_time(adds, [0.5, 0.8]).text("ns") == "190 ns"
    assert plain == pytest.approx(190)


@pytest.mark.rows("bad", [-0.1, 1.1, math.nan, True])
def test_a_hit_rate_is_a_share(bad):
    with pytest.raises(ValueError, match="hit rate"):
        average_access_time([1, 2], [bad])


@pytest.mark.rows("latencies, rates", [([], []), ([1, 2], []), ([1], [0.5])])
def test_levels_and_rates_must_match(latencies, rates):
    for form in (average_access_time, t.textbook_access_time):
        with pytest.raises(ValueError, match="level"):
            form(latencies, rates)


def test_a_walk_refuses_what_it_cannot_time():
    cache = Cache(64, 1, 64)
    with pytest.raises(ValueError, match="2 latencies for 0"):
        walk.walk_tiers([], [1.0, 2.0], [0])
    with pytest.raises(ValueError, match="above zero"):
        walk.walk_tiers([cache], [1.0, math.nan], [0])


def test_a_zipf_trace_is_as_hot_as_its_law():
    trace = walk.zipf_trace(100, 40_000, exponent=1.0, page=8, seed=3)
    counts = np.sort(np.bincount(trace // 8, minlength=100))[::-1] / 40_000
    law = 1 / np.arange(1, 101)
    assert np.abs(np.cumsum(counts) - np.cumsum(law / law.sum())).max() < 0.02
    even = walk.zipf_trace(10, 5_000, exponent=0.0)
    assert np.bincount(even // 4096).min() > 400
    with pytest.raises(ValueError, match="pages = 0"):
        walk.zipf_trace(0, 1)


# -- rule of ten ---------------------------------------------------------------


@given(st.lists(st.floats(0.01, 1e4), min_size=2, max_size=8))
def test_the_typical_step_taken_every_time_leads_to_the_end(values):
    step = t.geometric_step(values)
    assert values[0] * step ** (len(values) - 1) == pytest.approx(values[-1])
    product = math.prod(t.steps(values)) ** (1 / (len(values) - 1))
    assert step == pytest.approx(product)
    named = t.geometric_step([Quantity(v, "ns") for v in values])
    assert named.si == pytest.approx(step) and list(named.leaves())


def test_one_value_has_no_step():
    with pytest.raises(ValueError, match="no step"):
        t.geometric_step([1.0])


# -- the cheapest --------------------------------------------------------------

SOME = st.builds(
    tier,
    ns=st.sampled_from([1, 10, 100]),
    gbs=st.sampled_from([1, 10, 100]),
    gb=st.sampled_from([1, 10, 100]),
    usd=st.sampled_from([0.1, 1, 10, None]),
)


@given(
    st.lists(SOME, min_size=1, max_size=5),
    st.sampled_from([0.5, 5, 50]),
    st.sampled_from([1, 10, math.inf]),
    st.sampled_from([0, 5, 50]),
)
def test_nothing_that_will_do_is_cheaper(tiers, gb, ns, gbs):
    need = Need(gb * 1e9, ns * 1.0000001e-9, gbs * 1e9)
    able = [
        x
        for x in tiers
        if x.price
        and x.capacity.si >= need.capacity
        and x.latency.si <= need.latency
        and x.bandwidth.si >= need.bandwidth
    ]
    if not able:
        with pytest.raises(Infeasible) as said:
            cheapest_tier(tiers, need)
        assert str(said.value).count("a: ") == len(tiers)
        return
    best = cheapest_tier(tiers, need)
    assert best in able
    assert all(
        (best.price.si, best.latency.si) <= (x.price.si, x.latency.si) for x in able
    )


def test_the_refusal_holds_every_sum():
    tiers = [tier("near", ns=1, gbs=1000, gb=1), tier("far", ns=1e5, gbs=10, gb=1e4)]
    with pytest.raises(Infeasible) as said:
        cheapest_tier(tiers, Need(50e9, 1e-6, 20e9))
    text = str(said.value)
    assert "near: 50 GB > 1 GB that it holds" in text
    assert "far: answers after 100 µs, 1 µs is asked" in text
    assert "delivers 10 GB/s, 20 GB/s is asked" in text


test_a_need_is_a_number = refusals(
    ({"capacity": 0}, "capacity = 0"),
    ({"capacity": math.nan}, "capacity = nan"),
    ({"capacity": True}, "capacity = True"),
    ({"capacity": math.inf}, "only the latency may be infinite"),
    ({"capacity": 1, "latency": -1}, "latency = -1"),
    ({"capacity": 1, "latency": "1 ns"}, "latency = '1 ns'"),
    ({"capacity": 1, "bandwidth": -1}, "bandwidth = -1"),
    ({"capacity": 1, "bandwidth": math.inf}, "only the latency may be infinite"),
    by=lambda fields: Need(**fields),
)


def test_no_tiers_and_no_price():
    with pytest.raises(ValueError, match="no tiers"):
        cheapest_tier([], Need(1))
    with pytest.raises(Infeasible, match="no price known"):
        cheapest_tier([tier(usd=None)], Need(1))


# -- the five-minute rule ------------------------------------------------------


@given(st.floats(1, 1e6), st.floats(1e-10, 1e-2), st.floats(1, 1e5), st.floats(1, 1e7))
def test_the_interval_is_where_both_homes_cost_the_same(page, usd, drive, reads):
    """Closed form against halving the interval until both rents agree."""
    low, high = 1e-15, 1e15
    for _ in range(200):
        middle = math.sqrt(low * high)
        on_drive = drive / (reads * middle)  # the share of the drive that it takes
        low, high = (middle, high) if on_drive > page * usd else (low, middle)
    assert t.break_even_interval(page, usd, drive, reads) == pytest.approx(high)


def test_gray_and_putzolu_found_four_hundred_seconds():
    """1987: 5 USD a kilobyte, 30,000 USD for fifteen accesses a second, 1 KB."""
    assert t.break_even_interval(1000, 5e-3, 30_000, 15) == 400
    with pytest.raises(ValueError, match="page = 0"):
        t.break_even_interval(0, 1, 1, 1)
    swept = t.break_even_interval(np.array([512.0, 4096.0]), 5e-3, 30_000, 15)
    assert swept[0] == pytest.approx(8 * swept[1])
