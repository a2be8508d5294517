"""Figures of schedules: every cycle drawn once, every command a bar."""

from stacklib.gpu.chip.streams import chunked, run_streams
from stacklib.gpu.issue.sub_core import SubCore
from stacklib.gpu.issue.warp_programs import chains, stream
from stacklib.gpu.issue.warp_scheduler import run
from stacklib.pages.gpu.schedule import live
from stacklib.pages.gpu.schedule.figures import issue_spec, streams_spec
from stacklib.plots.spec import check

from ...live_figures import ask


def test_every_cycle_of_every_warp_is_one_cell_until_it_is_done():
    core = SubCore(math=4, memory=20)
    listed = [stream(2, 3, 2), chains(2, 8), stream(1, 5)]
    for policy in ("lrr", "gto"):
        done = run(listed, core, policy=policy)
        spec = issue_spec(done, title="T.", cycles=done.cycles)
        check(spec)
        at = [p for m in spec["marks"] for p in zip(m["x"], m["y"], strict=True)]
        assert len(at) == len(set(at)) == done.warps * done.cycles - done.states["done"]
        drawn = {m["name"]: len(m["x"]) for m in spec["marks"]}
        assert drawn.get("waits for memory", 0) == done.states["global memory"]
        assert drawn.get("could issue, is not picked", 0) == done.states["not picked"]


def test_every_command_is_a_bar():
    made = chunked((4.0, 8.0, 4.0), 4, streams=4, order="stage by stage")
    spec = streams_spec([(made, run_streams(made))], title="T.", names=["a"], end=20)
    check(spec)
    bars = [m for m in spec["marks"] if m["kind"] == "bar"]
    assert len(bars) == len(made) and {m["series"] for m in bars} == {0, 1, 2}


def test_a_block_that_does_not_fit_is_said():
    spec, _ = ask(live.explore, live.controls(), threads=1024, registers=255)
    assert "registers a block" in spec["message"]
