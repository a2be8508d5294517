"""Section 10.7: the page's loop and closed forms beside the room's scores."""

import math
import re

import pytest

from stacklib import frontier
from stacklib.pages.frontier import bets as page
from stacklib.pages.frontier.bets import drawings

from ...programs import loop_of

loop = loop_of("10-frontier/bets")


def said(*changes):
    """The loop's Brier and log scores, of the book and of the naive list."""
    lines = loop.prints(*changes).splitlines()
    return [[float(x) for x in re.findall(r"[\d.]+|inf", line)] for line in lines]


def test_the_loop_scores_as_the_package_does():
    score = frontier.watch().entered(page.PLANTED).score
    ours, naive = said()
    assert ours == pytest.approx([score.brier, score.log], abs=6e-4)
    assert naive == pytest.approx([score.naive_brier, score.naive_log], abs=6e-4)
    begun = "for *said, true in bets:"
    ours, naive = said(begun, f"{begun}\n        true = not true")
    assert ours[0] == pytest.approx(page.planted("brier", "false", "true").si, abs=6e-4)
    assert naive[0] < ours[0]
    assert said("0.28, 0.9", "1.0, 0.9")[0][1] == math.inf


def test_what_one_thinks_is_the_best_to_say():
    for thinks in (0.05, 0.3, 0.7):
        for says in (0, 0.2, 0.5, 0.95, 1):
            lost = page.expected(thinks, says).si
            assert lost == pytest.approx((says - thinks) ** 2 + thinks * (1 - thinks))
    assert page.expected(0.7, 0.9).si == pytest.approx(page.expected(0.7, 0.5).si)


def test_the_napkin_is_the_room_s_probability():
    told = page.listed(page.BOX)
    by_hand = (
        page.nine().si * math.log(2 / told.value) / math.log(told.high / told.value)
    )
    assert page.away().si == pytest.approx(by_hand)
    below = (1 + math.erf(by_hand / math.sqrt(2))) / 2
    assert below == pytest.approx(told.probability, abs=1e-3)


def test_bands_of_the_machines_before_promised_too_much():
    """Each pair is in its band or out; scores lie where the text says."""
    parts = [page.held(where).si for where in ("inside", "below", "above")]
    assert sum(parts) == page.held("all").si == len(page.machines.pairs())
    assert page.held_share().si < 0.9 and parts[2] == 0
    for row in page.before():
        assert row["came true"] < row["said"]
    for x in page.LEASTS:
        rows = page.backcast(x).forecasts
        true = [old.itl_ms / new.itl_ms >= x for old, new in page.machines.pairs()]
        assert [row.outcome == "true" for row in rows] == true
    assert 0.25 < page.asked(1.5, "brier") < page.asked(1.5, "naive_brier")


def test_table_and_fold_have_every_forecast_once():
    assert len(page.short()) + len(page.others()) == page.count().si
    told = drawings.squares().html
    assert told.count("loses ") >= 4 and "90 %" in told
