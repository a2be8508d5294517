"""Scales in the order of the hardware, and products that read them there."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.gpu.tensor.scaled import Operand, multiply
from stacklib.kernels.scaled.scale_layout import (
    block_scaled_product,
    pack_scales,
    packed_size,
    product_of_packed,
    scale_offset,
    tensor_memory,
    unpack_scales,
)
from stacklib.quantizers import dequantize, quantize

SMALL = [*range(1, 6), 31, 32, 33, 127, 128, 129, 257]


def numbered(rows, blocks, seed=0):
    return np.random.default_rng(seed).integers(1, 255, (rows, blocks), dtype=np.uint8)


@pytest.mark.rows("rows", SMALL)
@pytest.mark.rows("blocks", [1, 2, 3, 4, 5, 8, 9])
def test_every_scale_is_where_the_formula_says_and_the_rest_is_zero(rows, blocks):
    scales = numbered(rows, blocks)
    packed = pack_scales(scales)
    assert packed.shape == (packed_size(rows, blocks),)
    places = [
        [scale_offset(row, block, blocks) for block in range(blocks)]
        for row in range(rows)
    ]
    assert (packed[places] == scales).all()
    assert len(set(np.ravel(places).tolist())) == scales.size  # none twice
    rest = np.ones(len(packed), bool)
    rest[np.ravel(places)] = False
    assert not packed[rest].any()
    assert (unpack_scales(packed, rows, blocks) == scales).all()


def test_all_small_shapes_come_back():
    for rows in range(1, 140):
        for blocks in range(1, 10):
            scales = numbered(rows, blocks)
            assert (unpack_scales(pack_scales(scales), rows, blocks) == scales).all()


@given(st.integers(1, 300), st.integers(1, 40), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_unpacking_gives_back_what_was_packed(rows, blocks, seed):
    scales = numbered(rows, blocks, seed)
    assert (unpack_scales(pack_scales(scales), rows, blocks) == scales).all()


def test_the_order_is_that_of_blocks_turned_and_laid_side_by_side():
    """As torchao's to_blocked does it: 128 x 4, cut in four, transposed."""
    scales = numbered(256, 8)
    tiles = []
    for down in range(0, 256, 128):
        for right in range(0, 8, 4):
            tile = scales[down : down + 128, right : right + 4]
            tiles.append(np.concatenate(np.split(tile, 4), axis=1).ravel())
    assert (pack_scales(scales) == np.concatenate(tiles)).all()


def test_a_lane_of_tensor_memory_holds_four_rows_thirty_two_apart():
    scales = numbered(128, 4)
    lanes = tensor_memory(pack_scales(scales))
    assert lanes.shape == (128, 4, 4)
    for lane in range(128):
        assert (lanes[lane] == scales[lane % 32 :: 32]).all()


@given(
    st.integers(1, 9),
    st.integers(1, 9),
    st.integers(1, 150),
    st.sampled_from(["mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e2m3", "mxfp4"]),
)
@settings(max_examples=25, deadline=None)
def test_the_reference_is_the_product_of_what_the_codes_stand_for(m, n, k, scheme):
    random = np.random.default_rng(m * 1000 + n * 100 + k)
    a, b = (quantize(random.normal(size=(x, k)), scheme) for x in (m, n))
    found = block_scaled_product(a, b)
    plain = dequantize(a).astype(float) @ dequantize(b).astype(float).T
    assert found == pytest.approx(plain, rel=1e-12, abs=1e-12)
    packed = pack_scales(a.scales), pack_scales(b.scales)
    assert (product_of_packed(a, b, *packed) == found).all()


def test_the_emulated_unit_agrees_within_its_own_digits():
    """B200's rule keeps 25 bits behind the largest of 32 products."""
    random = np.random.default_rng(1)
    a, b = (quantize(random.normal(size=(x, 320)), "mxfp8_e4m3") for x in (17, 23))
    exact = block_scaled_product(a, b)
    found = multiply(
        Operand(a.codes.astype(int), "e4m3fn", a.scales.astype(int)),
        Operand(b.codes.astype(int).T, "e4m3fn", b.scales.astype(int).T),
        generation="blackwell",
    )
    size = np.abs(dequantize(a)) @ np.abs(dequantize(b)).T
    steps = 320 / 32
    assert (np.abs(found - exact) <= size * steps * 33 * 2.0**-23).all()
    assert (np.abs(found - exact) < 1e-5 * size).all()


def test_scales_in_another_order_change_the_product():
    random = np.random.default_rng(2)
    spread = np.exp2(random.integers(-6, 7, (40, 8))).repeat(32, axis=1)
    a = quantize(random.normal(size=(40, 256)) * spread, "mxfp8_e4m3")
    b = quantize(random.normal(size=(3, 256)), "mxfp8_e4m3")
    rowwise = np.zeros(packed_size(40, 8), np.uint8)
    rowwise[: a.scales.size] = a.scales.ravel()  # as they come, not as they must lie
    right = block_scaled_product(a, b)
    planted = product_of_packed(a, b, rowwise, pack_scales(b.scales))
    assert not np.allclose(planted, right)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"float64 of shape \(2, 2\): a uint8 matrix"):
        pack_scales(np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"shape \(0, 4\)"):
        pack_scales(np.zeros((0, 4), np.uint8))
    with pytest.raises(ValueError, match=r"are uint8 of shape \(512,\)"):
        unpack_scales(np.zeros(100, np.uint8), 5, 3)
    with pytest.raises(ValueError, match="padding beyond 5 rows"):
        unpack_scales(np.full(512, 3, np.uint8), 5, 3)
    with pytest.raises(ValueError, match="block 4: a row has 4"):
        scale_offset(0, 4, 4)
    with pytest.raises(ValueError, match="tile 1 of 512 bytes"):
        tensor_memory(np.zeros(512, np.uint8), 1)
    x = np.ones((2, 32))
    with pytest.raises(ValueError, match="b is int8_channel"):
        block_scaled_product(quantize(x, "mxfp4"), quantize(x, "int8_channel"))
    with pytest.raises(ValueError, match=r"a is \(2, 32\) and b \(2, 64\)"):
        block_scaled_product(quantize(x, "mxfp4"), quantize(np.ones((2, 64)), "mxfp4"))
    with pytest.raises(ValueError, match="quantized along axis -2"):
        block_scaled_product(
            quantize(np.ones((32, 2)), "mxfp4", axis=0), quantize(x, "mxfp4")
        )
