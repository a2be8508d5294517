"""Chips as figures: a cell for every unit and every part; the live figure follows."""

from __future__ import annotations

import pytest

from stacklib.gpu.chip.chips import chip, chips_known
from stacklib.pages.gpu.hierarchy import live
from stacklib.pages.gpu.hierarchy.figures import chip_spec, unit_spec
from stacklib.plots.spec import check

from ...live_figures import ask


def _cells(spec):
    return {m["name"]: len(m["x"]) for m in spec["marks"]}


@pytest.mark.parametrize("key", chips_known())
def test_a_cell_for_every_unit(key):
    spec = chip_spec(key, title="T.")
    check(spec)
    found = chip(key)
    assert _cells(spec) == {"on": found.units.si, "switched off": found.harvested.si}
    at = [p for m in spec["marks"] for p in zip(m["x"], m["y"], strict=True)]
    assert len(set(at)) == len(at) == found.units_designed.si


def test_a_cell_for_every_part():
    spec = unit_spec("h100-sxm", title="T.")
    check(spec)
    assert _cells(spec) == {
        "FP32 lane": 128,
        "INT32 lane": 64,
        "special function": 16,
        "tensor core": 4,
        "4 KiB of registers": 64,
        "4 KiB of L1 and shared memory": 64,
    }
    at = [p for m in spec["marks"] for p in zip(m["x"], m["y"], strict=True)]
    assert len(set(at)) == len(at)


@pytest.mark.parametrize("threads", [1, 33, 1000, 1024])
def test_every_lane_of_the_last_warp_is_drawn(threads):
    spec, _ = ask(live.explore, live.controls(), threads=threads)
    drawn = _cells(spec)
    lanes = (drawn.get(f"lane {words}", 0) for words in ("with a thread", "without"))
    assert sum(lanes) == 32


def test_a_launch_says_what_stays_idle():
    spec, told = ask(live.explore, live.controls(), threads=1000, blocks=265)
    assert (told["waves"], told["idle"], told["lanes"]) == ("2", "131", "24")
    assert "131 of 132 units idle" in spec["title"]
    full, _ = ask(live.explore, live.controls(), threads=1024, blocks=264)
    assert "every unit has work" in full["title"]
