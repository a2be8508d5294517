"""Products through bytes and a camera's picture, against wide arithmetic."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.accelerators import byte_split_matmul, demosaic
from stacklib.accelerators.products.byte_matmul import (
    accumulator_bits,
    passes,
    sign_slips,
)
from stacklib.accelerators.products.demosaic import KERNELS
from stacklib.accelerators.products.voxels import (
    between,
    voxel_products,
    voxel_query,
    voxels,
)

from ..rows import refusals


@settings(max_examples=30)
@given(st.integers(1, 6), st.integers(1, 9), st.integers(1, 5), st.integers(0, 99))
def test_a_product_is_that_of_wide_arithmetic(m, k, n, seed):
    rng = np.random.default_rng(seed)
    a = rng.integers(-(1 << 15), 1 << 15, (m, k))
    b = rng.integers(-(1 << 7), 1 << 7, (k, n))
    found = byte_split_matmul(a, b)
    assert np.array_equal(found.product, a @ b)
    assert np.array_equal(256 * found.high + found.low, a @ b)
    assert found.multiplies == 2 * m * n * k
    assert found.accumulator_bits <= accumulator_bits(k)


@pytest.mark.slow
def test_every_pair_of_the_domain_passes_as_a_matrix():
    """2^24 products: outer products have each pair of operands once."""
    b = np.arange(-128, 128)[None]
    slipped = 0
    for part in np.split(np.arange(-(1 << 15), 1 << 15), 32):
        a = part[:, None]
        found = byte_split_matmul(a, b)
        assert np.array_equal(found.product, a * b)
        signed = 256 * found.high + (a & 255).astype(np.int8).astype(int) * b
        slipped += int((signed != found.product).sum())
    assert slipped / (1 << 24) == sign_slips()


def test_a_drawn_part_of_the_domain_passes():
    a = np.random.default_rng(5).integers(-(1 << 15), 1 << 15, (997, 1))
    b = np.arange(-128, 128)[None]
    found = byte_split_matmul(a, b)
    assert np.array_equal(found.product, a * b)
    slipped = 256 * found.high + (a & 255).astype(np.int8).astype(int) * b
    assert (slipped != found.product).mean() == pytest.approx(sign_slips(), abs=0.05)


def test_the_widest_sums_need_what_is_said():
    for terms in (1, 2, 3, 512, 513):
        a = np.full((1, terms), -(1 << 15))
        b = np.full((terms, 1), -128)
        assert byte_split_matmul(a, b).accumulator_bits == accumulator_bits(terms)
    assert accumulator_bits(1) == 24 and accumulator_bits(512) == 33
    assert [passes(16), passes(16, 16), passes(12), passes(8)] == [2, 4, 2, 1]


def test_a_picture_is_that_of_a_direct_one():
    raw = np.random.default_rng(0).integers(0, 4096, (6, 10))
    found = demosaic(raw)
    for name, kernel in KERNELS.items():
        direct = np.zeros((3, 5), int)
        for y in range(3):
            for x in range(5):
                four = raw[2 * y : 2 * y + 2, 2 * x : 2 * x + 2].reshape(-1)
                direct[y, x] = sum(
                    w * int(s) for w, s in zip(kernel, four, strict=True)
                )
        assert np.array_equal(found[name], direct), name
    assert all(sum(kernel) == 64 for kernel in KERNELS.values())
    assert found["red"].max() <= 64 * 4095
    # the lower byte alone would lose the upper four bits of a sample
    assert not np.array_equal(demosaic(raw & 255)["red"], found["red"])


def test_the_least_number_of_a_width_needs_no_bit_more():
    assert byte_split_matmul([[-(2**15)]], [[1]]).accumulator_bits == 16
    assert byte_split_matmul([[2**14]], [[2]]).accumulator_bits == 17
    assert accumulator_bits(np.int8(1)) == 24
    assert passes(np.int8(127), np.int8(127)) == 256


@settings(max_examples=20)
@given(st.integers(1, 5), st.integers(1, 7), st.integers(1, 6), st.integers(0, 99))
def test_a_place_reads_what_attention_in_wide_numbers_reads(n, f, deep, seed):
    rng = np.random.default_rng(seed)
    queries = rng.integers(-(1 << 15), 1 << 15, (n, deep))
    keys, values = (rng.integers(-128, 128, (f, w)) for w in (deep, 3))
    scale = 3 / np.abs(queries @ keys.T).max(initial=1)
    found = voxel_query(queries, keys, values, scale)
    assert np.array_equal(found.scores, queries @ keys.T)
    assert found.multiplies == voxel_products(n, f, deep, 3)
    share = np.exp(scale * found.scores)
    share /= share.sum(axis=1, keepdims=True)
    # A weight is off by half of a 127th of the largest, and so is their sum, f times.
    off = f / 127 * share.max(axis=1, keepdims=True) * 128
    assert (np.abs(found.values - share @ values) <= off).all()


def test_a_sure_place_reads_one_feature():
    keys = np.array([[100, 0], [0, 100]])
    found = voxel_query([[30_000, -5]], keys, [[7], [90]], scale=1.0)
    assert found.weights.tolist() == [[127, 0]] and found.values.tolist() == [[7.0]]


def test_a_box_is_covered_by_whole_cubes_and_a_point_lies_between_corners():
    assert voxels(80, 80, 8, 0.33) == 243 * 243 * 25
    assert voxels(1.1, 0.1, 0.3, 0.1) == 33
    plane = [1 + 2 * x + 3 * y - 5 * z for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    at = (0.25, 0.5, 0.75)
    assert between(plane, at) == pytest.approx(1 + 2 * 0.25 + 3 * 0.5 - 5 * 0.75)
    assert between(range(8), (1, 0, 1)) == 5
    wide = (np.int8(127), np.int8(127), np.int8(100), np.int8(100))
    assert voxel_products(*wide) == 127 * 127 * 300


ONES = np.ones((2, 2), int)
test_bad_operands_are_refused = refusals(
    (lambda: byte_split_matmul(ONES, np.ones((3, 2), int)), "do not chain"),
    (lambda: byte_split_matmul(ONES * 40000, ONES), "beyond 16 bits: 40000"),
    (lambda: byte_split_matmul(ONES, ONES * 128), "beyond 8 bits: 128"),
    (lambda: byte_split_matmul(ONES[:0], ONES), "an empty product"),
    (lambda: demosaic(ONES[:1]), "even sides"),
    (lambda: demosaic(ONES * 4096), "a sample of 4096: from 0 to 4095"),
    (lambda: demosaic(-ONES), "a sample of -1"),
    (lambda: demosaic(ONES, {"red": (300, 0, 0, 0)}), "beyond 8 bits: 0, 300"),
    (lambda: passes(0), "bits = 0"),
    (lambda: accumulator_bits(0), "terms = 0"),
    (lambda: voxel_query(ONES, ONES * 128, ONES, 1.0), "beyond 8 bits: 128"),
    (lambda: voxel_query(ONES, ONES, ONES[:1], 1.0), "do not chain"),
    (lambda: voxel_query(ONES, ONES, ONES, np.nan), "scale = nan"),
    (lambda: voxel_products(0, 1, 1, 1), "voxels = 0"),
    (lambda: voxels(1, 1, 1, 0), "side = 0"),
    (lambda: between([1] * 7, (0, 0, 0)), "7 corners"),
    (lambda: between([1] * 8, (0, 0, 2)), "z = 2"),
)


def test_what_is_not_whole_is_refused():
    for call in (
        lambda: byte_split_matmul(ONES * 1.0, ONES),
        lambda: byte_split_matmul(ONES, ONES * np.nan),
        lambda: byte_split_matmul(ONES, ONES > 0),
        lambda: demosaic(ONES * 1.0),
    ):
        with pytest.raises(TypeError, match="whole"):
            call()
