"""Section 8.7: Can a small model write what a large one checks?"""

from __future__ import annotations

from typing import Any

import numpy as np

from stacklib.pages.chain.posts import CONTEXT, DEVICE, MODEL, TP
from stacklib.pages.models.tiny.measured import measured_quality
from stacklib.quantity import Quantity, chosen, counted, counting, recorded
from stacklib.roofline.work.fit import fit_memory
from stacklib.serving import Engine, account
from stacklib.serving.speculation.cost import checking, costs, room, turning_batch
from stacklib.serving.speculation.drafts import ModelDraft
from stacklib.serving.speculation.formula import speedup, tokens_per_pass
from stacklib.serving.speculation.measure import FILE, LENGTH, NAMES, draft_of
from stacklib.serving.speculation.simulate import simulate
from stacklib.tinylm import Sampling, load

DRAFT = "llama-3.2-1b"  # has the vocabulary of the large one
MODE = "calibrated"
DRAFTED = LENGTH
PASSES = 4000  # that are drawn
CROWDS = (1, 8, 64)
ASKED: dict[str, Any] = {"tp": TP, "context": CONTEXT, "mode": MODE}
SHOWN = {
    "draft": "a tenth the size, distilled",
    "draft_plain": "as large, trained on text",
    "grams": "counted n-grams",
    "look_up": "look-up in the text itself",
}
PROMPTS = ("Return a list of the", "The following example", "If the file does not")


def drafted() -> Quantity:
    """Tokens of a draft."""
    return chosen(DRAFTED, label="drafted tokens")


def acceptance(name: str = "draft", which: str = "rate") -> Quantity:
    """What the tiny model keeps of a draft, on texts that neither was trained on."""
    return measured_quality("acceptance", name, which).named(f"acceptance of {name}")


def tokens(rate: Quantity | None = None, length: Quantity | None = None) -> Quantity:
    """Tokens a pass by the formula; at the draft's acceptance unless said."""
    found = tokens_per_pass(rate or acceptance(), length or drafted())
    return found.named("tokens a pass")


@counting("tokens a pass, drawn at {rate:.2}")
def drawn(rate: float, length: int = DRAFTED, seed: int = 0) -> float:
    """Tokens a pass when the rule is run on two distributions that overlap so much."""
    p = np.array([0.5, 0.3, 0.2, 0.0])
    q = rate * p + np.array([0.0, 0.0, 0.0, 1 - rate])
    random = np.random.default_rng(seed)
    found = simulate([(p, q)], length, passes=PASSES, random=random)
    return found.tokens_per_pass


# -- what was run ----------------------------------------------------------------------


def ran(name: str, field: str, warmth: int = 1) -> Quantity:
    """A figure of a measured run: a draft under the tiny model, at a temperature."""
    label = f"{field.replace('_', ' ')}, {name}, temperature {warmth}"
    return recorded(FILE, f"{name} at {warmth}", field, label=label)


def rows() -> list[dict[str, Any]]:
    """A row a draft: what the formula makes of its overlap, and what a run gave."""
    return [
        {
            "draft": SHOWN[name],
            "acceptance": ran(name, "overlap"),
            "by the formula": tokens(ran(name, "overlap")),
            "run": ran(name, "tokens_per_pass"),
            "run, greedy": ran(name, "tokens_per_pass", 0),
        }
        for name in NAMES
    ]


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
        draft=ModelDraft(load(draft), DRAFTED) if draft else None,
    )
    for text in PROMPTS:
        ids = [tiny.tokenizer.end, *tiny.tokenizer.encode(text)]
        engine.submit(ids, Sampling(0.0), most=64)
    while engine.busy:
        engine.step()
    return int(getattr(engine.metrics().counts, field))


# -- what it costs ---------------------------------------------------------------------


def cost(which: str, batch: int = 1) -> Quantity:
    """``draft`` or ``check``: time of a proposal or a pass over that of a step."""
    asked = (MODEL, DRAFT, DEVICE, DRAFTED)
    found: Quantity = costs(*asked, batch=batch, **ASKED)[which == "check"]
    return found.named(f"{which} over step, {batch} sequences")


def gain(rate: Quantity, batch: int = 1) -> Quantity:
    """How many times as fast a sequence gets its tokens."""
    found: Quantity = speedup(
        rate, drafted(), cost("draft", batch), cost("check", batch)
    )
    return found.named(f"gain at {batch}")


def turn(rate: Quantity) -> Quantity:
    """The smallest batch that the draft makes slower."""
    asked = {"acceptance": rate, "tp": TP, "context": CONTEXT, "mode": MODE}
    label = "smallest batch that loses"
    return counted(turning_batch, MODEL, DRAFT, DEVICE, **asked, label=label)


def both() -> Quantity:
    """Sequences that fit when the draft keeps its caches, too."""
    asked = {"tp": TP, "context": CONTEXT}
    return counted(room, MODEL, DRAFT, DEVICE, **asked, label="sequences, two caches")


def cache_share() -> Quantity:
    """Bytes of the draft's cache over those of the large model's."""
    sizes = {"on": DEVICE, "tp": TP, "context": CONTEXT}
    small, large = (fit_memory(name, **sizes).kv for name in (DRAFT, MODEL))
    return (small / large).named("the draft's cache over the other")


def a_pass(batch: int = 1) -> Quantity:
    """Seconds of a pass that checks."""
    found: Quantity = checking(MODEL, DEVICE, DRAFTED, batch=batch, **ASKED).total()
    return found.named("a pass that checks")


def a_draft(batch: int = 1) -> Quantity:
    """Seconds of one proposal."""
    found: Quantity = account(DRAFT, DEVICE, batch=batch, **ASKED).total()
    return found.named("a proposal")


def a_step(batch: int = 1) -> Quantity:
    """Seconds of a step without a draft."""
    found: Quantity = account(MODEL, DEVICE, batch=batch, **ASKED).total()
    return found.named("a step")


def exchanged(batch: int, checks: bool = True) -> Quantity:
    """Seconds in which eight chips exchange, in a pass or a step."""
    if checks:
        found = checking(MODEL, DEVICE, DRAFTED, batch=batch, **ASKED)
    else:
        found = account(MODEL, DEVICE, batch=batch, **ASKED)
    time: Quantity = found["exchanges"].time
    return time.named(f"exchanges of {'a pass' if checks else 'a step'}, {batch}")


def per_token(name: str, on: str) -> Quantity:
    """A line of the token's account with a draft: pass and proposals, shared out."""
    wide = checking(MODEL, on, DRAFTED, **ASKED)
    small = account(DRAFT, on, **ASKED)
    checks, writes = (
        next(line.time for line in found.lines if line.name == name)
        for found in (wide, small)
    )
    found: Quantity = (checks + drafted() * writes) / tokens()
    return found.named(name)


def draft_sizes(name: str) -> Quantity:
    """Parameters of one of the book's models."""
    return counted(parameters, name, label=f"parameters of {name}")


@counting("parameters of {name}")
def parameters(name: str) -> int:
    """Numbers in the weights of one of the book's models."""
    return load(name).parameters


def overlap_drafts() -> list[str]:
    """Drafts that were run."""
    return [name for name in NAMES if draft_of(name).length == DRAFTED]
