"""Costs: every figure dated and sourced, ranges that span their quotes, bad files."""

import copy
import dataclasses
import re
import tomllib
from statistics import median

import pytest

from stacklib import cost, hardware
from stacklib.cost import data
from stacklib.cost.data import packaging_price
from stacklib.hardware import SpecError
from stacklib.quantity import UnknownName

SHELVES = {
    "wafer.toml": ("wafer price", "USD", cost.wafer_price),
    "defects.toml": ("defect density", "1/cm2", cost.defect_density),
    "memory.toml": ("price a gigabyte", "USD/GB", cost.memory_price),
    "packaging.toml": ("packaging", "USD", packaging_price),
}
RANGES = [
    (file, key)
    for file in SHELVES
    for key in tomllib.loads((data.DATA / file).read_text())
    if key != "sources"
]
# A finished die of one chip is worth tens to hundreds of dollars, a gigabyte of DRAM
# units, one of flash cents.
SENSE = {
    "wafer.toml": (1e3, 5e4),
    "defects.toml": (1e-3, 0.5),
    "memory.toml": (1, 50),
    "packaging.toml": (100, 5e3),
    "nvme_tlc": (0.03, 0.3),
}


def raw(file: str) -> dict:
    return copy.deepcopy(tomllib.loads((data.DATA / file).read_text()))


@pytest.mark.rows("file, key", RANGES)
def test_a_range_spans_its_quotes_and_every_quote_is_dated(file, key):
    unit, find = SHELVES[file][1:]
    found = find(key)
    values = [quote.value.to(unit).value for quote in found.quotes]
    assert found.low.to(unit).value == pytest.approx(min(values))
    assert found.high.to(unit).value == pytest.approx(max(values))
    low, high = SENSE.get(key) or SENSE[file]
    assert all(low <= value <= high for value in values)
    assert list(found.quotes) == sorted(found.quotes, key=lambda q: q.date)
    for quote in found.quotes:
        assert quote.value.source is not None
        assert not quote.value.source.inherited
        assert "2004" <= quote.date <= "2026-11-21"
    assert found.sources


@pytest.mark.rows("file, key", RANGES)
def test_the_ends_of_a_range_know_their_quotes(file, key):
    found = SHELVES[file][2](key)
    kinds = {leaf.kind for leaf in found.low.leaves()}
    assert kinds <= {"spec", "claimed", "assumed"}


@pytest.mark.rows("file", [*SHELVES, "prices.toml", "bills.toml"])
def test_every_source_is_used(file):
    text = (data.DATA / file).read_text()
    for name in raw(file)["sources"]:
        assert f'source = "{name}"' in text, f"{file}: {name} is unused"


def test_sources_that_disagree_are_both_kept():
    n5 = cost.wafer_price("n5")
    assert len(n5.sources) == 3
    assert n5.low.value < 14_000 and n5.high.value > 16_900


def test_a_finer_node_costs_more():
    lows = [cost.wafer_price(node).low.value for node in cost.names("wafer")]
    assert lows == sorted(lows)


@pytest.mark.rows("name", ["n5", "5nm", "4N", "N4P", "5 nm"])
def test_a_node_answers_to_its_names(name):
    assert cost.wafer_price(name).name == "5 nm and 4 nm"


def test_an_unknown_node_names_the_nearest_and_no_number_comes():
    with pytest.raises(UnknownName, match="unknown node"):
        cost.wafer_price("a14")
    with pytest.raises(UnknownName, match="defect density"):
        cost.defect_density("n2")  # nobody has published one


def test_a_density_without_a_figure_is_marked_an_estimate():
    kinds = {quote.value.kind for quote in cost.defect_density("n3").quotes}
    assert kinds == {"assumed"}
    assert cost.defect_density("n3").note


@pytest.mark.rows("key", cost.names("prices"))
def test_a_priced_device_exists_and_its_prices_have_a_kind(key):
    assert hardware.get(key).key == key
    found = cost.prices(key)
    assert found and list(found) == sorted(found, key=lambda q: (q.date, q.what))
    for quote in found:
        assert quote.what in data.KINDS
        unit = "USD/h" if quote.what == "cloud" else "USD"
        assert "per_chip" in quote.value.to(unit).tags
        assert quote.value.source is not None
    assert not of_several(found)
    for at, quote in enumerate(found if len({q.what for q in found}) > 1 else ()):
        of_eight = dataclasses.replace(quote, value=quote.value * 8)
        assert of_several([*found[:at], of_eight, *found[at + 1 :]]), quote


def of_several(quotes) -> bool:
    """Whether a price of one device is that of several, by the others and the rent."""
    rents = [q.value.si * 3600 for q in quotes if q.what == "cloud"]
    bought = [q.value.si for q in quotes if q.what != "cloud"]
    wide = any(max(x) > 4 * min(x) for x in (rents, bought) if x)
    hours = [median(bought) / median(rents)] if rents and bought else []
    return wide or any(not 2500 < x < 16_000 for x in hours)


@pytest.mark.rows("key", hardware.names())
def test_the_price_of_a_spec_is_one_of_its_quotes(key):
    device = hardware.get(key)
    for field, kinds in (
        ("cloud_price", ("cloud",)),
        ("purchase_price", ("purchase", "launch", "used")),
    ):
        value = device.fields[field]
        quotes = [q.value.si for q in cost.prices(key) if q.what in kinds]
        if value is not None and quotes:
            assert any(abs(q / value.si - 1) < 1e-6 for q in quotes), (
                f"{key}.{field}: {value.text()} is not quoted in prices.toml"
            )


def test_prices_can_be_asked_by_kind():
    rents = cost.prices("h100-sxm", "cloud")
    assert rents and {q.what for q in rents} == {"cloud"}
    assert len(cost.prices("h100-sxm")) > len(rents)
    assert cost.prices("tpu-v2") == ()
    with pytest.raises(UnknownName):
        cost.prices("h100-sxm", "stolen")
    with pytest.raises(UnknownName):
        cost.prices("h1000")


@pytest.mark.rows("key", ["h100_sxm", "mi300x", "h200_sxm", "b200_sxm"])
def test_a_bill_adds_up_or_says_why_not(key):
    bill = cost.bill(key)
    if bill.parts:
        gap = sum(part.si for part in bill.parts.values()) / bill.total.si - 1
        assert abs(gap) < 0.02
        assert bool(bill.why) == (abs(gap) > 1e-9)


def test_a_device_without_a_bill_is_refused():
    with pytest.raises(UnknownName, match="h100_sxm"):
        cost.bill("rtx_4090")


def test_the_keys_of_a_shelf_can_be_listed():
    assert cost.names("wafer")[0] == "n90" and "n5" in cost.names("defects")
    assert set(cost.names("bills")) == {"h100_sxm", "mi300x", "h200_sxm", "b200_sxm"}
    assert len(cost.names("prices")) > 60
    with pytest.raises(UnknownName, match="shelf"):
        cost.names("gold")


# ---- planted faults ----

FAULTS = {
    "a price names its source": lambda q: q.pop("source"),
    "source 'nobody'": lambda q: q.update(source="nobody"),
    "date ''": lambda q: q.pop("date"),
    "date 'lately'": lambda q: q.update(date="lately"),
    "not above zero": lambda q: q.update(value=-5),
    "cannot be given in 'USD'": lambda q: q.update(unit="USD/h"),
    "unknown key 'colour'": lambda q: q.update(colour="red"),
}


@pytest.mark.rows("message, plant", FAULTS.items())
def test_a_faulty_quote_is_refused(message, plant):
    file = raw("wafer.toml")
    plant(file["n5"]["quotes"][0])
    with pytest.raises(SpecError, match=re.escape(message)):
        data.read_ranges(file, "planted", "wafer price", "USD")


def test_an_alias_of_two_nodes_is_refused():
    file = raw("wafer.toml")
    file["n7"]["aliases"].append("4n")
    with pytest.raises(SpecError, match="'4n' names n7 too"):
        data.read_ranges(file, "planted", "wafer price", "USD")


def test_a_node_without_quotes_is_refused():
    file = raw("wafer.toml")
    file["n7"]["quotes"] = []
    with pytest.raises(SpecError, match="n7: a name and quotes"):
        data.read_ranges(file, "planted", "wafer price", "USD")


def test_a_price_of_no_kind_or_in_the_wrong_unit_is_refused():
    file = raw("prices.toml")
    file["h100_sxm"]["quotes"][0]["what"] = "gift"
    with pytest.raises(SpecError, match="'gift' is not cloud"):
        data.read_prices(file, "planted")
    file = raw("prices.toml")
    file["h100_sxm"]["quotes"][0].update(what="cloud", unit="USD")
    with pytest.raises(SpecError, match="cannot be given"):
        data.read_prices(file, "planted")


def test_what_others_say_of_a_maker_is_claimed_and_its_own_word_is_not():
    assert {q.value.kind for q in cost.wafer_price("n5").quotes} == {"claimed"}
    launch = cost.prices("rtx-5090", "launch")  # the maker's own list
    assert {quote.value.kind for quote in launch} == {"spec"}
    assert cost.bill("h100-sxm").total.kind == "claimed"
