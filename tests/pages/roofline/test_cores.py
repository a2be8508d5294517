"""The live figure of Little's law, and the timeline of a schedule."""

from functools import partial

from stacklib import gpu
from stacklib.pages.roofline.cores import live as explorer
from stacklib.pages.roofline.cores.figures import timeline_spec
from stacklib.plots import spec as grammar
from stacklib.quantity import Quantity
from stacklib.roofline.bound import littles_law

from ...live_figures import ask

readouts = partial(ask, explorer.explore, explorer.controls())


def test_the_figure_agrees_with_the_model():
    found, said = readouts()
    busy = Quantity(600, "ns")
    wanted = littles_law.in_flight("h100-sxm", 4, busy)
    assert said["needed"] == wanted.needed.text() == "2.01 MB"
    assert said["reached"] == wanted.reached.text("%")
    assert "draw 53.8 %" in found["title"]
    assert "its whole bandwidth" in readouts(each=16)[0]["title"]


def test_a_timeline_shows_every_warp_up_to_the_cycle_asked_for():
    done = gpu.schedule(3, work=2, latency=9, rounds=4)
    spec = timeline_spec(done, title="Three warps.", cycles=20)
    grammar.check(spec)
    rows = [m for m in spec["marks"] if m.get("label_at") == "key"]
    assert {m["y"][0] for m in rows} == {1, 2, 3}
    assert all(0 <= m["x"][0] < m["x"][1] <= 20 for m in rows)
    shown = [s for s in done.timeline() if s.start < 20 and s.kind != "done"]
    assert len(rows) == len(shown)
