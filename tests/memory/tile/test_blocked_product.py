"""The product that is run: right, counted as the closed form counts, traced as run."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.memory import Cache, TiledMatmul
from stacklib.memory.tile import _blocked as loops
from stacklib.memory.tile.blocked_product import blocked, line_trace, tiled_product

from ...rows import refusals

SIZE, TILE = st.integers(1, 37), st.integers(1, 20)


def operands(m, n, k, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((m, k)), rng.standard_normal((k, n))


@given(SIZE, SIZE, SIZE, TILE, TILE, TILE)
@settings(max_examples=80, deadline=None)
def test_the_copies_are_those_of_the_closed_form(m, n, k, a, b, c):
    x, w = operands(m, n, k)
    tiles = TiledMatmul(m, n, k, a, b, c)
    done = tiled_product(x, w, tiles)
    np.testing.assert_allclose(done.y, x @ w, atol=1e-10)
    assert (done.read, done.moved) == (tiles.numbers_read, tiles.numbers_moved)
    assert done.held <= a * b + c * (a + b)


@pytest.mark.parametrize("how", ["loop", "numpy"])
@given(SIZE, SIZE, SIZE, TILE, TILE, TILE)
@settings(max_examples=60, deadline=None)
def test_both_ways_give_numpys_product(how, m, n, k, a, b, c):
    x, w = operands(m, n, k)
    y = blocked(x, w, TiledMatmul(m, n, k, a, b, c, 8), how=how)
    np.testing.assert_allclose(y, x @ w, atol=1e-10)


def test_without_a_compiler_the_same_loop_gives_the_same():
    x, w = operands(11, 13, 9)
    plain = np.zeros((11, 13))
    loops.product_loop(x, w, plain, 5, 6, 4)
    fast = blocked(x, w, TiledMatmul(11, 13, 9, 5, 6, 4, 8), how="loop")
    np.testing.assert_allclose(plain, fast, atol=1e-12)


def test_a_skipped_step_of_the_sum_would_be_seen():
    # A fault planted in the tiling: the last step of the sum is left out.
    x, w = operands(16, 16, 16)
    short = blocked(x[:, :12].copy(), w[:12].copy(), TiledMatmul(16, 16, 12, 8, 8, 4))
    assert np.abs(short - x @ w).max() > 0.1


def test_the_trace_is_the_order_of_the_loop():
    tiles = TiledMatmul(8, 32, 8, 4, 16, 4, 4)
    seen = []

    class Watched:
        """A matrix that writes down which line each access falls on."""

        def __init__(self, name, base, shape):
            self.name, self.base, self.shape = name, base, shape

        def line(self, i, j):
            at = (self.base + (i * self.shape[1] + j) * 4) // 64 * 64
            if at not in seen[-8:]:  # a line is touched once a sweep of it
                seen.append(at)

    x, w, y = (
        Watched(n, b, s)
        for n, b, s in (("x", 0, (8, 8)), ("w", 256, (8, 32)), ("y", 1280, (8, 32)))
    )
    for i0 in range(0, 8, 4):
        for j0 in range(0, 32, 16):
            for p0 in range(0, 8, 4):
                for row in range(i0, i0 + 4):
                    x.line(row, p0)
                for row in range(p0, p0 + 4):
                    w.line(row, j0)
                for row in range(i0, i0 + 4):
                    y.line(row, j0)
    addresses, writes = line_trace(tiles)
    lines = addresses // 64 * 64
    assert set(lines.tolist()) == set(seen)
    assert len(addresses) == 2 * 2 * 2 * (4 + 8)
    assert (addresses[writes] >= 1280).all()
    assert (addresses[~writes] < 1280).all()
    w_lines = lines[(addresses >= 256) & ~writes]
    assert w_lines[:4].tolist() == [256, 256 + 128, 256 + 256, 256 + 384]


def test_a_cache_for_everything_sees_each_line_once():
    tiles = TiledMatmul(64, 64, 64, 16, 32, 16, 4)
    run = Cache(2**20, 16, 64).run(*line_trace(tiles))
    assert run.bytes_in == 3 * 64 * 64 * 4
    assert run.bytes_out == 0


def test_rows_a_power_of_two_apart_drive_each_other_out():
    # A tile of W whose rows are 4 KiB apart has only a few sets for all its lines.
    def moved(n):
        tiles = TiledMatmul(64, n, 64, 64, 64, 64, 4)
        return Cache(48 * 1024, 12, 64).run(*line_trace(tiles)).bytes_in / n

    assert moved(1024) > 4 * moved(1040)


test_bad_operands_are_refused = refusals(
    (lambda: line_trace(TiledMatmul(6, 16, 8, 4, 16, 4, 4)), "m = 6"),
    (lambda: line_trace(TiledMatmul(8, 16, 8, 4, 8, 4, 4)), "tile_n = 8"),
    (
        lambda: blocked(np.ones((2, 3)), np.ones((3, 2)), TiledMatmul(2, 2, 2, 1, 1)),
        r"x of shape \(2, 3\)",
    ),
    (
        lambda: blocked(
            np.ones((2, 2)), np.ones((2, 2)), TiledMatmul(2, 2, 2, 1, 1), how="blas"
        ),
        "how 'blas'",
    ),
)
