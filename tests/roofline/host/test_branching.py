"""Masks and lanes compute the same; what they issue has closed forms."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib.roofline.host import branching as simd


@given(
    st.lists(st.tuples(st.integers(-9, 9), st.booleans()), max_size=80),
    st.integers(1, 40),
    st.integers(1, 5),
)
def test_masks_and_lanes_equal_a_plain_loop(pairs, width, steps):
    x, taken = [v for v, _ in pairs], [t for _, t in pairs]
    plain = [v + 3 * steps if t else v - steps for v, t in pairs]
    groups = -(-len(x) // width)
    masked = simd.masked(x, taken, width, steps)
    lanes = simd.divergent(x, taken, width, steps)
    assert list(masked.values) == list(lanes.values) == plain
    assert masked.instructions == groups * (simd.COMMON + 2 * steps + 1)
    common = simd.COMMON + simd.BRANCHES
    assert groups * (common + steps) <= lanes.instructions
    assert lanes.instructions <= groups * (common + 2 * steps)


@pytest.mark.rows("p", [0.0, 0.01, 0.1, 0.5, 1.0])
def test_issued_instructions_follow_the_probability(p):
    chance = random.Random(1)
    taken = [chance.random() < p for _ in range(32 * 2000)]
    found = simd.divergent([0] * len(taken), taken).instructions / 2000
    assert found == pytest.approx(simd.expected_divergent(p), rel=0.02)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="1 values and 2 branches"):
        simd.masked([1], [True, False])
    with pytest.raises(ValueError, match="width = 0"):
        simd.divergent([1], [True], 0)
