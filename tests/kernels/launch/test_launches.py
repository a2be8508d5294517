"""Launches and replays: closed form, events and threads that do it."""

from dataclasses import replace

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.gpu.chip.streams import stream_faults
from stacklib.kernels.launch import launches, threads
from stacklib.kernels.launch.launches import (
    Launches,
    cost,
    launch_time,
    replay_time,
    run_launches,
)
from stacklib.quantity import Quantity
from stacklib.roofline.timing import timers
from stacklib.roofline.timing.queued import Kernel, SimulatedDevice

from ...rows import refusals

US = st.floats(1e-7, 1e-4)
PLANS = st.builds(
    Launches,
    kernels=st.integers(1, 40),
    kernel_s=US,
    submit_s=US,
    start_s=st.just(0.0) | US,
    nodes=st.integers(1, 5),
    streams=st.integers(1, 4),
    every=st.none() | st.integers(1, 12),
    barrier_s=st.just(0.0) | US,
)


@settings(deadline=None, max_examples=100)
@given(plan=PLANS, spare=st.none() | st.integers(1, 6))
def test_closed_form_and_events_agree_whatever_the_depth_of_the_queue(plan, spare):
    depth = None if spare is None else plan.streams + spare
    run = run_launches(replace(plan, depth=depth))
    assert run.time == pytest.approx(plan.time, rel=1e-9)
    assert stream_faults(run.commands, run.ran) == []
    assert run.blocked >= -1e-12 and run.idle >= -1e-12


@settings(deadline=None)
@given(kernels=st.integers(1, 60), kernel=US, submit=US, depth=st.integers(2, 9))
def test_one_stream_is_what_the_queue_of_the_timing_section_says(
    kernels, kernel, submit, depth
):
    device = SimulatedDevice(launch_s=submit, depth=depth)
    read = timers.time_synchronised(device, Kernel("k", kernel), kernels)
    run = run_launches(Launches(kernels, kernel, submit, depth=depth))
    assert run.time == pytest.approx(kernels * read, rel=1e-9)


def test_a_queue_of_one_place_takes_turns_and_a_deep_one_only_frees_the_host():
    plan = Launches(50, 9e-6, 3e-6)
    turns = run_launches(replace(plan, depth=1))
    assert turns.time == pytest.approx(50 * 12e-6)
    shallow = run_launches(replace(plan, depth=2))
    deep = run_launches(replace(plan, depth=64))
    assert shallow.time == pytest.approx(deep.time)
    done = [r.end for r, c in zip(deep.ran, deep.commands, strict=True)]
    last = max(e for e, c in zip(done, deep.commands, strict=True) if c.name[0] == "s")
    assert last == pytest.approx(50 * 3e-6)  # the host was free after its submissions


def test_a_timeline_that_starts_a_kernel_early_is_found():
    run = run_launches(Launches(3, 5e-6, 2e-6))
    early = [replace(r, start=0.0, end=5e-6) if r.command == 3 else r for r in run.ran]
    assert any("does not wait" in fault for fault in stream_faults(run.commands, early))


def test_the_published_series_of_short_kernels():
    # A. Gray (2019): 20 kernels of 2.9 us. A barrier after each: 9.6 us a kernel;
    # none: 3.8; a graph of the 20: 3.4, its node cost within the published range.
    plain = launch_time(20, 2.9e-6, submit_s=3.8e-6) / 20
    assert plain == pytest.approx(3.8e-6, rel=0.05)
    node = cost("node").si
    graph = replay_time(20, 2.9e-6, replay_s=2.5e-6, node_s=node, replays=1000) / 2e4
    assert graph == pytest.approx(3.4e-6, rel=0.02)
    synced = launch_time(20, 2.9e-6, submit_s=3.8e-6, every=1, barrier_s=2.9e-6) / 20
    assert synced == pytest.approx(9.6e-6, rel=0.02)


def test_the_claimed_gain_is_of_two_different_things():
    once = cost("guide_replay").si
    assert cost("guide").si / once == 2
    assert cost("guide", "high").si / cost("guide_replay", "high").si == 20
    # For empty kernels a graph saves the driver's launch but for a node.
    n = 1000
    slow = launch_time(n, 0.0, submit_s=5e-6)
    fast = replay_time(n, 0.0, replay_s=cost("replay").si, node_s=1e-6)
    assert slow / fast == pytest.approx(5, rel=0.01)
    # 10 us a replay is a graph of 5 to 15 nodes.
    room = once - cost("replay").si
    assert room / cost("node", "high").si == pytest.approx(5)
    assert room / cost("node").si == pytest.approx(15)


def test_a_graph_gains_nothing_where_kernels_are_longer_than_their_launch():
    slow = launch_time(1000, 50e-6, submit_s=5e-6)
    fast = replay_time(1000, 50e-6, replay_s=2.5e-6, node_s=0.5e-6)
    assert 0.98 < slow / fast < 1.01


def test_floats_quantities_and_arrays_give_the_same():
    plain = launch_time(100, 2e-6, submit_s=5e-6, streams=3, every=7, barrier_s=1e-6)
    traced = launch_time(
        Quantity(100),
        Quantity(2, "µs"),
        submit_s=Quantity(5, "µs"),
        start_s=Quantity(0, "s"),
        streams=3,
        every=7,
        barrier_s=Quantity(1, "µs"),
    )
    assert traced.si == pytest.approx(plain)
    # A cost that is not given is a plain zero, and has no unit to clash.
    bare = launch_time(Quantity(100), Quantity(2, "µs"), submit_s=Quantity(5, "µs"))
    assert bare.si == pytest.approx(launch_time(100, 2e-6, submit_s=5e-6))
    graph = replay_time(
        Quantity(9),
        Quantity(2, "µs"),
        replay_s=Quantity(3, "µs"),
        node_s=Quantity(1, "µs"),
        replays=Quantity(4),
        every=Quantity(2),
    )
    told = replay_time(9, 2e-6, replay_s=3e-6, node_s=1e-6, replays=4, every=2)
    assert graph.si == pytest.approx(told)
    swept = launch_time(
        numpy.array([100.0, 1.0]),
        2e-6,
        submit_s=5e-6,
        streams=3,
        every=7,
        barrier_s=1e-6,
    )
    assert swept == pytest.approx([plain, 8e-6])


@pytest.mark.rows(
    "plan",
    [
        Launches(20, 0.2e-3, 1e-3),  # the host is what is slow
        Launches(10, 2e-3, 0.1e-3),
        Launches(4, 1e-3, 0.1e-3, nodes=5),
        Launches(12, 3e-3, 0.5e-3, streams=3),
        Launches(10, 1e-3, 0.5e-3, every=2, depth=2),
    ],
)
def test_threads_take_as_long_as_the_closed_form_and_hardly_longer(plan):
    # Other work on the machine only ever adds: the best of some runs is compared.
    more = threads.foretold(plan, threads.Overheads(20e-6, 120e-6, 100e-6)) * 1.25
    best = float("inf")
    for _ in range(30):
        best = min(best, threads.run_threads(plan))
        if best <= more:
            break
    assert plan.time * 0.99 <= best <= more


test_bad_input_is_named = refusals(
    (lambda: launch_time(0, 1e-6, submit_s=1e-6), "kernels = 0"),
    (lambda: launch_time(1, -1e-6, submit_s=1e-6), "kernel_s = -1e-06"),
    (lambda: launch_time(1, 1e-6, submit_s=1e-6, streams=0), "streams = 0"),
    (lambda: launch_time(1, 1e-6, submit_s=1e-6, every=0), "every = 0"),
    (lambda: replay_time(0, 1e-6, replay_s=0.0, node_s=0.0), "nodes = 0"),
    (lambda: Launches(1, 1e-6, 1e-6, depth=0), "depth = 0"),
    (lambda: Launches(1.5, 1e-6, 1e-6), "kernels = 1.5"),
)


def test_the_costs_are_ranges_with_a_source():
    for name in launches.COSTS:
        low, high = cost(name), cost(name, "high")
        assert 0 < low.si <= high.si and low.source and low.label
