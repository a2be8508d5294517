"""Section 8.7: tokens of a pass three ways, what they cost, and the page's loop."""

import json
from functools import partial

import numpy as np
import pytest

from stacklib.pages import chain
from stacklib.pages.serving import speculation as page
from stacklib.pages.serving.speculation import claims, drawings, figures, live, runs
from stacklib.plots import spec as grammar
from stacklib.quantity import chosen
from stacklib.serving import estimate
from stacklib.serving.speculation.formula import tokens_per_pass
from stacklib.serving.speculation.rule import overlap
from stacklib.serving.speculation.simulate import simulate

from ...live_figures import ask
from ...programs import loop_of

loop = loop_of("08-serving/speculation")
readouts = partial(ask, live.explore, live.controls())
P, Q = np.array([0.6, 0.3, 0.1]), np.array([0.3, 0.2, 0.5])


def told(text):
    tokens, _, _, _, *counts = text.split()
    return float(tokens), np.array(counts, dtype=float) / sum(map(int, counts))


def test_the_loop_keeps_and_draws_as_the_package_does():
    tokens, shares = told(loop.prints())
    random = np.random.default_rng(0)
    found = simulate([(P, Q)], 4, passes=4000, random=random).tokens_per_pass
    formula = tokens_per_pass(overlap(P, Q), 4)
    assert tokens == pytest.approx(formula, abs=0.06)
    assert tokens == pytest.approx(found, abs=0.1)
    assert shares == pytest.approx(P, abs=0.02)


def test_a_draw_from_p_leaves_its_proportions():
    _, shares = told(loop.prints("choices(range(3), more)", "choices(range(3), p)"))
    assert shares[2] > P[2] + 0.02  # what the draft likes too much
    tokens, shares = told(loop.prints("[0.3, 0.2, 0.5]", "p"[:0] + "[0.6, 0.3, 0.1]"))
    assert tokens == 5 and shares == pytest.approx(P, abs=0.02)


def test_three_ways_to_the_tokens_of_a_pass():
    formula = page.tokens().si
    assert formula == pytest.approx(2.33, abs=0.01)
    assert runs.drawn(page.acceptance().si).si == pytest.approx(formula, abs=0.08)
    # Really run, it is more, since each place keeps more than the one before.
    ran = page.ran("draft", "tokens_per_pass").si
    assert formula < ran < 1.1 * formula


def test_lines_of_the_token_are_the_gain():
    before = chain.account("08-serving/speculation")
    after = chain.account("08-serving/speculation", after=True)
    assert before.total().si == pytest.approx(page.a_step().si)
    told = before.total().si / after.total().si
    assert told == pytest.approx(page.gain(page.acceptance()).si, rel=1e-6)
    assert not after.missing()


def test_the_napkin_adds_up():
    rate = page.acceptance().si
    pays = 4 * page.a_step(model=page.DRAFT).si + page.a_pass().si
    gain = (1 - rate**5) / (1 - rate) * page.a_step().si / pays
    assert page.gain(page.acceptance()).si == pytest.approx(gain)
    asked = {"dtype": "bf16", "tp": 8, "context": 4096}
    drafted = (rate, 4, page.DRAFT)
    told = [
        estimate(page.MODEL, page.DEVICE, draft=d, **asked).tpot.si
        for d in (None, drafted)
    ]
    assert gain == pytest.approx(told[0] / told[1], rel=1e-3)


def test_it_no_longer_pays_where_it_turns():
    rate, first = page.acceptance(), int(page.turn(page.acceptance()).si)
    assert page.gain(rate, first - 1).si >= 1
    assert page.gain(rate, first).si < 1 and page.gain(rate, 330).si < 1


def test_claims_are_ranges_of_the_formula_and_the_account():
    tokens, runs = claims.all_accepted(), (claims.WARM, claims.GREEDY)
    assert 2.5 < tokens.computed.si < tokens.to.si < 3.5
    ours = [page.gain(page.ran("draft", "rate", t), engine=False) for t in runs]
    assert 1.8 < ours[0].si < ours[1].si < 2.4
    assert f"{ours[0]:.2} to {ours[1]:.2}" in claims.two_to_three().why
    # At what servers report it is what is published.
    low, high = (page.gain(chosen(r), engine=False).si for r in page.HIGHER)
    assert 2.2 < low < high < 2.8


def test_the_live_figure_says_what_the_page_says():
    spec, said = readouts(acceptance=0.6, drafted=4, batch=64)
    gain = page.gain(chosen(0.6), 64)
    assert said["gain"] == gain.text() and f"{gain.si:.2f} times" in spec["title"]


def test_figure_and_drawing():
    grammar.check(figures.places_spec(title="A draft."))
    assert "block 3, after" in drawings.a_rejection().alt


def test_an_answer_in_a_grammar_is_json():
    request, _ = runs.constrained()
    found = json.loads(request.text)
    assert set(found) == {"name", "size"} and isinstance(found["size"], int)
    assert 0 < runs.masked("allowed") < 0.1
    assert runs.masked("bytes") < runs.masked("vocabulary") / 10


def test_the_engine_takes_fewer_steps():
    assert runs.served("steps", "draft") < 0.8 * runs.served("steps")
