"""Scores of text: every token once, and intervals that mean what they say."""

import numpy as np
import pytest

from stacklib.tinylm import perplexity as px
from stacklib.tinylm.corpus import Document
from stacklib.tinylm.forward import log_softmax
from stacklib.tinylm.perplexity import Score


def test_a_short_text_costs_what_its_logits_say(small):
    ids = [9, 8, 7, 6]
    log_p = log_softmax(small.logits([small.tokenizer.end, *ids[:-1]]))
    expected = [-log_p[i, t] for i, t in enumerate(ids)]
    assert px.surprise(small, ids) == pytest.approx(expected)


@pytest.mark.parametrize("length", [1, 31, 32, 63, 64, 65, 96, 97, 128, 200])
def test_every_token_of_a_long_text_is_scored_once_with_half_a_context(small, length):
    # the context of the small model is 64 tokens
    ids = np.random.default_rng(length).integers(0, 2000, length).tolist()
    costs = px.surprise(small, ids)
    assert costs.shape == (length,)
    read = [small.tokenizer.end, *ids]
    for at in (0, length // 2, length - 1):
        possible = []
        for start in range(0, at + 1, 32):
            if at - start < 64:
                log_p = log_softmax(small.logits(read[start : at + 1]))
                possible.append(-log_p[-1, ids[at]])
        # the earliest window that holds the token gives it the most context
        assert costs[at] == pytest.approx(possible[0], rel=1e-4)


def test_a_uniform_scorer_costs_its_entropy(small):
    documents = [Document(str(i), "some text\n" * (i + 1)) for i in range(4)]
    scores = px.score(
        lambda ids: np.full(len(ids), np.log(4)), documents, small.tokenizer
    )
    tokens = sum(s.tokens for s in scores)
    found = px.bits_per_byte(scores)
    assert found.value == pytest.approx(2 * tokens / sum(s.bytes for s in scores))
    assert found.low <= found.value <= found.high
    worth = px.perplexity(scores)
    assert worth.value == pytest.approx(4)
    assert worth.low == pytest.approx(4) and worth.high == pytest.approx(4)


def test_the_interval_covers_the_truth_as_often_as_it_says():
    random = np.random.default_rng(1)
    hits = 0
    for _ in range(200):
        nats = random.normal(100, 20, 60)
        scores = [Score(str(i), 50, 100, n) for i, n in enumerate(nats)]
        found = px.bits_per_byte(scores)
        hits += found.low <= 1 / np.log(2) <= found.high
    assert 178 <= hits <= 199  # 95 % of 200, four standard deviations down


def test_a_paired_difference_is_narrower_than_its_parts():
    random = np.random.default_rng(2)
    hard = random.normal(100, 30, 80)
    one = [Score(str(i), 50, 100, n) for i, n in enumerate(hard)]
    two = [Score(str(i), 50, 100, n + 2) for i, n in enumerate(hard)]
    gap = px.difference(one, two)
    assert gap.value == pytest.approx(-0.02 / np.log(2))
    assert gap.high < 0
    wide = px.bits_per_byte(one)
    assert gap.high - gap.low < 0.01 * (wide.high - wide.low)


def test_other_documents_cannot_be_compared():
    one, two = [Score("a", 1, 1, 1.0)], [Score("b", 1, 1, 1.0)]
    with pytest.raises(ValueError, match="different documents"):
        px.difference(one, two)
    with pytest.raises(ValueError, match="at least 2"):
        px.bits_per_byte(one)
