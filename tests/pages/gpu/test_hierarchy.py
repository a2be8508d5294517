"""Chips as figures: a cell for every unit and every part; the live figure follows."""

import pytest

from stacklib.gpu.chip.chips import chip, chips_known
from stacklib.pages.gpu.hierarchy import live
from stacklib.pages.gpu.hierarchy.figures import chip_spec
from stacklib.plots.spec import check

from ...live_figures import ask


def _cells(spec):
    return {m["name"]: len(m["x"]) for m in spec["marks"]}


@pytest.mark.rows("key", chips_known())
def test_a_cell_for_every_unit(key):
    spec = chip_spec(key, title="T.")
    check(spec)
    found = chip(key)
    assert _cells(spec) == {"on": found.units.si, "switched off": found.harvested.si}
    at = [p for m in spec["marks"] for p in zip(m["x"], m["y"], strict=True)]
    assert len(set(at)) == len(at) == found.units_designed.si


@pytest.mark.parametrize("blocks", [1, 131, 264, 265])
def test_every_unit_is_drawn_once_and_nothing_else(blocks):
    spec, _ = ask(live.explore, live.controls(), blocks=blocks)
    drawn = _cells(spec)
    assert set(drawn) <= {"SM with blocks", "SM without"}
    assert sum(drawn.values()) == 132


def test_a_launch_says_what_stays_idle():
    spec, told = ask(live.explore, live.controls(), threads=1000, blocks=265)
    assert (told["waves"], told["idle"], told["lanes"]) == ("2", "131", "24")
    assert "131 of 132 SMs idle" in spec["title"]
    full, _ = ask(live.explore, live.controls(), threads=1024, blocks=264)
    assert "every SM has work" in full["title"]
