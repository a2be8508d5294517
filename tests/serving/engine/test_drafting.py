"""An engine with a draft: the same answers sooner, and no block left behind."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

import numpy as np
import pytest

from stacklib.serving import Engine
from stacklib.serving.speculation.drafts import LookUpDraft, ModelDraft
from stacklib.serving.speculation.measure import passes
from stacklib.serving.speculation.rule import distribution
from stacklib.tinylm import Sampling, load
from stacklib.tinylm.model import next_ids
from stacklib.tinylm.sampling import draw

from ..speculation.conftest import large, little  # noqa: F401
from ..speculation.test_drafts import IDS as PROMPT
from ..speculation.test_drafts import every as drafts
from ..speculation.test_rule import chi_square

GREEDY, WARM = Sampling(0.0), Sampling(0.9, top_k=4)
ROOMY = {"blocks": 40, "block_size": 2, "max_batch": 4, "chunk": 16}
OPTIONS = {
    "roomy": {},
    "small pieces, one slot": {"max_batch": 1, "chunk": 4},
    "blocks of one, too few": {"blocks": 24, "block_size": 1},
    "memory for one": {"blocks": 12},
    "static": {"policy": "static", "blocks": 20},
}


def drain(engine):
    """All steps; after each, no block is held beyond what its tokens need."""
    allocator = engine._memory.allocator
    for _ in range(3000):
        if not engine.busy:
            return engine
        engine.step()
        for each in engine.running:
            assert len(each.held.blocks) == allocator.needed(len(each.held))
            assert len(each.held) <= len(each.known)
    raise AssertionError("no end")


def outputs(engine, how, count=6):
    asked = [
        engine.submit(PROMPT[: 2 + n], how, most=14 - 2 * n, seed=n)
        for n in range(count)
    ]
    drain(engine)._memory.allocator.check()
    assert engine.metrics().blocks_used == 0
    for each in asked:
        assert len(each.output) == each.asked.most
        whole = engine.explain(each.id)
        assert sum(whole.parts.values()) == pytest.approx(whole.total)
    return [each.output for each in asked]


@pytest.mark.parametrize("which", range(3))
@pytest.mark.parametrize("name", OPTIONS)
def test_greedy_answers_are_those_without_a_draft(large, little, name, which):  # noqa: F811
    draft = drafts(little)[which]
    engine = Engine(large, **ROOMY | OPTIONS[name], draft=draft)
    found = outputs(engine, GREEDY)
    for n, output in enumerate(found):
        alone = next_ids(large, PROMPT[: 2 + n], GREEDY, np.random.default_rng(0))
        assert output == [*islice(alone, len(output))]
    counts = engine.metrics().counts
    assert counts.drafted_tokens >= counts.accepted_tokens > 0
    if name in ("memory for one", "blocks of one, too few"):
        assert counts.preemptions
    if name == "blocks of one, too few":
        gone = counts.drafted_tokens - counts.accepted_tokens
        assert counts.rolled_back_blocks == gone
    if which == 0:
        assert not draft._caches  # of requests that ended nothing is kept


@pytest.mark.parametrize("which", range(3))
def test_a_seed_gives_the_same_answer_in_any_company(large, little, which):  # noqa: F811
    found = [
        outputs(Engine(large, **ROOMY | options, draft=drafts(little)[which]), WARM)
        for options in OPTIONS.values()
    ]
    assert all(each == found[0] for each in found)
    # And it is what the loop for one sequence draws, after the first token.
    random = np.random.default_rng(0)
    first = draw(distribution(large.logits(PROMPT[:2])[-1], WARM), random)
    draft, ids = drafts(little)[which], [*PROMPT[:2], first]
    rest = passes(large, draft, ids, WARM, random, most=13)
    assert [first, *(t for one in rest for t in one.tokens)] == found[0][0]


def test_answers_are_distributed_as_the_models_own(large, little):  # noqa: F811
    engine = Engine(large, **ROOMY, draft=ModelDraft(little, 3))
    runs = 600
    asked = [engine.submit(PROMPT, WARM, most=4, seed=n) for n in range(runs)]
    while engine.busy:
        engine.step()
    counts, expected = np.zeros((5, 5, 5)), np.zeros((5, 5, 5))
    for each in asked:
        counts[tuple(each.output[:3])] += 1
    first = distribution(large.logits(PROMPT)[-1], WARM)
    for a in range(5):
        second = distribution(large.logits([*PROMPT, a])[-1], WARM)
        for b in range(5):
            third = distribution(large.logits([*PROMPT, a, b])[-1], WARM)
            expected[a, b] = runs * first[a] * second[b] * third
    assert abs(chi_square(counts, expected)) < 4
    assert engine.metrics().counts.accepted_tokens > runs / 4


@dataclass(frozen=True)
class NoTwice:
    """No token twice in an answer: states are sets, as bits. After all, nothing."""

    def start(self):
        return 0

    def allowed(self, state, left=None):
        return np.array([not state >> token & 1 for token in range(5)])

    def advance(self, state, token):
        assert not state >> token & 1
        return state | 1 << token


@pytest.mark.parametrize("how", [GREEDY, WARM])
def test_drafts_obey_a_grammar_and_end_with_it(large, little, how):  # noqa: F811
    found = []
    for draft in (None, *drafts(little)):
        engine = Engine(large, **ROOMY, draft=draft)
        asked = [
            engine.submit(PROMPT, how, most=most, mask=NoTwice(), seed=most)
            for most in (3, 8)
        ]
        drain(engine)
        assert [each.reason for each in asked] == ["length", "mask"]
        assert all(len({*x.output}) == len(x.output) for x in asked)
        assert len(asked[1].output) == 5
        found.append([each.output for each in asked])
    if how is GREEDY:
        assert all(each == found[0] for each in found)


@dataclass(frozen=True)
class Breaks(NoTwice):
    """A grammar of a stranger that breaks once an answer has so many tokens."""

    where: str
    after: int = 2

    def allowed(self, state, left=None):
        if self.where == "allowed" and state.bit_count() == self.after:
            raise KeyError("no such state")
        width = 4 if self.where == "shape" and state.bit_count() == self.after else 5
        return super().allowed(state, left)[:width]

    def advance(self, state, token):
        if self.where == "advance" and state.bit_count() == self.after:
            raise ZeroDivisionError("a grammar")
        return super().advance(state, token)


@pytest.mark.parametrize("where", ["allowed", "advance", "shape"])
def test_a_grammar_that_breaks_ends_its_own_request_alone(large, little, where):  # noqa: F811
    for draft in (None, *drafts(little)):
        engine = Engine(large, **ROOMY, draft=draft)
        others = [engine.submit(PROMPT, GREEDY, most=9) for _ in range(2)]
        broken = engine.submit(PROMPT, GREEDY, most=9, mask=Breaks(where))
        drain(engine)
        if draft is None:  # a draft asks ahead: what it then made is not kept
            assert len(broken.output) == 2 + (where == "advance")
        assert broken.reason == "failed" and broken.output[0] == others[0].output[0]
        assert isinstance(broken.failed, Exception) and broken.finished is not None
        alone = Engine(large, **ROOMY, draft=draft)
        one = alone.submit(PROMPT, GREEDY, most=9)
        drain(alone)
        assert all(x.output == one.output and x.reason == "length" for x in others)


def test_a_trained_model_says_the_same_in_fewer_steps():
    tiny, steps, said = load(), [], []
    for draft in (None, ModelDraft(load("draft"))):
        engine = Engine(
            tiny, blocks=32, block_size=16, max_batch=2, chunk=16, draft=draft
        )
        text = [tiny.tokenizer.end, *tiny.tokenizer.encode("Return a list of the")]
        asked = [
            engine.submit(text, GREEDY, most=24, stop=stop) for stop in ((), (" and",))
        ]
        drain(engine)
        steps.append(engine.metrics().counts.steps)
        said.append([each.text for each in asked])
    assert said[0] == said[1] and steps[1] < 0.8 * steps[0]


def test_cancelled_in_the_middle_leaves_nothing(large, little):  # noqa: F811
    draft = ModelDraft(little, 3)
    engine = Engine(large, **ROOMY | {"blocks": 20}, draft=draft)
    random = np.random.default_rng(1)
    for n in range(60):
        engine.submit(PROMPT[: 1 + n % 8], WARM, most=1 + n % 9, seed=n)
        engine.step()
        engine.cancel(int(random.integers(n + 1)))
        engine._memory.allocator.check()
    drain(engine)
    assert engine.metrics().blocks_used == 0 and not draft._caches


def test_two_engines_may_share_a_draft(large, little):  # noqa: F811
    draft = ModelDraft(little, 3)
    engines = [Engine(large, **ROOMY, draft=draft) for _ in range(2)]
    for engine in engines:
        engine.submit(PROMPT, WARM, most=9, seed=5)
    while any(engine.busy for engine in engines):
        for engine in engines:
            engine.step()
    one, other = (engine.requests[0].output for engine in engines)
    assert one == other and not draft._caches


@pytest.mark.parametrize(
    ("draft", "said"),
    [("draft", "a Draft of serving"), (LookUpDraft(6), "of 6 ids for a model of 5")],
)
def test_what_is_no_draft_of_the_model_is_refused(large, draft, said):  # noqa: F811
    with pytest.raises(ValueError, match=said):
        Engine(large, **ROOMY, draft=draft)


def test_a_step_too_small_for_the_drafts_is_refused(large, little):  # noqa: F811
    with pytest.raises(ValueError, match="at least 4 a request, 16"):
        Engine(large, **ROOMY | {"chunk": 15}, draft=ModelDraft(little, 3))
