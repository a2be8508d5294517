"""Whatever the engine does to a request, its tokens are the model's own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from stacklib import tinylm
from stacklib.serving import Engine
from stacklib.serving.engine.replay import replay
from stacklib.tinylm import Sampling

GREEDY = Sampling(0.0)
COLD = Sampling(0.8, 0, 0.95)
ROOMY = {"blocks": 64, "block_size": 4, "max_batch": 4, "chunk": 16}
# Everything on and off: who goes first, pieces of prompts, memory too small, one slot.
OPTIONS = {
    "roomy": {},
    "one slot": {"max_batch": 1},
    "a token at a time": {"max_batch": 1, "chunk": 1},
    "small pieces": {"chunk": 4},
    "whole prompts": {"chunk": 512},
    "blocks of one": {"block_size": 1, "blocks": 128},
    "memory too small for two": {"blocks": 12},
    "and in small pieces": {"blocks": 12, "chunk": 4},
    "shortest first": {"policy": "shortest", "blocks": 20},
    "static": {"policy": "static", "blocks": 20},
}


def prompts(count, seed=0, most=30):
    """Prompts of random lengths; some share a beginning."""
    draw = np.random.default_rng(seed)
    shared = draw.integers(0, 2047, most).tolist()
    for _ in range(count):
        kept, own = draw.integers(0, 20), draw.integers(1, 11)
        yield shared[:kept] + draw.integers(0, 2047, own).tolist()


def run(engine):
    moved = []
    for _ in range(5_000):
        if not engine.busy:
            return moved
        moved += engine.step()
    raise AssertionError("no end")


@pytest.mark.parametrize("name", OPTIONS)
def test_tokens_are_the_models_own(small, name):
    engine = Engine(small, **ROOMY | OPTIONS[name])
    asked = []
    for n, tokens in enumerate(prompts(9)):
        how = GREEDY if n % 2 else COLD
        asked.append(engine.submit(tokens, how, most=1 + 2 * n, seed=n))
        engine.step()
    run(engine)
    found = [replay(small, each) for each in asked]
    assert sum(each.wrong for each in found) == 0
    assert sum(each.ties for each in found) <= 1
    assert all(len(x.output) == x.asked.most or x.reason == "stop" for x in asked)
    engine._memory.allocator.check()
    counts = engine.metrics()
    assert counts.blocks_used == counts.running == counts.waiting == 0
    if name == "memory too small for two":
        assert counts.counts.preemptions > 0 < counts.counts.recomputed_tokens
    # A row is read for every token of prompt and answer but the last, less what was
    # found, plus what was read again.
    c = counts.counts
    read = sum(len(x.tokens) + len(x.output) - (x.reason != "stop") for x in asked)
    assert c.rows == read - c.cached_tokens + c.recomputed_tokens


def test_a_wrong_token_is_seen(small):
    engine = Engine(small, **ROOMY)
    for how in (GREEDY, COLD):
        one = engine.submit([1, 2, 3], how, most=6)
        run(engine)
        one.output[3] ^= 1
        assert replay(small, one).wrong > 0


def test_text_is_that_of_generate():
    model = tinylm.load()
    engine = Engine(model, blocks=40, block_size=16, max_batch=4, chunk=24)
    starts = ("def f(", "The token", "", "A warp is")
    cases = [(text, {"temperature": 0.0}) for text in starts]
    cases += [("import ", {"temperature": 0.8, "top_p": 0.95, "seed": 3})]
    asked = [
        engine.submit(
            [model.tokenizer.end, *model.tokenizer.encode(text)],
            Sampling(**{k: v for k, v in how.items() if k != "seed"}),
            most=24,
            seed=how.get("seed"),
        )
        for text, how in cases
    ]
    run(engine)
    for request, (text, how) in zip(asked, cases, strict=True):
        due = "".join(
            tinylm.generate(text, model=model, tokens=24, **{"top_p": 1.0} | how)
        )
        assert request.text == due or replay(model, request).ties


def test_a_request_does_not_see_the_others(small):
    """The same seed gives the same answer alone, among others and preempted."""
    texts = set()
    for others, blocks in ((0, 64), (7, 64), (7, 9)):
        engine = Engine(small, **ROOMY | {"blocks": blocks})
        for tokens in prompts(others, seed=others, most=20):
            engine.submit(tokens[:14], COLD, most=20)
        one = engine.submit([5, 6, 7], COLD, most=20, seed=11)
        run(engine)
        texts.add(tuple(one.output))
    assert len(texts) == 1


def test_a_prefix_is_found_once_it_is_computed(small):
    engine = Engine(small, **ROOMY | {"chunk": 4})
    prompt = list(range(20))
    first = engine.submit(prompt, GREEDY, most=4)
    engine.step()  # four of its twenty tokens
    second = engine.submit(prompt, GREEDY, most=4)
    run(engine)
    third = engine.submit([*prompt[:9], 99, 1, 2, 3], GREEDY, most=2)
    run(engine)
    assert first.cached == 0
    assert second.cached == 16  # it waited for tokens; of the last block one is needed
    assert third.cached == 8
    assert "another token at place 9: 99, not 9" in third.why
    assert second.output == first.output
    assert engine.metrics().hit_rate == pytest.approx(24 / 53)


def test_stop_strings_cross_tokens(small):
    engine = Engine(small, **ROOMY)
    free = engine.submit([3, 4], COLD, most=30, seed=2)
    run(engine)
    cut = next(n for n in range(4, 20) if free.text[n : n + 3].isascii())
    stop = free.text[cut : cut + 3]
    held = engine.submit([3, 4], COLD, most=30, seed=2, stop=(stop,))
    pieces = list(engine.stream(held.id))
    assert held.reason == "stop"
    assert held.text == free.text[: free.text.index(stop)]
    assert "".join(piece.text for piece in pieces) == held.text
    assert len(held.output) <= len(free.output)


class Even:
    """Even tokens only; after three of them nothing."""

    def start(self):
        return 0

    def allowed(self, state, left=None):
        return (np.arange(2048) % 2 == 0) & (state < 3)

    def advance(self, state, token):
        return state + 1


def test_masks(small):
    engine = Engine(small, **ROOMY)
    one = engine.submit([1], COLD, most=9, mask=Even(), logprobs=2)
    run(engine)
    assert len(one.output) == 3 and one.reason == "mask"
    assert not any(token % 2 for token in one.output)
    for piece in one.pieces:
        (first, high), (_, low) = piece.top
        assert 0 >= high >= low and high >= piece.logprob
        assert first != piece.token or high == piece.logprob


def test_one_token_asked_and_one_read(small):
    engine = Engine(small, blocks=1, block_size=1, max_batch=1, chunk=1)
    one = engine.submit([7], GREEDY, most=1)
    assert engine.step() == (one,)
    assert (one.reason, len(one.output), engine.busy) == ("length", 1, False)
    assert engine.step() == ()


def test_cancel(small):
    engine = Engine(small, **ROOMY | {"max_batch": 1})
    runs, waits = (engine.submit([1, 2], GREEDY, most=9) for _ in range(2))
    engine.step()
    for one in (runs, waits):
        assert engine.cancel(one.id)
        assert not engine.cancel(one.id)  # twice: no error
        assert one.reason == "cancelled"
    assert not engine.busy
    assert engine.metrics().blocks_used == 0
    assert list(engine.stream(runs.id)) == runs.pieces
    with pytest.raises(KeyError, match="request 9"):
        engine.cancel(9)


@pytest.mark.parametrize(
    ("tokens", "more", "words"),
    [
        ([1] * 60, {"most": 5}, "60 \\+ 5 = 65 tokens: a context of 64"),
        ([1] * 30, {"most": 20}, "30 \\+ 20 - 1 = 49 tokens need 13 blocks of 4.* 12"),
        ([], {}, "row of whole numbers"),
        ([2048], {}, "outside"),
        ([-1], {}, "outside"),
        ([1.5], {}, "whole numbers"),
        ([True], {}, "whole numbers"),
        ("text", {}, "whole numbers"),
        ([[1]], {}, "whole numbers"),
        ([1], {"most": 0}, "most = 0"),
        ([1], {"most": 2.5}, "most = 2.5"),
        ([1], {"stop": ("",)}, "stop"),
        ([1], {"stop": "text"}, "stop"),
        ([1], {"seed": -1}, "seed = -1"),
        ([1], {"logprobs": 21}, "logprobs = 21"),
        ([1], {"sampling": 0.5}, "sampling = 0.5"),
    ],
)
def test_what_is_refused(small, tokens, more, words):
    engine = Engine(small, **ROOMY | {"blocks": 12})
    more = {"sampling": GREEDY, "most": 1} | more
    with pytest.raises(ValueError, match=words):
        engine.submit(tokens, more.pop("sampling"), **more)
    assert not engine.busy and not engine.requests


@pytest.mark.parametrize(
    ("size", "words"),
    [
        ({"chunk": 3}, "chunk = 3"),
        ({"max_batch": 0}, "max_batch = 0"),
        ({"blocks": float("nan")}, "blocks = nan"),
        ({"block_size": True}, "block_size = True"),
    ],
)
def test_what_is_no_engine(small, size, words):
    with pytest.raises(ValueError, match=words):
        Engine(small, **ROOMY | size)
    with pytest.raises(LookupError, match="static"):
        Engine(small, **ROOMY, policy="statik")


def test_two_engines_in_two_threads(small):
    def serve(seed):
        engine = Engine(small, **ROOMY | {"blocks": 12})
        asked = [engine.submit(p, COLD, most=8) for p in prompts(6, seed)]
        run(engine)
        return [each.output for each in asked]

    with ThreadPoolExecutor(2) as threads:
        one, other = threads.map(serve, (1, 1))
    assert one == other
