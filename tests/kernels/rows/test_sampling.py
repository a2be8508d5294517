"""Cuts of a distribution: a chain of kernels and one kernel, against the reference."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.kernels.rows.sampling import (
    ordered,
    sample_fused,
    sample_in_passes,
    select,
)
from stacklib.tinylm.sampling import Sampling, probabilities

HOW = st.builds(
    Sampling,
    temperature=st.sampled_from([0.0, 0.3, 1.0, 2.5]),
    top_k=st.integers(0, 60),
    top_p=st.floats(0.05, 1.0),
    min_p=st.sampled_from([0.0, 0.02, 0.5, 1.0]),
)
SHORT = st.integers(1, 50)


@settings(deadline=None, max_examples=100)
@given(how=HOW, vocab=SHORT, seed=st.integers(0, 10**6), u=st.floats(0, 0.999999))
def test_both_cut_as_the_reference_and_draw_one_token(how, vocab, seed, u):
    rng = np.random.default_rng(seed)
    row = (3 * rng.standard_normal(vocab)).astype(np.float32)
    right = probabilities(row, how)
    many, one = sample_in_passes(row, how, u), sample_fused(row, how, u)
    for got in (many, one):
        assert np.allclose(got.probabilities, right, rtol=1e-12, atol=1e-15)
    assert many.token == one.token and right[many.token] > 0
    assert one.crossed.launches == 1
    assert one.crossed.read["x"] == 4 * vocab


@pytest.mark.rows("top_k", [1, 2, 3, 5, 8])
def test_ties_go_to_the_lower_index(top_k):
    row = np.array([1, 2, 2, -0.0, 0.0, 2, 1, 0], np.float32)
    how = Sampling(top_k=top_k)
    right = probabilities(row, how)
    for sample in (sample_in_passes, sample_fused):
        assert np.allclose(sample(row, how, 0.5).probabilities, right)


@settings(deadline=None, max_examples=60)
@given(
    keys=st.lists(st.integers(1, 2**64 - 1), min_size=1, max_size=40, unique=True),
    share=st.floats(0.001, 1.2),
    counts=st.booleans(),
)
def test_select_is_a_sort_and_a_running_sum(keys, share, counts):
    keys = np.array(keys, np.uint64)
    weights = np.ones(len(keys)) if counts else (keys % np.uint64(7)).astype(float)
    target = max(1e-9, share * weights.sum())
    least, sweeps = select(keys, weights, target)
    order = np.argsort(keys)[::-1]
    before = np.cumsum(weights[order]) - weights[order]
    kept = set(keys[order][before < target].tolist())
    assert {k for k in keys.tolist() if k >= least} == kept
    assert 1 <= sweeps <= 8


def test_whole_numbers_have_the_order_of_floats():
    row = np.array([-np.inf, -1.5, -1e-40, -0.0, 0.0, 1e-40, 2, np.inf], np.float32)
    assert (np.diff(ordered(row).astype(np.int64)) >= 0).all()
    assert ordered(row)[3] == ordered(row)[4]


def test_what_a_chain_of_kernels_costs_beside_one():
    # A vocabulary of 128,256 in fp32, all four cuts.
    row = np.random.default_rng(0).standard_normal(128_256).astype(np.float32)
    how = Sampling(temperature=0.7, top_k=50, top_p=0.9, min_p=0.05)
    many, one = sample_in_passes(row, how, 0.3), sample_fused(row, how, 0.3)
    assert many.token == one.token
    size = 4 * len(row)
    assert many.crossed.launches == 20 and one.crossed.launches == 1
    assert many.crossed.bytes == pytest.approx(46 * size, rel=0.01)
    # The row is longer than a block's shared memory: it comes once a sweep, or once
    # where a cluster of blocks holds it.
    assert one.crossed.read["x"] == one.sweeps * size and one.sweeps <= 14
    held = sample_fused(row, how, 0.3, chip_bytes=8 * 227 * 1024)
    assert held.crossed.read["x"] == size and held.token == one.token


def test_cuts_that_keep_all_cost_nothing():
    row = np.zeros(64, np.float32)
    plain = sample_in_passes(row, Sampling(), 0.5)
    assert plain.crossed.launches == 3 and plain.token == 32
    greedy = sample_in_passes(row, Sampling(temperature=0.0), 0.5)
    assert greedy.crossed.launches == 1 and greedy.token == 0


@pytest.mark.rows("sample", [sample_in_passes, sample_fused])
@pytest.mark.rows(
    ("row", "u", "words"),
    [
        (np.zeros((2, 3)), 0.5, r"\(2, 3\)"),
        (np.zeros(0), 0.5, r"\(0,\)"),
        (np.array([1, np.nan]), 0.5, "its largest finite"),
        (np.array([1, np.inf]), 0.5, "its largest finite"),
        (np.array([-np.inf, -np.inf]), 0.5, "its largest finite"),
        (np.array([1, 1e300]), 0.5, "its largest finite"),
        (np.zeros(3), 1.0, "u = 1.0"),
    ],
)
def test_bad_input_is_named(sample, row, u, words):
    with pytest.raises(ValueError, match=words):
        sample(row, Sampling(), u)
