"""What the book says of the models' quality can be measured again."""

import pytest

from stacklib.tinylm import corpus, evaluate, load, perplexity
from stacklib.tinylm.acceptance import acceptance
from stacklib.tinylm.corpus import Document
from stacklib.tinylm.perplexity import bits_per_byte, ngram_scorer, score
from stacklib.tinylm.probe import probe
from stacklib.tinylm.record import quality
from stacklib.tinylm.tokenizer import Tokenizer

FOUND = quality()


def test_the_model_beats_the_tuned_five_gram_by_more_than_the_interval():
    value, low, high = FOUND["less_than"]["kneser_ney"]
    assert low < value < high < 0
    for name in ("draft", "draft_plain", "kneser_ney_bytes"):
        assert FOUND["less_than"][name][2] < 0


def test_distillation_made_the_draft_more_acceptable():
    taught, plain = (FOUND["acceptance"][n] for n in ("draft", "draft_plain"))
    assert taught["rate"] - plain["rate"] > 4 * (taught["error"] + plain["error"])


@pytest.mark.parametrize("name", ["draft", "draft_plain"])
def test_bits_a_byte_of_the_committed_text_are_those_written(name):
    model = load(name)
    scores = score(model, corpus.evaluation_text(), model.tokenizer)
    found = bits_per_byte(scores)
    written = FOUND["evaluation_text"][name]
    assert [found.value, found.low, found.high] == pytest.approx(written, abs=2e-4)


def test_the_probe_answers_what_was_written():
    results = {r.part: [r.right, r.asked] for r in probe(load("draft"))}
    for part, (right, asked) in FOUND["probe"]["draft"].items():
        # a question on the edge may fall to the other side on another processor
        assert abs(results[part][0] - right) <= 1 and results[part][1] == asked


def test_a_baseline_is_tuned_on_text_that_it_had_not_counted():
    documents = [Document(f"d{i}", f"a list of {i} names\n" * 9) for i in range(80)]
    model = evaluate.baseline(documents, Tokenizer(()))
    assert model.order == 5 and model.vocab == 257
    told = score(ngram_scorer(model), documents[:9], Tokenizer(()))
    untaught = score(
        lambda ids: perplexity.np.full(len(ids), 5.5), documents[:9], Tokenizer(())
    )
    assert bits_per_byte(told).value < 0.2 * bits_per_byte(untaught).value


def test_an_untrained_model_predicts_no_better_than_its_vocabulary():
    model = evaluate.untrained(load("draft"))
    text = corpus.evaluation_text()[:3]
    nats = sum(s.nats for s in score(model, text, model.tokenizer))
    tokens = sum(s.tokens for s in score(model, text, model.tokenizer))
    assert nats / tokens == pytest.approx(perplexity.np.log(2048), rel=0.02)


def test_acceptance_of_a_short_text_is_near_the_written_rate():
    target, draft = load("tiny"), load("draft")
    texts = [
        [target.tokenizer.end, *target.tokenizer.encode(d.text)][:200]
        for d in corpus.evaluation_text()[:10]
    ]
    found = acceptance(target, draft, texts)
    assert abs(found.rate - FOUND["acceptance"]["draft"]["rate"]) < 0.08
