"""The live HBM builder and the figures of stacks, held to the room they call."""

from functools import partial

import pytest

from stacklib import hardware, plots
from stacklib.memory import builds_of
from stacklib.memory.stack.height import Section
from stacklib.pages.memory.hbm import live as explorer
from stacklib.pages.memory.hbm.figures import rates_spec, section_spec

from ...live_figures import ask

texts = partial(ask, explorer.explore, explorer.controls())


def test_a_b200_is_where_its_parts_put_it():
    spec, said = texts()
    assert said["nearest"] == hardware.get("b200-sxm").short
    assert said["bandwidth"] == "8.19 TB/s" and said["capacity"] == "192 GiB"
    assert spec["message"] is None


@pytest.mark.rows("key", explorer.PUBLISHED)
def test_the_build_of_a_device_lands_on_it(key):
    best = builds_of(key).found[0]
    exact = best.pin_rate.to("Gbit/s").value
    spec = explorer.explore(
        generation=best.generation.key,
        stacks=best.stacks,
        height=str(best.height),
        die=str(best.die_gbit),
        rate=min(exact, best.generation.top_rate.si / 1e9),
    )
    mine = next(m for m in spec["marks"] if m["name"] == "yours")
    told = hardware.get(key).memory_bandwidth.to("TB/s").value
    assert mine["y"][0] == pytest.approx(told, rel=0.02)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"height": "4"}, "not of 4"),
        ({"die": "16"}, "not of 16"),
        ({"rate": 10.6}, "the top is 9.6"),
        ({"generation": "hbm1", "height": "16"}, "stacks of 4 dies"),
    ],
)
def test_what_a_generation_lacks_is_said_and_not_drawn(changed, why):
    spec, said = texts(**changed)
    assert why in spec["message"]
    assert [m["name"] for m in spec["marks"]] == ["published"]
    assert "bandwidth" not in said


def test_a_rate_above_the_document_is_drawn_and_said():
    spec, said = texts(generation="hbm4", height="12", rate=10.6)
    assert "JESD270-4" in spec["message"] and said["nearest"] == "Rubin"


def test_sections_and_rates_are_drawn():
    sections = {"8-high": Section(8, 50, 10, 240), "16-high": Section(16, 30, 0, 240)}
    spec = section_spec(sections, title="Two stacks.", width=11)
    assert max(max(m["y"]) for m in spec["marks"]) == 720
    assert sum(m["series"] == 0 for m in spec["marks"]) == 24
    assert plots.figure(spec, name="sections", alt="Two stacks cut open.").svg
    rubin = hardware.get("rubin")
    builds = {rubin.short: (rubin.year, builds_of(rubin).found[0])}
    rates = rates_spec(builds, title="Rates.", named=[rubin.short])
    assert plots.figure(rates, name="rates", alt="Rates of pins.").svg
