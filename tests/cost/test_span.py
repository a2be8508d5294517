"""Spans: ends in order, arithmetic that holds every value its inputs could give."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib import cost
from stacklib.cost import span
from stacklib.cost.spans import Span
from stacklib.quantity import Quantity, UnitError

ENDS = st.floats(1e-3, 1e3)
PART = st.floats(0, 1)


def usd(value: float) -> Quantity:
    return Quantity(value, "USD", label="price")


def between(s: Span, part: float) -> Quantity:
    return s.low + (s.high - s.low) * part


@given(ENDS, ENDS, ENDS, ENDS, PART, PART)
def test_every_pair_of_inputs_lands_inside(a, b, c, d, part, other):
    one, two = span(usd(a), usd(b)), span(usd(c), usd(d))
    x, y = between(one, part), between(two, other)
    slack = 1 + 1e-9
    for found, value in (
        (one + two, x + y),
        (one * two, x * y),
        (one / two, x / y),
    ):
        assert found.low.si <= value.si * slack
        assert value.si <= found.high.si * slack


@given(ENDS, ENDS)
def test_the_middle_is_as_far_from_both_ends(a, b):
    s = span(usd(a), usd(b))
    assert (s.middle / s.low).si == pytest.approx((s.high / s.middle).si)
    assert s.middle in s or s.width.si == pytest.approx(1)
    assert s.middle.unit == "USD"


def test_a_span_knows_what_it_came_from():
    found = span(cost.wafer_price("n5")) / Quantity(60, label="dies")
    assert {leaf.kind for leaf in found.low.leaves()} >= {"claimed"}
    assert len({leaf.source for leaf in found.low.leaves() if leaf.source}) == 3


def test_numbers_on_either_side():
    s = span(usd(2), usd(4))
    assert (2 * s).low.si == 4 and (s * 2).high.si == 8
    assert (8 / s).low.si == 2 and (1 + span(1.0, 2.0)).high.si == 3
    assert sum([s, s], s).high.si == 12


def test_what_a_reader_sees():
    assert span(usd(46), usd(114)).text(digits=3) == "46 to 114 USD"
    times = span(Quantity(2, "ms"), Quantity(3, "s"))
    assert times.text() == "2 ms to 3 s"


@pytest.mark.rows(
    "make, error",
    [
        (lambda: span(usd(0)), ValueError),
        (lambda: span(usd(-1), usd(2)), ValueError),
        (lambda: Span(usd(3), usd(2)), ValueError),
        (lambda: span(usd(1), Quantity(1, "s")), UnitError),
        (lambda: span(float("nan")), UnitError),
        (lambda: span(True), UnitError),
        (lambda: span(usd(1)) + Quantity(1, "s"), UnitError),
        (lambda: span(span(usd(1)), usd(2)), ValueError),
    ],
)
def test_what_is_no_span_is_refused(make, error):
    with pytest.raises(error):
        make()
