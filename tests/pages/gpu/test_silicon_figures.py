"""The wafer, the clock, the pieces and the reticles are drawn from what is computed."""

import math

import pytest

from stacklib import cost
from stacklib.cost.moore import chips
from stacklib.cost.yields import harvested
from stacklib.pages.gpu.package.figures import reticle_spec
from stacklib.pages.gpu.silicon import figures
from stacklib.pages.gpu.silicon import live as wafer
from stacklib.plots import spec as grammar
from stacklib.quantity import Quantity

from ...live_figures import ask, values


@pytest.mark.parametrize("control", wafer.controls(), ids=lambda c: c["name"])
def test_every_die_is_a_cell(control):
    for value in values(control):
        found, said = ask(wafer.explore, wafer.controls(), **{control["name"]: value})
        cells = sum(len(m["x"]) for m in found["marks"] if m["kind"] == "cells")
        assert str(cells) in said["gross"].replace(",", "")


def test_thrown_wafers_sell_what_the_closed_form_says():
    """Many wafers of equal density: Poisson's law, with spare units."""
    mean, many = 0.9, 40000
    for spare in (0, 6):
        sold = sum(state < 2 for state in wafer.throw(many, mean, spare)) / many
        told = harvested(
            mean,
            units=wafer.UNITS,
            needed=wafer.UNITS - spare,
            share=wafer.SHARE,
            alpha=1e6,
        )
        assert sold == pytest.approx(told, abs=5 * math.sqrt(0.25 / many))


def test_figures_hold_what_was_computed():
    found = figures.clock_spec("clock")
    grammar.check(found)
    dots = [m for m in found["marks"] if m["kind"] == "dots"]
    assert [d["y"][0] for d in dots] == [
        pytest.approx(c.density.to("1/mm2").value / 1e6) for c in chips()
    ]
    row = [
        cost.pieces(
            Quantity(800, "mm2"),
            n,
            price=Quantity(17000, "USD"),
            defects=Quantity(0.1, "1/cm2"),
        )
        for n in (1, 2)
    ]
    grammar.check(figures.pieces_spec("pieces", {"a": row}))
    grammar.check(reticle_spec("reticles", {"a": Quantity(858, "mm2")}))
