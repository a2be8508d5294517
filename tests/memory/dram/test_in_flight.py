"""The closed network: exact where it can be counted, and near what was published."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import hardware
from stacklib.memory.dram.in_flight import (
    channels_of,
    closed_rate,
    closed_run,
    saturate,
)
from stacklib.roofline.bound import littles_law

from ...rows import refusals


def by_states(requests: int, channels: int, service: float, road: float) -> float:
    """The rate from the stationary distribution: product form, all states summed."""
    weights: dict[int, float] = {}
    busy = 0.0
    total = 0.0
    for held in product(range(requests + 1), repeat=channels):
        travelling = requests - sum(held)
        if travelling < 0:
            continue
        weight = service ** sum(held)
        for k in range(1, travelling + 1):
            weight *= channels * road / k  # visits: one of `channels` queues each time
        total += weight
        busy += weight * sum(1 for h in held if h) / service
        weights[travelling] = weights.get(travelling, 0.0) + weight
    return busy / total


@pytest.mark.rows("requests", [1, 2, 5])
@pytest.mark.rows("channels", [1, 2, 3])
@pytest.mark.rows("road", [0.5, 4.0])
def test_mean_values_equal_the_sum_over_all_states(requests, channels, road):
    exact = by_states(requests, channels, 1.0, road)
    assert closed_rate(requests, channels, 1.0, road) == pytest.approx(exact)


@given(st.integers(1, 40), st.integers(1, 8), st.floats(0.0, 30.0))
@settings(max_examples=60, deadline=None)
def test_the_rate_lies_between_littles_law_and_a_single_file(requests, channels, road):
    rate = closed_rate(requests, channels, 1.0, road)
    assert rate <= min(channels, requests / (road + 1.0)) * (1 + 1e-12)
    assert rate >= requests / (road + requests) * (1 - 1e-12)
    assert rate <= closed_rate(requests + 1, channels, 1.0, road) * (1 + 1e-12)


@pytest.mark.rows("requests", [1, 4, 24])
@pytest.mark.rows("channels", [1, 4])
def test_events_come_to_the_same_rate(requests, channels):
    told = closed_rate(requests, channels, 1.0, 5.0)
    seen = closed_run(requests, channels, 1.0, 5.0, rounds=40_000 // requests)
    assert seen == pytest.approx(told, rel=0.03)


def test_equal_services_queue_less():
    even = closed_run(12, 2, 1.0, 5.0, rounds=3000, random_service=False)
    assert closed_rate(12, 2, 1.0, 5.0) < even <= 2.0


def test_one_request_is_alone():
    assert closed_rate(1, 7, 2.0, 8.0) == pytest.approx(0.1)


def test_channels_come_from_pins():
    assert channels_of(hardware.get("h100-sxm")).si == 160
    assert channels_of(hardware.get("a100-sxm-40gb")).si == 80
    with pytest.raises(ValueError, match="RTX 4090 has GDDR6X"):
        channels_of(hardware.get("rtx-4090"))


def test_a_device_saturates_as_it_is_asked_for_more():
    shares = [saturate("h100-sxm", 8, n, stored=4).share.si for n in (64, 256, 2048)]
    assert shares == sorted(shares)
    most = hardware.efficiency("dram_mixed")
    assert shares[-1] <= most and shares[-1] > 0.98 * most
    few = saturate("h100-sxm", 8, 64, stored=4)
    assert few.bound == "concurrency" and saturate("h100-sxm", 64).bound == "dram"
    assert few.idle_limit.si >= few.share.si


def test_without_queues_it_is_littles_law():
    one = saturate("h100-sxm", 4, 32)
    alone = littles_law.share(
        32 * 132 * 4, littles_law.load_latency("h100-sxm").si, 3.35e12
    )
    assert one.idle_limit.si == pytest.approx(alone)
    assert one.share.si == pytest.approx(alone, rel=0.05)


@pytest.mark.rows(
    ("arguments", "message"),
    [
        ((0, 1, 1.0, 1.0), "requests = 0"),
        ((1, True, 1.0, 1.0), "channels = True"),
        ((1, 1, 0.0, 1.0), "service = 0.0"),
        ((1, 1, 1.0, -1.0), "road = -1.0"),
    ],
)
def test_what_is_no_network_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        closed_rate(*arguments)
    with pytest.raises(ValueError, match=message):
        closed_run(*arguments)


test_what_no_device_can_do_is_refused = refusals(
    ({"each": 0}, "each = 0"),
    ({"each": 8, "threads": 4096}, "holds 2048"),
    ({"each": 8, "threads": 0}, "threads = 0"),
    ({"each": 8, "stored": -4}, "stored"),
    by=lambda arguments: saturate("h100-sxm", **arguments),
)
