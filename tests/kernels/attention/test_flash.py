"""The NumPy backend against float64, its memory, and what it refuses."""

import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from attention_cases import MASKS, made

from stacklib.kernels.attention import tiles
from stacklib.kernels.attention.flash import BACKENDS, flash_attention
from stacklib.kernels.attention.naive import naive_attention
from stacklib.quantity import UnknownName


def error_ratio(q, k, v, **words):
    """Largest error over that of the formula in the same precision."""
    exact = naive_attention(q, k, v, **words)
    plain = naive_attention(q, k, v, dtype=q.dtype, **words)
    tiled = flash_attention(q, k, v, **words)
    assert tiled.dtype == q.dtype
    return np.abs(tiled - exact).max() / max(
        np.abs(plain - exact).max(), np.finfo(q.dtype).eps * np.abs(exact).max(), 1e-300
    )


RAGGED = [
    (1, 1, 1, 1, 1, 1),
    (2, 3, 3, 97, 97, 59),
    (1, 2, 1, 513, 1025, 16),
    (1, 8, 2, 1, 777, 64),  # one query
    (1, 4, 1, 5, 1030, 111),
    (1, 1, 1, 1025, 1025, 8),
    (2, 2, 2, 300, 40, 256),  # rows that causal leaves empty
]


@pytest.mark.rows("shape", RAGGED)
@pytest.mark.rows("words", MASKS)
def test_the_error_is_at_most_twice_that_of_the_formula_in_float32(shape, words):
    assert error_ratio(*made(1, *shape), **words) <= 2


@settings(max_examples=40, deadline=None)
@given(
    st.tuples(*[st.integers(1, n) for n in (2, 3, 2, 70, 70, 20)]),
    st.booleans(),
    st.none() | st.integers(1, 80),
    st.integers(0, 1000),
)
def test_small_tiles_give_what_float64_gives(shape, causal, window, seed):
    batch, group, kv_heads, queries, keys, wide = shape
    x = made(seed, batch, group * kv_heads, kv_heads, queries, keys, wide, np.float64)
    with pytest.MonkeyPatch.context() as patch:
        for name, size in (("Q", 16), ("K", 8), ("CUT", 8)):
            patch.setattr(tiles, f"TILE_{name}", size)
        patch.setattr(tiles, "NUMBERS", 256)
        tiled = flash_attention(*x, causal=causal, window=window)
    exact = naive_attention(*x, causal=causal, window=window)
    assert np.allclose(tiled, exact, rtol=1e-12, atol=1e-12)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.booleans(), st.integers(0, 1000))
def test_values_of_another_width_and_the_sums_that_join_parts(wide, values, up, seed):
    q, k, _ = made(seed, 2, 4, 2, 30, 25, wide, np.float64)
    v = np.random.default_rng(seed).standard_normal((2, 2, 25, values))
    found, lse = flash_attention(q, k, v, causal=up, return_lse=True)
    exact, their = naive_attention(q, k, v, causal=up, return_lse=True)
    assert np.allclose(found, exact, rtol=1e-12, atol=1e-12)
    assert np.allclose(lse, their, rtol=1e-12)
    assert (lse[:, :, :5] == -np.inf).all() == up  # rows that see no key
    if not up:  # two parts of the keys, joined by their sums
        parts = [(k[:, :, :9], v[:, :, :9]), (k[:, :, 9:], v[:, :, 9:])]
        each = [flash_attention(q, *part, return_lse=True) for part in parts]
        joined = sum(o * np.exp(s - lse)[..., None] for o, s in each)
        assert np.allclose(joined, found, rtol=1e-11, atol=1e-12)


def test_rows_are_rescaled_when_their_height_rises_late():
    q, k, v = made(2, 1, 1, 1, 600, 2000, 32)
    k *= np.linspace(0.1, 20, 2000, dtype=np.float32)[:, None]  # heights keep rising
    assert error_ratio(q, k, v) <= 2
    assert error_ratio(q, k[:, :, ::-1].copy(), v) <= 2


@pytest.mark.parametrize("by", [1e-3, 1, 6, 30, 1000])
@pytest.mark.parametrize("values", [0, 1e-37, 1e-25, 1, 1e25, 1e34])
def test_a_row_keeps_its_height_only_while_no_weight_leaves_the_range(by, values):
    """Scores all low, all high, and both: whatever a row is measured from."""
    for shift in (-1, 0, 1):
        q, k, v = made(3, 1, 1, 1, 70, 300, 64, by=by)
        k += np.float32(shift) * q.mean(axis=2, keepdims=True) / np.float32(by)
        v *= np.float32(values)
        assert error_ratio(q, k, v) <= 2
        assert error_ratio(abs(q), shift * abs(k), v) <= 2


def test_rows_that_see_nothing_are_zero_in_both():
    q, k, v = made(4, 1, 2, 2, 9, 4, 8)
    for words in ({"causal": True}, {"window": 2}, {"causal": True, "window": 1}):
        exact, tiled = (f(q, k, v, **words) for f in (naive_attention, flash_attention))
        empty = ~exact.any(axis=-1)
        assert empty[:, :, :3].all() and not empty.all()
        assert (tiled[empty] == 0).all()


@pytest.mark.rows("words", MASKS)
def test_nan_is_reported_in_the_rows_that_the_reference_has_it(words):
    q, k, v = made(5, 1, 2, 1, 600, 600, 16)
    q[0, 1, 300, 3] = np.nan
    if words:
        k[0, 0, 590, 0] = np.nan
    exact, tiled = (f(q, k, v, **words) for f in (naive_attention, flash_attention))
    assert np.isnan(exact).any() and not np.isnan(exact).all()
    assert (np.isnan(exact) == np.isnan(tiled)).all()


def test_inputs_are_left_alone_and_may_lie_any_way_in_memory():
    q, k, v = (x.swapaxes(1, 2) for x in made(6, 2, 40, 40, 3, 3, 16))  # heads last
    before = [x.copy() for x in (q, k, v)]
    kept = [np.ascontiguousarray(x) for x in (q, k, v)]
    assert np.array_equal(
        flash_attention(q, k, v, causal=True), flash_attention(*kept, causal=True)
    )
    assert all(np.array_equal(x, y) for x, y in zip((q, k, v), before, strict=True))


@pytest.mark.rows(("queries", "wide"), [(1, 1), (1, 8), (8, 1)])
def test_one_query_or_one_column_is_left_alone(queries, wide):
    """Turned, such queries are contiguous as they lie: they were scaled in place."""
    q, k, v = made(12, 1, 1, 1, queries, 4, wide)
    before = q.copy()
    flash_attention(q, k, v)
    assert np.array_equal(q, before)


@pytest.mark.rows("words", MASKS)
def test_nothing_beyond_a_ragged_edge_is_read_or_written(words):
    """Canaries on both sides of every axis."""
    around = [np.full((4, 7, 623, 19), np.nan, np.float32) for _ in range(3)]
    inner = (slice(1, 3), slice(2, 5), slice(9, 606), slice(1, 18))
    views = [x[inner] for x in around]
    for view, x in zip(views, made(13, 2, 3, 3, 597, 597, 17), strict=True):
        view[...] = x
    before = [x.copy() for x in around]
    assert np.isfinite(flash_attention(*views, **words)).all()
    for x, y in zip(around, before, strict=True):
        assert np.array_equal(x, y, equal_nan=True)


def test_four_threads_get_what_one_gets():
    cases = [
        (made(i, 2, 4, 2, 40 + 9 * i, 300, 16), MASKS[i % len(MASKS)]) for i in range(8)
    ]
    alone = [flash_attention(*x, **words) for x, words in cases]
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda case: flash_attention(*case[0], **case[1]), cases * 4)
    assert all(np.array_equal(a, b) for a, b in zip(alone * 4, found, strict=True))


def peak(function, *args):
    """Most bytes that NumPy held beyond its inputs and the result."""
    tracemalloc.start()
    try:
        out = function(*args)
        return tracemalloc.get_traced_memory()[1] - out.nbytes
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_square_of_the_tokens():
    grown = [peak(flash_attention, *made(7, 1, 1, 1, n, n, 8)) for n in (1024, 4096)]
    assert grown[1] - grown[0] < 1e6
    assert grown[1] < 30e6


def test_naive_attention_takes_fifty_times_the_memory_at_4096_tokens():
    naive = peak(naive_attention, *made(8, 1, 1, 1, 1024, 1024, 8))
    tiled = peak(flash_attention, *made(8, 1, 1, 1, 4096, 4096, 8))
    assert naive * (4096 / 1024) ** 2 > 50 * tiled


def test_shapes_that_do_not_go_together_are_named():
    q, k, v = made(9, 2, 6, 3, 5, 7, 8)
    cases = [
        ((q[:, :5], k, v), r"5 query heads do not divide among 3"),
        ((q, k, v[:, :, :6]), r"k \(2, 3, 7, 8\), v \(2, 3, 6, 8\): k and v have"),
        ((q[..., :4], k, v), "head_dim must be the same"),
        ((q[:1], k, v), "batch and head_dim"),
        ((q[:0], k[:0], v[:0]), r"q \(0, 6, 5, 8\).*no axis may be empty"),
        ((q[0], k[0], v[0]), r"\(batch, heads, tokens, head_dim\)"),
        (tuple(np.ones((1, 1, 2, 257), np.float32) for _ in "qkv"), "at most 256"),
    ]
    for x, words in cases:
        for function in (naive_attention, flash_attention):
            with pytest.raises(ValueError, match=words):
                function(*x)
    with pytest.raises(ValueError, match="window = 0"):
        flash_attention(q, k, v, window=0)
    for scale in (float("nan"), 1e308):
        with pytest.raises(ValueError, match=f"scale = {scale}".replace("+", ".")):
            flash_attention(q, k, v, scale=scale)


def test_types_that_the_backend_lacks_are_named():
    q, k, v = made(10, 1, 1, 1, 3, 3, 4, np.float16)
    with pytest.raises(TypeError, match=r"float16.*q\.astype"):
        flash_attention(q, k, v)
    with pytest.raises(TypeError, match="float16, float32, float16"):
        flash_attention(q, k.astype(np.float32), v)


def test_a_backend_is_found_by_name_or_says_what_is_missing(monkeypatch):
    q, k, v = made(11, 1, 1, 1, 3, 3, 4)
    assert flash_attention(q, k, v, backend="NumPy").shape == q.shape
    with pytest.raises(UnknownName, match="did you mean: triton"):
        flash_attention(q, k, v, backend="tritn")
    for library in ("torch", "triton"):
        for name in list(sys.modules):
            if name == BACKENDS[library].module or name.split(".")[0] == library:
                monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(ModuleNotFoundError, match=f"pip install {library}"):
            flash_attention(q, k, v, backend=library)
