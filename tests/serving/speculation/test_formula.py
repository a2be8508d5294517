"""Tokens a pass and speed-up, against sums of exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib.quantity import Quantity, UnitError, chosen, explain
from stacklib.serving.speculation.formula import NEAR, speedup, tokens_per_pass

ACCEPTANCES = [0.0, 0.3, 0.8, NEAR, 1 - 2**-30, 1 - 2**-53, 1.0]


@given(st.sampled_from(ACCEPTANCES) | st.floats(0, 1), st.integers(0, 40))
def test_it_is_the_sum_of_powers(acceptance: float, draft_tokens: int) -> None:
    exact = sum(Fraction(acceptance) ** k for k in range(draft_tokens + 1))
    assert tokens_per_pass(acceptance, draft_tokens) == pytest.approx(
        float(exact), rel=1e-13
    )
    traced = tokens_per_pass(chosen(acceptance), chosen(draft_tokens))
    assert float(traced) == pytest.approx(float(exact), rel=1e-9)


def test_floats_quantities_and_arrays_agree() -> None:
    tokens = np.arange(6)
    grid = speedup(np.array(ACCEPTANCES)[:, None], tokens, 0.07, 1.5)
    for row, acceptance in zip(grid, ACCEPTANCES, strict=True):
        for g, found in zip(tokens, row, strict=True):
            one = speedup(acceptance, int(g), 0.07, 1.5)
            traced = speedup(chosen(acceptance), chosen(int(g)), chosen(0.07), 1.5)
            assert found == pytest.approx(one) == float(traced)
    words = explain(tokens_per_pass(chosen(0.8, label="a"), chosen(4, label="g")))
    assert "(1 − a ^ (g + 1)) / (1 − a)" in words


def test_what_the_documents_say() -> None:
    assert tokens_per_pass(1.0, 4) == 5
    assert round(tokens_per_pass(0.8, 4), 1) == 3.4
    assert round(tokens_per_pass(0.8, 7), 1) == 4.2
    # A pass as wide as it is long gains nothing, whatever the draft.
    assert speedup(0.8, 4, 0.0, 5.0) < 1 < speedup(0.8, 4, 0.0)


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        *(((a, 4, 0.1), "acceptance") for a in (-0.1, 1.1, float("nan"), True, "x")),
        ((np.array([0.5, np.nan]), 4, 0.1), "acceptance"),
        *(((0.8, g, 0.1), "draft_tokens") for g in (-1, 2.5, True, None, 4097)),
        ((0.8, np.array([1, 2.5]), 0.1), "draft_tokens"),
        ((0.8, 4, -0.1), "draft_cost"),
        ((0.8, 4, float("inf")), "draft_cost"),
        *(((0.8, 4, 0.1, v), "verify_cost") for v in (0, -1, float("nan"))),
    ],
)
def test_what_makes_no_sense_is_named(asked: tuple, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        speedup(*asked)


def test_milliseconds_are_no_count() -> None:
    with pytest.raises(UnitError):
        tokens_per_pass(0.8, Quantity(4, "ms"))
