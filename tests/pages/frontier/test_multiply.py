"""Section 10.3: its loop beside the room's search, its formula beside enumeration."""

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib import pages
from stacklib.frontier import codesign
from stacklib.frontier.moe_layer import parts
from stacklib.pages.frontier import multiply as page
from stacklib.pages.frontier.multiply import drawings, live

from ...live_figures import ask, values
from ...programs import loop_of

loop = loop_of("10-frontier/multiply")


def test_the_loop_is_the_small_space_and_a_second_round_mends_it():
    found, said = page.design("small"), loop.prints()
    us = [float(x) for x in re.findall(r"\): ([\d.]+)", loop())]
    asked = (
        dict(zip(page.SMALL, p, strict=True)) for p in product(*page.SMALL.values())
    )
    assert us == pytest.approx([1e6 * sum(parts(point)) for point in asked], abs=0.05)
    alone, together = said.splitlines()[:2]
    gains = [float(x) for x in re.findall(r"[\d.]+", alone)]
    assert gains == pytest.approx([a.gain for a in found.alone.values()], rel=1e-3)
    assert float(together.split()[1]) == pytest.approx(found.gain, rel=1e-3)
    twice = loop.prints("in order:", "in order * 2:")
    stops = [[end.seconds for end in found.greedy.values()], [found.best.seconds] * 6]
    for text, ends in zip((said, twice), stops, strict=True):
        told = [float(row.split()[-1]) for row in text.splitlines()[2:]]
        assert told == pytest.approx([1e6 * end for end in ends], abs=0.05)


@given(st.floats(0.02, 0.98), st.floats(1, 20), st.floats(1, 20))
def test_the_formula_is_what_enumeration_finds(a, x, y):
    space = {"x": (1.0, x + 1), "y": (1.0, y + 1)}
    for sign, step in (
        (1, lambda p: a / p["x"] + (1 - a) / p["y"]),
        (-1, lambda p: a / (p["x"] * p["y"]) + 1 - a),
    ):
        found = codesign(space, step, budget=1)
        t = step({"x": x + 1, "y": y + 1})
        closed = 1 + sign * a * (1 - a) * (1 - 1 / (x + 1)) * (1 - 1 / (y + 1)) / t
        assert found.ratio == pytest.approx(closed)


def test_the_token_shortens_one_part_by_two():
    closed = page.same_part()["closed"].si
    assert closed == pytest.approx(page.both().si, rel=0.01) and closed < 1
    assert page.promised().si < page.best("token").si < page.token().si
    low, high = page.expected()
    chips, fp8, both = (gain.si for gain in page.tonight())
    assert low.si <= both / (chips * fp8) + 1e-9 < high.si < 1


def test_tables_and_drawings_say_what_was_found():
    assert [row["foretold"].si for row in page.rows()[:4]] == [1.05, 2.6, 1.0, 1.24]
    assert sum(row["orders"].si for row in page.stops()) == 24
    kinds = [row["ratio"].si for row in page.pairs()]
    assert kinds[0] > kinds[1] > 1 > kinds[3]
    assert "in it already" in drawings.where_thirty_comes_from().html
    assert "386" in drawings.what_each_shortens().html


def test_the_live_tree_says_what_is_counted_twice():
    _, said = ask(live.explore, live.controls())
    assert (said["least"], said["most"], said["twice"]) == ("12", "45", "FP4")
    once = ask(live.explore, live.controls(), holds="no", chip_low=2.25, chip_high=2.25)
    assert once[1]["twice"] == "nothing" and once[1]["told"] == "no"
    wrong = ask(live.explore, live.controls(), fp4_low=4)[0]
    assert "ends run from least to most" in wrong["message"]
    for place in (0, -1):
        chosen = {c["name"]: values(c)[place] for c in live.controls()}
        assert ask(live.explore, live.controls(), **chosen)[0]["message"] is None


VERDICTS = {
    "wrong": "30x-decomposition 30x-no-double-count two-orders-per-year",
    "open": "codesign-100x codesign-leapfrog-8-to-100 compute-per-intelligence-10x",
    "conflict": "codesign-100x-annual inferencex-40-60x",
    "depends": "inferencex-50m",
}


@pytest.mark.parametrize("verdict", VERDICTS)
def test_claims_are_judged(verdict):
    for id in VERDICTS[verdict].split():
        assert pages.judge(id).verdict == verdict, id
