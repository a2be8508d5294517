"""Whole numbers, doubles, what chips lack, and how wrong a sum is."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib.gpu.issue.instructions import generations
from stacklib.gpu.tensor import exact_products, kinds, sum_errors
from stacklib.gpu.tensor.exact_products import multiply_doubles, multiply_whole
from stacklib.gpu.tensor.kinds import has, integers
from stacklib.gpu.tensor.scaled import Operand, multiply, nvfp4
from stacklib.quantity import UnknownName
from stacklib.quantizers import Format

from ...rows import refusals

ONE = {form: Format(form).encode(1.0) for form in ("e2m1", "e2m3", "e4m3fn", "fp16")}


def ones(form, scales=None, scale="e8m0", k=64):
    """A row of ones; ``scales`` for each block of it."""
    blocks = None if scales is None else np.array([scales])
    return Operand(np.full((1, k), ONE[form]), form, blocks, scale)


def column(of):
    """The same as a column."""
    turned = None if of.scales is None else of.scales.T
    return Operand(of.codes.T, of.form, turned, of.scale)


def square(of, **how):
    return multiply(of, column(of), **how).item()


@pytest.mark.rows("name", ["int8", "uint8", "int4", "uint4"])
def test_whole_numbers_are_exact(name):
    low, high = exact_products.RANGES[name]
    rng = np.random.default_rng(3)
    a, b = rng.integers(low, high + 1, (5, 90)), rng.integers(low, high + 1, (90, 4))
    c = rng.integers(-(2**20), 2**20, (5, 4))
    found = multiply_whole(a, b, c, dtype=name, generation="ampere")
    assert found.dtype == np.int32 and np.array_equal(found, a @ b + c)


def test_whole_numbers_wrap_or_stay_at_the_end():
    a, b = np.full((1, 64), -128), np.full((64, 1), -128)
    c = np.array([[2**31 - 2]])
    assert multiply_whole(a, b, c).item() == 2**31 - 2 + 64 * 2**14 - 2**32
    assert multiply_whole(a, b, c, satfinite=True).item() == 2**31 - 1
    # saturated by the first instruction, and down again by the second
    b[32:] = 127
    exact = 2**31 - 1 - 32 * 128 * 127
    assert multiply_whole(a, b, c, satfinite=True).item() == exact
    mixed = multiply_whole(a, np.full((64, 1), 255), other="uint8")
    assert mixed.item() == -64 * 128 * 255


@given(*[st.lists(st.floats(width=64), min_size=3, max_size=3) for _ in range(2)])
def test_doubles_are_fused_multiply_adds(row, other):
    found = multiply_doubles([row], [[x] for x in other]).item()
    total = 0.0
    for x, y in zip(row, other, strict=True):
        if all(map(math.isfinite, (x, y, total))):
            exact = Fraction(x) * Fraction(y) + Fraction(total)
            large = abs(exact) >= Fraction(2) ** 1024 - Fraction(2) ** 970
            total = (-1 if exact < 0 else 1) * math.inf if large else float(exact)
        else:
            total = x * y + total
    assert found == total or (math.isnan(found) and math.isnan(total))


def test_a_double_rounds_once():
    x = 1 + 2.0**-30  # its square has a bit that a rounded product loses
    assert multiply_doubles([[x]], [[x]], [[-1 - 2.0**-29]]).item() == 2.0**-60
    assert np.isnan(multiply_doubles([[math.inf]], [[0.0]]).item())
    assert multiply_doubles([[1e308]], [[10.0]]).item() == math.inf


# -- scales -----------------------------------------------------------------------


def test_scales_multiply_by_hand():
    assert square(ones("e2m1", [127, 127])) == 64
    assert square(ones("e2m1", [128, 126])) == 32 * 4 + 32 / 4
    assert square(ones("e2m1", [56] * 4, "e4m3fn")) == 64
    assert square(ones("e2m1", [60, 56, 56, 56], "e4m3fn")) == 48 + 16 * 1.5**2
    assert square(ones("e2m1", [127] * 4)) == 64  # E8M0 for sixteen
    wide = square(ones("e4m3fn", [255 - 1, 0]))
    assert wide == math.inf  # 2**127 by itself


def test_a_scale_that_is_nan_makes_its_outputs_nan():
    nan = multiply(ones("e2m1", [127, 255]), column(ones("e2m1", [127, 127])))
    assert nan.view(np.uint32).item() == 0x7FFFFFFF
    assert np.isnan(square(ones("e2m1", [127] + 3 * [56], "e4m3fn")))
    assert np.isnan(square(ones("e2m3", [255, 127])))


def test_four_bits_go_two_ways_that_cut_differently():
    """Products of E2M1 by their own exponents, or sixteen at a time by the scales'."""
    fours = ones("e2m1", [127, 127])
    tiny = column(ones("e2m1", [127 - 28, 127]))  # 2**-23 in all, then 32
    ways = [
        multiply(fours, tiny, [[-32.0]], kind=kind).item()
        for kind in ("mxf8f6f4", "mxf4", "")
    ]
    assert ways == [0, 2.0**-23, 2.0**-23]


def test_the_global_scales_of_nvfp4_are_softwares():
    product = multiply(
        ones("e2m1", [56] * 4, "e4m3fn"), column(ones("e2m1", [56] * 4, "e4m3fn"))
    )
    assert nvfp4(product, 0.5, 0.25).item() == 8
    with pytest.raises(ValueError, match="global_b = 0"):
        nvfp4(product, 1.0, 0)


# -- what a chip lacks -------------------------------------------------------------


def test_integers_by_generation():
    assert integers("volta") == ()
    assert integers("ampere") == ("int8", "int4")
    assert integers("hopper") == ("int8",)
    assert set(kinds.CAPABILITY) == set(generations())


test_what_a_chip_lacks_is_refused_with_what_it_has = refusals(
    (
        lambda: square(ones("e2m1", [127, 127]), generation="hopper"),
        "hopper tensor cores have no e2m1 x e2m1 with e8m0 scales; they have: tf32",
    ),
    (
        lambda: square(ones("e2m3"), generation="ada"),
        "ada tensor cores have no e2m3 x e2m3; they have: .*e4m3fn, int8, int4",
    ),
    (
        lambda: square(ones("e2m3", [56] * 4, "e4m3fn")),
        r"no such kind; there are mxf8f6f4 \(e8m0, 32\)",
    ),
    (lambda: square(ones("e4m3fn", [127, 127]), kind="mxf4"), "as mxf4"),
    (
        lambda: multiply(ones("fp16"), column(ones("e4m3fn"))),
        "only e4m3fn, e5m2, e3m2, e2m3, e2m1 may be mixed",
    ),
    (
        lambda: multiply_whole([[1]], [[1]], dtype="int4"),
        "hopper tensor cores have no int4; they have: .*int8, fp64",
    ),
    (
        lambda: multiply_doubles([[1]], [[1]], generation="turing"),
        "turing tensor cores have no fp64; they have: fp16, int8, int4",
    ),
    error=UnknownName,
)


test_bad_input_is_named_with_the_fix = refusals(
    (lambda: square(ones("e2m1", [127] * 3)), r"scales of a are \(1, 3\) for k"),
    (
        lambda: multiply(ones("e2m1", [127] * 2), column(ones("e2m1", [127] * 4))),
        r"scales of b are \(4, 1\): mxf4 has one for 32 numbers along k, \(2, 1\)",
    ),
    (
        lambda: multiply(ones("e2m1"), column(ones("e2m1", [127] * 2))),
        "a has no scales and the other has: ones are code 127",
    ),
    (
        lambda: multiply(
            ones("e2m1", [127] * 4), column(ones("e2m1", [56] * 4, "e4m3fn"))
        ),
        "scales of a are e8m0 and of b e4m3fn",
    ),
    (
        lambda: square(ones("e2m1", [184, 56, 56, 56], "e4m3fn")),
        "code 184: these scales have no sign, code & 127",
    ),
    (lambda: square(ones("e2m1", [127] * 2), accumulate="fp16"), "adds in fp32"),
    (
        lambda: square(Operand(np.full((1, 32), 16), "e2m1")),
        "code 16: e2m1 has 4 bits",
    ),
    (
        lambda: square(Operand(np.full((1, 32), 1.0), "e2m1")),
        "a matrix of whole numbers is needed",
    ),
    (lambda: multiply(ones("e2m1"), ones("e2m1")), "k differs"),
    (lambda: multiply_whole([[128]], [[1]]), "int8 is -128 to 127, clip first"),
    (lambda: multiply_whole([[0.5]], [[1]]), "whole numbers is needed"),
    (lambda: multiply_whole([[1, 2]], [[1]]), "k differs"),
    (lambda: multiply_whole([[1]], [[1]], [[1, 2]]), "c is"),
    (lambda: multiply_whole([[1]], [[1]], other="int4"), "the same width"),
    (lambda: multiply_doubles([[1, 2]], [[1]]), "matrices that fit"),
    (lambda: multiply_doubles([[1]], [[1]], [[1, 2]]), "c is"),
    (lambda: sum_errors.by_definition("gamma"), "normal, uniform"),
    (lambda: sum_errors.definitions(np.ones(2), np.ones(3)), "the same"),
)


def test_has_is_one_line():
    assert has("volta") == "fp16"
    assert has("blackwell").endswith("fp64, mxf8f6f4, mxf4, mxf4nvf4")


# -- how wrong ---------------------------------------------------------------------


def test_definitions_by_hand():
    found, exact = np.array([[1.0, 9.0]]), np.array([[2.0, 10.0]])
    assert list(sum_errors.definitions(found, exact).values()) == pytest.approx(
        [0.5, 0.3, math.sqrt(2 / 104), 0.1, 1 / 6]
    )


def test_deepseeks_two_per_cent_is_one_definition_of_many():
    """Both signs, the largest error by the mean size: 2 %. One sign: 7 %."""
    both = [sum_errors.by_definition("normal", size=128, seed=s) for s in range(3)]
    by_mean = [row["largest by the mean"] for row in both]
    assert 0.013 < min(by_mean) <= max(by_mean) < 0.025
    assert all(row["all by all (Frobenius)"] < 0.002 for row in both)
    assert all(row["largest, each by its own"] > 0.2 for row in both)
    one = sum_errors.by_definition("uniform, 0 to 1", size=64)
    assert 0.06 < min(one.values()) and max(one.values()) < 0.08
    later = sum_errors.by_definition("normal", size=64, generation="blackwell")
    assert later["largest by the mean"] < 1e-5
