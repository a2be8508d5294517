"""What each timer reads on a simulated device, against its closed form."""

import math
from statistics import mean

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.quantity import Quantity
from stacklib.roofline.timing import timers as timing
from stacklib.roofline.timing.queued import Kernel, SimulatedDevice
from stacklib.roofline.timing.threaded import ThreadDevice

from ...rows import refusals

US = st.floats(1e-7, 1e-3)
CALLS = st.integers(1, 60)


def device(launch=5e-6, **more):
    return SimulatedDevice(launch_s=launch, **more)


@settings(deadline=None)
@given(launch=US, seconds=US, calls=CALLS, depth=st.none() | st.integers(2, 40))
def test_the_naive_timer_reads_launches_until_the_queue_is_full(
    launch, seconds, calls, depth
):
    read = timing.time_naive(device(launch, depth=depth), Kernel("k", seconds), calls)
    told = timing.naive_reading(launch, seconds, calls, depth)
    assert read == pytest.approx(told, rel=1e-9)


@settings(deadline=None)
@given(launch=US, seconds=US, calls=CALLS)
def test_the_naive_timer_does_not_ask_what_the_kernel_does(launch, seconds, calls):
    assert timing.naive_reading(launch, seconds, calls) == pytest.approx(launch)


@settings(deadline=None)
@given(launch=US, seconds=US, calls=CALLS)
def test_the_synchronised_timer_reads_the_slower_of_launch_and_run(
    launch, seconds, calls
):
    queue = device(launch)
    read = timing.time_synchronised(queue, Kernel("k", seconds), calls)
    told = timing.synchronised_reading(launch, seconds, calls)
    assert read == pytest.approx(told, rel=1e-9)
    assert read >= queue.busy / queue.ran * (1 - 1e-9)


@settings(deadline=None)
@given(launch=US, seconds=US, calls=CALLS, backlog=st.floats(0, 0.1))
def test_the_event_timer_reads_the_device_once_it_is_ahead(
    launch, seconds, calls, backlog
):
    before = Kernel("before", backlog) if backlog else None
    queue = device(launch)
    read = timing.time_events(queue, Kernel("k", seconds), calls, before)
    told = timing.event_reading(launch, seconds, calls, backlog)
    assert read == pytest.approx(told, rel=1e-6)
    if backlog >= calls * launch:
        assert read == pytest.approx(seconds, rel=1e-6)


@settings(deadline=None)
@given(launch=US, seconds=US, calls=CALLS)
def test_no_timer_that_waits_reads_less_than_the_truth(launch, seconds, calls):
    kernel = Kernel("k", seconds)
    for timer in (timing.time_synchronised, timing.time_events):
        assert timer(device(launch), kernel, calls) >= seconds * (1 - 1e-6)


@settings(deadline=None)
@given(first=st.floats(0, 1), seconds=US, calls=CALLS)
def test_the_first_call_spreads_over_the_mean(first, seconds, calls):
    queue = device(0.0, first_s=first)
    read = timing.time_synchronised(queue, Kernel("k", seconds), calls)
    told = timing.first_call_reading(first, seconds, calls)
    assert read == pytest.approx(told, rel=1e-9)


@settings(deadline=None)
@given(cold=US, seconds=US, calls=CALLS)
def test_a_cold_cache_is_a_first_call_that_comes_again(cold, seconds, calls):
    kernel, queue = Kernel("k", seconds, cold=cold), device(0.0)
    for _ in range(2):
        queue.flush()
        read = timing.time_synchronised(queue, kernel, calls)
        told = timing.first_call_reading(cold, seconds, calls)
        assert read == pytest.approx(told, rel=1e-6)


@settings(deadline=None)
@given(seconds=US, calls=CALLS, boost=st.floats(1, 2), boost_s=st.floats(0, 0.05))
def test_a_boosted_device_is_fast_until_it_is_warm(seconds, calls, boost, boost_s):
    queue = device(0.0, boost=boost, boost_s=boost_s)
    read = timing.time_synchronised(queue, Kernel("k", seconds), calls)
    told = timing.boosted_reading(seconds, calls, boost, boost_s)
    assert read == pytest.approx(told, rel=1e-6)
    assert seconds / boost * (1 - 1e-6) <= read <= seconds * (1 + 1e-6)


@settings(deadline=None)
@given(
    seconds=st.floats(1e-7, 1e-4),
    tick=st.floats(1e-6, 1e-3),
    error=st.floats(0.01, 0.2),
    offset=st.floats(0, 1e-3),
)
def test_enough_calls_drown_the_tick(seconds, tick, error, offset):
    calls = timing.calls_needed(seconds, tick, error)
    if calls > 2000:
        return
    queue = device(0.0, tick_s=tick, offset_s=offset)
    read = timing.time_synchronised(queue, Kernel("k", seconds), int(calls))
    assert abs(read / seconds - 1) <= error * (1 + 1e-6)


def test_a_call_below_the_tick_takes_no_time_or_a_whole_tick():
    kernel, seen = Kernel("k", 1e-6), set()
    for i in range(50):
        queue = device(0.0, tick_s=1e-5, offset_s=i * 3.1e-7)
        seen.add(round(timing.time_synchronised(queue, kernel) * 1e6, 3))
    assert seen == {0.0, 10.0}


def test_work_that_nobody_reads_is_not_done():
    idle = Kernel("k", 1e-3, used=False)
    clever, honest = device(elides=True), device()
    assert timing.time_synchronised(clever, idle, 5) == 0
    assert clever.ran == 0
    assert timing.time_synchronised(honest, idle, 5) > 1e-3
    assert timing.time_synchronised(clever, Kernel("k", 1e-3), 5) > 1e-3


def test_other_work_lengthens_min_median_and_mean_as_told():
    seconds, others, runs = 1e-4, 2e-5, 400
    told = timing.disturbed_readings(seconds, others, 11)
    found = []
    for seed in range(runs):
        queue = device(0.0, others_s=others, seed=seed)
        samples = timing.time_carefully(queue, Kernel("k", seconds), samples=11)
        found.append(timing.summary(samples))
    for name, expected in zip(("min", "median", "mean"), told, strict=True):
        got = mean(one[name] for one in found)
        assert got - seconds == pytest.approx(expected - seconds, rel=0.1), name
    assert told[0] < told[1] < told[2]


def test_care_finds_the_truth_where_each_trap_is_set():
    kernel = Kernel("k", 2e-4, cold=1e-4)
    queue = device(first_s=0.5, tick_s=1e-6)
    warm = timing.summary(timing.time_carefully(queue, kernel, calls=200))
    assert warm["median"] == pytest.approx(2e-4, rel=0.01)
    cold = timing.summary(timing.time_carefully(queue, kernel, cold=True))
    assert cold["median"] == pytest.approx(3e-4 + 5e-6, rel=0.01)


def test_the_same_calls_give_the_same_readings():
    def read():
        queue = device(others_s=1e-5, seed=3)
        return timing.time_carefully(queue, Kernel("k", 1e-4))

    assert read() == read()


READINGS = [
    (timing.naive_reading, (5e-6, 1e-4, 3.0, 2.0), "ss.."),
    (timing.synchronised_reading, (5e-6, 1e-4, 3.0), "ss."),
    (timing.event_reading, (5e-6, 1e-4, 3.0, 1e-5), "ss.s"),
    (timing.first_call_reading, (0.5, 1e-4, 3.0), "ss."),
    (timing.boosted_reading, (1e-4, 3.0, 1.2, 1e-3), "s..s"),
    (timing.calls_needed, (1e-6, 1e-4, 0.05), "ss."),
]


@pytest.mark.rows(("form", "given_", "units"), READINGS)
def test_floats_quantities_and_arrays_agree(form, given_, units):
    plain = form(*given_)
    traced = form(
        *(
            Quantity(v, "s") if u == "s" else v
            for v, u in zip(given_, units, strict=True)
        )
    )
    swept = form(*(numpy.array([v, v]) for v in given_))
    assert traced.si == pytest.approx(plain)
    assert swept == pytest.approx([plain, plain])


test_bad_input_never_gives_a_number = refusals(
    (lambda: Kernel("k", -1.0), "seconds=-1.0"),
    (lambda: Kernel("k", math.nan), "seconds=nan"),
    (lambda: Kernel("k", 1.0, cold=-2.0), "cold=-2.0"),
    (lambda: device(depth=1), "depth=1"),
    (lambda: device(boost=0.5), "boost=0.5"),
    (lambda: device(tick_s=-1.0), "tick_s=-1.0"),
    (lambda: timing.time_naive(device(), Kernel("k", 1.0), 0), "calls = 0"),
    (lambda: timing.time_synchronised(device(), Kernel("k", 1), -1), "calls = -1"),
    (lambda: timing.time_events(device(), Kernel("k", 1.0), 0), "calls = 0"),
    (
        lambda: timing.time_carefully(device(), Kernel("k", 1.0), samples=0),
        "samples = 0",
    ),
    (
        lambda: timing.time_carefully(device(), Kernel("k", 1.0), calls=2, cold=True),
        "only the first call is cold",
    ),
    (lambda: timing.summary([]), "no samples"),
    (lambda: timing.disturbed_readings(1.0, 1.0, 4), "samples=4"),
)


def test_a_timer_calls_once_unless_told():
    for timer in (timing.time_naive, timing.time_synchronised, timing.time_events):
        ended = []
        for calls in ((), (1,), (2,)):
            with_all = device()
            timer(with_all, Kernel("k", 1.0), *calls)
            ended.append(with_all.clock())
        assert ended[0] == ended[1] < ended[2]


def test_a_thread_is_a_device_too():
    kernel = Kernel("nap", 0.01)
    with ThreadDevice() as thread:
        naive = timing.time_naive(thread, kernel, 3)
        synchronised = timing.time_synchronised(thread, kernel, 3)
        events = timing.time_events(thread, kernel, 3)
    assert naive < 0.005 < 0.01 <= synchronised
    assert events >= 0.01
