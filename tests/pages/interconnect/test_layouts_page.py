"""Section 6.15: the loop, layouts side by side, published rows, the drawing."""

import re

import pytest

from stacklib.interconnect.parallelism.layout import Layout
from stacklib.interconnect.parallelism.step import step_time
from stacklib.pages.interconnect import layouts as page
from stacklib.pages.interconnect.layouts import drawings, live

from ...programs import loop_of

loop = loop_of("06-interconnect/layouts")


def test_the_loop_is_the_model_with_one_rate_for_all_kernels():
    case = {"on": page.DEVICE, "chips": 64, "batch": page.BATCH}
    for line in loop.prints().splitlines():
        dp, tp, again, said = map(float, re.findall(r"\d+(?:\.\d+)?", line))
        redone = "full" if again else "none"
        cut = {"zero": 3, "sequence": tp > 1, "recompute": redone}
        layout = Layout(dp=int(dp), tp=int(tp), **cut)
        step = step_time(page.MODEL, layout=layout, **case)
        assert said == pytest.approx(step.time, rel=0.08)
    faster = loop.prints("48e9", "400e9")
    assert faster != loop.prints()


def test_the_factors_of_the_napkin_make_its_results():
    assert page.working().si == pytest.approx(page.operations().si / page.pace().si)
    for ways, where in ((8, "near"), (64, "far")):
        moved = page.array().si * (ways - 1) / ways / page.ring(1, ways).si
        made = moved + (ways - 1) * page.pause(where).si
        assert page.half(ways).si == pytest.approx(made)
    done = page.of("sharded", "flops").si / page.CHIPS / page.of("sharded", "time").si
    peak = page.hardware.get(page.DEVICE).peak("bf16").si
    assert page.of("sharded", "mfu").si == pytest.approx(done / peak)


def test_what_sends_most_does_not_wait_most():
    assert page.of("sharded", "sent.total").si > page.of("tensor", "sent.total").si
    assert page.of("sharded", "compute").si > page.of("tensor", "compute").si
    assert page.of("sharded", "exposed").si < 0.1 * page.of("tensor", "exposed").si
    assert page.of("sharded", "time").si < page.of("tensor", "time").si
    assert page.gathering().si < page.working().si


def test_states_are_those_of_the_step_and_differ_from_6_13s_in_the_gradient():
    parts = ("weights", "gradients", "optimizer")
    held = sum(page.of("sharded", f"memory.{part}").si for part in parts)
    assert page.state().si == pytest.approx(held)
    more = page.all_each(page.SUMMED) - page.all_each()
    assert more.si == page.each(page.SUMMED).si - page.each("gradient").si == 2


def test_the_best_is_the_best_of_the_page():
    best = page.ranking()[0].step
    for name in page.LAYOUTS:
        assert page.step(name).time >= best.time
    assert page.of("best", "mfu").si > 10 * page.of("naive", "mfu").si
    times = [row["step"].si for row in page.ranked()]
    assert times == sorted(times)


def test_napkins_are_parts_of_the_step():
    for name in ("tensor", "naive"):
        told, waits = page.exchanged(name).si, page.of(name, "exposed").si
        assert told == pytest.approx(waits, rel=0.1)
    kept = page.of("best", "memory.total").si - page.of("best", "memory.activations").si
    assert kept == pytest.approx(page.state().si, rel=0.02)


def test_published_rows_are_the_stored_ones():
    assert page.miss("ours", "mean").si < page.miss("calculon", "mean").si
    assert page.miss("ours", "max").si < page.miss("calculon", "max").si
    assert len(page.megatron_rows()) == 8


def test_families_are_within_the_bars():
    for by in ("source", "device"):
        assert page.error(by, 0.5).si <= 0.12
        assert page.error(by, 0.9).si <= 0.40
    assert set(page.worst()) == set(page.WORST)
    assert page.count("predicted").si >= 0.9 * page.count("outcomes").si


def test_groups_fill_the_chips():
    for layout in page.LAYOUTS.values():
        groups = drawings.members(layout)
        sizes = [len(chips) for chips in groups.values()]
        assert sizes == [layout.tp, layout.dp, layout.pp]
        assert max(max(chips) for chips in groups.values()) < page.CHIPS
    assert len(drawings.grid_of_chips().html) < 90_000


def test_the_live_figure():
    plain = {"tp": 8, "pp": 1, "micro": 1, "zero": 1, "again": "none"}
    assert f"{page.step('tensor').time:.1f} s" in (live.explore(**plain)["title"])
    assert "more than" in live.explore(**plain | {"tp": 64, "pp": 4})["title"]
    assert "does not fit" in live.explore(**plain | {"tp": 1, "zero": 0})["title"]
