"""Tiled products: what they read, what is least, and what a cache saves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.memory import Cache
from stacklib.memory.tile.tiling import (
    ORDERS,
    TiledMatmul,
    hong_kung,
    tile_intensity,
    tile_traffic,
)

from ...rows import refusals

SIZE = st.integers(1, 40)


@given(
    SIZE, SIZE, SIZE, st.integers(1, 16), st.integers(1, 16), st.sampled_from(ORDERS)
)
@settings(max_examples=100, deadline=None)
def test_every_block_starts_once(m, n, k, tile_m, tile_n, how):
    product = TiledMatmul(m, n, k, tile_m, tile_n)
    blocks = list(product.order(how, 3))
    down, across = product.grid
    assert sorted(blocks) == [(r, c) for r in range(down) for c in range(across)]


def test_orders_go_as_they_are_called():
    product = TiledMatmul(4, 3, 1, 1, 1)
    assert list(product.order("row"))[:4] == [(0, 0), (0, 1), (0, 2), (1, 0)]
    assert list(product.order("column"))[:4] == [(0, 0), (1, 0), (2, 0), (3, 0)]
    assert list(product.order("grouped", 2))[:5] == [
        (0, 0),
        (1, 0),
        (0, 1),
        (1, 1),
        (0, 2),
    ]


@given(SIZE, SIZE, SIZE, st.integers(1, 16), st.integers(1, 16), st.integers(1, 16))
@settings(max_examples=80, deadline=None)
def test_numbers_read_are_those_a_blocked_product_reads(m, n, k, tm, tn, tk):
    product = TiledMatmul(m, n, k, tm, tn, tk)
    x, w = np.ones((m, k)), np.ones((k, n))
    read, y = 0, np.zeros((m, n))
    for row, column in product.order():
        rows, columns = (
            slice(row * tm, row * tm + tm),
            slice(column * tn, column * tn + tn),
        )
        for step in range(0, k, tk):
            a, b = x[rows, step : step + tk], w[step : step + tk, columns]
            read += a.size + b.size
            y[rows, columns] += a @ b
    assert read == product.numbers_read
    assert (y == k).all()


@given(st.integers(16, 200), st.integers(1, 14))
@settings(max_examples=80, deadline=None)
def test_no_tile_beats_the_bound(n, tile):
    product = TiledMatmul(n, n, n, tile, tile, 1)
    held = tile * tile + 2 * tile
    assert product.numbers_moved >= hong_kung(n, n, n, held)


def test_square_tiles_come_near_the_bound():
    n, tile = 4096, 64
    moved = TiledMatmul(n, n, n, tile, tile, 1).numbers_moved
    assert 1 <= moved / hong_kung(n, n, n, tile * tile + 2 * tile) < 1.06


@pytest.mark.rows("how", ORDERS)
@pytest.mark.rows("at_once", [1, 6])
def test_a_trace_holds_every_read_and_nothing_else(how, at_once):
    product = TiledMatmul(96, 128, 192, 32, 64, 64)
    trace = product.trace(how=how, at_once=at_once)
    assert len(trace) * 128 == product.numbers_read * product.width
    assert len(set(trace.tolist())) * 128 == 2 * (96 * 192 + 192 * 128)
    assert (trace % 128 == 0).all()


def test_a_cache_for_everything_reads_everything_once():
    product = TiledMatmul(256, 256, 256, 64, 64, 64)
    run = Cache(2**20, 16, 128).run(product.trace(at_once=4))
    assert run.bytes_in == 2 * 2 * 256 * 256


def test_a_grouped_order_shares_more_of_each_step():
    # Sixteen blocks at once, a cache for one step of them: by rows they need 1 + 16
    # tiles of their 32, in bands of four rows 4 + 4.
    product = TiledMatmul(1024, 1024, 256, 64, 64, 64)
    cache = Cache(160 * 1024, 1280, 128)
    expected = {"row": 1 - 17 / 32, "column": 1 - 17 / 32, "grouped": 1 - 8 / 32}
    for how, rate in expected.items():
        trace = product.trace(how=how, group=4, at_once=16)
        assert cache.run(trace).hit_rate == pytest.approx(rate, abs=0.02)


test_bad_shapes_are_refused = refusals(
    (lambda: TiledMatmul(0, 1, 1, 1, 1), "m = 0"),
    (lambda: TiledMatmul(1, 1, 1, 1.5, 1), "tile_m = 1.5"),
    (lambda: list(TiledMatmul(1, 1, 1, 1, 1).order("spiral")), "'spiral'"),
    (lambda: TiledMatmul(64, 64, 64, 8, 8).trace(at_once=0), "at_once = 0"),
    (lambda: TiledMatmul(64, 64, 65, 8, 8).trace(), "k = 65"),
    (lambda: hong_kung(1, 1, 1, 0), "1 at least"),
)


@given(SIZE, SIZE, SIZE, st.integers(1, 16), st.integers(1, 16), st.integers(1, 16))
@settings(max_examples=100, deadline=None)
def test_walking_through_the_blocks_counts_what_the_closed_form_says(m, n, k, a, b, c):
    product = TiledMatmul(m, n, k, a, b, c)
    read, written = product.count()
    assert (read, read + written) == (product.numbers_read, product.numbers_moved)
    # Whole tiles move as much; an edge that is cut short moves more for its size.
    ideal = tile_traffic(m, n, k, a, b)
    assert read + written >= ideal - 1e-6
    if m % a == 0 and n % b == 0:
        assert read + written == pytest.approx(ideal)
        assert product.useful == 1
    assert 0 < product.useful <= 1


@given(SIZE, SIZE, SIZE, st.integers(1, 16), st.integers(1, 16), st.integers(1, 16))
@settings(max_examples=100, deadline=None)
def test_no_rectangle_beats_the_bound_either(m, n, k, a, b, c):
    product = TiledMatmul(m, n, k, a, b, c)
    held = a * b + c * (a + b)
    assert product.numbers_moved >= hong_kung(m, n, k, held)


@given(st.integers(1, 512), st.integers(1, 512), st.sampled_from([0.5, 1, 2, 4]))
def test_of_one_area_the_square_reads_least_where_both_numbers_are_as_wide(a, b, width):
    side = (a * b) ** 0.5
    square = tile_intensity(side, side, width, width)
    assert tile_intensity(a, b, width, width) <= square * (1 + 1e-12)
    # With a narrow W the best sides are as the widths: m / n = width_w / width_x.
    tall = side * (0.25**0.5), side / (0.25**0.5)
    best = tile_intensity(*tall, 2, 0.5)
    assert tile_intensity(a, b, 2, 0.5) <= best * (1 + 1e-12)
