"""The roofline taken apart, and the explorer with a point of your own."""

import itertools
from functools import partial

import pytest

from stacklib import hardware, roofline
from stacklib.evidence import guard
from stacklib.pages.roofline import roofline as page
from stacklib.pages.roofline.roofline import figures as limits
from stacklib.pages.roofline.roofline import live as live
from stacklib.plots import spec as grammar
from stacklib.plots.live import choices
from stacklib.roofline.bound import cache_aware
from stacklib.roofline.count.traffic_cuts import FIVE

from ...live_figures import ask

own = partial(ask, live.own_point, live.own_controls())


def test_the_lower_of_two_lines_is_the_roof():
    spec = limits.two_lines_spec("a100-sxm-80gb", "bf16", title="Two lines.")
    grammar.check(spec)
    slope, flat = (m for m in spec["marks"] if m["kind"] == "line")
    chip = hardware.get("a100-sxm-80gb")
    for x, wires, units in zip(slope["x"], slope["y"], flat["y"], strict=True):
        roof = roofline.attainable(x, chip.peak("bf16").si, chip.memory_bandwidth.si)
        assert min(wires, units) == pytest.approx(roof / 1e12)


def test_levels_are_drawn_with_their_ridges_and_pass_the_guard():
    h100 = hardware.get("h100-sxm")
    levels, peak = cache_aware.slopes_of(h100, "bf16"), h100.peak_at_clock("bf16")
    spec = limits.levels_spec(levels, peak, device=h100.key, dtype="bf16", title="L.")
    grammar.check(spec)
    assert guard.faults([grammar.guard_entry(spec, "levels")]) == []
    lines = [m for m in spec["marks"] if m["kind"] == "line"]
    assert [m["name"] for m in lines] == ["L1", "L2", "memory"]
    assert {max(m["y"]) for m in lines} == {peak.to("TFLOP/s").value}


def test_a_level_that_beats_its_peak_is_caught():
    h100 = hardware.get("h100-sxm")
    levels = cache_aware.slopes_of(h100, "bf16")
    twice = 2 * h100.peak_at_clock("bf16")
    spec = limits.levels_spec(levels, twice, device=h100.key, dtype="bf16", title="L.")
    assert "exceeds" in guard.faults([grammar.guard_entry(spec, "levels")])[0]


def test_ridges_are_dots_by_year_over_the_claimed_band():
    device = hardware.get("h100-sxm")
    rows = [("bf16", [(device, roofline.ridge(device, "bf16"))])]
    spec = limits.ridges_spec(rows, claimed=page.ends(), title="Ridges.")
    grammar.check(spec)
    band, dots = spec["marks"]
    assert band["y"] == [300.0, 500.0] and dots["x"] == [2022]


# -- the explorer ---------------------------------------------------------------


def test_the_explorer_offers_the_five_and_the_four():
    menu = {c["name"]: c for c in live.own_controls()}["operation"]["options"]
    keys = {key for key, _ in menu}
    assert set(FIVE) < keys and {"gemv", "decode", "prefill"} < keys


def test_both_points_lie_on_the_roof_and_read_what_the_model_says():
    found, texts = own(operation="gemv", size=4096, intensity=500, moved=200)
    a100 = hardware.get("a100_sxm_80gb")
    bound = roofline.bound_on(roofline.gemv(n=4096, k=4096), a100)
    assert texts["operation-time"] == bound.time.text()
    assert texts["own-intensity"] == "500 FLOP/B" and texts["own-share"] == "100 %"
    mine, theirs = found["marks"][-2:]
    assert mine["y"] == [pytest.approx(a100.peak("bf16").to("TFLOP/s").value)]
    assert theirs["y"] == [pytest.approx(bound.rate.to("TFLOP/s").value)]
    assert "memory, your point for compute" in found["title"]


def test_no_arithmetic_has_a_time_and_no_place_on_a_log_axis():
    found, texts = own(operation="transpose")
    assert [m["name"] for m in found["marks"] if m["kind"] == "dots"] == ["yours"]
    assert texts["operation-share"] == "0 %" and "µs" in texts["operation-time"]


def test_your_point_moves_with_your_sliders_alone():
    _, before = own()
    _, after = own(intensity=1000)
    changed = {name for name in before if before[name] != after[name]}
    assert changed and all(name.startswith("own-") for name in changed)


def test_a_format_the_device_lacks_gets_a_message():
    found, _ = own(dtype="fp8")
    assert "A100 publishes no fp8" in found["message"] and not found["marks"]


def test_every_operation_and_device_passes_the_guard():
    few = ("h100_sxm", "mi300x", "tpu_v5p", "wse3")
    for device, operation in itertools.product(few, live.ALL_OPERATIONS):
        dtype = "fp16" if device == "wse3" else "bf16"
        own(device=device, operation=operation, dtype=dtype)
    for device, _ in choices.devices():
        chip = hardware.get(device)
        if "bf16" in chip.formats:
            own(device=device)
