"""The live figure of tiers and the specs beside it."""

import itertools

import pytest

from stacklib import memory, plots
from stacklib.evidence import guard
from stacklib.evidence import tiers as priced
from stacklib.pages.memory.tiers import live as explorer
from stacklib.pages.memory.tiers.figures import energy_spec, tiers_spec
from stacklib.plots import spec as grammar


def start():
    return {c["name"]: c["value"] for c in explorer.controls()}


def shown(**changed):
    found = explorer.explore(**{**start(), **changed})
    return found, {r["name"]: r["text"] for r in found["readouts"]}


def test_the_figure_agrees_with_the_solver():
    found, said = shown()
    need = memory.Need(500e9, 10e-6, 10e9)
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


def test_a_key_moves_a_readout_in_the_page():
    live = plots.live(call="stacklib.pages.memory.tiers.live:explore",
                      controls=explorer.controls(), name="tiers",
                      alt="price against latency")  # fmt: skip
    assert live.test["control"] == "gigabytes"
    assert guard.faults([live._repr_mimebundle_()[guard.MIME]]) == []


@pytest.mark.parametrize("viewpoint", [key for key, _ in explorer.VIEWS])
@pytest.mark.parametrize("market", [key for key, _ in explorer.MARKET])
def test_every_end_of_the_sliders_draws_and_passes_the_guard(viewpoint, market):
    ends = [(v[0], v[-1]) for v in
            (explorer.GIGABYTES, explorer.NANOSECONDS, explorer.RATES)]  # fmt: skip
    for size, wait, rate in itertools.product(*ends):
        found, _ = shown(viewpoint=viewpoint, market=market, gigabytes=size,
                         nanoseconds=wait, rate=rate)  # fmt: skip
        grammar.check(found)
        assert guard.faults([grammar.guard_entry(found, "f")]) == []


def test_a_tier_without_a_price_is_not_drawn():
    bare = memory.tiers_from("sm")
    assert tiers_spec(bare, title="None.")["marks"] == []
    claimed = tiers_spec(priced.seen("sm"), title="Five.", claimed=[(2e-9, 5e-6)])
    grammar.check(claimed)
    assert claimed["marks"][-1]["x"] == pytest.approx([2])
    assert claimed["marks"][-1]["y"] == pytest.approx([5000])


def test_bars_add_up_to_the_step():
    step = memory.decode_energy("llama-3-8b", on="h100-sxm")
    spec = energy_spec({"circuit": step}, title="Bars.")
    grammar.check(spec)
    assert sum(m["x"][1] for m in spec["marks"]) == pytest.approx(step.total.si)
