"""Section 10.6: its loop and live figure beside the room, its sums and outcomes."""

import numpy as np
import pytest

from stacklib.frontier import analog_matmul
from stacklib.pages.frontier import bitline as page
from stacklib.pages.frontier.bitline import drawings, figures, live

from ...live_figures import ask, values
from ...programs import program


def run(adc, reach, alike=False):
    """The loop of the page, its second list replaced where inputs look alike."""
    text = program("10-frontier/bitline").replace("8, 8, 256", f"{adc}, {reach}, 256")
    told: dict = {}
    exec(text.replace("_ in w]\n", "_ in w]\nx = w\n", 1) if alike else text, told)
    return told


@pytest.mark.parametrize("adc", [8, 4, 16])
@pytest.mark.parametrize("reach", [1, 8, 16])
def test_the_loop_reads_what_the_package_reads(adc, reach):
    told = run(adc, reach)
    assert max(map(abs, told["w"])) == max(map(abs, told["x"])) == 127
    theirs = analog_matmul([told["w"]], adc=adc, reach=reach)(told["x"])[0]
    assert told["total"] == pytest.approx(float(theirs), rel=1e-4, abs=2)


@pytest.mark.parametrize(
    ("adc", "reach", "share"), [(8, 8, 0.5), (16, 8, 0.5), (8, 16, 1)]
)
def test_inputs_like_the_column_are_read_as_far_as_the_range(adc, reach, share):
    told = run(adc, reach, alike=True)
    assert told["total"] / np.dot(told["w"], told["w"]) == pytest.approx(
        share, rel=1e-2
    )


@pytest.mark.parametrize("like", [0, 60])
def test_the_live_figure_is_the_package_in_plain_python(like):
    columns, vectors = map(np.array, live.drawn(like))
    read = [live.read(c, s, 5, 4) for _, c, s in live.currents(8, 0, like)]
    theirs = analog_matmul(columns, 8, 0, 5, reach=4)(vectors)
    assert theirs.T.ravel() == pytest.approx(read, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("place", range(3))
def test_every_choice_draws(place):
    chosen = {c["name"]: values(c)[place % len(values(c))] for c in live.controls()}
    spec, said = ask(live.explore, live.controls(), **chosen)
    assert said and not spec["message"]


def test_the_tail_is_there_because_columns_point_where_inputs_do():
    assert page.beyond(4).si > 50 * page.normal(4).si > 50 * page.beyond(4, True).si
    assert page.largest().si < page.deviations().si == 16
    assert page.beyond(16).si == 0 < page.cut(8).si < page.cut(4).si
    assert "2,048 bit" in (told := drawings.bit_line().html) and "cuts none" in told
    assert len(figures.costs_spec(title="t")["marks"]) == 5


def test_outcomes_have_their_ends_in_order():
    rows = {row["experiment"].partition(":")[0]: row for row in page.outcomes()}
    assert rows["analog"]["foretold"].si == 3 < rows["analog"]["found"].si == 10
    assert rows["in the banks"]["found"].si == 4
    assert all(r["low"].si <= r["found"].si <= r["high"].si for r in rows.values())
    assert [row["holds"] for row in page.bets()].count("yes") == 2
