"""Accesses counted beat by beat, held to pins times rate and to the strided formula."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib import hardware
from stacklib.hardware.stacks import accesses
from stacklib.memory.dram.bursts import Bus, count_stream, stack_bus, strided_beats
from stacklib.quantity import Quantity

from ...rows import refusals

BUSES = st.builds(
    Bus,
    parts=st.integers(1, 24),
    width=st.sampled_from((8, 16, 32, 64, 128)),
    burst=st.sampled_from((1, 2, 4, 8, 16)),
    rate=st.floats(1e8, 1e11),
)


@given(BUSES, st.integers(1, 12))
def test_a_stream_over_all_parts_reaches_pins_times_rate(bus, rounds):
    done = count_stream(bus, [0], size=rounds * bus.stripe)
    assert done.moved == rounds * bus.stripe
    assert done.bandwidth == pytest.approx(bus.bandwidth)
    assert bus.bandwidth == pytest.approx(bus.parts * bus.width * bus.rate / 8)


@given(BUSES, st.integers(1, 60), st.integers(1, 50), st.integers(1, 40))
def test_strides_are_counted_as_the_formula_says(bus, count, stride, window):
    addresses = [i * stride * bus.access for i in range(count)]
    done = count_stream(bus, addresses, size=bus.access, window=window)
    assert done.bursts == count
    assert done.beats == strided_beats(bus, count, stride, window)


@given(
    BUSES,
    st.lists(st.integers(0, 5000), min_size=1, max_size=40),
    st.integers(1, 300),
    st.integers(1, 64),
)
def test_any_requests_stay_inside_the_bounds(bus, addresses, size, window):
    done = count_stream(bus, addresses, size=size, window=window)
    loads = [0] * bus.parts
    for address in addresses:
        first, last = address // bus.access, (address + size - 1) // bus.access
        for unit in range(first, last + 1):
            loads[unit % bus.parts] += 1
    assert done.bursts == sum(loads) and done.moved == done.bursts * bus.access
    assert done.beats >= max(max(loads), math.ceil(sum(loads) / window)) * bus.burst
    assert done.beats <= sum(loads) * bus.burst
    assert done.moved <= bus.bandwidth * done.seconds * (1 + 1e-9)
    if window >= sum(loads):
        assert done.beats == max(loads) * bus.burst


@pytest.mark.rows("key", hardware.stack_generations())
@pytest.mark.rows("stacks", (1, 5, 8))
def test_generations_move_32_bytes_and_reach_their_bandwidth(key, stacks):
    bus, one = stack_bus(key, stacks=stacks), hardware.stack_generation(key).memory
    assert bus.access == 32
    assert bus.bandwidth == pytest.approx(stacks * one.bandwidth.si, rel=1e-6)
    done = count_stream(bus, [0], size=3 * bus.stripe)
    assert done.bandwidth == pytest.approx(stacks * one.bandwidth.si, rel=1e-6)


def test_a_small_read_costs_a_whole_access():
    bus = stack_bus("hbm3")
    one = count_stream(bus, [4096], size=4)
    assert (one.moved, one.beats) == (32, 8)
    split = count_stream(bus, [30], size=4)  # over the edge of an access
    assert (split.moved, split.beats) == (64, 8)


def test_a_power_of_two_can_meet_one_part_only():
    bus = stack_bus("hbm3")  # 32 parts
    far = [i * bus.stripe for i in range(64)]
    slow = count_stream(bus, far, size=32)
    assert slow.bandwidth == pytest.approx(bus.bandwidth / 32)
    odd = [i * (bus.stripe + 32) for i in range(64)]
    assert count_stream(bus, odd, size=32).bandwidth == pytest.approx(bus.bandwidth)


def test_a_rate_of_a_device_can_be_given():
    rate = hardware.get("h100-sxm").memory_pin_rate
    bus = stack_bus("hbm3", stacks=5, rate=rate)
    told = hardware.get("h100-sxm").memory_bandwidth.si
    assert bus.bandwidth == pytest.approx(told, rel=0.002)


def test_memories_that_are_not_stacked():
    moved = {k: w.si * b.si / 8 for k, (w, b) in accesses().items()}
    assert moved["DDR4"] == moved["DDR5"] == 64
    assert moved["GDDR6"] == moved["GDDR5"] == moved["LPDDR5"] == 32


test_what_is_no_bus_is_refused = refusals(
    ({"parts": 0}, "parts = 0"),
    ({"width": True}, "width = True"),
    ({"burst": 1.5}, "burst = 1.5"),
    ({"width": 1, "burst": 4}, "no whole bytes"),
    ({"rate": 0}, "rate = 0"),
    ({"rate": math.nan}, "rate = nan"),
    by=lambda fields: Bus(
        **{"parts": 4, "width": 32, "burst": 8, "rate": 1e9, **fields}
    ),
)


test_bad_requests_are_named = refusals(
    ([], {}, "no addresses"),
    ([-1], {}, "address = -1"),
    ([1.5], {}, "address = 1.5"),
    ([0], {"size": 0}, "size = 0"),
    ([0], {"window": 0}, "window = 0"),
    by=lambda addresses, given: count_stream(
        stack_bus("hbm3"), addresses, **{"size": 32, **given}
    ),
)


def test_bad_stacks_are_named():
    with pytest.raises(ValueError, match="stacks = 0"):
        stack_bus("hbm3", stacks=0)
    with pytest.raises(ValueError, match="rate ="):
        stack_bus("hbm3", rate=Quantity(0, "bit/s"))
