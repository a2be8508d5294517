"""Slots over steps: nothing overlaps, and the gain is the harmonic number."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.serving.slots.batches import (
    continuous,
    drawn_lengths,
    harmonic,
    static,
    steps,
)

LENGTHS = st.lists(st.integers(1, 20), min_size=1, max_size=30)


def test_harmonic_numbers():
    assert harmonic(1) == 1
    assert harmonic(8) == pytest.approx(761 / 280)


@given(LENGTHS, st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_nobody_shares_a_slot(lengths, slots):
    for how in (static, continuous):
        stays = how(lengths, slots)
        assert [x.end - x.start for x in stays] == lengths
        for slot in range(slots):
            own = sorted((x.start, x.end) for x in stays if x.slot == slot)
            assert all(left[1] <= right[0] for left, right in pairwise(own))
    # Never longer than static; never shorter than the slots allow.
    fast = steps(continuous(lengths, slots))
    assert max(max(lengths), -(-sum(lengths) // slots)) <= fast
    assert fast <= steps(static(lengths, slots))
    batches = [lengths[at : at + slots] for at in range(0, len(lengths), slots)]
    assert steps(static(lengths, slots)) == sum(map(max, batches))


@pytest.mark.parametrize("slots", [1, 2, 8, 32])
def test_the_gain_of_long_lines_is_harmonic(slots):
    lengths = drawn_lengths(20_000, 200.0, seed=slots)
    gain = steps(static(lengths, slots)) / steps(continuous(lengths, slots))
    assert gain == pytest.approx(harmonic(slots), rel=0.03)


@pytest.mark.parametrize(
    ("lengths", "slots"), [([], 1), ([1], 0), ([0], 1), ([True], 1), ([1.5], 2)]
)
def test_what_is_no_line(lengths, slots):
    for how in (static, continuous):
        with pytest.raises(ValueError):
            how(lengths, slots)
