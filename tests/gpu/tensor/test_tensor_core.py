"""Tensor-core arithmetic: MMA-Sim's results, the slow version, and what must hold."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import gpu
from stacklib.gpu.issue.instructions import arithmetic, generations
from stacklib.gpu.tensor.exact_dot import dot_exactly
from stacklib.gpu.tensor.exact_products import multiply_doubles
from stacklib.gpu.tensor.kinds import floats
from stacklib.gpu.tensor.tensor_core import promoted
from stacklib.quantity import UnknownName
from stacklib.quantizers import Format

from ...rows import refusals

KNOWN = json.loads((Path(__file__).parent / "mma_sim.json").read_text())["cases"]
RULES = [
    (generation, dtype) for generation in generations() for dtype in floats(generation)
]


def numbers(form: Format):
    """Any finite numbers of a format, subnormal ones too."""
    code = st.integers(0, (1 << form.bits) - 1).map(form.decode)
    near = st.floats(-4, 4, width=32).map(lambda x: form.decode(form.encode(x)))
    return st.one_of(code.filter(math.isfinite), near)


@pytest.mark.rows("case", KNOWN)
def test_every_bit_is_that_of_mma_sim(case):
    form = Format(case["dtype"])
    a, b = (form.decode(np.array(case[name])) for name in "ab")
    c = np.array(case["c"], np.uint32).view(np.float32)
    d = gpu.mma(
        a,
        b,
        c,
        dtype=case["dtype"],
        generation=case["generation"],
        accumulate=case["accumulate"],
    )
    assert d.view(np.uint32).tolist() == case["d"]


@pytest.mark.rows(("generation", "dtype"), RULES)
@given(data=st.data())
@settings(max_examples=10, deadline=None)
def test_equals_the_slow_version(generation, dtype, data):
    form = Format(dtype)
    size = data.draw(st.integers(1, 2 * arithmetic(generation, dtype).terms + 3))
    rows = [
        data.draw(st.lists(numbers(form), min_size=size, max_size=size))
        for _ in range(2)
    ]
    # an accumulator that is at least near what the products are
    c = data.draw(numbers(Format("bf16")))
    fast = gpu.mma(
        [rows[0]], np.array([rows[1]]).T, [[c]], dtype=dtype, generation=generation
    ).item()
    slow = dot_exactly(*rows, c, dtype=dtype, generation=generation)
    assert fast == slow


@given(st.lists(st.integers(-8, 8), min_size=16, max_size=16), st.randoms())
def test_order_within_a_step_does_not_matter(values, random):
    order = list(range(16))
    random.shuffle(order)
    a = np.array([values], float) * np.exp2(np.arange(16))
    b = np.arange(16.0)[:, None]
    assert gpu.mma(a, b) == gpu.mma(a[:, order], b[order])


@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 70))
@settings(max_examples=25, deadline=None)
def test_small_whole_numbers_are_exact(m, n, k):
    rng = np.random.default_rng(m + 10 * n + 100 * k)
    a, b = rng.integers(-3, 4, (m, k)), rng.integers(-3, 4, (k, n))
    for generation in generations():
        assert np.array_equal(gpu.mma(a, b, dtype="fp16", generation=generation), a @ b)


def test_cutting_by_hand():
    # 2**13 and 13 bits behind the point: the last one is worth 1
    a = [[2.0**13, 0.75, 0.75, 0.75]]
    ones = np.ones((4, 1))
    assert gpu.mma(a, ones, dtype="e5m2", generation="hopper") == 2**13
    assert gpu.mma(a, ones, dtype="e5m2", generation="blackwell") == 2**13 + 2.25
    assert promoted(a, ones, every=1, dtype="e5m2") == 2**13 + 2.25


def test_volta_loses_what_ampere_keeps():
    a, b = [[1.0, 2.0**-12, 2.0**-12]], [[1.0], [2.0**-12], [2.0**-12]]
    assert gpu.mma(a, b, dtype="fp16", generation="volta") == 1
    kept = gpu.mma(a, b, dtype="fp16", generation="ampere").item()
    assert kept == 1 + 2.0**-23


def test_overflow_stays():
    big = [[2.0**127, 2.0**127] + [0.0] * 30]
    assert gpu.mma(big, np.full((32, 1), 2.0)) == np.inf
    assert gpu.mma([[60000.0]], [[2.0]], dtype="fp16", accumulate="fp16") == np.inf


test_bad_input_is_named = refusals(
    (
        lambda: gpu.mma([[0.1]], [[1.0]], dtype="fp16"),
        "0.1, which is no fp16 number",
    ),
    (
        lambda: gpu.mma([[math.inf]], [[1.0]], dtype="e4m3fn"),
        "inf: e4m3fn has no infinity, its largest number is 448",
    ),
    (
        lambda: gpu.mma([[math.nan]], [[1.0]], dtype="e2m1", generation="blackwell"),
        "nan: e2m1 has no NaN nor infinity",
    ),
    (lambda: gpu.mma([[1.0]], [[1.0]], accumulate="fp16"), "no sums in fp16"),
    (lambda: gpu.mma([[1.0, 2.0]], [[1.0]]), "k differs"),
    (lambda: gpu.mma([1.0], [[1.0]]), "a matrix is needed"),
    (lambda: gpu.mma([[1.0]], [[1.0]], [[1.0, 2.0]]), "c is"),
    (lambda: gpu.mma([[1.0]], [[1.0]], accumulate="bf16"), "fp32 or fp16"),
    (lambda: promoted([[1.0]], [[1.0]], every=True), "every = True"),
    (lambda: dot_exactly([1.0], []), "1 numbers and b 0"),
)


def hidden(*values):
    return np.ma.masked_array([values], [[True] * len(values)])


@pytest.mark.parametrize("wrong", [np.array([[1j]]), hidden(1.0), np.array([[True]])])
@pytest.mark.parametrize("at", range(3))
def test_what_is_no_array_of_real_numbers(wrong, at):
    given = [wrong if n == at else np.ones((1, 1)) for n in range(3)]
    for product in (gpu.mma, multiply_doubles):
        with pytest.raises(TypeError, match=r"real numbers|masked"):
            product(*given)


def test_a_format_that_a_generation_lacks():
    with pytest.raises(UnknownName, match="fp16"):
        arithmetic("volta", "bf16")
    with pytest.raises(UnknownName, match="hopper"):
        gpu.mma([[1.0]], [[1.0]], generation="hoper")
