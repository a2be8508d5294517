"""Drafts say what they drew from, forget what was rejected, and obey masks."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.serving.speculation.drafts import (
    CountedDraft,
    Draft,
    LookUpDraft,
    ModelDraft,
    Way,
)
from stacklib.serving.speculation.measure import passes
from stacklib.serving.speculation.rule import distribution
from stacklib.tinylm import KVCache, Sampling, TinyLM, load
from stacklib.tinylm.model import next_ids
from stacklib.tinylm.ngram import NGram

IDS = [0, 1, 2, 1, 2, 4, 0, 1]
PLAIN, GREEDY = Sampling(), Sampling(0.0)


def every(little: TinyLM) -> list[Draft]:
    grams = NGram(np.array([0, 1, 2, 3, 0, 2, 1, 3, 3, 0, 1, 2, 1]), 5, 3)
    return [ModelDraft(little, 3), CountedDraft(grams, 3), LookUpDraft(5, 3)]


@settings(max_examples=6)
@given(data=st.data())
def test_a_draft_is_what_the_small_model_says_whatever_was_kept(little, data) -> None:
    draft, text = ModelDraft(little, 4), list(IDS)
    random = np.random.default_rng(0)
    for _ in range(4):
        found = draft.propose("a", text, 9, Way(PLAIN, random))
        draft.propose("b", IDS, 2, Way(PLAIN, random))  # another sequence between
        assert len(found.tokens) == 4
        for k, row in enumerate(found.rows):
            logits = little.logits([*text, *found.tokens[:k]])[-1]
            assert row == pytest.approx(
                distribution(logits, PLAIN), abs=1e-5
            )  # logits of tens, in float32
        kept = data.draw(st.integers(0, 4))
        text += [*found.tokens[:kept], data.draw(st.integers(0, 4))]
        text = text[: data.draw(st.integers(3, 16))]  # as after a preemption
    draft.forget("a")
    draft.forget("never seen")


def test_it_proposes_no_more_than_is_asked_for_or_its_context_holds(little) -> None:
    draft, random = ModelDraft(little, 4), np.random.default_rng(0)
    full = [1] * 24
    lengths = {22: 3, 23: 2, 24: 1}
    for size, most in lengths.items():
        assert (
            len(draft.propose("a", full[:size], 9, Way(PLAIN, random)).tokens) == most
        )
    assert draft.propose("a", [*full, 1], 9, Way(PLAIN, random)).tokens == ()
    assert draft.propose("a", IDS, 0, Way(PLAIN, random)).tokens == ()
    with pytest.raises(ValueError, match="length = 0"):
        ModelDraft(little, 0)


def test_looked_up_is_what_followed_the_latest_equal_end() -> None:
    random = np.random.default_rng(0)
    cases = {
        (7, 8, 9, 7, 8): (9, 7, 8),
        (1, 2, 5, 3, 2, 6, 1, 2): (5, 3, 2),  # two tokens before one
        (2, 5, 2, 6, 2): (6, 2),
        (1, 2, 3): (),
        (4,): (),
        (9, 1, 9): (1, 9),
    }
    for ids, tokens in cases.items():
        found = LookUpDraft(10, 3).propose(0, ids, 9, Way(GREEDY, random))
        # Nothing is proposed after the end of a document, the last id.
        assert found.tokens == (
            tokens[: tokens.index(9) + 1] if 9 in tokens else tokens
        )
        assert all(row[t] == 1 for t, row in zip(found.tokens, found.rows, strict=True))


def test_counted_rows_are_what_scores_a_text(little) -> None:
    grams = every(little)[1].grams
    for size in range(len(IDS)):
        row = grams.following(IDS[:size])
        assert row.sum() == pytest.approx(1)
        for token in range(5):
            told = grams.probabilities(np.array([*IDS[:size], token]))[-1]
            assert row[token] == pytest.approx(told)


def test_no_draft_proposes_what_a_mask_forbids(little) -> None:
    def allowed(drafted):
        # Nothing that was drafted already, as an automaton with a state would say.
        may = np.ones(5, dtype=bool)
        may[list(drafted)] = False
        return may

    random = np.random.default_rng(0)
    for draft in every(little):
        for _ in range(20):
            found = draft.propose("a", IDS, 9, Way(PLAIN, random, allowed))
            assert len(set(found.tokens)) == len(found.tokens)
            for k, row in enumerate(found.rows):
                assert not row[~allowed(found.tokens[:k])].any()


def test_caches_do_not_cross_models(large, little) -> None:
    mine = ModelDraft(little, 2)
    mine.propose("a", IDS, 2, Way(PLAIN, np.random.default_rng(0)))
    _, cache = mine._caches["a"]
    assert cache.length == len(IDS) + 1
    tiny, draft = load("tiny"), load("draft")
    theirs = KVCache(tiny.config)
    tiny.logits(IDS, theirs)
    with pytest.raises(ValueError):
        draft.logits([1], theirs)


def test_greedy_text_is_that_without_a_draft(large, little) -> None:
    random = np.random.default_rng(0)
    plain = [*islice(next_ids(large, IDS, GREEDY, random), 12)]
    for draft in every(little):
        found = [*passes(large, draft, IDS, GREEDY, random, most=12)]
        assert [t for one in found for t in one.tokens] == plain
        assert sum(len(one.tokens) for one in found) == 12
    short = [*passes(large, draft, [1] * 22, GREEDY, random, most=12)]
    assert sum(len(one.tokens) for one in short) == 2  # the context ends
