"""Acceptance: a model accepts itself, and drawing agrees with the overlap."""

import dataclasses

import numpy as np
import pytest

from stacklib.tinylm.acceptance import acceptance, accepted
from stacklib.tinylm.sampling import Sampling

IDS = list(range(40, 100))


def test_a_model_accepts_all_that_it_drafts_itself(small):
    found = acceptance(small, small, [IDS, IDS[:10]])
    assert found.rate == pytest.approx(1) and found.greedy == 1
    assert found.positions == 70


def test_drawing_agrees_with_the_overlap(small, small_config, build):
    draft = build(small_config, seed=1)
    told = acceptance(small, draft, [IDS])
    assert 0.05 < told.rate < 0.95
    random = np.random.default_rng(3)
    rounds = 60
    kept = sum(accepted(small, draft, IDS, random) for _ in range(rounds))
    n = rounds * len(IDS)
    error = np.sqrt(told.rate * (1 - told.rate) / n)
    assert abs(kept / n - told.rate) < 4 * error


def test_greedy_models_accept_where_they_agree(small, small_config, build):
    draft = build(small_config, seed=1, scale=0.2)
    found = acceptance(small, draft, [IDS], Sampling(temperature=0))
    assert found.rate == pytest.approx(found.greedy)


def test_what_cannot_be_compared_is_refused(small):
    with pytest.raises(ValueError, match="no texts"):
        acceptance(small, small, [])
    other = dataclasses.replace(
        small, tokenizer=dataclasses.replace(small.tokenizer, merges=())
    )
    with pytest.raises(ValueError, match="vocabularies of 2048 and 257"):
        acceptance(small, other, [IDS])
