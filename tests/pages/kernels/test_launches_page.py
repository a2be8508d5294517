"""Section 4.1: the layer's kernels, the page's loop, queue against closed form."""

from dataclasses import replace
from pathlib import Path

import pytest

from stacklib.gpu.chip.streams import stream_faults
from stacklib.kernels.launch.launches import (
    Launches,
    launch_time,
    replay_time,
    run_launches,
)
from stacklib.pages.kernels import launches as page
from stacklib.pages.kernels.launches import drawings, live

from ...programs import loop_of

loop = loop_of("04-kernels/launches")


@pytest.mark.parametrize("work", [1.56, 30.0])
def test_the_loop_is_the_package(work):
    said = loop.prints("3360, 1.56", f"3360, {work}").splitlines()
    apart, graph = (float(text.split(" ms")[0].split()[-1]) for text in said)
    assert apart == pytest.approx(launch_time(3360, work, submit_s=20) / 1e3, abs=0.006)
    told = replay_time(3360, work, replay_s=2.5, node_s=0.5) / 1e3
    assert graph == pytest.approx(told, abs=0.006)


def test_a_layer_is_what_torch_dispatches():
    pytest.importorskip("torch")
    layer = page.layer()
    names = [kernel.name for kernel in layer]
    assert len(layer) == page.per_layer().si == 42
    assert names.count("mm") == 7 and names.count("all_reduce") == 2
    assert not {"view", "transpose", "t", "slice", "split"} & set(names)
    # Every norm: two casts, square, mean, add, root, two products.
    assert page.per_layer("norm").si == 2 * 8
    assert sum(page.started(name).si for name in page.PARTS) == 42


def test_its_bytes_are_those_of_the_step():
    pytest.importorskip("torch")
    moved = sum(kernel.bytes for kernel in page.layer()) * page.layers().si
    rate = page.hardware.get(page.DEVICE).memory_bandwidth.si
    # The step reads the head besides, the layer writes and reads activations.
    assert moved / rate == pytest.approx(page.reading().si, rel=0.015)
    assert page.mixed("eager").si == pytest.approx(page.one_by_one().si, rel=1e-3)
    assert page.mixed("driver").si > page.one_by_one("driver").si


def test_closed_form_is_the_queue_event_by_event():
    pytest.importorskip("torch")
    for name, end in (("eager", "low"), ("driver", "low"), ("driver", "high")):
        plan = Launches(3360, page.each().si, page.cost(name, end).si)
        assert run_launches(plan).time == pytest.approx(page.one_by_one(name, end).si)
        run = run_launches(replace(plan, kernels=42))
        assert not stream_faults(run.commands, run.ran)
    graph = replay_time(
        page.kernels(),
        page.each(),
        replay_s=page.cost("replay", "low"),
        node_s=page.cost("node", "low"),
    )
    assert page.replayed().si == pytest.approx(graph.si)
    nodes = replay_time(
        3360,
        page.each().si,
        replay_s=page.cost("replay", "low").si,
        node_s=page.cost("node", "low").si,
    )
    assert graph.si == pytest.approx(nodes)


def test_a_faster_chip_waits_for_the_same_host():
    pytest.importorskip("torch")
    ours, theirs = page.one_by_one(), page.one_by_one(device=page.OTHER)
    assert theirs.si == pytest.approx(ours.si, rel=1e-4)
    assert page.reading(page.OTHER).si < 0.5 * page.reading().si
    assert page.replayed(device=page.OTHER).si < 0.6 * page.replayed().si


def test_threads_take_what_was_predicted():
    assert page.farthest().si < 0.08
    assert 2 < page.thread_gain().si < 3
    short = page.measured("eager-long").si / page.measured("graph-long").si
    assert short == pytest.approx(1, abs=0.02)


def test_others_eager_step_is_longer_than_predicted():
    pytest.importorskip("torch")
    ratio = (page.blog_step("eager") / page.blog_foretold()).si
    assert 1 < ratio < 2


def test_the_live_figure_names_who_sets_the_pace():
    given = {c["name"]: c["value"] for c in live.controls()}
    assert "host sets the pace" in live.explore(**given)["title"]
    assert "device sets" in live.explore(**given | {"work": 50})["title"]
    apart, graph = live.times(3360, 1.56, 20, 0.5)
    assert apart == pytest.approx(67.2, abs=0.01) and graph == pytest.approx(
        6.92, abs=0.01
    )


def test_the_drawings_say_who_works():
    pytest.importorskip("torch")
    assert "3,360" in drawings.way_to_the_chip().html
    for plan in drawings.LANES.values():
        assert run_launches(plan).time == plan.time <= drawings.SLOTS


def test_the_recorded_step_is_small_and_says_nothing_of_the_machine():
    file = Path(page.__file__).with_name("decode_trace.json")
    text, events = file.read_text("utf-8"), page.trace()["traceEvents"]
    assert len(text) < 60_000 and "/" not in text and events[0]["ts"] == 0
    top = [event["name"] for event in events if event["cat"] == "top"]
    assert top.count("aten::linear") == 7 and top.count("aten::rsqrt") == 2
    pytest.importorskip("torch")
    plain, watched = (page.operator(watched=on).si for on in (False, True))
    assert 1e-6 < plain < watched < page.cost("eager", "low").si
