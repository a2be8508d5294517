"""What section 8.7 runs: the rule by drawing, and the engine with a draft."""

from __future__ import annotations

import numpy as np

from stacklib.quantity import counting
from stacklib.serving import Engine, json_mask, schema_mask
from stacklib.serving.engine.request import Request
from stacklib.serving.masks.mask import Mask
from stacklib.serving.speculation.drafts import ModelDraft
from stacklib.serving.speculation.record import LENGTH
from stacklib.serving.speculation.simulate import simulate
from stacklib.tinylm import Sampling, load

PASSES = 4000  # that are drawn
PROMPTS = ("Return a list of the", "The following example", "If the file does not")


@counting("tokens a pass, drawn at {rate:.2}")
def drawn(rate: float, length: int = LENGTH, seed: int = 0) -> float:
    """Tokens a pass when the rule is run on two distributions that overlap so much."""
    p = np.array([0.5, 0.3, 0.2, 0.0])
    q = rate * p + np.array([0.0, 0.0, 0.0, 1 - rate])
    random = np.random.default_rng(seed)
    found = simulate([(p, q)], length, passes=PASSES, random=random)
    return found.tokens_per_pass


@counting("{field} of an engine")
def served(field: str, draft: str = "") -> int:
    """What the engine counts while the tiny model answers three prompts, greedily.

    - ``draft``: the name of a model of the book; none for no draft
    """
    tiny = load()
    engine = Engine(
        tiny,
        blocks=64,
        block_size=4,
        max_batch=len(PROMPTS),
        chunk=32,
        draft=ModelDraft(load(draft), LENGTH) if draft else None,
    )
    for text in PROMPTS:
        ids = [tiny.tokenizer.end, *tiny.tokenizer.encode(text)]
        engine.submit(ids, Sampling(0.0), most=64)
    while engine.busy:
        engine.step()
    return int(getattr(engine.metrics().counts, field))


@counting("parameters of {name}")
def parameters(name: str) -> int:
    """Numbers in the weights of one of the book's models."""
    return load(name).parameters


MASKED = ("states", "tokens", "allowed", "string", "walks", "bytes", "vocabulary")
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "size": {"type": "integer"},
    },
    "required": ["name", "size"],
    "additionalProperties": False,
}


def constrained(draft: str = "draft") -> tuple[Request, Mask]:
    """An answer that has to be the JSON of ``SCHEMA``, and the mask that held it."""
    tiny = load()
    small = ModelDraft(load(draft), LENGTH)
    engine = Engine(tiny, blocks=16, block_size=16, max_batch=1, chunk=32, draft=small)
    mask = schema_mask(SCHEMA, tiny.tokenizer)
    ids = [tiny.tokenizer.end, *tiny.tokenizer.encode("The file as JSON: ")]
    request = engine.submit(ids, Sampling(0.8), most=40, mask=mask, seed=4)
    while engine.busy:
        engine.step()
    return request, mask


@counting("{what} of a mask")
def masked(what: str) -> float:
    """What the mask of that answer took.

    - ``what``: ``states`` of the grammar, ``tokens`` of the answer, ``allowed``: mean
      share of the vocabulary that could follow, ``string``: the same within a string,
      ``walks`` through the vocabulary, and ``bytes`` that one of them read,
      ``vocabulary``: bytes of all its tokens
    """
    request, mask = constrained()
    spelled = mask.walks.tokenizer.spelled
    if what == "allowed":
        state, shares = mask.start(), []
        for token in request.output:
            shares.append(mask.allowed(state).mean())
            state = mask.advance(state, token)
        return float(np.mean(shares))
    if what == "string":
        free = json_mask(mask.walks.tokenizer)
        state = free.start()
        for token in mask.walks.tokenizer.encode('{"a": "b'):
            state = free.advance(state, token)
        return float(free.allowed(state).mean())
    walks = mask.walks
    return {
        "states": walks.grammar.states,
        "tokens": len(request.output),
        "walks": walks.walked,
        "bytes": walks.steps / walks.walked,
        "vocabulary": sum(map(len, spelled)),
    }[what]
