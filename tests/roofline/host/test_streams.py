"""Bandwidth by working set: counting, sweeping, finding the levels."""

import dataclasses
import math
import random
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib.hardware.this_machine import CacheLevel, read_machine
from stacklib.quantity import Quantity
from stacklib.roofline.host import streams
from stacklib.roofline.host.plateaus import _crossing
from stacklib.roofline.host.streams import Plateau, StreamPoint, plateaus, sizes

from ...rows import refusals

KIB = 2**10


# -- counting ------------------------------------------------------------------


@pytest.mark.rows(
    ("name", "counted", "moved"),
    [("copy", 16, 24), ("scale", 16, 24), ("add", 24, 32), ("triad", 24, 32)],
)
def test_bytes_of_an_element(name, counted, moved):
    assert streams.counted_bytes(name, 1) == counted
    assert streams.moved_bytes(name, 1) == moved
    assert streams.moved_bytes(name, 1, write_allocate=False) == counted


def test_bytes_of_floats_quantities_and_arrays_agree():
    n = np.array([1, 1000])
    swept = streams.moved_bytes("triad", n)
    for each, value in zip(n, swept, strict=True):
        assert streams.moved_bytes("triad", int(each)) == value
        traced = streams.moved_bytes("triad", Quantity(int(each), ""), Quantity(8, "B"))
        assert traced.si == value and traced.text().endswith("B")


@pytest.mark.parametrize("ask", [streams.counted_bytes, streams.moved_bytes])
def test_another_loop_has_no_count(ask):
    with pytest.raises(ValueError, match="'dot': use one of copy, scale, add, triad"):
        ask("dot", 1)


# -- the loops -------------------------------------------------------------------


@pytest.mark.rows("name", streams.STREAMS)
@pytest.mark.rows("size", [1, 97, 8193])
def test_compiled_and_block_loops_do_what_the_formula_says(name, size):
    b, c = np.random.default_rng(size).random((2, size))
    right = {"copy": b, "scale": 3 * b, "add": b + c, "triad": b + 3 * c}[name]
    inputs = (b, c)[: streams.STREAMS[name].reads]
    for loops in (streams.loops(), streams.block_loops()):
        out = np.full(size, np.nan)
        loops[name](out, *inputs, 2)
        np.testing.assert_allclose(out, right, rtol=1e-14)


def test_without_numba_the_blocks_run(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    streams.loops.cache_clear()
    try:
        assert set(streams.loops()) == set(streams.STREAMS)
    finally:
        streams.loops.cache_clear()


@pytest.mark.rows("threads", [1, 2, 3])
@pytest.mark.rows("name", streams.STREAMS)
def test_elements_are_those_of_the_slices(name, threads):
    arrays = streams.STREAMS[name].arrays
    for size in (100, 3840, 10**5):
        buffer = streams.aligned(size // 8 + 10**4)
        parts = streams.slices(buffer, arrays, threads, size // 8 // arrays)
        seen = sum(part[0].size for part in parts)
        assert streams.elements(name, threads, size) == seen


@pytest.fixture(scope="module")
def swept():
    patch = pytest.MonkeyPatch()
    machine = read_machine()
    small = dataclasses.replace(machine, caches=(CacheLevel(1, "data", 2**14, 1),))
    patch.setattr(streams, "read_machine", lambda: small)
    patch.setattr(streams, "beyond_cache", lambda *_: 2**16)
    try:
        return streams.sweep(quick=True, threads=(1, 2))
    finally:
        patch.undo()


def test_a_sweep_is_possible_and_whole(swept):
    ids = [p.id for p in swept]
    assert len(ids) == len(set(ids)) == 4 * 2 * len(sizes(2**16, 2.0))
    for p in swept:
        n = streams.elements(p.stream, p.threads, p.size)
        assert p.bytes == streams.counted_bytes(p.stream, n) <= p.size
        # A thread that lost its core for milliseconds is no fault of the sweep.
        assert 1e5 < p.rate < 1e13, p.id
        assert p.spread[0] <= p.rate <= p.spread[1]


def test_a_row_gives_its_point_back(swept):
    for p in swept[:3]:
        row = {"id": p.id, **dataclasses.asdict(p)}
        assert streams.point(row) == p
    with pytest.raises(ValueError, match="needs stream, threads"):
        streams.point({"stream": "copy"})


@pytest.mark.rows(
    "change",
    [
        {"times_s": ()},
        {"times_s": (-1.0,)},
        {"size": 0},
        {"bytes": math.inf},
        {"stream": "dot"},
    ],
)
def test_an_impossible_point_is_refused(change):
    good = StreamPoint("copy", 1, 4096, 4096, (1e-6,))
    with pytest.raises(ValueError):
        dataclasses.replace(good, **change)


def test_sizes_grow_to_the_last():
    found = sizes(2**20, 2.0)
    assert found == sorted(set(found)) and found[0] <= 4096
    assert found[-1] == pytest.approx(2**20, rel=0.01)
    assert all(size % 768 == 0 for size in found)


@pytest.mark.rows(("largest", "step"), [(2**20, 1.0), (2**20, -2), (1, 2.0)])
def test_sizes_that_cannot_grow_are_refused(largest, step):
    with pytest.raises(ValueError, match="cannot grow"):
        sizes(largest, step)


def test_the_sweep_ends_beyond_the_cache_and_within_memory():
    machine = read_machine()

    def largest(cache, memory):
        level = (CacheLevel(3, "unified", cache, 2),)
        planted = dataclasses.replace(machine, caches=level, memory_bytes=memory)
        return streams.beyond_cache(planted, 2**20)

    assert largest(2**25, 2**34) >= 4 * 2**25
    assert largest(2**30, 2**31) <= 2**29
    assert largest(2**10, None) == 2**20


# -- finding the levels ----------------------------------------------------------


def curve(ends, rates, noise=0.0, seed=0):
    """A staircase with a ramp of one step after each end, and noise."""
    rng = random.Random(seed)
    at = sizes(2**28, 2**0.5)

    def rate(size):
        level = sum(size > end for end in ends)
        return rates[level] * math.exp(rng.uniform(-noise, noise))

    return at, [rate(size) for size in at]


ENDS, RATES = (48e3, 1e6, 3.2e7), (500e9, 160e9, 90e9, 30e9)


@pytest.mark.rows("noise", [0.0, 0.03, 0.08, 0.12])
@pytest.mark.rows("seed", range(8))
def test_planted_levels_are_found(noise, seed):
    at, rates = curve(ENDS, RATES, noise, seed)
    found = plateaus(at, rates)
    assert len(found) == 4
    for level, end, rate in zip(found, (*ENDS, None), RATES, strict=True):
        assert level.rate == pytest.approx(rate, rel=0.15)
        assert (level.ends is None) == (end is None)
        if end:
            assert 0.65 < level.ends / end < 1.5


@given(st.lists(st.floats(1.8, 6), min_size=1, max_size=3), st.integers(0, 99))
def test_as_many_levels_as_steps(falls, seed):
    rates = [1e12]
    for fall in falls:
        rates.append(rates[-1] / fall)
    ends = [3e4 * 40**i for i in range(len(falls))]
    at, seen = curve(ends, rates, 0.05, seed)
    assert len(plateaus(at, seen)) == len(rates)


@pytest.mark.rows("seed", range(5))
def test_noise_alone_is_one_level(seed):
    at, rates = curve((), (100e9,), 0.15, seed)
    assert plateaus(at, rates) == [
        Plateau(0, len(at) - 1, pytest.approx(100e9, rel=0.1))
    ]


def test_one_wild_point_is_no_level():
    at, rates = curve(ENDS, RATES, 0.02)
    rates[8] /= 7  # inside the second level: another program woke up
    assert len(plateaus(at, rates)) == 4


def test_loops_too_short_to_reach_speed_are_no_level():
    at, rates = curve(ENDS, RATES)
    rates[:3] = [60e9, 70e9, 80e9]
    found = plateaus(at, rates)
    assert len(found) == 4 and found[0].rate == pytest.approx(500e9)


def test_small_steps_are_one_level():
    at, rates = curve((1e6,), (100e9, 80e9))
    assert len(plateaus(at, rates)) == 1


test_a_curve_that_is_none_is_refused = refusals(
    ([1, 2, 3], [1, 1, 1], "four or more"),
    ([1, 2, 3, 4], [1, 1], "4 sizes and 2"),
    ([1, 3, 2, 4], [1] * 4, "must grow"),
    ([1, 2, 3, 4], [1, 0, 1, 1], "above zero"),
    ([1, 2, 3, 4], [1, math.nan, 1, 1], "above zero"),
    by=plateaus,
)


@pytest.mark.rows(("step", "span"), [(1, 2), (0.5, 2), (1.4, 0.9), (1.4, 0)])
def test_a_step_or_span_that_means_nothing_is_refused(step, span):
    with pytest.raises(ValueError, match=f"step = {step}"):
        plateaus([1, 2, 4, 8], [1.0] * 4, step, span)


def test_a_smaller_step_sees_a_smaller_level():
    at = [2.0**i for i in range(20)]
    rates = [100.0 if s < 2**7 else 78.0 if s < 2**14 else 20.0 for s in at]
    assert len(plateaus(at, rates)) == 2
    assert len(plateaus(at, rates, step=1.25)) == 3


def test_found_levels_take_one_loop_and_thread_count():
    at, rates = curve(ENDS, RATES)
    points = [
        StreamPoint("triad", 1, s, s, (s / r,)) for s, r in zip(at, rates, strict=True)
    ]
    noise = [StreamPoint("copy", 1, s, s, (1.0,)) for s in at]
    assert len(streams.found_levels([*noise, *reversed(points)])) == 4
    with pytest.raises(ValueError, match="four or more"):
        streams.found_levels(points, threads=2)


def test_reported_sizes_of_private_and_shared_caches():
    caches = (
        CacheLevel(1, "data", 48 * KIB, 1),
        CacheLevel(2, "unified", 2**20, 2),
        CacheLevel(3, "unified", 2**25, None),
    )
    assert streams.reported(caches, 1) == [48 * KIB, 2**20, 2**25]
    assert streams.reported(caches, 4)[:2] == [192 * KIB, 2**21]


def test_a_level_ends_where_the_rate_is_halfway_in_ratio():
    at = [2.0**i for i in range(12)]
    rates = [64e9] * 4 + [16e9] * 4 + [4e9] * 4
    first, second, third = plateaus(at, rates)
    assert (first.first, first.last, second.first, second.last) == (0, 3, 4, 7)
    assert first.ends == pytest.approx(2**3.5) and third.ends is None
    assert second.ends == pytest.approx(2**7.5)
    # on a ramp of three points: 64 falls to 32, which is halfway, at the second
    ramp = [64e9] * 4 + [32e9] + [16e9] * 4
    assert plateaus(at[:9], ramp)[0].ends == pytest.approx(2**4)
    uneven = [64e9] * 4 + [40e9] + [16e9] * 4
    share = math.log(40 / 32) / math.log(40 / 16)
    assert plateaus(at[:9], uneven)[0].ends == pytest.approx(2 ** (4 + share))
    assert _crossing(at, [3.0] * 12, range(2, 5), 9.0) == at[5]  # never above it
    assert _crossing([1.0, 2.0, 4.0], [8.0, 4.0, 2.0], range(2), 8.0) == 1
    assert len(plateaus(at, rates, span=1)) == 3
    with pytest.raises(ValueError, match="above zero"):
        plateaus(at, [*rates[:-1], math.inf])
