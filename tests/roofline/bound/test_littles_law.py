"""Little's law as a formula, as a queue that counts, and on devices."""

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import hardware
from stacklib.hardware import UnknownSpec
from stacklib.quantity import Quantity
from stacklib.roofline.bound import littles_law as law


def served(askers: int, latency: int, gap: int, ticks: int) -> int:
    """Answers within ``ticks``: each asker asks again when its answer is there."""
    due, free, done = [0] * askers, 0, 0
    while True:
        first = min(range(askers), key=due.__getitem__)
        start = max(due[first], free)  # the memory takes one question every ``gap``
        if start + latency > ticks:
            return done
        due[first], free, done = start + latency, start + gap, done + 1


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(1, 200), st.integers(1, 20))
def test_a_counted_queue_reaches_what_the_law_says(askers, latency, gap):
    latency = max(latency, gap)
    ticks = 200 * (latency + gap * askers)
    rate = law.throughput(askers, latency, 1 / gap)
    assert served(askers, latency, gap, ticks) / ticks == pytest.approx(rate, rel=0.02)


def test_the_headline_two_megabytes_in_flight():
    assert law.concurrency(600e-9, 3.35e12) == pytest.approx(2.01e6)
    assert law.askers(600e-9, 3.35e12, 4) == 502_500


positive = st.floats(1e-9, 1e12)


@given(positive, positive, positive)
def test_floats_quantities_and_arrays_agree(flying, latency, ceiling):
    plain = law.share(flying, latency, ceiling)
    traced = law.share(
        Quantity(flying, "B"), Quantity(latency, "s"), Quantity(ceiling, "B/s")
    )
    swept = law.share(numpy.array([flying, flying]), latency, ceiling)
    assert 0 < plain <= 1
    assert traced.si == pytest.approx(plain)
    assert swept == pytest.approx([plain, plain])


@given(positive, positive)
def test_the_needed_concurrency_is_just_enough(latency, ceiling):
    needed = law.concurrency(latency, ceiling)
    assert law.share(needed, latency, ceiling) == pytest.approx(1)
    assert law.share(needed / 2, latency, ceiling) == pytest.approx(0.5)


@pytest.mark.rows("bad", [0, -1, float("nan"), Quantity(0, "s"), True])
def test_what_is_not_above_zero_is_refused(bad):
    with pytest.raises(ValueError, match="above zero"):
        law.concurrency(bad, 1.0)
    with pytest.raises(ValueError, match="in_flight = "):
        law.throughput(numpy.array([1.0, 0.0]), 1.0, 1.0)


def test_one_load_of_four_bytes_a_thread_does_not_fill_an_h100():
    found = law.in_flight("h100-sxm", 4, Quantity(600, "ns"))
    assert found.needed.si == pytest.approx(2.01e6)
    assert found.resident.si == 132 * 2048
    assert found.threads.si > found.resident.si
    assert found.reached.si == pytest.approx(132 * 2048 * 4 / 2.01e6)
    assert found.occupancy.si == pytest.approx(1 / found.reached.si)


def test_four_independent_loads_do_with_a_quarter_of_the_threads():
    one, four = (law.in_flight("h100-sxm", each) for each in (4, 16))
    assert four.occupancy.si == pytest.approx(one.occupancy.si / 4)
    assert four.reached.si == 1


def test_the_latency_of_an_idle_memory_is_the_measured_one():
    h100 = hardware.get("h100-sxm")
    measured = hardware.microarchitecture(h100).latency("dram")
    assert law.load_latency(h100).si == measured.si  # at whatever clock the units run


def test_what_nobody_published_is_not_guessed():
    with pytest.raises(UnknownSpec):
        law.in_flight("tpu-v5p")
    with pytest.raises(ValueError, match="each"):
        law.in_flight("h100-sxm", 0)
