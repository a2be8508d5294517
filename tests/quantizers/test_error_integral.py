"""Expected error of shared scales: against drawn blocks, a sum by hand, and limits."""

import math

import numpy as np
import pytest

from stacklib.quantity import UnknownName
from stacklib.quantizers import Format, dequantize, quantize
from stacklib.quantizers.error_integral import DISTRIBUTIONS, SCALES, expected_error

RULES = ("floor", "even", "rceil", "ceil")
MX = {
    "mxfp4": "e2m1",
    "mxfp6_e2m3": "e2m3",
    "mxfp6_e3m2": "e3m2",
    "mxfp8_e4m3": "e4m3fn",
    "mxfp8_e5m2": "e5m2",
    "mxint8": "int8",
}


def drawn(name: str, count: int) -> np.ndarray:
    random = np.random.default_rng(11)
    x = {
        "normal": random.standard_normal,
        "laplace": lambda n: random.laplace(size=n),
        "student_3": lambda n: random.standard_t(3, n),
    }[name](count)
    return x.astype(np.float32)


@pytest.mark.rows("scheme", MX)
@pytest.mark.rows("rule", RULES)
def test_codecs_lose_what_is_expected(scheme: str, rule: str):
    for name, sigma, near in (("normal", 1.3, 0.015), ("laplace", 0.7, 0.02)):
        x = drawn(name, 1 << 18) * np.float32(sigma)
        off = dequantize(quantize(x, scheme, rule=rule)) - x
        found = (off.astype("f8") ** 2).sum() / (x.astype("f8") ** 2).sum()
        told = expected_error(MX[scheme], np.int64(32), rule, name, sigma)
        assert told == pytest.approx(found, rel=near), name


@pytest.mark.rows("block", [2, 8, 128])
@pytest.mark.rows("element", ["e2m1", "e3m0", "e4m3fn"])
def test_other_blocks_and_heavy_tails(element: str, block: int):
    """With scales that are exact: the block's own numbers decide, tails or not."""
    form = Format(element)
    x = drawn("student_3", 1 << 18).reshape(-1, block).astype(np.float64)
    scale = np.abs(x).max(1, keepdims=True) / form.largest
    back = form.decode(form.encode(x / scale, saturate=True)) * scale
    # squares of three degrees have no variance: the ratio of sums wanders
    found = ((back - x) ** 2).sum() / (x**2).sum()
    told = expected_error(element, block, "exact", "student_3")
    assert told == pytest.approx(found, rel=0.05)


def test_nvfp4_is_the_rule_of_three_digits():
    x = drawn("normal", 1 << 19)
    found = float(((dequantize(quantize(x, "nvfp4")) - x) ** 2).mean() / (x**2).mean())
    assert expected_error("e2m1", 16, "e4m3") == pytest.approx(found, rel=0.01)


@pytest.mark.rows("name", DISTRIBUTIONS)
def test_moments_are_those_of_the_density(name: str):
    moments, square, _ = DISTRIBUTIONS[name]
    x = np.linspace(0, 6, 60_001)
    zeroth, first, second = moments(x)
    density = np.gradient(zeroth, x)
    for found, power in ((first, 1), (second, 2)):
        steps = density * x**power
        summed = np.concatenate([[0], np.cumsum((steps[1:] + steps[:-1]) / 2 * 1e-4)])
        assert np.allclose(found, summed, atol=1e-6)
    far = moments(np.array([1e9]))
    assert far[0][0] == pytest.approx(1) and far[2][0] == pytest.approx(
        square, rel=1e-6
    )


def test_a_power_of_two_changes_nothing_and_another_size_does():
    one = expected_error("e2m1", 32, "floor", "normal", 1.1)
    assert expected_error("e2m1", 32, "floor", "normal", 8.8) == pytest.approx(one)
    assert abs(expected_error("e2m1", 32, "floor", "normal", 1.5) / one - 1) > 0.02


def test_longer_blocks_lose_more_with_evenly_spaced_places():
    found = [expected_error("int8", n, "exact") for n in (8, 16, 32, 64, 128)]
    assert found == sorted(found)
    assert found[-1] == pytest.approx(np.mean(_peaks(128) ** 2) / 127**2 / 12, rel=0.03)


def _peaks(block: int) -> np.ndarray:
    return np.abs(drawn("normal", 1 << 18)).reshape(-1, block).max(1)


@pytest.mark.rows("block", [0, 1, -4, 2.0, True, None])
def test_a_block_has_numbers_that_share(block: object):
    with pytest.raises(ValueError, match="block="):
        expected_error("e2m1", block)  # type: ignore[arg-type]


@pytest.mark.rows("sigma", [0, -1.0, math.nan, math.inf])
def test_a_size_is_above_zero(sigma: float):
    with pytest.raises(ValueError, match="sigma="):
        expected_error("e2m1", 32, sigma=sigma)


def test_unknown_names_suggest_the_nearest():
    with pytest.raises(UnknownName, match="floor"):
        expected_error("e2m1", 32, "flor")
    with pytest.raises(UnknownName, match="laplace"):
        expected_error("e2m1", 32, distribution="laplacian_")
    assert set(RULES) < set(SCALES)


@pytest.mark.parametrize("element", ["nf4", "e8m0"])
def test_both_halves_of_an_element_are_alike(element: str):
    with pytest.raises(ValueError, match=f"{element}: its numbers below zero are not"):
        expected_error(element, 64, "exact")
