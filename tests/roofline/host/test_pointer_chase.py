"""Rings visit every line once, every compiled loop is the slow one, and the law."""

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.roofline.bound.littles_law import time_per_load
from stacklib.roofline.host import pointer_chase as chase


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 200), st.integers(0, 5))
def test_a_ring_visits_every_line_once(lines, seed):
    ring = chase.ring(lines * chase.LINE, seed)
    at, seen = 0, []
    for _ in range(lines):
        seen.append(at)
        at = int(ring[at])
    assert at == 0 and sorted(seen) == list(range(0, lines * 8, 8))


MAKERS = {"found here": chase.compiled, "numpy": lambda n: ("numpy", chase._gather)}


@pytest.mark.rows("maker", MAKERS)
@pytest.mark.rows("chains", [1, 3, 16])
def test_every_loop_follows_the_ring(maker, chains):
    ring = chase.ring(97 * chase.LINE)
    fast, slow = chase.starts(ring, chains, 5), chase.starts(ring, chains, 5)
    MAKERS[maker](chains)[1](ring, fast, 250)
    chase.chase_reference(ring, slow, 250)
    assert fast.tolist() == slow.tolist()


def test_the_c_loop_is_the_same_where_there_is_a_compiler():
    import shutil

    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler found")
    ring = chase.ring(97 * chase.LINE)
    fast, slow = chase.starts(ring, 4), chase.starts(ring, 4)
    chase._by_c(4, compiler)[1](ring, fast, 100)
    chase.chase_reference(ring, slow, 100)
    assert fast.tolist() == slow.tolist()


@given(st.integers(1, 64), st.floats(1e-9, 1e-6), st.floats(1e8, 1e12))
def test_time_falls_with_chains_down_to_what_the_level_delivers(n, latency, bandwidth):
    one = time_per_load(n, latency, bandwidth, chase.LINE)
    more = time_per_load(n + 1, latency, bandwidth, chase.LINE)
    assert chase.LINE / bandwidth <= more <= one
    swept = time_per_load(numpy.array([n, n + 1]), latency, bandwidth, chase.LINE)
    assert swept.tolist() == [one, more]
    assert one == pytest.approx(max(latency / n, chase.LINE / bandwidth))


@pytest.mark.rows("size", [0, 64, 100, 1000.0, True])
def test_a_size_without_two_whole_lines_is_refused(size):
    with pytest.raises(ValueError, match="size = "):
        chase.ring(size)


@pytest.mark.parametrize("chains", [0, 3])
def test_more_chains_than_lines_are_refused(chains):
    with pytest.raises(ValueError, match="chains = "):
        chase.starts(chase.ring(2 * chase.LINE), chains)


def test_a_settled_chase_walks_the_whole_ring_first(monkeypatch):
    walked = []
    monkeypatch.setattr(
        chase,
        "compiled",
        lambda n: ("counted", lambda f, at, steps: walked.append(steps)),
    )
    monkeypatch.setattr(chase, "time_calls", lambda run, *_: (run(1), 1e-9)[1:])
    ring = chase.ring(97 * chase.LINE)
    chase.measure(ring, 1)
    chase.measure(ring, 1, settle=True)
    assert walked == [chase.CALL, 97, chase.CALL]


def test_measuring_gives_positive_times():
    times = chase.measure(chase.ring(2**15), 2, samples=2, sample_s=1e-4)
    assert len(times) == 2 and min(times) > 0
