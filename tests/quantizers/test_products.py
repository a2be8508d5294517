"""Products of packed matrices, beside the same product of what the codes stand for."""

import numpy as np
import pytest

from stacklib.quantizers import dequantize, gptq, hessian, products, quantize


@pytest.mark.rows("scheme", products.KERNELS)
@pytest.mark.rows("shape", [(1, 1), (3, 128), (5, 130), (33, 1000), (64, 4096)])
def test_a_product_is_that_of_the_numbers_the_codes_stand_for(scheme, shape):
    rng = np.random.default_rng(sum(shape))
    matrix = rng.standard_normal(shape).astype(np.float32)
    x = rng.standard_normal(shape[1]).astype(np.float32)
    q = quantize(matrix, scheme)
    found = products.gemv(products.packed(q), x)
    exact = dequantize(q).astype(np.float64) @ x
    bound = np.abs(dequantize(q)).astype(np.float64) @ np.abs(x) * 1e-5 + 1e-12
    assert (np.abs(found - exact) <= bound).all()


@pytest.mark.parametrize("scheme", products.KERNELS)
def test_without_numba_the_product_is_the_same(scheme, monkeypatch):
    matrix = np.random.default_rng(1).standard_normal((16, 200)).astype(np.float32)
    x = np.linspace(-1, 1, 200, dtype=np.float32)
    made = products.packed(quantize(matrix, scheme))
    fast = products.gemv(made, x)
    monkeypatch.setattr(products, "_compiled", lambda name: None)
    assert np.allclose(products.gemv(made, x), fast, rtol=1e-4, atol=1e-5)


def test_every_code_of_four_bits_is_expanded():
    grid = np.tile(np.arange(-8, 8, dtype=np.float32), 16).reshape(2, 128)
    made = products.packed(quantize(grid, "int4_g128"))
    for column in range(0, 128, 7):
        x = np.zeros(128, np.float32)
        x[column] = 1
        assert np.array_equal(
            products.gemv(made, x), dequantize(made.source)[:, column]
        )


def test_bytes_are_those_of_the_codes_and_scales():
    matrix = np.ones((4, 256), np.float32)
    assert products.packed(quantize(matrix, "int8_channel")).nbytes == 4 * 256 + 4 * 4
    assert products.packed(quantize(matrix, "int4_g128")).nbytes == 4 * 128 + 4 * 8


def test_what_gemv_does_not_read_is_refused():
    with pytest.raises(ValueError, match="nf4: gemv reads int8_channel and int4_g128"):
        products.packed(quantize(np.ones((2, 64)), "nf4"))
    with pytest.raises(ValueError, match="a matrix by its rows"):
        products.packed(quantize(np.ones((2, 64)), "int8_channel", axis=0))
    many = np.random.default_rng(0).standard_normal((9, 256))
    moved = gptq(many[:4], hessian(many), "int4_g128", act_order=True)
    for bad, says in (
        (quantize(many, "int4_g128", block=64), "block=64"),
        (moved, "columns"),
    ):
        with pytest.raises(ValueError, match=f"^{says}.*: gemv reads groups of 128"):
            products.packed(bad)
    made = products.packed(quantize(np.ones((2, 64)), "int8_channel"))
    with pytest.raises(ValueError, match=r"\(63,\), not \(64,\)"):
        products.gemv(made, np.ones(63))
