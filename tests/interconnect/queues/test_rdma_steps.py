"""The steps of a write: closed form against events, and planted faults."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.interconnect.queues.rdma_steps import (
    Step,
    Way,
    completion_steps,
    event_faults,
    longest_busy,
    run_steps,
    steps_time,
    write_steps,
)
from stacklib.quantity import chosen

from ...rows import refusals

WAY = Way(500e-9, 63e9, 300e-9, 5.6e-9, 145e-9, 50e9, 142e-9, 588e-9)

step = st.tuples(st.floats(0, 1e-6), st.floats(0, 1e-6)).map(
    lambda pair: Step("a step", "somebody", max(pair), min(pair))
)


@settings(deadline=None, max_examples=150)
@given(st.lists(step, min_size=1, max_size=8), st.integers(1, 30))
def test_the_closed_form_is_the_run_event_by_event(steps, messages):
    events = run_steps(steps, messages)
    assert len(events) == messages * len(steps)
    assert event_faults(steps, events) == []
    told = steps_time(steps, messages)
    assert max(event.end for event in events) == pytest.approx(told, abs=1e-18)


@pytest.mark.rows("start", ["gpu", "proxy"])
@pytest.mark.rows("size", [8, 7392, 1 << 20])
def test_both_ways_to_start_run_as_told(start, size):
    steps = write_steps(WAY, size, start)
    assert len(steps) == {"gpu": 8, "proxy": 7}[start]
    for messages in (1, 100):
        end = max(event.end for event in run_steps(steps, messages))
        assert end == pytest.approx(steps_time(steps, messages))


def test_one_message_is_the_same_way_but_for_its_start():
    gpu, proxy = (write_steps(WAY, 8, start) for start in ("gpu", "proxy"))
    assert gpu[4:] == proxy[3:]
    late = steps_time(proxy) - steps_time(gpu)
    told = WAY.proxy + WAY.bus - (2 * WAY.gpu + 1.5 * WAY.bus)
    assert late == pytest.approx(told)


def test_many_small_messages_go_at_the_slowest_ones_pace():
    assert longest_busy(write_steps(WAY, 8, "proxy")) == WAY.proxy
    assert longest_busy(write_steps(WAY, 8, "gpu")) == WAY.port_gap
    # A long one keeps the wire busy, whoever starts it.
    for start in ("gpu", "proxy"):
        assert longest_busy(write_steps(WAY, 1 << 20, start)) == (1 << 20) / WAY.rate


def test_quantities_go_through():
    ns, gbs = "ns", "GB/s per_direction"
    given = (500, ns), (63, gbs), (300, ns), (5.6, ns), (145, ns), (50, gbs), (142, ns)
    way = Way(*(chosen(*pair) for pair in given), chosen(588, ns))
    for start in ("gpu", "proxy"):
        found = steps_time(write_steps(way, chosen(7392, "B"), start), chosen(128))
        assert found.si == pytest.approx(steps_time(write_steps(WAY, 7392, start), 128))
    ours = steps_time(completion_steps(way)).si
    assert ours == pytest.approx(145e-9 + 300e-9 + 250e-9)


def test_planted_faults_are_named():
    steps = write_steps(WAY, 8, "proxy")
    good = run_steps(steps, 2)
    early = [e._replace(start=0.0) if e[:2] == (0, 2) else e for e in good]
    assert "begins before the step before has ended" in event_faults(steps, early)[0]
    pushed = [e._replace(start=250e-9) if e[:2] == (1, 1) else e for e in good]
    assert event_faults(steps, pushed) == [
        "message 1, find it, make the element: CPU is still busy"
    ]


test_bad_input_is_refused = refusals(
    (lambda: write_steps(WAY, 0), "size = 0"),
    (lambda: write_steps(WAY, 8, "ghost"), "start = 'ghost'"),
    (lambda: write_steps(Way(*([-1.0] * 8)), 8), "rate = -1.0"),
    (lambda: run_steps(write_steps(WAY, 8), 0), "messages = 0"),
    (lambda: steps_time(write_steps(WAY, 8), 0), "messages = 0"),
)
