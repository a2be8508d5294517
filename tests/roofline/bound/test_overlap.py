"""The longer of two times: formula and simulation, floats, quantities, arrays."""

import math

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib import hardware, roofline
from stacklib.quantity import Quantity
from stacklib.roofline.bound.overlap import (
    free_intensity,
    overlapped_time,
    simulate_overlap,
)

times = st.floats(1e-9, 1e3)


@given(times, times, st.integers(1, 200))
def test_formula_and_simulation_agree(load, compute, chunks):
    told = overlapped_time(load, compute, chunks)
    assert simulate_overlap(load, compute, chunks) == pytest.approx(told)


@given(times, times, st.integers(1, 60))
def test_two_buffers_are_enough(load, compute, chunks):
    free = simulate_overlap(load, compute, chunks)
    assert simulate_overlap(load, compute, chunks, 2) == pytest.approx(free)


@given(times, times, st.integers(1, 60))
def test_one_buffer_or_one_chunk_overlaps_nothing(load, compute, chunks):
    total = pytest.approx(load + compute)
    assert simulate_overlap(load, compute, chunks, 1) == total
    assert simulate_overlap(load, compute, 1) == total


@given(times, times, st.integers(1, 60))
def test_the_roofline_is_the_limit_and_never_above(load, compute, chunks):
    bound = max(load, compute)
    time = simulate_overlap(load, compute, chunks)
    assert bound * (1 - 1e-12) <= time <= bound * (1 + 1 / chunks) * (1 + 1e-12)


def test_floats_quantities_and_arrays_agree():
    traced = overlapped_time(Quantity(3, "s"), Quantity(1, "s"), 4)
    swept = overlapped_time(numpy.array([3.0, 1.0]), numpy.array([1.0, 3.0]), 4)
    assert traced.si == overlapped_time(3.0, 1.0, 4) == swept[0] == swept[1]


@pytest.mark.rows(
    ("name", "dtype"),
    [("h100-sxm", "bf16"), ("h100-sxm", "fp8"), ("tpu-v6e", "bf16"), ("wse3", "fp16")],
)
def test_the_ridge_found_by_trying_is_the_quotient(name, dtype):
    device = hardware.get(name)
    tried = free_intensity(device.peak(dtype).si, device.memory_bandwidth.si)
    assert tried == pytest.approx(roofline.ridge(name, dtype).si, rel=1e-5)


@given(st.floats(1.0, 1e15), st.floats(1.0, 1e13))
def test_so_it_is_for_any_rates(peak, bandwidth):
    tried = free_intensity(peak, bandwidth)
    assert tried == pytest.approx(roofline.ridge_point(peak, bandwidth), rel=1e-5)


@pytest.mark.rows("bad", [-1.0, math.nan, math.inf])
def test_times_and_rates_that_are_none_are_refused(bad):
    with pytest.raises(ValueError, match="times"):
        simulate_overlap(bad, 1.0, 2)
    with pytest.raises(ValueError, match="bandwidth"):
        free_intensity(1.0, bad)


def test_chunks_and_buffers_are_counted_from_one():
    with pytest.raises(ValueError, match="chunks = 0"):
        simulate_overlap(1.0, 1.0, 0)
    with pytest.raises(ValueError, match="buffers = 0"):
        simulate_overlap(1.0, 1.0, 3, 0)
