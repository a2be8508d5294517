"""Figures of what memory costs, and the live figure of stacks."""

from functools import partial
from itertools import pairwise

import pytest

from stacklib import cost, plots
from stacklib.evidence import guard, ledger
from stacklib.pages.memory.price import figures as prices
from stacklib.pages.memory.price import live as explorer
from stacklib.plots import spec as grammar
from stacklib.quantity import quoted

from ...live_figures import ask

readouts = partial(ask, explorer.explore, explorer.controls())

SAID = ledger.get("hbm-wafer-3to1").quantity()
SHARE = quoted("llama3.training_share")
SPECS = {
    "gigabytes": lambda: prices.gigabyte_spec("Memory."),
    "yield": lambda: prices.yield_spec(cost.defect_density("n5").high, "Dies."),
    "stack": lambda: prices.stack_spec([0.9, 0.99], "Stacks.", [(8, SHARE)]),
    "trade": lambda: prices.trade_spec(cost.factors(), SAID, "Wafers."),
}


@pytest.mark.parametrize("name", SPECS)
def test_each_can_be_drawn_and_shows_nothing_impossible(name):
    spec = SPECS[name]()  # by the page's name, under which owners are listed
    grammar.check(spec)
    assert guard.faults([grammar.guard_entry(spec, name)]) == []
    assert plots.figure(spec, name="a-figure", alt="alt").svg.startswith("<svg")


def test_factors_follow_each_other_to_their_product():
    trade = cost.factors()
    bars = prices.trade_spec(trade, SAID, "Wafers.")["marks"]
    steps = [bar["x"] for bar in bars[:4]]
    assert steps[0][0] == 1
    assert all(a[1] == b[0] for a, b in pairwise(steps))
    assert steps[-1][1] == pytest.approx(trade.total.middle.si)


def test_rings_lie_on_their_lines():
    for make in (SPECS["yield"], SPECS["stack"]):
        marks = make()["marks"]
        lines = {
            m["name"]: dict(zip(m["x"], m["y"], strict=True))
            for m in marks
            if m["kind"] == "line"
        }
        rings = [m for m in marks if m["evidence"] == "simulated"]
        assert rings
        for mark in rings:
            line = lines[mark["name"].split(",")[0]]
            for x, y in zip(mark["x"], mark["y"], strict=True):
                assert y == pytest.approx(line[x], abs=4)


def test_the_live_figure_agrees_with_the_model():
    found, said = readouts()
    assert said["works"] == "78.5 %" and "78.5 %" in found["title"]
    blind = readouts(flow="blind")[1]
    assert float(blind["works"].split()[0]) == pytest.approx(78.47 * 0.85**12, rel=0.01)
    chosen = found["marks"][-1]["y"][0]
    assert said["gigabyte"] == f"{chosen:.3g} USD/GB"
