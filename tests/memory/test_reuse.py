"""Reuse distances: by their definition, and what LRU caches then do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.memory import Cache
from stacklib.memory import reuse as ru
from stacklib.memory.replacement import misses

TRACES = st.lists(st.integers(0, 12), min_size=1, max_size=120)


def slow(lines: list[int]) -> list[int]:
    """Count the others between, access by access."""
    out = []
    for at, line in enumerate(lines):
        earlier = [i for i in range(at) if lines[i] == line]
        out.append(len(set(lines[earlier[-1] + 1 : at])) if earlier else ru.FIRST)
    return out


@given(TRACES)
@settings(max_examples=200, deadline=None)
def test_distances_count_the_others_between(lines):
    assert ru.reuse_distances(lines).tolist() == slow(lines)


@given(TRACES)
@settings(max_examples=60, deadline=None)
def test_plain_python_gives_the_same(lines):
    trace = np.array(lines)
    known = ru.reuse_distances(lines)
    order: dict[int, int] = {}
    before = np.full(len(trace), -1)
    for at, line in enumerate(lines):
        before[at] = order.get(line, -1)
        order[line] = at
    distance = np.full(len(trace), ru.FIRST)
    ru.loop(trace, before, distance)
    assert distance.tolist() == known.tolist()


@given(TRACES)
@settings(max_examples=80, deadline=None)
def test_the_curve_is_what_lru_does_at_every_size(lines):
    curve = ru.hit_curve(lines)
    for room in range(1, len(curve)):
        hits = len(lines) - misses(lines, room, "lru")
        assert curve[room] == pytest.approx(hits / len(lines))
    assert curve[0] == 0


@given(
    st.lists(st.integers(0, 60), min_size=1, max_size=200),
    st.sampled_from([(1, 8), (2, 4), (4, 2), (8, 1), (3, 3)]),
)
@settings(max_examples=80, deadline=None)
def test_a_set_associative_cache_hits_as_predicted(lines, shape):
    sets, ways = shape
    run = Cache(sets * ways * 64, ways, 64).run(64 * np.array(lines))
    assert run.hits == ru.predicted_hits(lines, sets, ways)


def test_a_loop_hits_all_or_nothing():
    curve = ru.hit_curve(np.tile(np.arange(100), 10))
    assert curve[99] == 0 and curve[100] == pytest.approx(0.9)


@pytest.mark.parametrize("bad", [[], [0.5], [[1, 2]]])
def test_what_is_no_trace_is_refused(bad):
    with pytest.raises(ValueError, match="whole numbers"):
        ru.reuse_distances(bad)
    with pytest.raises(ValueError, match="0 sets"):
        ru.predicted_hits([1], 0, 1)
