"""Forecasts: frozen, dated, scored by hand and by command."""

import json
import math
import random
import re
from dataclasses import fields, replace

import pytest
from _tools import tree
from hypothesis import given
from hypothesis import strategies as st

from stacklib import cli
from stacklib.frontier import foretold, watch
from stacklib.frontier.watching import NINE, Forecast, chance, forecast, read_watch

NEW = {
    "id": "rain",
    "due": "2027-01-01",
    "statement": "It rains",
    "settles": "a gauge",
    "model": "none",
    "probability": 0.25,
    "naive": 0.5,
    "naive_says": "even odds",
}
TODAY = "2026-12-01"
ENDS = re.compile(r"([\d.]+) to ([\d.]+) PFLOP/s")


def test_the_list_is_frozen_and_hangs_together():
    found = watch()
    assert len(found.forecasts) == len({f.id for f in found.forecasts}) >= 20
    assert found.forecasts[0].id.startswith("attention-rubin")
    for each in found.forecasts:
        assert each.made == "2026-11-29" and each.due > each.made
        assert 0.01 <= each.probability <= 0.99 and each.naive in (0.1, 0.9)
        assert each.low <= each.value <= each.high and each.model
    assert found.overdue(TODAY) == () and len(found.overdue("2029-01-01")) == 24


def test_every_frozen_probability_is_that_of_its_band():
    """The models may move on; what was frozen is what they said then."""
    now = {row.id: row for row in foretold.rows()}
    for each in watch().forecasts:
        row = now[each.id]
        ends, near = (row.at_least, row.at_most), 2e-3
        if row.statement != each.statement:  # both its ends have moved since
            told, then = (ENDS.split(one.statement)[::3] for one in (row, each))
            assert told == then and each.id.startswith("attention"), each.id
            ends = tuple(float(end) * 1e15 for end in ENDS.findall(each.statement)[0])
            near = 5e-3  # of three digits
        least, most = ends
        given = chance(each.value, each.low, each.high, at_least=least, at_most=most)
        given = min(max(given, 0.01), 0.99)
        assert each.probability == pytest.approx(given, abs=near), each.id
        assert 0.2 < row.value.value / each.value < 5


@given(st.floats(0.1, 10), st.floats(1.01, 3), st.floats(1.01, 3), st.floats(0.02, 50))
def test_a_band_becomes_a_probability(value, below, above, threshold):
    """Nine in ten within, one in twenty beyond each end; both ways add up to one."""
    low, high = value / below, value * above
    assert chance(value, low, high, at_least=low, at_most=high) == pytest.approx(0.9)
    assert chance(value, low, high, at_least=high) == pytest.approx(0.05)
    assert chance(value, low, high, at_most=low) == pytest.approx(0.05)
    assert chance(value, low, high, at_most=value) == pytest.approx(0.5)
    both = [chance(value, low, high, **{w: threshold}) for w in ("at_least", "at_most")]
    assert sum(both) == pytest.approx(1) and all(0 <= p <= 1 for p in both)


def test_a_band_becomes_a_probability_by_drawing():
    draw = random.Random(0)
    sigma = math.log(3) / NINE
    hits = sum(2 * math.exp(draw.gauss(0, sigma)) >= 3 for _ in range(40000))
    assert chance(2, 2 / 3, 6, at_least=3) == pytest.approx(hits / 40000, abs=0.008)


def test_scores_by_hand():
    first, second, third = (f.id for f in watch().forecasts[:3])
    told = {first: "true", second: ("false", "a paper"), third: ("void", "withdrawn")}
    found = watch().entered(told)
    p, q = found[first].probability, found[second].probability
    score = found.score
    assert (score.settled, score.void) == (2, 1)
    assert score.brier == pytest.approx(((1 - p) ** 2 + q**2) / 2)
    assert score.log == pytest.approx(-(math.log(p) + math.log(1 - q)) / 2)
    a, b = found[first].naive, found[second].naive
    assert score.naive_brier == pytest.approx(((1 - a) ** 2 + b**2) / 2)
    assert found[second].why == "a paper" and watch().score.settled == 0
    empty = watch().score
    assert empty.brier is empty.log is empty.naive_log is None


def test_an_honest_forecaster_is_better_off():
    """Brier and log are proper: on average nothing beats the true probability."""
    draw = random.Random(1)
    seen = [draw.random() < 0.3 for _ in range(4000)]
    for score in ("brier", "log"):
        means = {}
        for told in (0.1, 0.3, 0.6):
            one = Forecast(**NEW | {"made": TODAY, "probability": told})
            words = [replace(one, outcome=str(x).lower()) for x in (False, True)]
            both = [getattr(word, score)() for word in words]
            means[told] = sum(both[x] for x in seen)
        assert min(means, key=means.get) == 0.3
    sure = Forecast(**NEW | {"made": TODAY, "probability": 1.0, "outcome": "false"})
    assert sure.log() == math.inf and sure.brier() == 1


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"probability": 1.01}, "probability = 1.01"),
        ({"probability": -0.1}, "probability = -0.1"),
        ({"probability": math.nan}, "probability = nan"),
        ({"probability": True}, "probability = True"),
        ({"naive": 2}, "naive = 2"),
        ({"due": "2026-11-30"}, "due = '2026-11-30'|2026-11-30 is not after"),
        ({"due": TODAY}, "not after"),
        ({"due": "soon"}, "due = 'soon'"),
        ({"made": "2028-01-01"}, "is not after 2028-01-01"),
        ({"statement": " "}, "statement is empty"),
        ({"settles": ""}, "settles is empty"),
        ({"outcome": "true"}, "a new forecast is open"),
    ],
)
def test_what_is_no_forecast_is_refused(told, says):
    with pytest.raises(ValueError, match=says):
        forecast(TODAY, **NEW | told)
    assert forecast(TODAY, **NEW).made == TODAY


def test_outcomes_are_words_and_a_void_one_has_a_reason():
    id = watch().forecasts[0].id
    with pytest.raises(LookupError, match="maybe"):
        watch().entered({id: "maybe"})
    with pytest.raises(ValueError, match="void without a reason"):
        watch().entered({id: "void"})
    for told in (1, True, ("true",), None):
        with pytest.raises(ValueError, match="is no outcome"):
            watch().entered({id: told})
    with pytest.raises(LookupError, match="rent-h100"):
        watch().entered({"rent-h10": "true"})
    with pytest.raises(ValueError, match="does not hold"):
        chance(1, 2, 3, at_least=2)
    with pytest.raises(ValueError, match="a threshold is needed"):
        chance(1, 0.5, 2)


HEAD = "id,due,statement,settles,probability"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"{HEAD}\na,2020-01-01,x,y,0.5\n", "'2020-01-01'"),
        (f"{HEAD}\na,2028-01-01,x,y,1.5\n", "probability = 1.5"),
        (f"{HEAD}\na,2028-01-01,x,y,half\n", "probability = 'half'"),
        (f"{HEAD}\na,2028-01-01,x,y,0.5\na,2028-01-01,x,y,0.5\n", "twice"),
        (f"{HEAD}\n", "no forecast in it"),
        ("id,due\na,2028-01-01\n", "no column statement, settles, probability"),
        (f"{HEAD},chance\n", "chance"),
        (f"{HEAD}\na,2028-01-01,x,y\n", "has 4 cells, not 5"),
        (f"{HEAD}\na,2028-01-01,x,y,\n", "a: no probability"),
        (f"{HEAD},made\na,2030-01-01,x,y,0.5,2029-01-01\n", "after today"),
        (f"{HEAD},value,low,high\na,2028-01-01,x,y,0.5,5,9,1\n", "does not hold"),
        (f"{HEAD},value\na,2028-01-01,x,y,0.5,nan\n", "does not hold"),
    ],
)
def test_a_bad_list_is_refused_with_exit_two(text, says, tmp_path, capsys):
    path = tmp_path / "mine.csv"
    path.write_text(text, "utf-8")
    assert cli.main(["watch", "--file", str(path), "--today", TODAY]) == 2
    assert says.strip("'") in capsys.readouterr().err


def test_one_s_own_list_is_kept_and_scored(tmp_path, capsys):
    path = tmp_path / "mine.csv"
    old = "a,2026-01-01,x,y,0.8,2025-01-01,true"
    rows = f"{HEAD},made,outcome\n{old}\nb,2028-01-01,x,y,0.5,,\n"
    path.write_text(rows, "utf-8")
    found = read_watch(path, TODAY)
    assert found.score.brier == pytest.approx(0.04) and found["b"].made == TODAY
    assert {f.name for f in fields(Forecast)} == set(Forecast.__slots__)
    asked = ["watch", "--file", str(path), "--score", "--today", TODAY, "--json"]
    assert cli.main(asked) == 0
    assert json.loads(capsys.readouterr().out)["naive_brier"] == 0.25


def test_the_command_scores_a_planted_outcome(tmp_path, capsys):
    path = tmp_path / "told.csv"
    path.write_text("id,outcome,why\nrent-h100,false,five lists\n", "utf-8")
    asked = ["watch", "--score", "--outcomes", str(path), "--today", TODAY]
    assert cli.main(asked) == 0
    shown = capsys.readouterr().out
    assert f"Brier {watch()['rent-h100'].probability ** 2:.3f}" in shown
    assert "1 settled, 23 open; " in shown and "naive forecasts" in shown
    assert cli.main(["watch", "--score", "--today", "2031-01-01"]) == 1
    assert cli.main(["watch", "rent-h10"]) == 2


TOLD = "id,outcome,why\nrent-h100,true,five lists\n"


@pytest.mark.parametrize(
    "raw",
    [
        TOLD.replace("\n", "\r\n").encode(),
        TOLD.encode("utf-8-sig"),
        TOLD.encode("utf-16"),
        TOLD.replace(",", ", ").replace("true", "TRUE ").encode(),
        TOLD.replace("\n", "\n\n").replace("id,out", "ID,Out").encode(),
        b'id,outcome\n"rent-h100","true"\n',
    ],
    ids=["crlf", "bom", "utf-16", "blanks", "lines", "quotes"],
)
def test_outcomes_as_editors_leave_them(raw, tmp_path, capsys):
    """Each of them settles the one forecast; a word is a word in any case."""
    path = tmp_path / "told.csv"
    path.write_bytes(raw)
    asked = ["watch", "--score", "--json", "--today", TODAY, "--outcomes", str(path)]
    assert cli.main(asked) == 0
    found = json.loads(capsys.readouterr().out)
    p = watch()["rent-h100"].probability
    assert (found["settled"], found["open"]) == (1, 23)
    assert found["brier"] == pytest.approx((1 - p) ** 2)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no column id, outcome"),
        ("id;outcome;why\nrent-h100;true;x\n", "unknown column"),
        ("id,outcome,when\nrent-h100,true,x\n", "when"),
        ("id,outcome,outcome\nrent-h100,true,false\n", "stands twice"),
        (TOLD + "RENT-H100,false,x\n", "two outcomes"),
        (TOLD + "rent-h100,true,x\n", "two outcomes"),
        ("id,outcome,why\nrent-h100,yes,x\n", "outcome of rent-h100 'yes'"),
        ("id,outcome,why\nrent-h100,,x\n", "outcome of rent-h100"),
        ("id,outcome,why\nrent-h100,void, \n", "void without a reason"),
        ("id,outcome,why\nrent-h100\n", "has 1 cells, not 3"),
        ("id,outcome,why\nrent-h100,true,x,y\n", "has 4 cells, not 3"),
        ("id,outcome,why\nrent-h100,true," + "x" * 200_000, "no CSV"),
        ("id,outcome\nrent-é,true\n".encode("latin-1"), "no CSV"),
    ],
)
def test_outcomes_that_cannot_be_meant_are_refused(text, says, tmp_path, capsys):
    path = tmp_path / "told.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert cli.main(["watch", "--score", "--outcomes", str(path)]) == 2
    assert says in capsys.readouterr().err


def test_certainty_that_failed_is_told(tmp_path, capsys):
    """The log score is infinite, in words; JSON knows no infinity."""
    path = tmp_path / "mine.csv"
    path.write_text(f"{HEAD},made,outcome\na,2026-01-01,x,y,1,2025-01-01,false\n")
    assert cli.main(["watch", "--score", "--file", str(path)]) == 0
    assert "1 settled; Brier 1.000, log infinite: no better" in capsys.readouterr().out
    assert cli.main(["watch", "--score", "--json", "--file", str(path)]) == 0
    assert json.loads(capsys.readouterr().out)["log"] == "infinite"


def test_what_was_foretold_of_attention_is_in_the_list():
    path = tree.ROOT / "benchmarks" / "predictions" / "attention_next.json"
    told = json.loads(path.read_text("utf-8"))
    ids = {f"attention-{row['device']}-{row['dtype']}" for row in told["coming"]}
    assert ids <= {f.id for f in watch().forecasts} and told["made"] == "2026-12-01"
    bias, sigma = foretold.misses(told["known"])
    assert 0 < bias < 0.15 and 0.05 < sigma < 0.2
