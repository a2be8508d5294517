"""Bytes under way: counted byte by byte, on links one way, and what is refused."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib import hardware
from stacklib.hardware import UnknownSpec
from stacklib.quantity import Quantity, UnitError, UnknownName, chosen
from stacklib.roofline.bound.bakeoff import transfer_time
from stacklib.roofline.work.bounds import bound_on
from stacklib.roofline.work.moving import link_time, memory_time, moving_time
from stacklib.roofline.work.work import matmul

from ...rows import refusals

H100 = hardware.get("h100-sxm")
GIGABYTE = chosen(1, "GB", label="bytes")


def by_ticks(moved: int, rate: int) -> Fraction:
    """Seconds until the last byte is there, a byte a tick."""
    return sum((Fraction(1, rate) for _ in range(moved)), Fraction(0))


@given(st.integers(0, 300), st.integers(1, 10**12))
def test_bytes_come_one_after_another(moved, rate):
    assert moving_time(moved, rate) == float(by_ticks(moved, rate))


@given(st.integers(0, 10**15), st.integers(1, 64))
def test_floats_quantities_and_arrays_agree(moved, chips):
    found = memory_time(chosen(moved, "B", label="bytes"), H100, chips)
    assert found.unit == "s" and not found.tags
    assert found.si == memory_time(moved, "h100-sxm", chips)
    assert memory_time(np.array([moved, 1.0]), H100, chips)[0] == found.si


def test_chips_share_the_bytes_and_the_sources_stay():
    work = matmul(m=1, n=8192, k=8192)
    for chips in (1, 8):
        found = memory_time(work.bytes, H100, chips)
        assert found.si == bound_on(work, H100, chips).t_memory.si
        keys = {leaf.key for leaf in found.leaves()}
        assert "h100-sxm.memory_bandwidth" in keys
    assert found.si == pytest.approx(work.bytes.si / (8 * 3.35e12))


def test_a_link_sends_one_way_and_as_measured():
    link = hardware.link("nvlink5")
    assert link_time(GIGABYTE, link).si == pytest.approx(1 / 900)
    assert link_time(GIGABYTE, "NVLink-5").si == 1e9 / (link.bidirectional.si / 2)
    slow = link_time(GIGABYTE, "pcie5_x16", achieved=True)
    assert slow.si == 1e9 / hardware.link("pcie5_x16").achieved.si
    assert slow.si > link_time(GIGABYTE, "pcie5_x16").si
    host = transfer_time(GIGABYTE, H100)
    assert host.si == 1e9 / H100.host_link.si == transfer_time(1e9, H100)


BOTH = hardware.link("nvlink5").bidirectional
test_what_is_no_number_above_zero_is_refused = refusals(
    (lambda: moving_time(-1, 1.0), "moved = -1"),
    (lambda: moving_time(math.nan, 1.0), "moved = nan"),
    (lambda: moving_time(np.array([1, math.nan]), 1.0), "moved"),
    (lambda: moving_time(1, 0.0), "bandwidth = 0.0"),
    (lambda: moving_time(1, math.inf), "bandwidth = inf"),
    (lambda: memory_time(-GIGABYTE, H100), "moved"),
    (lambda: memory_time(GIGABYTE, H100, 0), "chips = 0"),
    (lambda: memory_time(GIGABYTE, H100, True), "chips = True"),
    (lambda: memory_time(GIGABYTE, H100, math.nan), "chips = nan"),
)
test_what_makes_no_time_is_refused = refusals(
    (lambda: memory_time(chosen(1, label="one"), H100), "cannot be given in 's'"),
    (lambda: memory_time(GIGABYTE.to("bit"), H100), "cannot be given in 's'"),
    (lambda: moving_time(GIGABYTE, BOTH), "both directions: bytes go one way"),
    (lambda: moving_time(1e6, H100.peak("bf16")), "cannot be given in 's'"),
    (lambda: moving_time(1e6, Quantity(8, "Gbit/s")), "cannot be given in 's'"),
    error=UnitError,
)
test_a_name_or_a_rate_that_nobody_knows_is_refused = refusals(
    (lambda: memory_time(GIGABYTE, "h100-sxn"), "mean: h100_sxm"),
    (lambda: link_time(GIGABYTE, "nvlink55"), "nvlink5"),
    (lambda: link_time(GIGABYTE, "nvlink5", achieved=True), "achieved"),
    error=(UnknownName, UnknownSpec),
)


def test_the_way_out_that_a_refusal_names_is_taken():
    one = BOTH.retag("per_direction", factor=0.5)
    assert moving_time(GIGABYTE, one).si == link_time(GIGABYTE, "nvlink5").si
    assert isinstance(moving_time(GIGABYTE, one), Quantity)
