"""Chases: the closed form is the walk, and the curve gives the caches back."""

from itertools import pairwise
from statistics import mean

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from stacklib import hardware
from stacklib.memory.cache import chase_model
from stacklib.memory.cache.chase_model import ChaseLevel, gpu_levels, latency, served
from stacklib.memory.cache.chase_run import addresses, chase
from stacklib.memory.cache.find_levels import find_levels
from stacklib.roofline.host import pointer_chase

from ...rows import refusals

LINE = 64


@st.composite
def hierarchies(draw, most=3):
    """Caches that each hold a way more than the one before, and a memory."""
    levels, held, time = [], 1, 0.0
    for i in range(draw(st.integers(1, most))):
        ways = draw(st.integers(1, 8))
        sets = draw(st.integers(-(-held // ways), -(-held // ways) + 12))
        time += draw(st.floats(1, 100))
        levels.append(ChaseLevel(f"L{i + 1}", time, sets * ways * LINE, ways, LINE))
        held = sets * (ways + 1)
    return (*levels, ChaseLevel("memory", time + draw(st.floats(1, 500))))


@settings(max_examples=150, deadline=None)
@given(hierarchies(), st.integers(2, 600), st.integers(0, 3))
def test_the_walk_is_the_closed_form_to_the_last_load(levels, lines, seed):
    size = lines * LINE
    walked = chase(size, levels, LINE, seed=seed)
    assert walked.loads == lines
    assert walked.served == pytest.approx(served(size, levels, LINE), abs=1e-12)
    assert walked.latency == pytest.approx(latency(size, levels, LINE))


def test_the_walk_is_the_cycle_that_real_loads_follow():
    order = addresses(64 * LINE, LINE, page=None, seed=3)
    following = pointer_chase.ring(64 * LINE, seed=3)
    assert (following[order // 8] * 8).tolist() == [*order[1:], order[0]]


def test_one_cache_exhaustively():
    for ways in (1, 2, 3, 4):
        for sets in (1, 2, 3, 5, 8):
            levels = (
                ChaseLevel("L1", 1, sets * ways * LINE, ways, LINE),
                ChaseLevel("memory", 10),
            )
            for lines in range(2, sets * (ways + 2)):
                walked = chase(lines * LINE, levels, LINE).served[0]
                assert walked == pytest.approx(served(lines * LINE, levels, LINE)[0])


@pytest.mark.parametrize("wrong", [-1, 1])
def test_a_way_too_many_or_too_few_is_seen(wrong):
    """What the test above would say of a closed form that miscounts the ways."""
    right = (ChaseLevel("L1", 1, 64 * 4 * LINE, 4, LINE), ChaseLevel("m", 10))
    ways = 4 + wrong
    other = (ChaseLevel("L1", 1, 64 * ways * LINE, ways, LINE), ChaseLevel("m", 10))
    size = 64 * (4 + (wrong > 0)) * LINE
    assert chase(size, right, LINE).served != pytest.approx(served(size, other, LINE))


@settings(max_examples=60, deadline=None)
@given(hierarchies(2), st.integers(2, 200), st.sampled_from([2, 3, 4, 8]))
def test_a_stride_leaves_sets_untouched(levels, lines, step):
    stride = step * LINE
    try:
        told = served(lines * stride, levels, stride)
    except ValueError:  # with fewer sets the caches do not grow any more
        assume(False)
    assert chase(lines * stride, levels, stride).served == pytest.approx(told)


def test_a_stride_of_a_whole_way_uses_one_set():
    cache = ChaseLevel("L1", 1, 32 * 1024, 8, LINE)
    levels, way = (cache, ChaseLevel("memory", 9)), cache.sets * LINE
    assert cache.reached(way) == 1
    assert served(8 * way, levels, way)[0] == 1
    assert served(9 * way, levels, way)[0] == 0  # though nine lines are next to nothing


PAGED = (ChaseLevel("L2", 14, 2**18, 16, LINE), ChaseLevel("memory", 200))


@pytest.mark.rows("share", [0.5, 0.75, 1.0, 1.25, 1.5, 2.0])
def test_pages_anywhere_are_the_binomial_on_average(share):
    size = round(share * 2**18 / 4096) * 4096
    runs = [chase(size, PAGED, LINE, 4096, seed).served[0] for seed in range(60)]
    assert mean(runs) == pytest.approx(served(size, PAGED, LINE, 4096)[0], abs=0.06)


def test_pages_as_large_as_a_way_change_nothing():
    cache = PAGED[0]
    way = cache.sets * LINE
    for size in (2**17, 2**18, 2**18 + 2**13):
        assert served(size, PAGED, LINE, way) == served(size, PAGED, LINE)


def test_the_binomial_by_counting():
    from math import comb

    for n, p in ((0, 0.5), (5, 0.25), (40, 1 / 16), (3000, 1 / 512)):
        for k in (1, 2, 8, 16):
            by_hand = sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k))
            told = chase_model._binomial_below(k, n, p)
            assert told == pytest.approx(min(1.0, by_hand), rel=1e-9)


def test_replacing_at_random_keeps_some_where_lru_keeps_none():
    levels = (ChaseLevel("L1", 1, 64 * 8 * LINE, 8, LINE), ChaseLevel("memory", 9))
    size = 64 * 9 * LINE
    assert chase(size, levels, LINE).served[0] == 0
    assert 0.3 < chase(size, levels, LINE, policy="random").served[0] < 0.95


# -- the inverse -------------------------------------------------------------------


@st.composite
def machines(draw):
    """Caches that differ enough in size and latency to be seen on a grid."""
    levels, size, time = [], 2 ** draw(st.integers(13, 16)), draw(st.floats(1, 6))
    for i in range(draw(st.integers(1, 3))):
        ways = draw(st.sampled_from([8, 12, 16]))
        whole = size // (ways * LINE) * ways * LINE
        levels.append(ChaseLevel(f"L{i + 1}", time, whole, ways, LINE))
        size *= draw(st.integers(6, 40))
        time *= draw(st.floats(2, 6))
    return (*levels, ChaseLevel("memory", time))


def grid(levels, steps=8):
    """Working sets from below the first cache to eight times the last."""
    last = levels[-2].size * 8
    found, size = [], 2.0**11
    while size < last:
        found.append(round(size / LINE) * LINE)
        size *= 2 ** (1 / steps)
    return sorted(set(found))


@settings(max_examples=80, deadline=None)
@given(machines(), st.integers(0, 2**32 - 1))
def test_planted_caches_are_found(levels, seed):
    import random

    noise = random.Random(seed)
    sizes = grid(levels)
    curve = [latency(s, levels, LINE) * noise.uniform(0.97, 1.03) for s in sizes]
    found = find_levels(sizes, curve)
    assert len(found) == len(levels)
    for seen, planted in zip(found, levels, strict=True):
        assert seen.latency == pytest.approx(planted.latency, rel=0.04)
        if planted.size is None:
            assert seen.size is None
        else:  # a step of the grid, and the way over which the hits fall
            assert seen.size == pytest.approx(planted.size, rel=0.09 + 1 / planted.ways)


def test_a_walked_curve_gives_the_caches_back_too():
    levels = (
        ChaseLevel("L1", 4, 2**15, 8, LINE),
        ChaseLevel("L2", 14, 2**19, 8, LINE),
        ChaseLevel("memory", 90),
    )
    sizes = grid(levels, 4)
    curve = [chase(s, levels, LINE).latency for s in sizes]
    found = find_levels(sizes, curve)
    assert [f.latency for f in found] == [4, 14, 90]
    for seen, planted in zip(found[:2], levels[:2], strict=True):
        assert seen.size == pytest.approx(planted.size, rel=0.2)


def test_pages_anywhere_make_a_cache_look_smaller():
    sizes = grid(PAGED, 8)
    apart, whole = (
        find_levels(sizes, [latency(s, PAGED, LINE, page) for s in sizes])[0].size
        for page in (4096, None)
    )
    assert apart < whole


def test_gpus_in_order_of_distance():
    for key in ("a100-sxm-80gb", "h100-sxm", "b200", "rtx-4090"):
        levels = gpu_levels(key)
        assert all(a.latency < b.latency for a, b in pairwise(levels))
        assert latency(2**15, levels) == levels[0].latency
        assert latency(2**30, levels) == levels[-1].latency


# -- refusals ------------------------------------------------------------------------

CACHE, MEMORY = ChaseLevel("L1", 4, 2**15, 8, LINE), ChaseLevel("memory", 100)


test_what_does_not_fit_together_is_refused = refusals(
    (lambda: ChaseLevel("L1", 0, 2**15), "latency = 0"),
    (lambda: ChaseLevel("L1", float("nan"), 2**15), "latency = nan"),
    (lambda: ChaseLevel("L1", True, 2**15), "latency = True"),
    (lambda: ChaseLevel("L1", 4, 1000), "1000 bytes do not divide"),
    (lambda: ChaseLevel("L1", 4, 2**15, ways=0), "ways = 0"),
    (lambda: ChaseLevel("L1", 4, 32768.0), "size = 32768.0"),
    (lambda: MEMORY.sets, "has no sets"),
    (lambda: served(2**12, (CACHE,), LINE), "then a memory"),
    (lambda: served(2**12, (MEMORY, MEMORY), LINE), "only the last level"),
    (lambda: served(2**12, (CACHE, CACHE, MEMORY), LINE), "must hold what overf"),
    (lambda: served(2**12, (CACHE, MEMORY), 96), "stride = 96"),
    (lambda: served(2**12, (CACHE, MEMORY), 0), "stride = 0"),
    (lambda: served(100, (CACHE, MEMORY), LINE), "working_set = 100"),
    (lambda: served(LINE, (CACHE, MEMORY), LINE), "two or more"),
    (lambda: served(4096.0, (CACHE, MEMORY), LINE), "working_set = 4096.0"),
    (lambda: served(2**12, (CACHE, MEMORY), LINE, 32), "page = 32"),
    (lambda: served(2**12, (CACHE, MEMORY), LINE, 100), "no whole number"),
    (lambda: chase(2**12, (CACHE, MEMORY), LINE, policy="lifo"), "lifo"),
    (lambda: find_levels([1, 2, 3, 4], [1, 1, 0, 1]), "above zero"),
    (lambda: find_levels([1, 2], [1, 1]), "four or more"),
    (lambda: find_levels([1, 2, 3, 4], [1] * 4, step=1), "step = 1"),
    (lambda: find_levels([1, 2, 3, 4], [1] * 4, span=0.5), "span = 0.5"),
)


def test_the_l1_of_another_vendor_is_unknown():
    with pytest.raises(hardware.UnknownSpec, match="mi300x"):
        gpu_levels("mi300x")
