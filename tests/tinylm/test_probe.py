"""The probe asks fair questions, and its intervals are Wilson's."""

from types import SimpleNamespace

import pytest

from stacklib.tinylm import corpus
from stacklib.tinylm import probe as pr
from stacklib.tinylm.probe import Cloze, Result


def test_pairs_differ_and_none_comes_twice():
    found = pr.pairs()
    assert len(found) > 250 and len({p.kind for p in found}) == 8
    assert all(p.good != p.bad for p in found)
    assert len(set(found)) == len(found)
    assert not any("{}" in p.good + p.bad for p in found)


def test_cloze_answers_were_said_before_and_cannot_be_told_by_length(small):
    items = list(pr.cloze_items(corpus.evaluation_text(), small))
    assert len(items) >= 200
    for item in items:
        sizes = {len(small.tokenizer.encode(w)) for w in (item.answer, *item.others)}
        assert len(sizes) == 1
        assert len({item.answer, *item.others}) == 4
        assert all(w in item.passage for w in (item.answer, *item.others))


def test_the_same_seed_asks_the_same(small):
    documents = corpus.evaluation_text()[:6]
    assert list(pr.cloze_items(documents, small)) == list(
        pr.cloze_items(documents, small)
    )


def test_an_answer_is_the_cheapest_word(small):
    # the small random model's context is 64 tokens: the passage is cut to fit
    item = Cloze("x" * 300, " alpha", (" other", " third", " words"))
    costs = {}
    end, limit = small.tokenizer.end, small.config.max_position_embeddings
    words = (item.answer, *item.others)
    longest = max(len(small.tokenizer.encode(word)) for word in words)
    for word in (item.answer, *item.others):
        ids = small.tokenizer.encode(word)
        read = [end, *small.tokenizer.encode(item.passage)][-(limit - longest) :]
        log_p = pr.log_softmax(small.logits([*read, *ids[:-1]]))
        costs[word] = -sum(log_p[len(read) - 1 + i, t] for i, t in enumerate(ids))
    assert pr.answers(small, item) == (min(costs, key=costs.get) == item.answer)
    heard = []

    def logits(ids, cache):
        heard.append([*ids])
        return small.logits(ids, cache)

    parts = {"config": small.config, "tokenizer": small.tokenizer}
    pr.answers(SimpleNamespace(**parts, logits=logits), item)
    assert heard[0] + heard[1][:1] == read
    best = min(costs, key=costs.get)
    others = tuple(w for w in costs if w != best)
    assert pr.answers(small, Cloze(item.passage, best, others))


def test_wilson_intervals():
    # 9 of 10: 0.596 to 0.982, as in Brown, Cai and DasGupta (2001)
    found = Result("cloze", 9, 10, 0.25).accuracy
    assert found.low == pytest.approx(0.5958, abs=1e-4)
    assert found.high == pytest.approx(0.9821, abs=1e-4)
    none = Result("cloze", 0, 20, 0.25).accuracy
    assert none.low == pytest.approx(0, abs=1e-12) and none.high > 0.1


def test_a_model_without_training_does_no_better_than_chance(small):
    results = {r.part: r for r in pr.probe(small, corpus.evaluation_text()[:12])}
    cloze = results["cloze"]
    assert cloze.chance == 0.25 and cloze.accuracy.low < 0.25
    assert results["all pairs"].asked == len(pr.pairs())
