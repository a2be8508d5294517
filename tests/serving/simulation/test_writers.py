"""Answers that a draft writes: by hand, on average, and against a token a step."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.serving import estimate, simulate
from stacklib.serving.simulation.traffic import Row
from stacklib.serving.speculation.formula import tokens_per_pass

MODEL = ("llama-2-7b", "h100-sxm")


def house(rows, draft, **options):
    return simulate(None, traffic=rows, step_time=10e-9, draft=draft, **options)


def test_a_draft_that_is_always_right_writes_four_at_once():
    found = house([(0, 0, 4, 9)], (1.0, 3))
    (done,) = found.requests
    assert (done.first, done.finished) == (10, 30)
    assert +found.outcome.gaps == {0: 6, 10: 2}


@pytest.mark.parametrize("acceptance, tokens", [(0.7, 4), (0.4, 2)])
def test_a_pass_yields_what_the_formula_says(acceptance, tokens):
    found = house([(0, 0, 1, 20_001)], (acceptance, tokens), max_batch=1)
    passes = found.outcome.steps - 1
    expected = tokens_per_pass(acceptance, tokens)
    assert 20_000 / passes == pytest.approx(expected, rel=0.03)


@st.composite
def houses(draw):
    rows, at = [], 0
    for number in range(draw(st.integers(1, 10))):
        at += draw(st.sampled_from((0, 3, 40)))
        rows.append(Row(number, at, draw(st.integers(1, 60)), draw(st.integers(1, 60))))
    longest = max(-(-(row.prompt + row.new - 1) // 16) for row in rows)
    sizes = {"blocks": longest + draw(st.integers(0, 5)), "max_batch": 3}
    return {"rows": rows, **sizes}


@settings(max_examples=40, deadline=None)
@given(houses())
def test_a_draft_that_is_always_wrong_is_a_token_a_step(house_):
    other = house(draft=(0.0, 1), chunk=512, **house_).outcome
    # With room for all prompts in a step the width of a check changes nothing.
    wide = house(draft=None, chunk=512, **house_).outcome
    assert (wide.requests, +wide.gaps) == (other.requests, +other.gaps)
    assert wide.preemptions == other.preemptions


@settings(max_examples=30, deadline=None)
@given(houses(), st.sampled_from((0.3, 0.9)))
def test_every_token_is_written_once_in_a_memory_too_small(house_, acceptance):
    found = house(draft=(acceptance, 4), **house_).outcome
    written = sum(row.new for row in house_["rows"])
    assert sum((+found.gaps).values()) == written - len(house_["rows"])


def test_a_checked_step_takes_what_the_estimate_says():
    rows, draft = [(0, 0, 64, 2001)], (0.6, 3, "llama-3.2-1b")
    found = simulate(*MODEL, rows, draft=draft)
    (done,) = found.requests
    plain = estimate(*MODEL, "bf16", batch=1, context=1064, draft=draft)
    assert done.tpot / 1e9 == pytest.approx(plain.tpot.si, rel=0.05)


def test_a_draft_helps_one_and_hurts_a_full_house():
    gain = {}
    for many in (1, 128):
        rows = [(number, 0, 64, 64) for number in range(many)]
        times = [
            simulate(*MODEL, rows, draft=draft, chunk=1024).outcome.end
            for draft in (None, (0.3, 7))
        ]
        gain[many] = times[0] / times[1]
    assert gain[1] > 1.2 and gain[128] < 1
