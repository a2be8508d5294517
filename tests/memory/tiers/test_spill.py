"""Two memories: closed forms, and a step that is run layer by layer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.memory.tiers.spill import (
    knee,
    layer_steps,
    spilled_time,
    spread,
    two_tiers,
)
from stacklib.quantity import Quantity

from ...rows import refusals

SHARE, RATE = st.floats(0, 1), st.floats(0.1, 100)


@given(SHARE, RATE, RATE, st.integers(1, 40), st.integers(0, 50))
@settings(max_examples=150, deadline=None)
def test_an_even_spread_is_the_longer_of_the_two(share, near, far, layers, ahead):
    total = 100.0
    step = layer_steps(*spread(total, share, layers, "even"), near, far, ahead)
    assert step == sorted(step)
    longer = spilled_time(total, share, near, far, apart=False)
    assert step[-1] == pytest.approx(longer)


@given(SHARE, RATE, RATE, st.integers(1, 40), st.integers(0, 50))
@settings(max_examples=150, deadline=None)
def test_any_step_lies_between_the_longer_and_the_sum(share, near, far, layers, ahead):
    total = 100.0
    step = layer_steps(*spread(total, share, layers, "whole"), near, far, ahead)[-1]
    low, high = (
        spilled_time(total, share, near, far, apart=apart) for apart in (False, True)
    )
    assert low - 1e-9 <= step <= high + 1e-9
    further = layer_steps(*spread(total, share, layers, "whole"), near, far, ahead + 1)
    assert further[-1] <= step + 1e-9


@given(st.integers(0, 12), RATE, RATE)
@settings(max_examples=60, deadline=None)
def test_whole_layers_without_fetching_ahead_are_the_sum(gone, near, far):
    step = layer_steps(*spread(120.0, gone / 12, 12, "whole"), near, far)[-1]
    assert step == pytest.approx(spilled_time(120.0, gone / 12, near, far, apart=True))


def test_a_step_by_hand():
    # Near: 1 s a layer. Far: the third layer's 2 bytes take 4 s.
    done = layer_steps([1, 1, 0], [0, 0, 2], 1.0, 0.5, ahead=0)
    assert done == [1, 2, 6]
    assert layer_steps([1, 1, 0], [0, 0, 2], 1.0, 0.5, ahead=1)[-1] == 5
    assert layer_steps([1, 1, 0], [0, 0, 2], 1.0, 0.5, ahead=2)[-1] == 4


@given(RATE, RATE)
def test_at_the_knee_both_take_equally_long_and_all_rates_add_up(near, far):
    at = knee(near, far)
    assert (1 - at) / near == pytest.approx(at / far)
    assert 1 / spilled_time(1, at, near, far, apart=False) == pytest.approx(near + far)


def test_floats_arrays_and_quantities_agree():
    shares = np.linspace(0, 1, 5)
    array = spilled_time(1e9, shares, 8e12, 45e10, apart=False)
    each = [spilled_time(1e9, s, 8e12, 45e10, apart=False) for s in shares]
    np.testing.assert_allclose(array, each)
    gb, near = Quantity(1, "GB"), Quantity(8, "TB/s")
    far = Quantity(450, "GB/s")
    q = spilled_time(gb, Quantity(0.25), near, far, apart=False)
    assert q.to("s").value == pytest.approx(each[1])


def test_the_link_counts_one_way():
    pair = two_tiers("gb200")
    assert pair.link.tags >= {"per_direction"}
    assert pair.far.si == pair.link.si < pair.far_memory.si
    # Two that draw at once: now the memory behind is the slower.
    both = two_tiers("gb200", sharers=2)
    assert both.far.si == both.far_memory.si < both.link.si
    assert both.far_capacity.si == pair.far_capacity.si / 2


def test_what_fits_is_not_spilled_and_what_fits_nowhere_is_refused():
    pair = two_tiers("gb200")
    small, large = Quantity(100, "GB"), Quantity(700, "GB")
    assert pair.spilled(small).si == 0
    assert pair.time(small).si == pytest.approx(100e9 / pair.near.si)
    assert pair.spilled(Quantity(200, "GB")).si == pytest.approx(14e9)
    with pytest.raises(ValueError, match="700 GB do not fit 186 GB and 480 GB"):
        pair.time(large)


test_bad_input_is_refused = refusals(
    (lambda: layer_steps([], [], 1, 1), "as many each"),
    (lambda: layer_steps([1], [1, 2], 1, 1), "1 and 2 layers"),
    (lambda: layer_steps([1], [1], 0, 1), "rates 0"),
    (lambda: layer_steps([1], [1], 1, float("nan")), "nan"),
    (lambda: layer_steps([-1], [1], 1, 1), "below zero"),
    (lambda: layer_steps([1], [1], 1, 1, ahead=True), "ahead = True"),
    (lambda: spread(1, 1.5, 2, "even"), "share 1.5"),
    (lambda: spread(1, 0.5, 2, "odd"), "'odd'"),
    (lambda: two_tiers("gb200", sharers=0), "sharers = 0"),
)
