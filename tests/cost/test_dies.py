"""A die's cost: what goes in comes out, spare units help, bad input is refused."""

import pytest

from stacklib import cost
from stacklib.cost import die, span
from stacklib.quantity import Quantity, UnknownName, explain

from ..rows import refusals


def mm2(value: float) -> Quantity:
    return Quantity(value, "mm2", label="area")


def test_all_that_is_paid_is_spread_over_good_dies():
    found = die(mm2(100), node="n5")
    for end in ("low", "high"):
        other = "high" if end == "low" else "low"  # dear when few work
        paid = getattr(found.cost, end) * getattr(found.good, other)
        assert paid.si == pytest.approx(getattr(found.wafer, end).si)


def test_a_good_die_costs_more_than_it_does_untested_and_large_ones_more_by_area():
    small, large = die(mm2(100), node="n5"), die(mm2(800), node="n5")
    assert large.cost.low > 8 * small.cost.low
    assert small.raw.high < small.cost.high
    assert large.yields.high < small.yields.low


def test_spare_units_bring_dies_back():
    whole = die(mm2(800), node="n5")
    spare = die(mm2(800), node="n5", units=80, needed=74)
    assert spare.yields.low > whole.yields.high
    assert spare.cost.low < whole.cost.low


def test_by_area_or_by_sides():
    square = die(mm2(100), node="n7")
    sides = {"width": Quantity(10, "mm"), "height": Quantity(10, "mm")}
    assert die(**sides, node="n7").gross.si == square.gross.si
    assert die(**sides, node="n7").area.si == pytest.approx(1e-4)


def test_given_yields_need_no_defect_density():
    found = die(mm2(50), price=Quantity(1600, "USD"), yields=Quantity(0.5))
    assert (found.cost.low / found.raw.low).si == pytest.approx(2)
    with pytest.raises(UnknownName):
        die(mm2(50), node="n2")  # nobody has published a density
    assert die(mm2(50), node="n2", defects=cost.defect_density("n3")).cost.low


def test_the_cost_explains_itself():
    text = explain(die(mm2(814), node="n5").cost.low)
    assert "wafer price" in text and "AnandTech" in text and "dies on a wafer" in text


test_what_is_no_die_is_refused = refusals(
    ({}, "by its area, or by"),
    ({"area": mm2(100), "width": Quantity(1, "mm")}, "by its area, or by"),
    ({"width": Quantity(1, "mm")}, "both needed"),
    ({"area": mm2(0)}, "above zero"),
    ({"area": mm2(46225)}, "scanner exposes"),
    ({"width": Quantity(40, "mm"), "height": Quantity(5, "mm")}, "scanner"),
    ({"area": mm2(100), "yields": Quantity(1.5)}, "no more than all"),
    ({"area": mm2(100), "node": ""}, "a node is needed"),
    by=lambda arguments: die(**{"node": "n5", **arguments}),
)


def test_a_plain_number_is_asked_back():
    with pytest.raises(TypeError, match=r"write Quantity\(100, 'mm2'\)"):
        die(100, node="n5")
    with pytest.raises(ValueError, match="cannot be given"):
        die(Quantity(1, "s"), node="n5")
    assert span(die(mm2(100), node="n5").cost).low
