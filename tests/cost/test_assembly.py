"""Devices from parts: totals, shares, a bill with one price changed."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib import cost
from stacklib.cost import span
from stacklib.cost.assembly import assemble, b200, if_dearer
from stacklib.quantity import Quantity, UnitError

PRICE = st.floats(1, 1e4)


def usd(value: float) -> Quantity:
    return Quantity(value, "USD", label="price")


@given(st.lists(st.tuples(PRICE, PRICE), min_size=1, max_size=4))
def test_totals_and_shares_hold_every_corner(pairs):
    parts = {f"p{i}": span(usd(a), usd(b)) for i, (a, b) in enumerate(pairs)}
    found = assemble(**parts)
    corners = itertools.product(*((s.low.si, s.high.si) for s in parts.values()))
    for corner in corners:
        total, first = sum(corner), corner[0] / sum(corner)
        share = found.share("p0")
        for span_of, value in ((found.total, total), (share, first)):
            assert span_of.low.si * (1 - 1e-9) <= value
            assert value <= span_of.high.si * (1 + 1e-9)


def test_the_bill_of_a_b200_lies_within_what_we_build_up():
    bill, ours = cost.bill("b200_sxm"), b200()
    assert bill.total in ours.total
    assert bill.parts["logic"] in ours.parts["logic"]
    assert bill.parts["memory"] in ours.parts["memory"]
    assert bill.parts["memory"] / bill.total in ours.share("memory")


def test_memory_twice_as_dear():
    bill = cost.bill("b200_sxm")
    dearer = if_dearer(bill, "memory", 2)
    assert dearer.to("USD").value == pytest.approx(6400 + 2900)
    assert if_dearer(bill, "memory", 1).si == pytest.approx(bill.total.si)


def test_bad_parts_are_refused():
    with pytest.raises(ValueError, match="at least one part"):
        assemble()
    with pytest.raises(UnitError):
        assemble(memory=Quantity(3, "GB"))
    bill = cost.bill("b200_sxm")
    with pytest.raises(ValueError, match="the bill lists logic"):
        if_dearer(bill, "gold", 2)
    for bad in (0, -1, float("nan"), True):
        with pytest.raises(ValueError, match="factor"):
            if_dearer(bill, "memory", bad)
    with pytest.raises(KeyError):
        b200().share("gold")
