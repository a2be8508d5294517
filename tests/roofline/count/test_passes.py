"""The five operations as NumPy runs them: values, counts, times."""

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib.quantity import Quantity
from stacklib.roofline.count import passes
from stacklib.roofline.count.traffic_cuts import FIVE, five_operations

shapes = st.tuples(st.integers(1, 9), st.integers(1, 33))


def reference(operation, x):
    x = x.astype("f8")
    if operation == "transpose":
        return x.T
    if operation == "gelu":
        return x / 2 * (1 + numpy.tanh((2 / numpy.pi) ** 0.5 * (x + 0.044715 * x**3)))
    if operation == "softmax":
        e = numpy.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)
    return (x - x.mean(-1, keepdims=True)) / numpy.sqrt(x.var(-1, keepdims=True) + 1e-5)


@given(st.sampled_from(sorted(passes.PASSES)), shapes, st.integers(0, 2**20))
def test_the_passes_give_the_operation(operation, shape, seed):
    x = numpy.random.default_rng(seed).standard_normal(shape, dtype="f4") * 3
    y = numpy.empty(shape[::-1] if operation == "transpose" else shape, "f4")
    before = x.copy()
    passes.run(operation, x, y, numpy.empty_like(x))
    numpy.testing.assert_allclose(y, reference(operation, x), rtol=2e-3, atol=2e-5)
    assert (x == before).all(), "the input is left alone"


@pytest.mark.rows("operation", passes.PASSES)
def test_each_pass_is_one_call(operation):
    x, y, scratch = (numpy.ones((4, 4), "f4") for _ in range(3))
    names = [name for name, _ in passes.steps(operation, x, y, scratch)]
    assert names == [p.name for p in passes.passes(operation)]


@pytest.mark.rows("operation", passes.PASSES)
def test_counts_are_those_of_the_operation_room(operation):
    rows, cols = 512, 2048
    fused = five_operations(rows, cols, "fp32")[operation]
    assert passes.operations(operation, rows, cols) == pytest.approx(
        fused.operations.si, rel=1e-3
    )
    assert passes.least(operation, rows, cols) == pytest.approx(
        fused.bytes.si, rel=2e-3
    )
    stepwise = five_operations(rows, cols, "fp32", rule="steps")[operation]
    # theirs cubes by a product of two arrays, ours multiplies in place
    assert passes.moved(operation, rows, cols) == pytest.approx(
        stepwise.bytes.si, rel=0.05
    )


def test_the_names_are_the_same_in_both_lists():
    assert set(passes.NAMES) == set(FIVE) == {*passes.PASSES, "matmul"}


def test_floats_quantities_and_arrays_agree():
    plain = passes.passes_time("gelu", 1e6, 4.0, 1e11, 1e10, 1e-6)
    traced = passes.passes_time(
        "gelu",
        Quantity(1e6, label="elements"),
        Quantity(4, "B"),
        Quantity(1e11, "1/s"),
        Quantity(1e10, "B/s"),
        Quantity(1e-6, "s"),
    )
    swept = passes.passes_time("gelu", numpy.array([1e6, 2e6]), 4.0, 1e11, 1e10, 1e-6)
    assert traced.si == pytest.approx(plain) and swept[0] == pytest.approx(plain)
    assert swept[1] > swept[0]


def test_time_is_never_below_the_bytes_and_never_without_calls():
    moved = passes.moved("softmax", 1000, 1000)
    assert passes.passes_time("softmax", 1e6, 4, 1e30, 1e10, 0.0) == moved / 1e10
    calls = len(passes.passes("softmax"))
    assert passes.passes_time("softmax", 0.0, 4, 1.0, 1.0, 2.0) == 2.0 * calls


@pytest.mark.parametrize("function", [passes.passes, passes.passes_time])
def test_an_unknown_operation_is_named(function):
    with pytest.raises(ValueError, match="'convolution'"):
        function("convolution", *(1.0,) * (5 if function is passes.passes_time else 0))


def test_sizes_are_whole():
    with pytest.raises(ValueError, match="rows = 0"):
        passes.moved("gelu", 0, 4)
    with pytest.raises(ValueError, match="size"):
        passes.least("gelu", 4, 4, 0)
