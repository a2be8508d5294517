"""Section 9.4: the page's loops and figures beside the room's."""

import re

import pytest

from stacklib.diy import power
from stacklib.diy.breaker import CASE, DIE, INNER, RISE, ROOM, SINK
from stacklib.pages.diy import watts as page
from stacklib.pages.diy.watts import drawings, figures, live

from ...live_figures import ask, values
from ...programs import loop_of

clock, heat = (loop_of("09-diy/watts", at) for at in (0, 1))


@pytest.mark.parametrize("limit", [402.5, 300, 180])
def test_the_loop_of_the_clock_ends_where_power_does(limit):
    said = clock.prints("limit = 575, 402.5", f"limit = 575, {limit}")
    at, speed, draw = map(float, re.findall(r"([\d.]+)(?= of|%| W)", said))
    told = power(page.UNSEEN, limit)
    assert at == pytest.approx(told.clock, abs=2e-3)
    assert speed / 100 == pytest.approx(told.speed, abs=2e-3)
    assert draw == pytest.approx(told.draw, abs=1)


def test_the_loop_of_the_heat_ends_at_the_degrees_of_the_exact_steps():
    found = page.made(4)
    said = heat.prints()
    *degrees, each = map(float, re.findall(r"[\d.]+", said))
    told = (found.curve.die, found.curve.sink, found.curve.case, found.curve.room)
    assert degrees == pytest.approx([part[-1] for part in told], abs=0.2)
    assert 4 * each == pytest.approx(found.curve.watts[-1], abs=4)
    board = 4 * page.board(page.CARD).si
    given = [float(x) for x in re.findall(r"= ([\d.]+), ([\d._]+)", heat())[0]]
    assert given == pytest.approx(
        [INNER * RISE / board, (1 - INNER) * RISE / board], 1e-3
    )
    assert (
        f"{CASE}, {ROOM}" in heat() and f"= {DIE * board:g}, {SINK * board:g}" in heat()
    )


def test_the_cheapest_limit_is_no_end_of_its_range():
    at = page.best().si
    assert 150 < at < 350
    for other in (at - 20, at + 20):
        assert page.joules(2, at).si < page.joules(2, other).si
    assert page.joules().si == pytest.approx(page.made().wall / page.tokens().si)


def test_what_an_unseen_card_was_read_at_lies_on_its_line():
    assert page.miss(page.PROMPT).si < 1 and page.miss(page.DECODE).si < 2
    worst = {run: page.table_row(run)["worst"] for run in page.RUNS}
    assert max(worst, key=worst.get) == page.DENSE
    marks = figures.speeds_spec(title="t")["marks"]
    assert sum(len(m["x"]) for m in marks if m["evidence"] == "measured") == 31


def test_the_drawing_ends_in_the_room():
    told = drawings.breaker_to_room().html
    assert "door closed" in told and "1,440 W" in told


@pytest.mark.parametrize("place", range(4))
def test_every_choice_draws(place):
    chosen = {c["name"]: values(c)[place % len(values(c))] for c in live.controls()}
    spec, said = ask(live.explore, live.controls(), **chosen)
    assert bool(spec["message"]) != bool(said)
