"""Section 4.4: buffers, producers, the order of tiles, a ladder, the prompt."""

import numpy as np
import pytest

from stacklib import models
from stacklib.kernels.schedule.pipeline import pipeline
from stacklib.memory import TiledMatmul
from stacklib.pages.kernels import feed as page
from stacklib.pages.kernels.feed import drawings, drawings_sm, figures, live

from ...programs import loop_of

loop = loop_of("04-kernels/feed")


def test_the_loop_is_the_package():
    said = [one.split()[-2] for one in loop.prints().splitlines()]
    assert said == [f"{page.busy(b).si:.1%}" for b in page.BUFFERS]


def test_three_ways_agree():
    for buffers in page.BUFFERS:
        closed, *ran = page.three_ways(buffers)
        assert ran == pytest.approx([closed] * 2)
    assert page.deepgemm_events() == pytest.approx(page.promoted_pace(page.deepgemm(2)))


def test_buffers_are_enough_by_littles_law():
    under_way = page.round_trip().si / page.feed().mma.si
    assert page.needed() == np.ceil(under_way) == 3
    assert page.pace(2) > page.pace(3) == pytest.approx(page.feed().mma.si)


def test_writing_overlaps_where_sums_have_two_places():
    for depth in (1024, 8192):
        assert page.written(depth, 1) < page.written(depth, 2) < 1
    assert page.written(1024, 1) < page.written(8192, 1)


def test_bytes_of_eight_blocks_are_the_tiles():
    k, plan = models.get(page.MODEL).hidden, TiledMatmul(2048, 2048, 8192, 128, 256)
    assert k == plan.k
    for group in page.GROUPS.values():
        first = list(plan.order("grouped", group))[: page.BLOCKS]
        rows, columns = ({place[i] for place in first} for i in (0, 1))
        numbers = k * (len(rows) * plan.tile_m + len(columns) * plan.tile_n)
        assert page.bytes_read(group).si == 2 * numbers


def test_the_six_rise_in_both_columns_and_the_eleven_do_not():
    for by_clock in (False, True):
        rates = [page.rate(name, by_clock=by_clock).si for name in page.LADDER]
        assert rates == sorted(rates)
    every = sorted(page.versions().values(), key=lambda one: one.published)
    clock = [one.predicted for one in every]
    assert clock != sorted(clock)  # as the page says
    assert page.turned().si == 1  # the searched tiles, below one they beat on paper
    assert len(figures.ladder_spec()["marks"]) == 2 * len(every)


def test_the_prompts_parts_add_up():
    times = [page.spent(part).si for part in ("peak", "tiles", "clock", "all")]
    assert times == sorted(times)
    work = sum(w.operations for w in page.prompt()) * 80 * page.TP
    weights = sum(w.n * w.k for w in page.prompt()) * 80 * page.TP
    assert work == 2 * page.TOKENS * weights
    assert all(0.8 < row["ratio"].si < 1.2 for row in page.beside())


def test_what_a_rename_leaves_breaks():
    tried, broken = page.ported()
    assert tried.si == broken.si == 4


def test_the_drawings_and_the_figure_say_the_pages_numbers():
    turns, order = drawings.buffers_in_turns(), drawings.next_tiles()
    for buffers in (1, 2, 3):
        assert page.busy(buffers).text("%") in turns.html
    assert all(page.bytes_read(g).text("MB") in order.html for g in (1, 4))
    assert page.room().text("KiB") in drawings_sm.fed_sm().html
    for buffers in range(1, 7):
        step = {"load": 886, "latency": 259, "multiply": 1024}
        found = live.explore(**step, buffers=buffers, tiles=8)
        ran = pipeline(live.stages(**step), 8, buffers)
        (time,) = (r for r in found["readouts"] if r["name"] == "time")
        assert f"{ran.time:,.0f}" in time["text"]
        assert ("too few" in found["title"]) == (buffers < 3)
