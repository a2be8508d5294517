"""Which keys a query sees, and which tiles a pass must touch."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib.kernels.attention.mask import Mask
from stacklib.kernels.attention.naive import seen_pairs

size = st.integers(1, 40)
masks = st.builds(Mask, size, size, st.booleans(), st.none() | st.integers(1, 45))


@given(masks)
def test_a_row_sees_one_run_of_keys(mask):
    seen = seen_pairs(mask)
    for row in range(mask.queries):
        run = np.zeros(mask.keys, bool)
        run[mask.first(row) : mask.last(row)] = True
        assert (run == seen[row]).all()
    assert mask.pairs == seen.sum()


@given(masks, size, st.integers(0, 39), size)
def test_runs_and_steps_touch_every_pair_that_counts_and_no_empty_tile(
    mask, tile_k, top, rows
):
    top = top % mask.queries
    bottom = min(mask.queries, top + rows)
    seen = seen_pairs(mask)[top:bottom]
    for tiles in (mask.runs(top, bottom, tile_k), mask.steps(top, bottom, tile_k)):
        touched = np.zeros(mask.keys, int)
        for left, right in tiles:
            touched[left:right] += 1
            assert 0 < right - left <= tile_k
            assert mask.cut(top, bottom, left, right) == (not seen[:, left:right].all())
        assert touched.max(initial=0) <= 1
        assert touched[seen.any(axis=0)].all()


@given(masks, size, st.integers(0, 39), size)
def test_runs_touch_only_keys_that_some_row_sees(mask, tile_k, top, rows):
    top = top % mask.queries
    bottom = min(mask.queries, top + rows)
    for left, right in mask.runs(top, bottom, tile_k):
        assert seen_pairs(mask)[top:bottom, left:right].any()


def test_the_last_query_stands_at_the_last_key():
    assert [Mask(2, 5, True).last(row) for row in (0, 1)] == [4, 5]
    assert [Mask(1, 5, True, 3).first(0), Mask(1, 5, True, 3).last(0)] == [2, 5]
    assert [Mask(5, 2, True).last(row) for row in range(5)] == [0, 0, 0, 1, 2]


@pytest.mark.rows("window", [0, -1, 2.5, True])
def test_a_window_below_one_is_refused(window):
    with pytest.raises(ValueError, match="window"):
        Mask(4, 4, window=window)
