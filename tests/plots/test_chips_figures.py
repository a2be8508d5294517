"""Chips as figures: a cell for every unit and every part; the live figure follows."""

from __future__ import annotations

import pytest

from stacklib import gpu
from stacklib.gpu.chip.chips import chip
from stacklib.plots.chips import chip_spec, unit_spec
from stacklib.plots.live import blocks as live
from stacklib.plots.spec import check


def _cells(spec):
    return {m["name"]: len(m["x"]) for m in spec["marks"]}


@pytest.mark.parametrize("key", gpu.chips_known())
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
        "FP32 lane": 128, "INT32 lane": 64, "special function": 16, "tensor core": 4,
        "4 KiB of registers": 64, "4 KiB of L1 and shared memory": 64,
    }  # fmt: skip
    at = [p for m in spec["marks"] for p in zip(m["x"], m["y"], strict=True)]
    assert len(set(at)) == len(at)


def test_the_live_figure_follows_every_control():
    start = {c["name"]: c["value"] for c in live.controls()}
    for control in live.controls():
        values = control.get("values") or [o[0] for o in control["options"]]
        for value in values[:: max(1, len(values) // 60)]:
            found = live.explore(**{**start, control["name"]: value})
            check(found)
            cells = _cells(found)
            assert (
                cells.get("lane with a thread", 0) + cells.get("lane without", 0) == 32
            )
    found = live.explore(device="h100_sxm", threads=1000, blocks=265)
    told = {r["name"]: r["text"] for r in found["readouts"]}
    assert (told["waves"], told["idle"], told["lanes"]) == ("2", "131", "24")
    assert "131 of 132 units idle" in found["title"]
    full = live.explore(device="h100_sxm", threads=1024, blocks=264)
    assert "every unit has work" in full["title"]
