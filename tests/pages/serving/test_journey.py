"""Section 8.13: a fleet simulated and in closed form, its invoice, the page's loop."""

import re
from functools import partial

import pytest

from stacklib import serving
from stacklib.pages import chain
from stacklib.pages.serving import journey as page
from stacklib.pages.serving import price
from stacklib.pages.serving.journey import drawings, live
from stacklib.serving.estimates import steady

from ...live_figures import ask
from ...programs import loop_of

loop = loop_of("08-serving/journey")
readouts = partial(ask, live.explore, live.controls())
LINE = re.compile(r"([\d.]+) a second: ([\d.]+) at once, ([\d.]+) ms, ([\d.]+) USD")


@pytest.mark.parametrize("rate", [2.5, 10.0])
def test_one_equation_says_what_every_request_does(rate):
    held = page.held(rate / page.REPLICAS)
    assert held == pytest.approx(
        rate / page.REPLICAS * page.NEW * page.token_time(held), rel=1e-6
    )
    assert page.token_time(held) == pytest.approx(page.tpot(rate).si, rel=0.05)


def test_both_ways_stop_at_the_same_rate():
    capacity = page.fleet().capacity / page.REPLICAS
    assert page.held(0.97 * capacity) < page.CHUNK
    assert page.held(1.15 * capacity) == float("inf")


def test_the_lines_of_the_account_are_the_token_among_others():
    assert chain.time(page.HERE).si == pytest.approx(page.closed().si)
    step, load = page._step(page.DEVICE), page._load(page.held())
    parts = steady.added_by_line(step, load)
    assert sum(parts.values()) == steady.added(step, load)
    assert page.added().si == pytest.approx(sum(parts.values()))


def test_alone_is_the_estimate():
    alone = serving.estimate(page.MODEL, page.DEVICE, "bf16", page.TP, context=4096)
    assert page.tpot(rate=0).si == pytest.approx(alone.tpot.si, rel=0.005)
    assert page.cost(0).si == price.bill().total.middle.si * 1e6


def test_the_parts_of_a_longer_answer_are_nearly_all_of_it():
    longer = page.seen("e2e").si - page.seen("e2e", rate=0).si
    parts = sum(page.more(what).si for what in ("line", "step", "prompts"))
    assert parts == pytest.approx(longer, rel=0.05)


def test_an_answer_is_billed_row_by_row():
    rows = sum(page.answer(row).si for row in drawings.ROWS)
    ends = [
        end.si * page.NEW for end in (page.bill().total.low, page.bill().total.high)
    ]
    assert ends[0] < page.answer().si < ends[1]
    assert rows == pytest.approx(page.answer().si)
    assert set(drawings.ROWS) == set(page.bill().rows)


def test_machines_enough_at_the_slow_end_are_the_fewest():
    enough = int(page.sure().si)
    assert page.end_of("high", enough).si <= page.LIMIT
    assert page._end_of("high", enough - 1) > page.LIMIT  # one less: without end
    assert page.end_of("low").si < page.seen("ttft", 99).si


def test_at_the_slow_end_the_fleet_cannot_keep_up():
    assert page.slow_load().si > 1 > page.slow_load(int(page.sure().si)).si
    with pytest.raises(ValueError, match="inf"):
        page.end_of("high")


def test_the_loop_says_what_the_package_says():
    rows = [list(map(float, row)) for row in LINE.findall(loop.prints())]
    assert len(rows) == 5
    for rate, batch, token, usd in rows:
        held = page.held(rate)
        assert batch == pytest.approx(held, rel=0.03)
        assert token == pytest.approx(1e3 * page.token_time(held), rel=0.01)
        assert usd == pytest.approx(live.at(page.DEVICE, rate)[2], rel=0.01)


def test_the_drawing_is_read_from_left_to_right():
    told = drawings.way_and_invoice().alt
    assert told.index("in line") < told.index("read") < told.index("written")


def test_the_live_fleet_and_the_one_that_does_not_keep_up():
    spec, told = readouts(rate=10)
    assert told["token"] == page.closed().text("ms") and "dollars" in spec["title"]
    spec, told = readouts(rate=30, replicas=2)
    assert told == {} and "do not keep up" in spec["title"]
