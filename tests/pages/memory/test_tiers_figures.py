"""The live figure of tiers and the specs beside it."""

from functools import partial

import pytest

from stacklib import memory
from stacklib.memory.tiers.seen import tiers_from
from stacklib.memory.tiers.tier import Need
from stacklib.pages.memory.tiers import live as explorer
from stacklib.pages.memory.tiers import priced
from stacklib.pages.memory.tiers.figures import energy_spec, tiers_spec
from stacklib.plots import spec as grammar

from ...live_figures import ask

shown = partial(ask, explorer.explore, explorer.controls())


def test_the_figure_agrees_with_the_solver():
    found, said = shown()
    need = Need(500e9, 10e-6, 10e9)
    best = memory.cheapest_tier(priced.seen("sm"), need)
    assert best.name in found["title"] and found["message"] is None
    assert said["cost"] == "750 USD"
    assert float(said["mix"].split()[0]) < 750


def test_what_no_tier_can_do_is_said():
    found, said = shown(gigabytes=50000, nanoseconds=10)
    assert found["title"] == "No single tier will do."
    assert "HBM: 50,000 GB > 80 GB that it holds; answers after" in found["message"]
    assert said == {"mix": "0"}


def test_the_shortage_raises_the_bill():
    calm, dear = shown()[1], shown(market="shortage")[1]
    price = priced.prices("shortage")["ddr5"] / priced.prices()["ddr5"]
    assert dear["cost"] == f"{750 * price.si:,.0f} USD" != calm["cost"]


def test_a_tier_without_a_price_is_not_drawn():
    bare = tiers_from("sm")
    assert tiers_spec(bare, title="None.")["marks"] == []


def test_bars_add_up_to_the_step():
    step = memory.decode_energy("llama-3-8b", on="h100-sxm")
    spec = energy_spec({"circuit": step}, title="Bars.")
    grammar.check(spec)
    assert sum(m["x"][1] for m in spec["marks"]) == pytest.approx(step.total.si)
