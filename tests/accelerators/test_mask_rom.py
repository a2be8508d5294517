"""Weights as choices among ready products, and what a chip of them can afford."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.accelerators import mask_rom
from stacklib.accelerators.products import rom_budget
from stacklib.quantizers import Format

from ..rows import refusals

E2M1 = sorted(set(Format("e2m1").values))


@settings(max_examples=30)
@given(
    st.integers(1, 12),
    st.integers(1, 9),
    st.sampled_from([1, 3, 4, 8]),
    st.integers(0, 9),
)
def test_choosing_is_multiplying(inputs, outputs, bits, seed):
    rng = np.random.default_rng(seed)
    low, high = -(1 << bits - 1), 1 << bits - 1
    weights = rng.integers(low, high, (inputs, outputs))
    x = rng.integers(-128, 128, inputs)
    rom = mask_rom(weights, bits)
    assert np.array_equal(rom.multiply(x), x @ weights)
    assert rom.products(x).shape == (inputs, 1 << bits)
    parts = rom.parts()
    assert parts.crossings == parts.weights == weights.size
    assert parts.additions == outputs * (inputs - 1)
    assert parts.products == inputs << bits
    widest = np.abs(weights).sum(axis=0).max() * 128
    assert widest < 2 ** (parts.adder_bits - 1) or widest == low * -128 * inputs


def test_a_format_of_four_bits_is_a_list_of_levels():
    rng = np.random.default_rng(1)
    weights = rng.choice(E2M1, (9, 5))
    x = rng.integers(-8, 8, 9).astype(float)
    rom = mask_rom(weights, 4, levels=E2M1)
    assert np.array_equal(rom.multiply(x), x @ weights)  # halves: exact
    wrong = mask_rom(weights, 4, levels=E2M1).codes.copy()
    wrong[0, 0] = (wrong[0, 0] + 1) % len(E2M1)  # a contact at the wrong crossing
    off = type(rom)(wrong, rom.levels).multiply(x) - x @ weights
    assert off[0] != 0 and not off[1:].any()


def test_levels_of_any_range_have_room_in_the_sums():
    """Widths by the least and the most that any sum of the levels can be."""
    rng = np.random.default_rng(2)
    for bits in range(1, 9):
        levels = rng.choice(np.arange(-300, 300), 1 << bits, replace=False)
        weights = rng.choice(levels, (5, 3))
        rom = mask_rom(weights, bits, levels=levels)
        x = rng.integers(-128, 128, 5)
        assert np.array_equal(rom.multiply(x), x @ weights)
        held = 1 << rom.parts().adder_bits - 1
        assert 5 * 128 * int(np.abs(levels).max()) <= held
    assert mask_rom([[0.5, 6]], levels=E2M1).parts().adder_bits == 8 + 5  # in halves
    whole = mask_rom(W).multiply(np.array([5, 1], np.uint64))
    assert whole.dtype == np.int64 and whole.tolist() == [8, 6]


def test_a_budget_by_hand():
    each = rom_budget.per_weight(53e9, 8.03e9)
    assert each == pytest.approx(6.6, abs=0.01)
    share = rom_budget.sharing(each, 24)
    assert share * (each - 1) == pytest.approx(24 * rom_budget.FULL_ADDER)
    assert rom_budget.break_even_tokens(1e7, 2e-7, 1e-7) == pytest.approx(1e14)


W = [[1, 2], [3, -4]]
test_what_no_budget_has = refusals(
    (lambda: rom_budget.sharing(0.5, 24), "budget - cell = -0.5"),
    (lambda: rom_budget.break_even_tokens(1, 1, 2), "price - ours = -1"),
    (lambda: rom_budget.per_weight(1, 0), "weights = 0"),
)
test_bad_weights_are_refused = refusals(
    (lambda: mask_rom(W, 0), "bits = 0"),
    (lambda: mask_rom(W, 9), "bits = 9: from 1 to 8"),
    (lambda: mask_rom(W, True), "bits = True"),
    (lambda: mask_rom(W, 3.0), "bits = 3.0"),
    (lambda: mask_rom([[8]]), "a weight of 8: no level of 4 bits"),
    (lambda: mask_rom([[np.nan]]), "a weight of nan"),
    (lambda: mask_rom([[0.5]]), "a weight of 0.5"),
    (lambda: mask_rom([1, 2]), "inputs by outputs"),
    (lambda: mask_rom([[]]), "inputs by outputs"),
    (lambda: mask_rom(W, 2, levels=[0, 1, 2, 3, 4]), "chooses among 4"),
    (lambda: mask_rom(W, 2, levels=[0, 1, 1]), "3 levels, 2 of them different"),
    (lambda: mask_rom(W, levels=[1, 2, 3, -4, np.nan]), "levels = .*nan"),
    (lambda: mask_rom(W, levels=[1, 2, 3, -4, np.inf]), "levels = .*inf"),
    (lambda: mask_rom(W, levels="1234"), "levels = '1234'"),
    (lambda: mask_rom(W).multiply([2**62, 1]), "its sums have more than 64 bits"),
    (lambda: mask_rom(W).multiply([1, 2, 3]), r"shape \(3,\)"),
    (lambda: mask_rom(W).multiply([np.nan, 1]), "finite"),
    (lambda: mask_rom(W).multiply(["a", "b"]), "finite"),
)
