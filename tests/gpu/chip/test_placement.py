"""Thread to lane, block to unit: closed form, counting, and the machine's own word."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import gpu
from stacklib.gpu.chip import placement
from stacklib.gpu.simt import kernels

from ...rows import refusals

SMALL = [
    (x, y, z) for x, y, z in itertools.product(range(1, 9), range(1, 7), (1, 2, 5))
]


def _threads_of(block):
    return itertools.product(*(range(n) for n in reversed(block)))


@pytest.mark.rows("block", SMALL)
def test_the_formula_is_the_count_for_small_blocks(block):
    counted = list(placement.number_threads(block))
    assert [at for at, _ in counted] == [tuple(r[::-1]) for r in _threads_of(block)]
    for at, place in counted:
        assert gpu.place_of(at, block) == place


@st.composite
def _blocks(draw):
    x = draw(st.integers(1, 1024))
    y = draw(st.integers(1, 1024 // x))
    return x, y, draw(st.integers(1, min(64, 1024 // (x * y))))


def _ran(grid, block):
    count = int(np.prod(grid) * np.prod(block))
    outs = [gpu.empty(count, np.int64) for _ in range(4)]
    found = gpu.launch(kernels.whereabouts, grid, block, "h100-sxm", *outs).results
    return [found[name] for name in ("thread", "warp", "lane", "block")]


@settings(deadline=None, max_examples=40)
@given(_blocks(), st.tuples(*[st.integers(1, 3)] * 3))
def test_the_machine_says_the_same(block, grid):
    """It splits a number into an index; the formula goes the other way."""
    thread, warp, lane, of_block = _ran(grid, block)
    places = [place for _, place in placement.number_threads(block)]
    blocks = int(np.prod(grid))
    assert thread.tolist() == [p.thread for p in places] * blocks
    assert warp.tolist() == [p.warp for p in places] * blocks
    assert lane.tolist() == [p.lane for p in places] * blocks
    assert of_block.tolist() == [b for b in range(blocks) for _ in places]


@pytest.mark.rows("block", SMALL[::7])
def test_the_machine_says_the_same_for_small_blocks(block):
    _, warp, lane, _ = _ran((1, 1, 1), block)
    found = [gpu.place_of(r[::-1], block) for r in _threads_of(block)]
    assert [(p.warp, p.lane) for p in found] == list(zip(warp, lane, strict=True))


def test_y_fastest_would_be_seen():
    """The planted fault: the wrong order of axes."""
    block = (4, 3, 2)
    wrong = [z + 2 * (y + 3 * x) for z, y, x in _threads_of(block)]
    assert wrong != [place.thread for _, place in placement.number_threads(block)]


def test_groups_and_partitions():
    places = [place for _, place in placement.number_threads(1024)]
    assert {p.group for p in places} == set(range(8))
    for group in range(8):
        mine = [p for p in places if p.group == group]
        assert len(mine) == 128 and len({p.warp for p in mine}) == 4
        assert {p.partition for p in mine} == {0, 1, 2, 3}
        assert min(p.warp for p in mine) % 4 == 0


@given(st.integers(1, 3000), st.integers(1, 160), st.integers(1, 32))
def test_dealing_one_by_one_is_the_formula(blocks, units, at_once):
    waves = placement.deal_blocks(blocks, units=units, at_once=at_once)
    found = gpu.fill(threads=256, blocks=blocks, units=units, at_once=at_once)
    assert len(waves) == found.waves
    assert sum(map(sum, waves)) == blocks
    assert sum(waves[-1]) == found.last_blocks
    assert waves[-1].count(0) == found.idle_units
    assert max(map(max, waves)) <= at_once
    assert found.share == pytest.approx(blocks / (len(waves) * units * at_once))
    seats = [placement.seat_of(b, units=units, at_once=at_once) for b in range(blocks)]
    assert len(set(seats)) == blocks
    for wave, row in enumerate(waves):
        mine = [s.unit for s in seats if s.wave == wave]
        assert [mine.count(u) for u in range(units)] == row
    assert max(s.slot for s in seats) < at_once


@given(st.integers(1, 1024))
def test_lanes_of_the_last_warp(threads):
    found = gpu.fill(threads=threads, blocks=1, units=1)
    last = [p.lane for _, p in placement.number_threads(threads)][-1]
    assert found.idle_lanes == 31 - last
    assert found.warps * 32 - found.idle_lanes == threads


def test_arrays_and_numbers_alike():
    blocks = np.array([1, 132, 133, 1000])
    found = gpu.fill(threads=100, blocks=blocks, units=132, at_once=2)
    for i, count in enumerate(blocks.tolist()):
        one = gpu.fill(threads=100, blocks=count, units=132, at_once=2)
        assert found.waves[i] == one.waves and found.idle_units[i] == one.idle_units


test_limits_of_a_launch = refusals(
    (1, 1025, "1,025 threads > 1,024"),
    (1, (1024, 2), "2,048 threads > 1,024"),
    (1, (1, 1, 65), "block.z = 65: at most 64"),
    (1, (2, 2048), "4,096 threads > 1,024"),
    ((1, 65536), 1, "grid.y = 65,536: at most 65,535"),
    (2**31, 1, "grid.x = 2,147,483,648"),
    (0, 1, "grid = 0"),
    (1, True, "block = True"),
    (1, (1, 2, 3, 4), "one to three"),
    (1, 32.0, "block = 32.0"),
    by=placement.check_launch,
    error=(ValueError, TypeError),
)


def test_bad_input():
    with pytest.raises(ValueError, match="not in a block"):
        gpu.place_of((8, 0, 0), (8, 8))
    with pytest.raises(ValueError, match="block = -1"):
        placement.seat_of(-1, units=132)
    with pytest.raises(ValueError, match="units = 0"):
        placement.seat_of(1, units=0)
    with pytest.raises(ValueError, match="blocks = 0"):
        placement.deal_blocks(0, units=132)
    for name in ("threads", "blocks", "units", "at_once"):
        given_ = {"threads": 32, "blocks": 1, "units": 1, "at_once": 1, name: 0}
        with pytest.raises(ValueError, match=f"{name} = 0"):
            gpu.fill(**given_)
    with pytest.raises(ValueError, match="nan"):
        gpu.fill(threads=float("nan"), blocks=1, units=1)
