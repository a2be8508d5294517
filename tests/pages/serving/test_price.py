"""Section 8.12: the bill by hand, the page's loop, its figures and its claims."""

from functools import partial

import pytest

from stacklib import pages
from stacklib.pages.serving import estimate
from stacklib.pages.serving import price as page
from stacklib.pages.serving.price import drawings, figures, live
from stacklib.plots import spec as grammar
from stacklib.quantity import quoted

from ...live_figures import ask
from ...programs import loop_of

loop = loop_of("08-serving/price")
readouts = partial(ask, live.explore, live.controls())


def printed(old="", new=""):
    """Dollars a million tokens, row by row, and in all."""
    lines = [line.split() for line in loop.prints(old, new).splitlines()]
    rows = {words[0]: float(words[4]) for words in lines if words[0] != "in"}
    return rows | {"in all": float(lines[-1][2])}


def told(rate, **given):
    """The same by the package, at the lowest quotes."""
    bill = page.owned().bill(rate, **given)
    rows = {name: page.dollars(row.low, name).value for name, row in bill.rows.items()}
    return rows | {"in all": page.dollars(bill.total.low, "in all").value}


@pytest.mark.rows(
    "changed",
    [
        ("", "", {}),
        ("1.0, 3730", "0.3, 3730", {"utilisation": 0.3}),
        ("8), 5, 1.0", "8), 3, 1.0", {"years": 3}),
    ],
)
def test_the_loop_is_the_package_s_bill(changed):
    old, new, given = changed
    assert printed(old, new) == pytest.approx(told(3730.0, **given), abs=2e-5)


def test_a_planted_fault_in_the_loop_is_seen():
    rows = printed("(pue - 1)", "pue")
    assert rows["cooling"] > 10 * told(3730.0)["cooling"]


def test_rows_add_up_to_what_the_page_says():
    rows = page.bill_rows()
    for column in list(rows[0])[1:]:
        *parts, whole = (row[column].si for row in rows)
        assert sum(parts) == pytest.approx(whole)
    least = page.owned().capital.low.si / (5 * 365.25 * 24 * 3600)
    assert rows[0]["an hour, least"].si == pytest.approx(least)
    hour = page.bill().hour.low.to("USD/h").value
    by_hand = hour / (estimate.rate(64).si * 3600) * 1e6
    assert page.dollars(page.bill(64).total.low, "").value == pytest.approx(by_hand)


def test_idle_hours_cost_what_full_ones_do():
    assert page.idle().si == pytest.approx(1 / 0.3)
    for end in ("low", "high"):
        assert 1 < page.unplugged(end).si < page.idle().si
    assert page.electricity_share("low").si < page.electricity_share("high").si


def test_the_simulator_makes_what_the_bill_divides_by():
    """Answers alone, of 4,096 tokens on average, are steps of sixty-four."""
    alone = page.ran_rate(prompt=1, new=8191)
    assert alone.si == pytest.approx(estimate.rate(64).si, rel=0.01)
    among = page.ran_rate()
    closed = (64 / estimate.among_others(64, page.CONTEXT, page.BENCH)).si
    assert among.si == pytest.approx(closed, rel=0.05) and among.si < alone.si / 2
    assert page.ran_share("busy").si > 0.95 and page.ran_share("utilisation").si < 0.6


def test_rent_and_ownership_meet():
    found = page.either()
    use = found.own.hour.low.si / found.rent.high.si
    assert found.utilisation.low.si == pytest.approx(use)
    owned = page.bill(page.TOGETHER, use).total.low
    assert owned.si == pytest.approx(found.rented.high.si)


def test_lmsys_by_hand():
    rate = quoted("lmsys_ep.output").si * 9 * 3600 / 1e6
    some, whole = page.lmsys_chips()
    assert (some.si, whole.si) == (72, 96)
    assert page.lmsys_price(whole).value == pytest.approx(96 * 2 / rate)
    assert page.lmsys_price(some).value == pytest.approx(
        quoted("lmsys_ep.price").to("USD/Mtoken").value, rel=0.01
    )


def test_trends_and_answers():
    assert page.fall().si == pytest.approx(100 ** (1 / 3))
    assert page.fallen().si == pytest.approx(64_000)
    assert page.right_answer(8000, 0.9).si == pytest.approx(0.3e-6 * 8000 / 0.9)


def test_the_printed_bill_is_wrong_once():
    """Rows that repeat the slip say so; the total is where it is counted."""
    for row in ("capital", "power", "storage", "network", "labour", "production"):
        assert "token-cost-total" in pages.judge(f"token-cost-{row}").reason
    total = pages.judge("token-cost-total")
    assert total.verdict == "wrong" and "token-cost-total" not in total.reason


def test_longer_contexts_by_hand():
    weights, cached = 69.5, 163_840 / 1e9
    for context in (page.LONG, page.LONGER):
        ratio = (weights + 32 * context * cached) / (weights + 32 * 4096 * cached)
        assert page.longer(context).bytes.si == pytest.approx(ratio, rel=0.01)


def test_the_live_figure_says_what_the_bill_says():
    spec, said = readouts(cents=100, batch=64, hours=24, years=5, power=6)
    bill = page.owned().bill(estimate.rate(64), price_of_power=0.06)
    assert said["least"] == bill.total.low.text("USD/Mtoken", 3)
    assert said["most"] == bill.total.high.text("USD/Mtoken", 3)
    assert said["word"] == "pays at every quote"
    curve = next(mark for mark in spec["marks"] if mark["name"] == "lowest quotes")
    at = curve["x"].index(64)
    assert curve["y"][at] == pytest.approx(24 * bill.total.low.to("USD/Mtoken").value)
    assert readouts(cents=1)[1]["word"] == "does not pay"


def test_the_largest_batch_of_the_figure_is_the_room():
    assert live.BATCHES[-1] == page.room()


def test_figure_and_drawing_hold():
    grammar.check(figures.used_spec(title="A figure."))
    alt = drawings.an_hour_and_who_shares_it().alt
    for words in ("the chips", "building and people", "one reader", "sixty-four"):
        assert words in alt
