"""Reuse distances: by their definition, and what LRU caches then do."""

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.memory import Cache
from stacklib.memory.cache import reuse as ru
from stacklib.memory.cache.associative import hit_chance
from stacklib.memory.cache.replacement import misses

from ...rows import refusals

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


@given(st.integers(0, 40), st.sampled_from([(1, 4), (2, 2), (4, 3), (16, 1)]))
@settings(max_examples=60, deadline=None)
def test_the_chance_is_that_of_lines_thrown_into_sets(distance, shape):
    sets, ways = shape
    # by definition: the chance that fewer than `ways` of the others share the set
    told = sum(
        comb(distance, same) * (sets - 1) ** (distance - same) / sets**distance
        for same in range(min(ways, distance + 1))
    )
    assert hit_chance(distance, sets, ways) == pytest.approx(told)
    assert hit_chance(distance, sets, ways) >= hit_chance(distance + 1, sets, ways)


@pytest.mark.rows("shape", [(64, 2), (32, 4), (16, 8), (8, 16)])
@pytest.mark.rows("seed", [0, 1, 2])
def test_where_lines_fall_by_chance_the_expected_hits_are_the_counted(shape, seed):
    sets, ways = shape
    r = np.random.default_rng(seed)
    scattered = r.permutation(1 << 20)[:4000]  # any set is as likely as another
    lines = scattered[r.zipf(1.2, 40_000) % 4000]
    counted = ru.predicted_hits(lines, sets, ways)
    assert ru.expected_hits(lines, sets, ways) == pytest.approx(counted, rel=0.03)


def test_where_strides_are_powers_of_two_they_are_not():
    column = np.tile(64 * np.arange(256), 20)  # 256 lines, all in one set of 64
    assert ru.predicted_hits(column, 64, 8) == 0
    assert ru.expected_hits(column, 64, 8) > 0.9 * len(column)


def test_a_fully_associative_cache_leaves_nothing_to_chance():
    lines = np.random.default_rng(3).integers(0, 50, 2000)
    for ways in (1, 7, 49, 60):
        assert ru.expected_hits(lines, 1, ways) == ru.predicted_hits(lines, 1, ways)
    assert ru.expected_hits([1, 2, 3], 4, 2) == 0


test_what_has_no_chance_is_refused = refusals(
    ((-1, 2, 2), "distance = -1"),
    ((float("nan"), 2, 2), "distance = nan"),
    ((1, 0, 2), "sets = 0"),
    ((1, 2, True), "ways = True"),
    by=lambda arguments: hit_chance(*arguments),
)


def test_a_loop_hits_all_or_nothing():
    curve = ru.hit_curve(np.tile(np.arange(100), 10))
    assert curve[99] == 0 and curve[100] == pytest.approx(0.9)


@pytest.mark.rows("bad", [[], [0.5], [[1, 2]]])
def test_what_is_no_trace_is_refused(bad):
    with pytest.raises(ValueError, match="whole numbers"):
        ru.reuse_distances(bad)
    with pytest.raises(ValueError, match="0 sets"):
        ru.predicted_hits([1], 0, 1)
