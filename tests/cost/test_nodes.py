"""Processes: chains of stated steps, mixed dies, and Moore's clock on the database."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import hardware
from stacklib.cost import clock, gain
from stacklib.cost.moore import FAMILIES, chips, fixed_doubling
from stacklib.cost.nodes import GAINS, NODES, mixed_density, path, shrink_blocks
from stacklib.quantity import Quantity, UnknownName
from stacklib.roofline.bound.trend import resampled

from ..rows import refusals

STATED = [n for n in NODES if n != "n7"]  # chip density is not stated from N7


@pytest.mark.rows("what", GAINS)
def test_steps_chain_and_reverse(what):
    """Exhaustively: from a to c is from a to b times from b to c; back is one over."""
    for a in STATED:
        for b in STATED:
            there, back = gain(a, b, what), gain(b, a, what)
            assert there.low.si * back.high.si == pytest.approx(1)
            for c in STATED:
                if b in path(a, c, what):
                    onward = there.low.si * gain(b, c, what).low.si
                    assert onward == pytest.approx(gain(a, c, what).low.si)


def test_n4_to_n2_by_hand():
    assert gain("n4", "n2").middle.si == pytest.approx(1.6 * 1.15 / 1.06)
    assert gain("n4", "n2", "chip").middle.si == pytest.approx(1.3 * 1.15 / 1.06)
    assert gain("n4", "n2", "sram").middle.si == pytest.approx(0.021 / 0.0175)
    assert gain("n4", "n2", "power").low.si == pytest.approx(0.66 * 0.7 / 0.78)
    assert gain("n4", "n2", "speed").high.si == pytest.approx(1.18 * 1.15 / 1.11)


def test_what_has_no_path_or_name_is_refused():
    with pytest.raises(ValueError, match="no stated steps of chip"):
        gain("n7", "n5", "chip")
    with pytest.raises(UnknownName, match="process"):
        gain("n4", "n1")
    with pytest.raises(UnknownName, match="gain"):
        gain("n4", "n2", "taste")


GAIN = st.floats(0.5, 3)


@settings(max_examples=20, deadline=None)
@given(st.floats(0, 1), GAIN, GAIN)
def test_blocks_shrunk_one_by_one_agree(share, logic, rest):
    shares, gains = {"a": share, "b": 1 - share}, {"a": logic, "b": rest}
    told = mixed_density(shares, gains)
    assert shrink_blocks(shares, gains) == pytest.approx(told, rel=0.04)
    assert min(logic, rest) <= told * (1 + 1e-9) <= max(logic, rest) * (1 + 1e-8)


def test_an_arithmetic_mean_would_be_seen():
    """Planted: averaging the gains overstates what a mixed die gains."""
    shares, gains = {"a": 0.5, "b": 0.5}, {"a": 3.0, "b": 1.0}
    wrong = sum(shares[k] * gains[k] for k in shares)
    assert abs(shrink_blocks(shares, gains) - wrong) > 0.4


test_a_mix_that_is_none_is_refused = refusals(
    ({"a": 0.5}, {"a": 1.0}, "add up to 0.5"),
    ({"a": 1.0}, {"b": 1.0}, "needs both"),
    ({"a": 1.5, "b": -0.5}, {"a": 1.0, "b": 1.0}, "share of b = -0.5"),
    ({"a": 1.0}, {"a": 0.0}, "above zero"),
    ({}, {}, "needs both"),
    by=mixed_density,
)


def test_no_blocks_are_refused():
    with pytest.raises(ValueError, match="blocks = 0"):
        shrink_blocks({"a": 1.0}, {"a": 1.0}, blocks=0)


def test_each_chip_counts_once_and_none_is_too_dense():
    for family in FAMILIES:
        found = chips(family)
        keys = [key for chip in found for key in chip.keys]
        assert len(keys) == len(set(keys))
        assert len({(c.transistors.si, c.area.si) for c in found}) == len(found)
        # Denser than the densest logic of N5 would mean dies left out of the area.
        assert all(c.density.to("1/mm2").value < 171e6 for c in found)
    with pytest.raises(ValueError, match="no family"):
        chips("cats")


def test_the_clock_of_the_database():
    found = clock()
    assert 2.4 < found.doubling < 4.3
    every = chips("nvidia")
    years = [float(c.year) for c in every]
    low, high = resampled(years, [c.density.si for c in every], 1.0)
    assert low < clock(every).growth < high


def test_a_planted_doubling_is_found():
    from stacklib.cost.moore import Chip

    planted = [
        Chip((str(y),), str(y), y, Quantity(2 ** ((y - 2000) / 3)), Quantity(1, "m2"))
        for y in range(2000, 2012)
    ]
    assert clock(planted).doubling == pytest.approx(3)
    assert fixed_doubling(planted[0], planted[9]).to("year").value == pytest.approx(3)


def test_a100_to_b200_takes_four_years_to_double():
    by_key = {key: chip for chip in chips() for key in chip.keys}
    found = fixed_doubling(by_key["a100_sxm_80gb"], by_key["b200_sxm"])
    assert found.to("year").value == pytest.approx(4.06, abs=0.01)
    with pytest.raises(ValueError, match="later and denser"):
        fixed_doubling(by_key["b200_sxm"], by_key["a100_sxm_80gb"])
    h100 = hardware.get("h100-sxm")
    packed = (h100.transistors / h100.die_area).to("1/mm2").value
    assert packed == pytest.approx(98.3e6, rel=1e-3)
    assert math.isclose(by_key["h100_sxm"].density.to("1/mm2").value, packed)
