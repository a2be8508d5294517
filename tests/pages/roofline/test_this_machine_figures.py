"""Bandwidth by working set as a spec: lines predicted, dots measured, caches ruled."""

import pytest

from stacklib.pages.roofline.this_machine import machine
from stacklib.pages.roofline.this_machine.figures import levels_spec
from stacklib.plots import spec as grammar

POINTS = machine.curve("copy", 1)[::20][:2]


def drawn(predicted):
    return levels_spec(
        {"copy": POINTS}, predicted, title="It falls.", caches={"L1": 2e4}
    )


def test_dots_are_medians_with_their_spread():
    spec = drawn({"copy": {2**12: 2e10, 2**20: 1e10}})
    grammar.check(spec)
    line, dots, rule = spec["marks"]
    assert (line["evidence"], dots["evidence"]) == ("predicted", "measured")
    assert dots["y"] == pytest.approx([p.rate / 1e9 for p in POINTS])
    low, high = (rate / 1e9 for rate in POINTS[0].spread)
    assert dots["spread"][0] == pytest.approx([low, high])
    assert low < dots["y"][0] < high
    assert line["y"] == [20, 10] and line["series"] == dots["series"]
    assert rule["kind"] == "vline" and rule["x"] == [2e4]


def test_without_predictions_there_are_no_lines():
    assert [m["kind"] for m in drawn({})["marks"]] == ["dots", "vline"]
