"""Logarithmic grids, and products through bytes over their whole domain."""

import math

import numpy as np
import pytest

from stacklib.quantizers import LogFormat, byte_split

from ..rows import refusals


def test_every_product_of_sixteen_by_eight_bits():
    a = np.arange(-(1 << 15), 1 << 15, dtype=np.int16)[:, None]
    b = np.arange(-128, 128, dtype=np.int16)[None]
    found = byte_split(a, b)
    assert np.array_equal(found.product, a.astype(np.int32) * b)
    # each pass is what an 8-bit multiplier gives: signed and half-signed
    assert found.high.min() >= -(1 << 14) and found.high.max() <= 1 << 14
    assert found.low.min() == -128 * 255 and found.low.max() == 127 * 255
    # the low byte taken as signed would be wrong for half of all numbers
    wrong = (found.high << 8) + a.astype(np.int8).astype(np.int32) * b
    assert 0.49 < (wrong != found.product).mean() < 0.5
    assert byte_split(-32768, -128) == (4194304, 16384, 0)


def test_products_on_a_log_grid_are_sums():
    form = LogFormat(8, 0.03)
    codes = np.arange(256)
    values = form.decode(codes)
    assert np.array_equal(form.encode(values), codes)
    assert [form.encode(float(v)) for v in values] == codes.tolist()
    product = form.decode(codes[:, None] + codes[None])
    assert np.allclose(product, values[:, None] * values[None], rtol=1e-12)
    x = np.exp(-np.linspace(0, 0.03 * 255, 9999))
    worst = np.abs(form.decode(form.encode(x)) / x - 1).max()
    assert 0.99 * form.worst_ratio < worst <= form.worst_ratio
    assert form.smallest == pytest.approx(values[-1])
    assert form.encode(5.0) == 0 == form.encode(math.inf) and form.encode(1e-30) == 255


def test_a_step_that_matches_is_exact():
    """Rotary frequencies are equal ratios: the right step holds all 64 of them."""
    frequencies = 10000.0 ** (-np.arange(64) / 64)
    matched = LogFormat(8, math.log(10000) / 64)
    assert np.allclose(matched.decode(matched.encode(frequencies)), frequencies)
    spread = LogFormat(8, math.log(10000) / 255)
    error = np.abs(spread.decode(spread.encode(frequencies)) / frequencies - 1).max()
    assert 0.01 < error <= spread.worst_ratio
    linear = np.rint(frequencies * 255)
    assert (linear == 0).sum() == 20


test_what_has_no_code_is_refused = refusals(
    (lambda: LogFormat(0, 0.1), "bits=0: from 1 to 32"),
    (lambda: LogFormat(8, 0.0), "step=0.0: a number above zero"),
    (lambda: LogFormat(8, math.nan), "step=nan: a number above zero"),
    (lambda: LogFormat(8, 0.1).encode(0.0), "0.0 has no logarithm"),
    (lambda: LogFormat(8, 0.1).encode(math.nan), "nan has no logarithm"),
    (lambda: LogFormat(8, 0.1).encode(np.array([1.0, -1.0])), "-1.0 has no logarithm"),
    (lambda: byte_split(40000, 1), "40000 has more than 16 bits"),
    (lambda: byte_split(np.array([1]), np.array([200])), "beyond 8 bits: 200"),
)


def test_what_is_not_whole_is_refused():
    for bad in (1.0, True, np.array([1.0])):
        with pytest.raises(TypeError, match="whole"):
            byte_split(bad, 1)
