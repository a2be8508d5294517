"""Wafers to GPUs, projections, a gigawatt, and what a mistake costs."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import cost
from stacklib.cost.spans import span
from stacklib.frontier import (
    asic,
    campus,
    deals,
    gigawatt,
    growth,
    named_bets,
    projections,
    respin,
    respins,
    supplies,
    supply,
)
from stacklib.quantity import Quantity, UnknownName, quoted
from stacklib.roofline.work.fit import Infeasible


def test_wafers_to_gpus_by_hand():
    """Each end is the product of its ends, and a published count lies between."""
    told = supply(2026, share=0.5, a_wafer=10.0, works=1.0)
    wafers = cost.fact("capacity", "cowos_2026")
    before = cost.fact("capacity", "cowos_2025")
    for end in ("low", "high"):  # a year climbs from one end to the other
        mean = (getattr(before, end).si + getattr(wafers, end).si) / 2
        assert getattr(told.packages, end).si == pytest.approx(mean * 12 * 0.5 * 10)
    assert told.gpus == told.packages and told.stacks is None
    assert supplies.told().si == pytest.approx(5.4e6 / 595e3)
    assert quoted("cowos.nvidia_chips_2026") in supply().packages
    month = quoted("cowos.nvidia_2026").si / 12
    assert 0.6 * supply().wafers.low.si < month < 0.63 * supply().wafers.high.si
    assert supply("2026 ").packages.low.si == supply().packages.low.si
    alone = supply(2024, share=1.0, a_wafer=16.0, works=1.0).wafers
    assert alone.low.si == cost.fact("capacity", "cowos_2024").low.si
    assert supplies.a_wafer(2831.0).si == 16


def test_memory_may_be_what_is_scarce():
    """Few wafers of HBM bind; many do not."""
    few, many = (supply(hbm_wafers=n) for n in (1e3, 1e7))
    assert few.gpus.high == few.stacks.high and few.gpus.high < few.packages.low
    assert many.gpus.low.si == many.packages.low.si
    assert many.gpus.high.si == many.packages.high.si
    doubled = supply(hbm_wafers=2e3)
    assert doubled.stacks.low.si == pytest.approx(2 * few.stacks.low.si)
    taller = supply(hbm_wafers=1e3, height=25)
    assert taller.stacks.low.si == pytest.approx(few.stacks.low.si / 2)
    narrow = supply(hbm_wafers=1e3, height=np.int8(127))  # one more is no int8
    assert narrow.stacks.low.si == pytest.approx(few.stacks.low.si * 13 / 128)


@pytest.mark.parametrize(
    ("year", "more", "error", "said"),
    [
        (2031, {}, UnknownName, "2031"),
        (2024, {}, ValueError, "say how many fit"),
        (2026, {"share": 1.2}, ValueError, "no more than all"),
        (2026, {"works": 2.0}, ValueError, "no more than all"),
        (2026, {"works": 0.0}, ValueError, "above zero"),
        (2026, {"a_wafer": -1.0}, ValueError, "above zero"),
        (2026, {"stacks_each": 0}, ValueError, "stacks_each"),
        (2019, {"a_wafer": 9.0}, UnknownName, "2019"),
        (2026, {"share": "half"}, ValueError, "half"),
        (2026, {"works": [0.9, 0.98]}, ValueError, "0.9, 0.98"),
        (2026, {"share": Quantity(0.5, "USD")}, ValueError, "USD"),
        (2026, {"a_wafer": Quantity(9, "GW")}, ValueError, "GW"),
        (2026, {"hbm_wafers": Quantity(1e5, "USD")}, ValueError, "USD"),
    ],
)
def test_bad_supplies_are_refused(year, more, error, said):
    """By their values."""
    with pytest.raises(error, match=said):
        supply(year, **more)


@settings(max_examples=50, deadline=None)
@given(st.floats(1e6, 1e12), st.floats(-0.5, 2.0), st.floats(0.5, 20))
def test_growth_there_and_back(value, rate, years):
    """The start grown by the rate is the value, and the rate is found again."""
    usd = Quantity(value, "USD")
    told = growth(usd, (rate, rate), years, sold=usd)
    assert told.base.low.si * (1 + rate) ** years == pytest.approx(value)
    assert told.needed == pytest.approx(0, abs=1e-12)
    assert projections.rate(told.base.low, usd, years) == pytest.approx(rate, abs=1e-9)


def test_which_projections_cannot_be_true():
    """Two firms sold more than the whole market should have been."""
    told = projections.backed_out()
    assert told["eda-tam-2035"].true is False
    assert told["eda-tam-2035"].base.text(digits=3).startswith("5,610,000,000")
    assert told["cadence-revenue-growth"].true is True
    assert told["cpo-market-2036"].base.low.si == pytest.approx(20e9 / 1.37**10)


@pytest.mark.parametrize(
    ("rates", "years"),
    [
        ((0.2, 0.1), 5),
        ((-1.5, 0.1), 5),
        ((0.1, 0.2), 0),
        ((math.nan, 1), 5),
        ((0.1, 0.2), 1e4),
        ((0.1, 1e300), 5),
        ((0.1, 0.2), Quantity(5, "USD")),
        ((0.1, np.array([0.1, 0.2])), 5),
    ],
)
def test_bad_projections_are_refused(rates, years):
    """Ends the wrong way round, all lost, no time, no number, more than any number."""
    with pytest.raises(ValueError):
        growth(Quantity(1e9, "USD"), rates, years)


def test_narrow_whole_numbers_do_not_run_over():
    """Eight bits hold neither 2 to the tenth, nor 200 processors, nor 128 dies."""
    small, usd = np.int8, Quantity(1e9, "USD")
    told = growth(usd, (small(1), small(1)), small(10)).base.low
    assert told.si == pytest.approx(1e9 / 1024)
    many = campus(processors=small(100)).processors.low
    assert many.si == campus(processors=100).processors.low.si
    tall = supply(hbm_wafers=1e3, height=small(127)).stacks
    assert tall.low.si == supply(hbm_wafers=1e3, height=127).stacks.low.si


@pytest.mark.parametrize("ends", [(0, 1), (-1, 1), (math.nan, 1), (1, 0)])
def test_a_rate_between_bad_ends_is_refused(ends):
    """Nothing grows from nothing, nor to it."""
    with pytest.raises(ValueError):
        projections.rate(*ends, 5)
    with pytest.raises(ValueError, match="USD"):
        projections.rate(Quantity(1, "USD"), 2.0, 5)


def test_a_gigawatt_by_hand():
    """Ten kilowatts of eight GPUs, and what is lost at the meter."""
    told = campus(on="h100-sxm", pue=1.25)
    assert told.gpus.low.si == pytest.approx(1e9 / (10.2e3 / 8 * 1.25))
    assert told.processors.low.si == pytest.approx(told.gpus.low.si / 4)
    half = campus(Quantity(0.5, "GW"), "h100-sxm", pue=1.25)
    assert half.gpus.low.si == pytest.approx(told.gpus.low.si / 2)


def test_a_meter_that_feeds_no_server_is_refused_with_what_one_needs():
    with pytest.raises(Infeasible, match=r"1 kW < 22\.\d kW of one server"):
        campus(1e3)
    assert campus(23e3).gpus.low.si >= 8


def test_processors_take_their_watts_from_gpus():
    """Four times as many: fewer GPUs; twice as much a watt gives part of it back."""
    plain, more, lean = (
        campus(processors=p, a_watt=a).gpus.low.si for p, a in ((1, 1), (4, 1), (4, 2))
    )
    assert more < lean < plain
    watts = 1e9 / 1.58
    assert watts / more - watts / plain == pytest.approx(3 * 700 / 8, rel=1e-6)


def test_tokens_of_a_campus_are_those_of_its_copies():
    """As many as `serving.estimate` gives a GPU; what does not fit is said."""
    from stacklib.serving import estimate

    told = campus().tokens("llama-3-70b", "fp8", 2, 64)
    one = estimate("llama-3-70b", on="b200-sxm", dtype="fp8", tp=2, batch=64)
    assert told.low.si == pytest.approx(campus().gpus.low.si * one.tokens_per_s.si / 2)
    older = campus(on="H100 SXM").tokens("llama-3-70b", "fp8", 2, 64)
    slow = estimate("llama-3-70b", on="h100-sxm", dtype="fp8", tp=2, batch=64)
    many = campus(on="h100-sxm").gpus.low.si
    assert older.low.si == pytest.approx(many * slow.tokens_per_s.si / 2)
    with pytest.raises(ValueError, match="deepseek-v3"):
        campus().tokens("deepseek-v3", "bf16", 1, 1)
    # Another GPU's campus has another GPU's tokens.
    slower = campus(on="h100-sxm").tokens("llama-3-70b", "fp8", 2, 64)
    each = told.low.si / campus().gpus.low.si
    assert slower.low.si < campus(on="h100-sxm").gpus.low.si * each


def test_a_deal_a_watt_and_a_system():
    """Ten billion for 750 MW: 13.3 dollars a watt, 307 thousand a CS-3."""
    pair = Quantity(10e9, "USD"), Quantity(750, "MW")
    assert gigawatt.deal_a_watt(*pair).si == pytest.approx(40 / 3)
    each = gigawatt.deal_a_system(*pair, quoted("campus_power.cs3"))
    assert each.si == pytest.approx(306_667, rel=1e-4)


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"on": "rubin"}, UnknownName),
        ({"pue": 0.9}, ValueError),
        ({"processors": 0}, ValueError),
        ({"a_watt": float("nan")}, ValueError),
        ({"watts": Quantity(-1, "GW")}, ValueError),
        ({"pue": Quantity(5, "USD")}, ValueError),
        ({"pue": "1.1"}, ValueError),
        ({"on": "gb200"}, UnknownName),
    ],
)
def test_bad_campuses_are_refused(more, error):
    """Each by its value."""
    with pytest.raises(error):
        campus(**more)


def test_many_mistakes_are_drawn_as_many():
    """A mean whose exponential is nothing: drawn in halves, not cut short."""
    pick = random.Random(3)
    found = [respins._poisson(2000, pick) for _ in range(200)]
    assert sum(found) / 200 == pytest.approx(2000, abs=4 * (2000 / 200) ** 0.5)


@pytest.mark.parametrize(("bugs", "caught"), [(1000, 0.999), (200, 0.98), (10, 0.99)])
def test_respins_drawn_and_in_closed_form(bugs, caught):
    """The chance of a first success, and sets of masks, within the draws' error."""
    told = respin(bugs, caught)
    first, sets = respins.drawn(bugs, caught, draws=4000)
    assert first == pytest.approx(told.first, abs=4 * 0.5 / 4000**0.5)
    assert sets == pytest.approx(told.sets, abs=0.06)


def test_what_a_respin_costs():
    """Nothing where nothing escapes; a delay adds to the masks."""
    sure = respin(1000, 1.0)
    assert sure.first == 1 and sure.sets == 1 and sure.months == 0
    masks = respin(1000, 0.999)
    delayed = respin(1000, 0.999, lost_a_month=Quantity(10e6, "USD"))
    assert sure.cost is None
    added = (delayed.cost.low - masks.cost.low).si
    assert added == pytest.approx(10e6 * masks.months)
    caught = respins.caught_for(0.5, 1000)
    assert respin(1000, caught).first == pytest.approx(0.5)
    assert (
        span(Quantity(6e6, "USD"), Quantity(2e7, "USD")).low
        < respins.implied(Quantity(100e6, "USD")).low
    )
    assert [s.name for s in respins.STAGES][3] == "synthesis" and len(
        respins.STAGES
    ) == 7


@pytest.mark.parametrize(
    "bad", [(-1, 0.5), (10, 1.5), (10, -0.1), (math.nan, 0.5), (math.inf, 0.5)]
)
def test_bad_respins_are_refused(bad):
    """Bugs below none, shares outside 0 to 1, no numbers."""
    with pytest.raises(ValueError):
        respin(*bad)


def test_bad_delays_shares_and_areas_are_refused():
    """Units in the place of a count, shares of a whole, areas of nothing."""
    for bad in (Quantity(5, "USD"), np.array([3.0, 6.0]), "six"):
        with pytest.raises(ValueError):
            respin(10, 0.99, months=bad)
    for bad in (-0.1, 1.5, math.nan, True):
        with pytest.raises(ValueError, match="share"):
            asic.of_share([1.0, 2.0], bad)
    for bad in (0, -1, math.nan, 1e-12):
        with pytest.raises(ValueError, match="area"):
            supplies.a_wafer(bad)


def test_contracts_by_the_year_and_the_watt():
    """Each is its dollars over its years or watts; two posts' shares differ by 5 %."""
    told = {deal.seller + deal.buyer: deal for deal in deals.deals()}
    assert told["AWSOpenAI"].a_year.si == pytest.approx(138e9 / 8)
    assert told["CerebrasOpenAI"].a_watt.si == pytest.approx(40 / 3)
    assert told["AWSAnthropic"].a_watt.si == pytest.approx(20)
    assert told["SamsungTesla"].a_watt is None
    assert deals.apart().si == pytest.approx(60 / 57)
    assert [s.told.to("%").value for s in deals.shares()] == pytest.approx([60, 57, 50])
    # A higher margin on fewer sales is the smaller profit.
    assert deals.profits().si == pytest.approx(13.5 / (0.54 * 33.73))
    assert deals.oil().si == pytest.approx(103.92e6 * 69 * 365)


def test_what_each_named_bet_waits_for():
    """Chips that hold a model, rows of a conversion, passes of a token, by hand."""
    told = {(b.name, b.needs.split()[0]): b for b in named_bets.bets()}
    assert told["Mythic", "so"].today.si == pytest.approx(70.55e9 / 80e6, rel=1e-3)
    assert told["Loihi 2", "so"].today.si == pytest.approx(
        70.55e9 / (128 * 192 * 1024), rel=1e-3
    )
    assert told["Lightmatter", "so"].wanted.si == pytest.approx(4.4e-3 * 256 / 0.3)
    assert told["energy-based", "a"].wanted.si == 12
    assert [b.holds for b in told.values()] == [False, True, True, False, False, False]
    assert named_bets.joules_a_token().si == pytest.approx(672 / 28356)
