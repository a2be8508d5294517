"""Bandwidth by working set, latency by level."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import hardware
from stacklib.hardware import UnknownSpec
from stacklib.quantity import UnknownName
from stacklib.roofline import Infeasible
from stacklib.roofline.bound import hierarchy

CACHED = ("a100_sxm_80gb", "h100_pcie", "mi210", "rtx_4090", "v100_sxm2_32gb")


@pytest.mark.parametrize("key", [k for k in hardware.names() if k != "this_machine"])
def test_no_stream_is_faster_than_the_pins(key):
    device = hardware.get(key)
    if device.fields["memory_bandwidth"] is None:
        with pytest.raises(UnknownSpec, match="bandwidth"):
            hierarchy.stream_rate(device)
        return
    for kind in hierarchy.KINDS:
        for in_flight in (None, 1, 8, 64):
            got = hierarchy.stream_rate(device, kind, in_flight)
            assert 0 < got.rate <= device.memory_bandwidth.si


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(CACHED), st.floats(1e3, 1e11), st.floats(1, 100))
def test_a_larger_working_set_is_never_read_faster(key, size, times):
    capacity = hardware.get(key).memory_capacity.si
    sizes = (min(size, capacity), min(size * times, capacity))
    small, large = (hierarchy.read_rate(key, s).rate for s in sizes)
    assert large <= small * (1 + 1e-12)


@pytest.mark.parametrize("key", CACHED)
def test_the_ends_are_the_cache_and_the_memory(key):
    assert hierarchy.read_rate(key, 1e3).rate == pytest.approx(
        hierarchy.cache_rate(key, "l2").rate
    )
    assert hierarchy.read_rate(key, 1e10).rate == pytest.approx(
        hierarchy.stream_rate(key, "read").rate, rel=1e-2
    )
    assert hierarchy.read_rate(key, 1e3).bound == "l2"
    assert hierarchy.read_rate(key, 1e10).bound == "dram"


def test_little_s_law_limits_an_h200_that_asks_for_eight_bytes_a_thread():
    """Threads x bytes / latency, by hand; published for reading: 2.76 TB/s."""
    device = hardware.get("h200-sxm")
    seconds = hierarchy.load_cycles(device, "dram") / device.clock.si
    seconds *= hardware.efficiency("loaded_latency")
    asked = 132 * 2048 * 8 / seconds
    assert hierarchy.stream_rate(device, "read", 8).rate == pytest.approx(asked)
    assert hierarchy.stream_rate(device, "read", 64).bound == "dram"


@pytest.mark.parametrize("key", ["v100_sxm2_32gb", "h100_sxm", "rtx_5090", "mi210"])
def test_farther_levels_take_longer(key):
    cycles = [hierarchy.load_cycles(key, level) for level in ("l1", "l2", "dram")]
    assert cycles == sorted(cycles)


def test_hit_share_is_written_once_for_floats_and_arrays():
    numpy = pytest.importorskip("numpy")
    sizes = numpy.array([1e6, 4e7, 1e9])
    assert hierarchy.hit_share(sizes, 5e7) == pytest.approx(
        [hierarchy.hit_share(float(s), 5e7) for s in sizes]
    )


def test_what_is_not_known_is_refused():
    with pytest.raises(ValueError, match="read, mixed"):
        hierarchy.stream_rate("h100", "write")
    with pytest.raises(ValueError, match="in_flight"):
        hierarchy.stream_rate("h100", "read", 0)
    with pytest.raises(ValueError, match="l1, l2"):
        hierarchy.cache_rate("h100", "l3")
    with pytest.raises(UnknownName, match="did you mean: l2, l1"):
        hierarchy.load_cycles("h100", "l4")
    with pytest.raises(UnknownSpec, match="unknown"):
        hierarchy.load_cycles("tpu-v5p", "l1")
    for size in (0, -1, math.nan, math.inf):
        with pytest.raises(ValueError, match="working_set"):
            hierarchy.read_rate("h100", size)
        with pytest.raises(ValueError, match="moved"):
            hierarchy.row_operation_rate("h100", size, "launch_softmax")


def test_a_working_set_beyond_the_memory_is_infeasible():
    with pytest.raises(Infeasible, match="does not fit"):
        hierarchy.read_rate("h100", 1e12)


def test_a_small_row_operation_costs_its_call():
    got = hierarchy.row_operation_rate("a100-sxm-80gb", 1000.0, "launch_elementwise")
    assert 1000 / got.rate == pytest.approx(
        hardware.efficiency("launch_elementwise"), rel=1e-3
    )
    assert got.bound == "launch"
    assert hierarchy.row_operation_rate("a100", 1e10, "launch_softmax").bound == "dram"
