"""Registers to bandwidth: the chain of three steps, and the sub-core beside it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import hardware
from stacklib.gpu.issue.hiding import draw, hide, request_interval, sub_core_of
from stacklib.gpu.issue.warp_programs import stream_share
from stacklib.quantity import Quantity
from stacklib.roofline.bound import littles_law

DEVICES = ("a100-sxm-80gb", "h100-sxm", "b200-sxm")


@pytest.mark.rows("device", DEVICES)
def test_all_threads_draw_what_littles_law_says(device):
    assert hide(threads=1024, each=4, device=device).share.si == pytest.approx(
        littles_law.in_flight(device, 4).reached.si
    )


@settings(deadline=None)
@given(st.integers(1, 1024), st.integers(1, 254), st.sampled_from(DEVICES))
def test_a_register_more_never_draws_more(threads, registers, device):
    few = hide(threads=threads, registers=registers, device=device)
    more = hide(threads=threads, registers=registers + 1, device=device)
    assert 0 <= more.share.si <= few.share.si <= 1
    assert few.in_flight.si == few.occupancy.warps * 32 * 4


def test_a_slower_memory_wants_more():
    slow = hide(threads=256, latency=Quantity(600, "ns"))
    assert slow.needed.si > hide(threads=256).needed.si
    assert slow.share.text("%", 3) == "53.8 %"


@pytest.mark.rows("device", DEVICES)
def test_the_port_delivers_the_bandwidth(device):
    chip = hardware.get(device)
    rate = 32 * 4 / float(request_interval(device)) * chip.clock.si
    assert 4 * chip.compute_units.si * rate == pytest.approx(
        chip.memory_bandwidth.si, rel=0.01
    )


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 16), st.sampled_from([1, 2, 4]), st.sampled_from(DEVICES))
def test_the_sub_core_draws_at_most_the_law_and_most_of_it(warps, ilp, device):
    core = sub_core_of(device)
    law = stream_share(warps, ilp, core.memory, core.interval)
    reached, _ = draw(warps, ilp=ilp, device=device)
    assert 0.8 * float(law) <= reached <= float(law) + 1e-9


def test_a_b200_takes_what_nobody_measured_on_it_from_an_h100():
    assert sub_core_of("b200-sxm").shared == sub_core_of("h100-sxm").shared == 29


def test_no_block_fits_draws_nothing():
    none = hide(threads=1024, registers=128)
    assert none.occupancy.blocks == 0 and none.share.si == 0 and none.occupancy.reason
