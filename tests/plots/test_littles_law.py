"""The live figure of Little's law, and the timeline of a schedule."""

import pytest

from stacklib import gpu, plots
from stacklib.evidence import guard
from stacklib.plots import spec as grammar
from stacklib.plots.live import littles_law as explorer
from stacklib.plots.timeline import timeline_spec
from stacklib.quantity import Quantity
from stacklib.roofline.bound import littles_law


def start():
    return {c["name"]: c["value"] for c in explorer.controls()}


def readouts(**changed):
    found = explorer.explore(**{**start(), **changed})
    return found, {r["name"]: r["text"] for r in found["readouts"]}


def test_the_figure_agrees_with_the_model():
    found, said = readouts()
    busy = Quantity(start()["latency"], "ns")
    wanted = littles_law.in_flight("h100-sxm", 4, busy)
    assert said["needed"] == wanted.needed.text() == "2.01 MB"
    assert said["reached"] == wanted.reached.text("%")
    assert "draw 53.8 %" in found["title"]
    assert "its whole bandwidth" in readouts(each=16)[0]["title"]


def test_a_key_moves_a_readout_in_the_page():
    shown = plots.live(call="stacklib.plots.live.littles_law:explore",
                       controls=explorer.controls(), name="littles-law",
                       alt="bandwidth")  # fmt: skip
    slower = explorer.LATENCIES[explorer.LATENCIES.index(600) + 1]
    assert shown.test == {"control": "latency", "keys": ["ArrowRight"],
                          "readout": "needed",
                          "text": readouts(latency=slower)[1]["needed"]}  # fmt: skip
    assert guard.faults([shown._repr_mimebundle_()[guard.MIME]]) == []


@pytest.mark.parametrize("device", [key for key, _ in explorer._devices()][::7])
@pytest.mark.parametrize("each", [explorer.EACH[0], explorer.EACH[-1]])
def test_every_device_draws_and_passes_the_guard(device, each):
    for latency in (explorer.LATENCIES[0], explorer.LATENCIES[-1]):
        found, _ = readouts(device=device, latency=latency, each=each)
        grammar.check(found)
        assert guard.faults([grammar.guard_entry(found, "f")]) == []


def test_a_timeline_shows_every_warp_up_to_the_cycle_asked_for():
    done = gpu.schedule(3, work=2, latency=9, rounds=4)
    spec = timeline_spec(done, title="Three warps.", cycles=20)
    grammar.check(spec)
    rows = [m for m in spec["marks"] if m["label_at"] == "none"]
    assert {m["y"][0] for m in rows} == {1, 2, 3}
    assert all(0 <= m["x"][0] < m["x"][1] <= 20 for m in rows)
    shown = [s for s in done.timeline() if s.start < 20 and s.kind != "done"]
    assert len(rows) == len(shown)
