"""Layers tile by tile in a small memory: bytes by formula, and as a run counts them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.accelerators.packets.chains import run_chain, traffic

from ..rows import refusals


@settings(max_examples=25)
@given(
    st.integers(1, 40),
    st.lists(st.integers(1, 9), min_size=2, max_size=12),
    st.integers(0, 400),
)
def test_the_run_counts_what_the_formula_says(rows, widths, spare):
    rng = np.random.default_rng(rows)
    x = rng.integers(-3, 4, (rows, widths[0])).astype(np.int16)
    pairs = pairwise(widths)
    weights = [rng.integers(-1, 2, pair).astype(np.int16) for pair in pairs]
    row = max(a + b for a, b in pairwise(widths))
    room = 2 * (sum(w.size for w in weights) + row) + spare
    y, counted = run_chain(x, weights, room=room)
    assert counted == traffic(rows, widths, room=room, size=2)
    assert counted.used <= room and counted.chained <= counted.apart
    assert y.shape == (rows, widths[-1])


def test_ten_layers_save_nine_tenths_of_the_rows():
    found = traffic(100_000, [64] * 11, room=8_000_000, size=2)
    assert found.apart / found.chained == pytest.approx(10, rel=0.03)


test_what_does_not_fit_is_refused = refusals(
    (
        lambda: traffic(10, [64] * 11, room=80_000, size=2),
        "do not hold weights of 81920",
    ),
    (lambda: traffic(0, [4, 4], room=100, size=2), "rows = 0"),
    (lambda: traffic(1, [4], room=100, size=2), "an input and an output"),
    (lambda: traffic(1, [4, 0], room=100, size=2), "widths"),
    (lambda: run_chain(np.ones((3, 2)), [np.ones((2, 2))], room=99), "float64: rows"),
    (lambda: run_chain(np.ones(3, int), [], room=99), r"x of shape \(3,\)"),
)
