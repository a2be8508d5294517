"""Arithmetic, derivations and text of quantities."""

import json

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib.quantity import (
    Quantity,
    Source,
    UnitError,
    ceil,
    explain,
    log2,
    maximum,
    minimum,
    where,
)
from stacklib.quantity.helpers import exp
from stacklib.quantity.tree import formula
from stacklib.quantity.units import format_number, parse, typeset

positive = st.floats(1e-6, 1e12)
SOURCE = Source("a data sheet", "page 2", "2026-11-21", "vendor")


@given(positive, positive)
def test_arithmetic_equals_floats(a, b):
    x, y = Quantity(a, "GB"), Quantity(b, "GB")
    assert (x + y).si == pytest.approx((a + b) * 1e9)
    assert (x - y).si == pytest.approx((a - b) * 1e9, abs=1e-6 * (x.si + y.si))
    assert (x * y).si == pytest.approx(a * b * 1e18)
    assert float(x / y) == pytest.approx(a / b)
    assert bool(x < y) is (a * 1e9 < b * 1e9)


@given(st.lists(positive, min_size=1, max_size=8))
def test_sum_max_min_equal_floats(values):
    quantities = [Quantity(v, "ms") for v in values]
    assert sum(quantities).to("ms").value == pytest.approx(sum(values))
    assert maximum(*quantities).to("ms").value == pytest.approx(max(values))
    assert minimum(*quantities).to("ms").value == pytest.approx(min(values))


@given(positive, st.sampled_from(["GB", "GiB", "kB", "B"]))
def test_unit_round_trip(value, unit):
    q = Quantity(value, unit)
    assert q.to("B").to(unit).value == pytest.approx(value)
    assert Quantity(q.value, q.unit).si == pytest.approx(q.si)


def test_units_cancel():
    time = Quantity(1, "GiB") / Quantity(1, "GB/s")
    assert time.unit == "s"
    assert time.si == pytest.approx(1.073741824)
    assert (Quantity(1.8, "GHz") * Quantity(4096, "FLOP/cycle")).unit == "FLOP/s"
    assert (Quantity(700, "W") / Quantity(50, "token/s")).unit == "J/token"
    assert (Quantity(4, "m2") ** 0.5).unit == "m"
    half = Quantity(0.5, label="fitted")
    root = (Quantity(8, "B") / Quantity(2, "B")) ** half
    assert root.si == 2 and half in root.inputs
    with pytest.raises(UnitError, match="plain number"):
        Quantity(4, "m2") ** half


def test_tags_travel_only_where_they_mean_something():
    rate = Quantity(989, "TFLOP/s dense per_chip")
    seconds = Quantity(1, "TFLOP") / rate
    assert seconds.tags == frozenset()
    ridge = rate / Quantity(3.35, "TB/s per_chip")
    assert ridge.tags == {"dense", "per_chip"}


def test_derivation_survives_comparison_and_choice():
    a = Quantity(2, "ms", label="a", source=SOURCE, kind="spec", key="x.a")
    b = Quantity(3, "ms", label="b")
    chosen = where(a > b, a, b)
    assert chosen.si == b.si
    assert [leaf.label for leaf in chosen.leaves()] == ["a", "b", "a", "b"]
    assert "a if a > b else b" in explain(chosen)


def test_formula_stops_at_names_and_keeps_precedence():
    a, b, c = (Quantity(v, label=n) for v, n in ((2, "a"), (3, "b"), (4, "c")))
    assert formula(a * (b + c))[0] == "a × (b + c)"
    assert formula(a / (b / c))[0] == "a / (b / c)"
    assert formula(a - (b - c))[0] == "a − (b − c)"
    named = (b + c).named("both")
    text, inputs = formula(2 * named)
    assert text == "2 × both"
    assert [q.label for q in inputs] == ["both"]


def test_tree_is_json_with_source():
    told = {"source": SOURCE, "kind": "spec", "key": "x.bandwidth"}
    q = Quantity(3.35, "TB/s", label="bandwidth", **told)
    node = json.loads(json.dumps((Quantity(1, "GB") / q).tree()))
    assert node["formula"] == "1 GB / bandwidth"
    assert node["inputs"][0]["source"]["confidence"] == "vendor"


def test_explain_refuses_a_float():
    with pytest.raises(TypeError, match=r"not 3\.0"):
        explain(3.0)


@pytest.mark.rows(
    "quantity, text",
    [
        (Quantity(0.021063, "s"), "21.1 ms"),
        (Quantity(21.063, "ms"), "21.1 ms"),
        (Quantity(7.13e-5, "s"), "71.3 µs"),
        (Quantity(3.35, "TB/s"), "3.35 TB/s"),
        (Quantity(141107412992, "B"), "141 GB"),
        (Quantity(70553706496), "70.6 billion"),
        (Quantity(0.994).to("%"), "99.4 %"),
        (Quantity(295.34, "FLOP/B"), "295 FLOP/B"),
        (Quantity(0.00361), "0.00361"),
        (Quantity(0, "s"), "0 s"),
    ],
)
def test_text(quantity, text):
    assert quantity.text() == text


@given(st.floats(1e-9, 1e14), st.integers(1, 6))
def test_printed_number_is_within_half_a_unit_of_its_last_digit(value, digits):
    shown = float(format_number(value, digits).replace(",", ""))
    assert shown == pytest.approx(value, rel=0.5001 * 10 ** (1 - digits))


def test_helpers_take_floats_quantities_and_arrays():
    array = numpy.array([1.0, 4.0])
    assert maximum(1, 2) == 2
    assert list(maximum(array, 2.0)) == [2, 4]
    assert list(minimum(array, 2.0)) == [1, 2]
    assert list(where(array > 2, array, 0.0)) == [0, 4]
    assert list(ceil(array + 0.5)) == [2, 5]
    assert list(log2(array)) == [0, 2]
    assert list(exp(0 * array)) == [1, 1]
    assert exp(0.0) == 1 and exp(Quantity(0)).si == 1
    assert ceil(1.2) == 2 and ceil(Quantity(1.2)).si == 2
    assert log2(8) == 3 and log2(Quantity(8)).si == 3


def test_array_and_quantity_do_not_mix():
    with pytest.raises(ValueError, match="sweep with floats"):
        numpy.ones(3) * Quantity(1, "s")


@pytest.mark.rows(
    "wrong", [{"confidence": "sure"}, {"seen": "yesterday"}, {"title": " "}]
)
def test_source_is_checked(wrong):
    good = {"title": "t", "where": "w", "seen": "2026-11-21", "confidence": "vendor"}
    with pytest.raises(ValueError):
        Source(**{**good, **wrong})


@given(st.sampled_from(["mm2", "1/cm2", "Mibit/mm2", "m3", "J/s2", "m-2", "mm^2"]))
def test_powers_are_raised_in_print_and_read_back(unit):
    q = Quantity(3, unit)
    assert not set(q.text().partition(" ")[2]) & set("23^-")
    assert f"{q:.1f}".partition(" ")[2] == q.text().partition(" ")[2]
    assert parse(q.text().partition(" ")[2]) == parse(q.unit.replace("^", ""))
    assert q.to(q.text().partition(" ")[2]).si == q.si


@pytest.mark.rows(
    ("value", "unit", "text"),
    [
        (2169, "cycle", "2,170 cycles"),
        (1, "cycle", "1 cycle"),
        (-1, "bit", "-1 bit"),
        (4, "bit", "4 bits"),
        (0, "bit", "0 bits"),
        (0.5, "day", "0.5 days"),
        (1.0004, "year", "1 year"),
        (30, "token/s", "30 tokens/s"),
        (1, "token/s", "1 token/s"),
        (13.5, "Mtoken", "13.5 Mtokens"),
        (2, "bit/B", "2 bits/B"),
        (7, "mbit/B", "7 mbit/B"),  # a symbol with a prefix is no word
        (8, "Gbit/s", "8 Gbit/s"),
        (5, "pJ/bit", "5 pJ/bit"),
        (3, "B/cycle", "3 B/cycle"),
    ],
)
def test_units_that_are_words_take_an_s_unless_the_printed_number_is_one(
    value, unit, text
):
    q = Quantity(value, unit)
    shown = q.text(unit)
    assert shown == text
    assert q.to(shown.partition(" ")[2]).unit == q.unit == unit  # and it is read back


def test_only_powers_of_units_are_raised():
    assert typeset("TFLOP/s fp8 B200 e4m3") == "TFLOP/s fp8 B200 e4m3"
    assert typeset("MTr/mm2") == "MTr/mm²"
