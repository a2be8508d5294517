"""2:4 sparsity: pruning, storing and multiplying agree with the dense matrix."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from stacklib.gpu.tensor import sparsity

shapes = st.tuples(st.integers(1, 5), st.integers(1, 6).map(lambda k: 4 * k))
matrices = hnp.arrays(np.int64, shapes, elements=st.integers(-9, 9))


@given(matrices, st.integers(1, 5))
def test_compressed_multiply_is_the_dense_product_of_the_pruned(weights, n):
    pruned = sparsity.prune(weights)
    stored = sparsity.compress(pruned)
    right = np.arange(weights.shape[1] * n).reshape(-1, n) - 7
    product, macs = stored.multiply(right)
    assert np.array_equal(stored.dense(), pruned)
    assert np.array_equal(product, pruned @ right)
    assert 2 * macs == weights.size * n
    assert np.array_equal(sparsity.prune(pruned), pruned)


@given(matrices)
def test_pruning_keeps_the_largest(weights):
    left = np.abs(sparsity.prune(weights)).reshape(-1, 4).sum(axis=1)
    most = np.sort(np.abs(weights).reshape(-1, 4), axis=1)[:, 2:].sum(axis=1)
    assert np.array_equal(left, most)


def test_every_pattern_of_four_exhaustively():
    for first, second in itertools.combinations(range(4), 2):
        weights = np.zeros((1, 4), int)
        weights[0, [first, second]] = 5, 7
        stored = sparsity.compress(weights)
        assert stored.values.tolist() == [[5, 7]]
        assert stored.places.tolist() == [[first | second << 2]]
        assert stored.bits(16) == 2 * 18


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.float16])
def test_pruning_keeps_the_largest_of_any_type(dtype):
    weights = np.array([[3, 1, 0, 2]], dtype)
    assert sparsity.prune(weights).tolist() == [[3, 0, 0, 2]]


def test_bad_input_is_named():
    with pytest.raises(TypeError, match="real numbers"):
        sparsity.prune([[1j, 2, 3, 4]])
    with pytest.raises(ValueError, match="two of four may stay"):
        sparsity.compress([[1, 2, 3, 0]])
    with pytest.raises(ValueError, match="multiple of 4"):
        sparsity.prune([[1, 2, 3]])
    with pytest.raises(ValueError, match="no order"):
        sparsity.prune([[1, 2, np.nan, 0]])
    with pytest.raises(ValueError, match="is needed"):
        sparsity.compress([[1, 0, 0, 0]]).multiply([[1]])
