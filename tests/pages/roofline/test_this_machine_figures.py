"""Bandwidth by working set as a spec: lines predicted, dots measured, caches ruled."""

import pytest

from stacklib.pages.roofline.this_machine.figures import levels_spec
from stacklib.plots import spec as grammar
from stacklib.roofline.host.streams import StreamPoint

POINTS = [
    StreamPoint("copy", 1, 2**12, 4096, (1e-7, 2e-7, 4e-7)),
    StreamPoint("copy", 1, 2**20, 2**20, (1e-4, 1e-4)),
]


def drawn(predicted):
    return levels_spec(
        {"copy": POINTS}, predicted, title="It falls.", caches={"L1": 2e4}
    )


def test_dots_are_medians_with_their_spread():
    spec = drawn({"copy": {2**12: 2e10, 2**20: 1e10}})
    grammar.check(spec)
    line, dots, rule = spec["marks"]
    assert (line["evidence"], dots["evidence"]) == ("predicted", "measured")
    assert dots["y"] == pytest.approx([4096 / 2e-7 / 1e9, 2**20 / 1e-4 / 1e9])
    low, high = (rate / 1e9 for rate in POINTS[0].spread)
    assert dots["spread"][0] == [low, high] and low < dots["y"][0] < high
    assert low > 4096 / 4e-7 / 1e9  # a tenth of the times may be anything
    assert line["y"] == [20, 10] and line["series"] == dots["series"]
    assert rule["kind"] == "vline" and rule["x"] == [2e4]


def test_without_predictions_there_are_no_lines():
    assert [m["kind"] for m in drawn({})["marks"]] == ["dots", "vline"]
