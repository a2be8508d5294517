"""Section 7.2: who shares a scale, and the page's loop."""

import random

import numpy as np
import pytest

from stacklib.pages.quantizers import integers as page
from stacklib.pages.quantizers.integers import drawings
from stacklib.quantizers import dequantize, quantize

from ...programs import loop_of

loop = loop_of("07-quantizers/integers")


def test_the_loop_is_the_package():
    said = [float(one.split()[-1]) for one in loop.prints().splitlines()]
    draw = random.Random(4).gauss
    x = np.array(
        [[draw(0, 1) * (64 if c == 3 else 1) for c in range(16)] for _ in range(32)]
    )
    small = np.arange(16) != 3
    for mine, way in zip(said, list(page.WAYS)[:3], strict=True):
        off = np.abs(page.rounded(x.astype(np.float32), way) - x)[:, small].mean()
        assert mine == pytest.approx(off, abs=2e-4), way
    assert said[0] > said[1] > 10 * said[2]


def test_outliers_leave_the_function_and_break_the_tensor_scale():
    (x, w), (large, divided) = page.layer(False), page.layer(True)
    assert np.array_equal(
        np.delete(x, page.CHANNELS, 1), np.delete(large, page.CHANNELS, 1)
    )
    assert np.allclose(x @ w.T, large @ divided.T, rtol=1e-5, atol=1e-5)
    tensor, token, channel, strip, tile = page.WAYS
    assert page.off(tensor, outliers=True) > 30 * page.off(tensor, outliers=False)
    assert page.off(token, outliers=True) > 20 * page.off(token, outliers=False)
    assert page.off(channel, outliers=True) == page.off(channel, outliers=False)
    for way in (strip, tile):
        assert page.off(way, outliers=True) < 1.1 * page.off(way, outliers=False)


def test_a_scale_by_token_leaves_the_sum_and_one_by_channel_does_not():
    x, w = page.layer(False)
    left, right = quantize(x, "int8_channel"), quantize(w, "int8_channel")
    codes = [
        np.asarray(q.codes).astype(np.int8).astype(np.int64) for q in (left, right)
    ]
    sums = (codes[0].reshape(x.shape) @ codes[1].reshape(w.shape).T).astype(np.float64)
    scaled = sums * left.scales.reshape(-1, 1) * right.scales.reshape(1, -1)
    exact = dequantize(left).astype(np.float64) @ dequantize(right).astype(np.float64).T
    assert np.allclose(scaled, exact, rtol=1e-5, atol=1e-6)


def test_the_sample_is_what_a_quarter_of_a_step_foretells():
    assert page.error("int8_channel").si == pytest.approx(page.foretold().si, rel=0.005)
    assert page.error("int8_channel").si > 3 * page.claimed().si
    assert page.lost(8).si == pytest.approx(4 / 12**0.5 * page.foretold().si, rel=1e-3)


def test_clipping_helps_where_places_are_few():
    assert page.weights_off("int4_g128", "mse") < 0.95 * page.weights_off("int4_g128")
    assert (
        page.bits("fp8_1x128").si == quantize(np.ones((128, 128)), "fp8_1x128").bits - 8
    )


def test_the_drawing_says_what_each_way_costs():
    found = drawings.whose_scale()
    for way in list(page.WAYS)[:3]:
        assert page.off(way, outliers=True).text("%", 2) in found.html
