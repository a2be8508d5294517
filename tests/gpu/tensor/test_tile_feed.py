"""The pipeline that feeds a tensor core: closed form, simulator, checker."""

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib.gpu.tensor.tile_feed import (
    Feed,
    feed_faults,
    feed_of,
    feed_share,
    feed_time,
    run_feed,
)
from stacklib.hardware import UnknownSpec

from ...rows import refusals

cycles = st.integers(0, 900)


def test_closed_form_is_exact_on_every_small_pipeline():
    sizes = itertools.product(range(4), range(4), range(1, 4), range(1, 6))
    for load, latency, mma, buffers in sizes:
        feed = Feed(load, latency, mma, buffers)
        for steps in range(1, 12):
            ran = run_feed(feed, steps)
            assert ran[-1].end == feed_time(feed, steps), (feed, steps)
            assert feed_faults(feed, ran) == []


@given(cycles, cycles, st.integers(1, 900), st.integers(1, 9), st.integers(1, 120))
def test_closed_form_is_exact(load, latency, mma, buffers, steps):
    feed = Feed(load, latency, mma, buffers)
    ran = run_feed(feed, steps)
    assert ran[-1].end == feed_time(feed, steps)
    assert feed_faults(feed, ran) == []
    busy = sum(step.end - step.start for step in ran)
    assert feed_share(feed, steps) == pytest.approx(busy / ran[-1].end)
    more = dataclasses.replace(feed, buffers=buffers + 1)
    assert feed_time(more, steps) <= feed_time(feed, steps)


@given(cycles, cycles, st.integers(1, 900), st.integers(1, 9))
def test_long_products_go_at_the_slowest_of_three_paces(load, latency, mma, buffers):
    feed = Feed(load, latency, mma, buffers)
    pace = max(load, mma, (load + latency + mma) / buffers)
    assert feed_time(feed, 10**7) / 10**7 == pytest.approx(pace, rel=1e-3)


FEED = Feed(3, 2, 4, 2)
PLANTED = {
    "arrives before": lambda ran, at: {"there": ran[at].load + 4},
    "multiplied before it is there": lambda ran, at: {"start": ran[at].there - 1},
    "in less than": lambda ran, at: {"end": ran[at].start + 3},
    "is loaded while": lambda ran, at: {"load": ran[at - 1].load + 2},
    "is multiplied while": lambda ran, at: {"start": ran[at - 1].start + 3},
    "overwrites": lambda ran, at: {"load": ran[at - 2].end - 1},
}


@pytest.mark.rows("said", PLANTED)
def test_the_checker_finds_each_planted_fault(said):
    for at in range(2, 6):
        ran = run_feed(FEED, 6)
        ran[at] = dataclasses.replace(ran[at], **PLANTED[said](ran, at))
        assert any(said in fault for fault in feed_faults(FEED, ran)), (said, at)


def test_arrays_pass():
    feed = Feed(np.array([100.0, 300.0]), 50.0, 200.0, 2)
    singly = [feed_time(Feed(load, 50.0, 200.0, 2), 9) for load in (100.0, 300.0)]
    assert feed_time(feed, 9).tolist() == singly


def test_a_pair_of_blocks_feeds_an_h100_and_one_alone_does_not():
    alone, pair = (feed_of("h100", cluster=c, buffers=4) for c in ((1, 1), (2, 1)))
    assert alone.mma.si == pytest.approx(1024)
    assert alone.load.si > alone.mma.si > pair.load.si
    assert feed_share(alone, 1000).si == pytest.approx(
        alone.mma.si / alone.load.si, rel=0.01
    )
    assert feed_share(pair, 1000).si == pytest.approx(1, rel=0.01)
    assert feed_share(pair, 1).si < 0.5


test_what_makes_no_sense_is_refused = refusals(
    (lambda: feed_time(Feed(-1, 0, 1), 3), "load = -1"),
    (lambda: feed_time(Feed(1, float("nan"), 1), 3), "latency = nan"),
    (lambda: feed_time(Feed(1, 0, 0), 3), "mma = 0"),
    (lambda: feed_time(Feed(1, 0, 1, 0), 3), "buffers = 0"),
    (lambda: run_feed(Feed(1, 0, 1), 0), "steps = 0"),
    (lambda: run_feed(Feed(1, 0, 1), True), "steps = True"),
    (lambda: feed_of("h100", rows=0), "rows = 0"),
    (lambda: feed_of("a100", cluster=(2, 1)), "A100 .*has none"),
    (lambda: feed_of("h100", buffers=5), "5 buffers .* 240 KiB; .* 227 KiB"),
)


def test_a_device_without_measured_caches_is_refused():
    with pytest.raises(UnknownSpec):
        feed_of("mi300x")
