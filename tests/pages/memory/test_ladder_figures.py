"""The live ladder, and the figure of a chase."""

from functools import partial

import pytest

from stacklib import hardware
from stacklib.memory.cache.chase_model import gpu_levels, latency
from stacklib.memory.ladder.rungs import ladder
from stacklib.pages.memory.ladder import chases
from stacklib.pages.memory.ladder import live as explorer
from stacklib.pages.memory.ladder.figures import chase_spec
from stacklib.plots import spec as grammar
from stacklib.plots.marks import rows
from stacklib.quantity import Quantity

from ...live_figures import ask, values

readouts = partial(ask, explorer.explore, explorer.controls())


def test_the_figure_agrees_with_the_model():
    levels = gpu_levels("h100-sxm")
    for kib, level in ((64, "L1"), (1024, "near L2"), (2**20, "memory")):
        _, said = readouts(kib=kib)
        assert said["level"] == level
        assert float(said["cycles"].split()[0]) == pytest.approx(
            latency(kib * 1024, levels), rel=1e-2
        )
    rungs = {r.name: r for r in ladder("h100-sxm")}
    _, said = readouts(kib=64)
    assert said["chip"] == rungs["shared memory"].chip_bandwidth.text("TB/s")
    assert said["unit"] == rungs["shared memory"].unit_bandwidth.text("GB/s")


def test_menus_hold_only_devices_whose_levels_are_known():
    keys = values(explorer.controls()[0])
    assert {"a100_sxm_80gb", "h100_sxm", "b200_sxm"} <= set(keys)
    assert all(hardware.get(key).vendor == "NVIDIA" for key in keys)


def seen(*latencies):
    key = "file#row#field"
    return rows(Quantity(y, "ns", kind="measured", key=key) for y in latencies)


def test_lines_are_predicted_dots_measured_and_caches_ruled():
    series = [
        {"name": "told", "evidence": "predicted", "sizes": [1, 2], "latencies": [3, 9]},
        {
            "name": "seen",
            "evidence": "measured",
            "sizes": [1, 2],
            "latencies": seen(3, 8),
            "spread": [seen(2, 4), seen(7, 9)],
        },
    ]
    spec = chase_spec(
        series, title="It climbs.", unit="ns", rules={"L1": 1.5}, device="h100_pcie"
    )
    grammar.check(spec)
    line, dots, rule = spec["marks"]
    assert (line["kind"], dots["kind"], rule["kind"]) == ("line", "dots", "vline")
    assert dots["spread"] == [[2, 4], [7, 9]] and rule["x"] == [1.5]
    assert spec["y"]["limits"] == [2, pytest.approx(16.2)]


def test_a_published_series_can_start_later():
    whole = chases.published_series("h100_pcie")
    later = chases.published_series("h100_pcie", above=2**20)
    assert len(later["sizes"]) < len(whole["sizes"]) and later["sizes"][0] >= 2**20
