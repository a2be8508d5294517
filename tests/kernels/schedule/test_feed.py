"""DeepGEMM's feed: closed form, recurrence and events; promotion and its cost."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.gpu.tensor.tile_feed import Feed, feed_time, run_feed
from stacklib.kernels.schedule.feed import (
    Promoted,
    feed_events,
    promoted_events,
    promoted_of,
    promoted_pace,
)
from stacklib.kernels.schedule.pipeline import verify

cycles = st.floats(0.5, 900).map(lambda x: round(x, 2))


@settings(deadline=None, max_examples=60)
@given(cycles, cycles, cycles, st.integers(1, 8), st.integers(1, 60))
def test_three_ways(load, latency, mma, buffers, steps):
    feed = Feed(load, latency, mma, buffers)
    closed, ran = feed_time(feed, steps), run_feed(feed, steps)
    events = feed_events(feed, steps)
    assert ran[-1].end == pytest.approx(closed, rel=1e-9)
    assert events.time == pytest.approx(closed, rel=1e-9)
    assert verify(events) == []


@settings(deadline=None, max_examples=40)
@given(cycles, cycles, cycles, st.integers(1, 6), st.floats(0, 500), st.integers(1, 3))
def test_the_pace_with_promotion_is_that_of_events(
    load, latency, mma, buffers, promote, consumers
):
    loop = Promoted(Feed(load, latency, mma, buffers), promote, consumers)
    long, short = (promoted_events(loop, n) for n in (96, 48))
    found = (long.time - short.time) / 48
    assert found >= promoted_pace(loop) * (1 - 1e-6)
    # Consumers of one step meet on their units; events may be slower by a queue.
    assert found <= 1.35 * promoted_pace(loop)
    assert verify(long) == []


def test_two_consumers_hide_promotion_and_one_does_not():
    size = {"rows": 256, "buffers": 4}
    one, two = (promoted_of(consumers=n, **size) for n in (1, 2))
    time = {x: promoted_events(x, 56).time for x in (one, two)}
    plain = {x: promoted_events(replace(x, promote=0.0), 56).time for x in (one, two)}
    assert time[one] > 1.1 * plain[one] and time[two] < 1.01 * plain[two]
    assert two == promoted_of(cluster=(2, 1), **size)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=r"rows = 128: not a multiple .* 3"):
        promoted_of(consumers=3)
    with pytest.raises(ValueError, match="buffers of"):
        promoted_of(buffers=40)
    with pytest.raises(ValueError, match="promote"):
        Promoted(Feed(1, 1, 1), -1.0)
