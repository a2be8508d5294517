"""A token's bill: every corner, every direction, and two baselines."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import cost
from stacklib.cost import span
from stacklib.cost.spans import Span
from stacklib.cost.tokens import ROWS
from stacklib.quantity import Quantity, UnitError

CASE = {
    "capital": 40e3,
    "power": 700,
    "pue": 1.35,
    "cooling": 500,
    "storage": 300,
    "network": 4000,
    "people": 6000,
    "utilisation": 0.65,
    "years": 4,
    "price_of_power": 0.07,
}
DEARER = {"utilisation": False, "years": False}  # all others: more of it costs more
HOURS = 365.25 * 24


def by_hand(rate, **g):
    """The six rows in plain numbers."""
    hour = {name: g[name] / (g["years"] * HOURS) for name in ROWS if name != "power"}
    hour["power"] = g["power"] / 1e3 * g["price_of_power"]
    hour["cooling"] += hour["power"] * (g["pue"] - 1)
    made = rate * 3600 * g["utilisation"] / 1e6
    return {name: hour[name] / made for name in ROWS}


def test_six_rows_as_by_hand():
    bill = cost.token(1768, **CASE)
    assert tuple(bill.rows) == ROWS
    for name, expected in by_hand(1768, **CASE).items():
        assert bill.rows[name].low.value == pytest.approx(expected), name
    total = sum(row.low.value for row in bill.rows.values())
    assert bill.total.low.value == pytest.approx(total)
    assert bill.usage.low.value == pytest.approx(total * 0.65)
    assert sum(bill.share(name).low.si for name in ROWS) == pytest.approx(1)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.floats(1.0, 2.0), min_size=3, max_size=3))
def test_a_bill_of_spans_holds_every_corner(wide):
    names = ("capital", "power", "people")
    ends = {n: (CASE[n], CASE[n] * w) for n, w in zip(names, wide, strict=True)}
    spans = {
        "capital": span(*(Quantity(v, "USD") for v in ends["capital"])),
        "power": span(*(Quantity(v, "W") for v in ends["power"])),
        "people": span(*(Quantity(v, "USD") for v in ends["people"])),
    }
    bill = cost.token(100, **CASE | spans)
    for corner in itertools.product(*ends.values()):
        rows = by_hand(100, **CASE | dict(zip(names, corner, strict=True)))
        value = Quantity(sum(rows.values()), "USD/Mtoken")
        assert bill.total.low * (1 - 1e-9) <= value <= bill.total.high * (1 + 1e-9)


@pytest.mark.parametrize("name", [*CASE, "tokens_per_s"])
def test_one_input_moved_moves_the_total_its_way(name):
    moved = {name: CASE.get(name, 100) * 1.2}
    rate = moved.pop("tokens_per_s", 100)
    before, after = cost.token(100, **CASE), cost.token(rate, **CASE | moved)
    more = bool(after.total.low > before.total.low)
    assert more == DEARER.get(name, name != "tokens_per_s")


def test_units_are_read_and_floats_have_theirs():
    told = {
        "capital": Quantity(40, "kUSD"),
        "power": Quantity(0.7, "kW"),
        "years": Quantity(48 / 12, "year"),
        "price_of_power": Quantity(0.07, "USD/kWh"),
        "people": Quantity(6000 / 4, "USD/year"),
    }
    one, other = cost.token(100, **CASE), cost.token(100, **CASE | told)
    assert other.total.low.value == pytest.approx(one.total.low.value)
    rented = cost.token(100, **CASE | {"power": Quantity(0.049, "USD/h")})
    assert rented.total.low.value == pytest.approx(one.total.low.value)


def test_a_row_of_nothing_is_left_out():
    none = dict.fromkeys(("storage", "network", "people", "cooling"), 0)
    assert set(cost.token(1, **CASE | none).rows) == {"capital", "power", "cooling"}
    assert set(cost.token(1, **CASE | none | {"pue": 1}).rows) == {"capital", "power"}


def test_power_has_a_sourced_price_where_none_is_said():
    bill = cost.token(100, **{n: v for n, v in CASE.items() if n != "price_of_power"})
    leaves = {leaf.kind for leaf in bill.rows["power"].low.leaves()}
    assert "claimed" in leaves and bill.rows["power"].width.si > 1


@pytest.mark.parametrize(
    "changed, error, says",
    [
        ({"capital": -1}, ValueError, "capital"),
        ({"capital": float("nan")}, UnitError, "finite"),
        ({"people": True}, UnitError, "not True"),
        ({"network": Quantity(3, "GB")}, UnitError, "network = 3 GB: USD or USD/h"),
        ({"pue": 0.9}, ValueError, "draws 1 or more"),
        ({"utilisation": 1.01}, ValueError, "a share, at most 1"),
        ({"utilisation": 0}, ValueError, "utilisation"),
        ({"years": 0}, ValueError, "years"),
        ({"price_of_power": 0}, ValueError, "price_of_power"),
        ({"pue": span(1.0, 1.5), "cooling": 0}, ValueError, "begin above 1"),
        (dict.fromkeys(ROWS, 0), ValueError, "every row is 0"),
    ],
)
def test_bad_input_gives_no_number(changed, error, says):
    with pytest.raises(error, match=says):
        cost.token(100, **CASE | changed)


@pytest.mark.parametrize("rate", [0, -1, float("inf"), Quantity(3, "token")])
def test_bad_rates(rate):
    with pytest.raises((ValueError, UnitError)):
        cost.token(rate, **CASE)


def test_rent_or_buy_meet_at_the_break_even():
    given = {n: v for n, v in CASE.items() if n not in ("utilisation", "years")}
    found = cost.break_even(1768, rent=3.0, **given)
    share = found.utilisation.low.si
    assert 0 < share < 1
    owned = cost.token(1768, **given, years=5, utilisation=share)
    assert owned.total.low.value == pytest.approx(found.rented.low.value)
    with pytest.raises(ValueError, match="rent"):
        cost.break_even(1768, rent=0, **given)


def test_the_rows_of_one_table_can_imply_two_machines():
    """The 174 dollars of 8.13: its first two rows stand for two rates, 19 apart."""
    bill = cost.token(1768, **CASE)
    rates = [
        bill.implied(row, Quantity(said, "USD/Mtoken")).low.si
        for row, said in (("capital", 60.6), ("power", 48.7))
    ]
    assert rates == pytest.approx([5.23, 0.279], rel=1e-2)
    for row, cost_of in bill.rows.items():
        rate = bill.implied(row, cost_of.low * 0.65)  # while it works
        assert rate.low.si == pytest.approx(1768)


def test_a_planted_fault_is_seen():
    """Cooling by the whole PUE, as a slip would have it, is another bill."""
    right = by_hand(1768, **CASE)["cooling"]
    wrong = by_hand(1768, **CASE | {"pue": CASE["pue"] + 1})["cooling"]
    assert isinstance(cost.token(1768, **CASE).rows["cooling"], Span)
    found = cost.token(1768, **CASE).rows["cooling"].low.value
    assert found == pytest.approx(right) and found != pytest.approx(wrong)
