"""Section 10.6: its loop and live figure beside the room, its sums and outcomes."""

import re
from random import Random

import numpy as np
import pytest

from stacklib.frontier import analog_matmul
from stacklib.pages.frontier import bitline as page
from stacklib.pages.frontier.bitline import drawings, figures, live

from ...live_figures import ask, values
from ...programs import loop_of

loop = loop_of("10-frontier/bitline")


@pytest.mark.parametrize("adc", [8, 4, 16])
@pytest.mark.parametrize("reach", [1, 8, 16])
def test_the_loop_reads_what_the_package_reads(adc, reach):
    draw = Random(6)
    w, x = ([draw.randint(-127, 127) for _ in range(1024)] for _ in range(2))
    assert max(map(abs, w)) == max(map(abs, x)) == 127
    theirs = analog_matmul([w], adc=adc, reach=reach)(x)[0]
    said = loop.prints(
        "adc, reach, rows, draw = 8, 8", f"adc, reach, rows, draw = {adc}, {reach}"
    )
    read, exact = (int(n.replace(",", "")) for n in re.findall(r"-?[\d,]+(?= )", said))
    assert read == pytest.approx(float(theirs), rel=1e-4, abs=2)
    assert exact == np.dot(w, x)


def test_inputs_like_the_column_are_read_as_far_as_the_range():
    for new, share in (("8, 8", 0.5), ("16, 8", 0.5), ("16, 16", 1)):
        text = loop().replace("for _ in w]\n", "for _ in w]\nx = w\n", 1)
        text = text.replace("draw = 8, 8", f"draw = {new}", 1)
        told: dict = {}
        exec(text, told)
        exact = sum(a * a for a in told["w"])
        assert told["total"] / exact == pytest.approx(share, rel=1e-2)
    assert page.read_of_all().si == 0.5 and page.price().si == 2


@pytest.mark.parametrize("like", [0, 60])
def test_the_live_figure_is_the_package_in_plain_python(like):
    columns, vectors = map(np.array, live.drawn(like))
    bar = analog_matmul(columns, 8, 0, 5, reach=4)
    read = [live.read(c, s, 5, 4) for _, c, s in live.currents(8, 0, like)]
    assert bar(vectors).T.ravel() == pytest.approx(read, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("place", range(4))
def test_every_choice_draws(place):
    chosen = {c["name"]: values(c)[place % len(values(c))] for c in live.controls()}
    spec, said = ask(live.explore, live.controls(), **chosen)
    assert said and not spec["message"]


def test_the_tail_is_there_because_columns_point_where_inputs_do():
    assert page.beyond(4).si > 50 * page.normal(4).si > 50 * page.beyond(4, True).si
    assert page.largest().si < page.deviations().si == 16
    assert page.beyond(16).si == 0 < page.cut(8).si < page.cut(4).si
    told = drawings.bit_line().html
    assert "2,048 bit" in told and "cuts none" in told
    assert len(figures.costs_spec(title="t")["marks"]) == 5


def test_outcomes_have_their_ends_in_order():
    rows = {row["experiment"].partition(":")[0]: row for row in page.outcomes()}
    assert rows["analog"]["foretold"].si == 3 < rows["analog"]["found"].si == 10
    for row in rows.values():
        assert row["low"].si <= row["found"].si <= row["high"].si
    assert page.loses().si == 4 > page.walked().si > 3
    assert [row["holds"] for row in page.bets()].count("yes") == 2
