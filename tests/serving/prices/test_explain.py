"""A price turned inside out agrees with the bill that it inverts, border by border."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.hardware import UnknownSpec
from stacklib.quantity import Quantity
from stacklib.roofline.work.fit import Infeasible
from stacklib.serving import estimate, explain_price
from stacklib.serving.prices.explain import Border

CASE = {"model": "llama-3-8b", "on": "h100", "tp": 1}
PRICE = st.floats(0.05, 20)


def names(region):
    return {border.name: border for border in region.borders}


@settings(max_examples=12, deadline=None)
@given(PRICE)
def test_each_border_is_where_the_bill_meets_the_price(price):
    region = explain_price(price, **CASE)
    assert region.feasible == bool(region.floor.low.value <= price * (1 + 1e-9))
    assert region.margin.si == pytest.approx(price / region.floor.low.value)
    best = {"batch": region.best, "utilisation": 1.0}
    assert region.holds(**best) == region.feasible
    for key, name in (
        ("utilisation", "utilisation"),
        ("years", "years"),
        ("price_of_power", "price of power"),
    ):
        border = names(region)[name]
        if border.needed is None or not border.holds:
            assert not region.feasible
            continue
        for step, inside in ((1 + 1e-6, border.least), (1 - 1e-6, not border.least)):
            value = border.needed.to(border.best.unit).value * step
            if key != "utilisation" or value <= 1:
                assert region.holds(**best | {key: value}) == inside, name


@pytest.mark.parametrize("price", [0.06, 0.3, 5.0])
def test_the_least_batch_is_the_least(price):
    region = explain_price(price, **CASE)
    needed = names(region)["batch"].needed
    fine = [b for b in range(1, region.room + 1) if region.holds(b, 1.0)]
    if needed is None:
        assert not fine
    else:
        assert round(needed.si) == min(fine)


def test_rows_say_the_use_that_each_batch_needs():
    region = explain_price(1.0, **CASE)
    assert {region.best, region.room} <= {row.batch for row in region.rows}
    for row in region.rows:
        for share, dearest in ((row.needed.si, False), (row.enough.si, True)):
            if share < 1 - 1e-6:
                assert region.holds(row.batch, share * 1.000001, dearest=dearest)
                assert not region.holds(row.batch, share * 0.999, dearest=dearest)
        assert row.needed < row.enough


def test_the_largest_batch_is_not_always_the_best():
    """A step of 65 rows is one tile more than one of 64, and nearly as slow as 128."""
    region = explain_price(1.0, "llama-3-70b", tpot=0.023)
    assert region.room > region.best == 64
    case = {"model": "llama-3-70b", "on": "h100-sxm", "tp": 8, "context": 4096}
    for batch in (region.room, 64):
        assert estimate(**case, batch=batch).tpot.si <= 0.023
    assert estimate(**case, batch=region.room + 1).tpot.si > 0.023


def test_an_infeasible_price_says_what_is_missing():
    region = explain_price(0.001, **CASE)
    assert not region.feasible and "infeasible" in region.words
    missing = region.floor.low.value / 0.001
    assert f"{missing:.3g}"[:3] in region.words
    assert not any(border.holds for border in region.borders)
    assert explain_price(Quantity(31, "USD/Mtoken"), **CASE).feasible


def test_every_leaf_has_a_witness():
    region = explain_price(1.0, **CASE)
    told = [b.needed for b in region.borders if b.needed is not None]
    told += [region.floor.low, region.floor.high, region.margin]
    kinds = {leaf.kind for value in told for leaf in value.leaves()}
    assert "bare" not in kinds


def test_a_border_on_its_wrong_side_does_not_hold():
    one, two = Quantity(1, "USD/h"), Quantity(2, "USD/h")
    assert Border("rent", two, one, False).holds
    assert not Border("rent", one, two, False).holds
    assert Border("use", one, two, True).holds
    assert not Border("use", two, one, True).holds


@pytest.mark.parametrize(
    "given, error, says",
    [
        ({"usd_per_million": 0}, ValueError, "above zero"),
        ({"usd_per_million": -2.0}, ValueError, "above zero"),
        ({"usd_per_million": float("nan")}, ValueError, "above zero"),
        ({"usd_per_million": True}, ValueError, "above zero"),
        ({"years": 0}, ValueError, "years"),
        ({"tpot": float("nan")}, ValueError, "tpot"),
        ({"tpot": 1e-4}, Infeasible, "one sequence takes"),
        ({"model": "llama-3-70b"}, Infeasible, "does not fit"),
        ({"on": "tpu-v5p"}, UnknownSpec, "no fp32 rate"),
        ({"context": 0.5}, ValueError, "context"),
    ],
)
def test_bad_input_gives_no_region(given, error, says):
    with pytest.raises(error, match=f"(?i){says}"):
        explain_price(**CASE | {"usd_per_million": 1.0} | given)


@pytest.mark.parametrize(
    "words, status",
    [
        (("1",), 0),
        (("0.001",), 1),
        (("1", "--tp", "1"), 1),
        (("nan",), 2),
        (("1", "--tp", "3"), 2),
        (("cheap",), 2),
        (("1", "--on", "h101"), 2),
    ],
)
def test_the_command(words, status, capsys):
    from stacklib.cli import main

    found = main(["price", *words])
    assert found == status
    assert main(["price", *words, "--json"]) == status
    out = capsys.readouterr().out
    if status < 2:
        told = json.loads(out[out.index("{\n") :])
        assert told["feasible"] is (status == 0)
