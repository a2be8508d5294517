"""Stacks: closed forms against a workshop that builds them, and the trade in wafers."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import cost
from stacklib.cost import hbm
from stacklib.cost.stacks import (
    FLOWS,
    Costs,
    build,
    layer_yield,
    stack_cost,
    stack_yield,
)
from stacklib.cost.trade import count_wafers, counted_ends
from stacklib.quantity import Quantity, UnknownName

SHARE = st.floats(0.6, 1)
DOLLARS = Costs(die=5.0, layer=3.0, base=30.0, test=15.0)
HEIGHT = st.integers(1, 16)


def test_twelve_layers_of_98_percent():
    bonded = stack_yield(12, die=1.0, bond=0.98)
    stacked = stack_yield(12, die=0.98, bond=1.0, flow="blind")
    assert bonded == stacked == pytest.approx(0.785, abs=5e-4)


@settings(max_examples=25, deadline=None)
@given(HEIGHT, SHARE, SHARE, st.sampled_from(FLOWS))
def test_the_workshop_agrees(height, die, bond, flow):
    case = {"die": die, "bond": bond, "flow": flow}
    told, seen = (
        stack_yield(height, **case),
        build(height, DOLLARS, **case, stacks=4000),
    )
    error = 4.5 * math.sqrt(told * (1 - told) / 4000) + 1e-9
    assert abs(seen.works - told) <= error
    if told > 0.05:
        dollars = stack_cost(height, DOLLARS, **case)
        assert seen.each == pytest.approx(dollars, rel=0.01 + 1.2 * error / told)


def test_another_way_of_stacking_would_be_seen():
    """Planted: a workshop that does not test is caught by the tested closed form."""
    case = {"die": 0.9, "bond": 0.98}
    blind = build(8, DOLLARS, **case, flow="blind")
    assert abs(blind.works - stack_yield(8, **case)) > 0.2


@given(HEIGHT, SHARE, SHARE)
def test_testing_earlier_never_costs_more(height, die, bond):
    case = {"die": die, "bond": bond}
    dear = [stack_cost(height, DOLLARS, **case, flow=flow) for flow in FLOWS]
    assert dear[2] <= dear[1] * (1 + 1e-9)
    assert dear[1] <= dear[0] * (1 + 1e-9)


@given(HEIGHT)
def test_when_all_works_all_ways_cost_the_same(height):
    costs = {stack_cost(height, DOLLARS, die=1.0, bond=1.0, flow=f) for f in FLOWS}
    plain = height * 8.0 + 45.0
    assert all(c == pytest.approx(plain) for c in costs)


@given(st.integers(2, 16), SHARE, SHARE)
def test_a_taller_stack_works_less_often(height, die, bond):
    for flow in FLOWS:
        tall, low = (stack_yield(h, die=die, bond=bond, flow=flow) for h in (height, 1))
        assert tall <= low


def test_floats_and_quantities_give_the_same():
    traced = Costs(*(Quantity(x, "USD") for x in (5.0, 3.0, 30.0, 15.0)))
    for flow in FLOWS:
        q = stack_cost(8, traced, die=Quantity(0.9), bond=Quantity(0.98), flow=flow)
        assert q.to("USD").value == pytest.approx(
            stack_cost(8, DOLLARS, die=0.9, bond=0.98, flow=flow)
        )


def test_hbm_from_the_wafer_up():
    for height in (8, 12, 16):
        found = hbm(height)
        assert 3 < found.low.to("USD/GB").value < found.high.to("USD/GB").value < 20
        assert hbm(height, flow="blind").low > found.low
    kinds = {leaf.kind for leaf in hbm(8).low.leaves()}
    assert kinds <= {"spec", "claimed", "assumed", "constant", "counted", "chosen"}
    # Sold above the dearest that making it may cost, at least by somebody.
    assert cost.memory_price("hbm3e").high > hbm(8).high


def test_layers_survive_as_makers_let_out():
    layers = layer_yield()
    assert layers.low.si == pytest.approx(0.6 ** (1 / 8))
    assert layers.high.si == pytest.approx(0.8 ** (1 / 8))


def test_the_trade_counted_agrees_with_the_product():
    """Within 3 %: three standard errors of the stacks drawn."""
    told, counted = cost.factors().total, counted_ends(stacks=4000, seed=2)
    assert counted.low.si == pytest.approx(told.low.si, rel=0.03)
    assert counted.high.si == pytest.approx(told.high.si, rel=0.03)


def test_the_trade_without_a_base_die_and_without_losses():
    trade = cost.factors()
    assert (trade.total.low / trade.parts["larger die"].low).si > 1
    foundry = cost.factors(base_on_dram=False)
    assert foundry.base.low.si == foundry.base.high.si == 1
    bare = count_wafers(
        gross=100,
        ddr_gross=100,
        gbit=16,
        die=1.0,
        stack=1.0,
        height=8,
        stacks=50,
        base_on_dram=False,
    )
    assert bare == 1


@pytest.mark.rows("bad", [0, -0.1, 1.5, math.nan, True])
def test_a_share_that_is_none_is_refused(bad):
    with pytest.raises(ValueError, match="share"):
        stack_yield(8, die=bad, bond=0.9)
    with pytest.raises(ValueError, match="share"):
        stack_yield(8, die=0.9, bond=bad)
    with pytest.raises(ValueError, match="share"):
        count_wafers(gross=9, ddr_gross=9, die=bad, stack=0.5)


@pytest.mark.rows("bad", [0, -1, 2.5, True])
def test_a_height_that_is_none_is_refused(bad):
    with pytest.raises(ValueError, match="height"):
        stack_yield(bad, die=0.9, bond=0.9)
    with pytest.raises(ValueError, match="height"):
        count_wafers(gross=9, ddr_gross=9, die=0.9, stack=0.5, height=bad)


def test_an_unknown_way_of_stacking_is_named():
    with pytest.raises(UnknownName, match="way of stacking"):
        stack_yield(8, die=0.9, bond=0.9, flow="hope")
