"""Section 8.7: Can a small model write what a large one checks?"""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib.pages.chain.posts import CONTEXT, DEVICE, MODEL, TP
from stacklib.pages.models.tiny.measured import measured_quality
from stacklib.quantity import Quantity, chosen, counted, recorded
from stacklib.roofline.work.fit import fit_memory
from stacklib.serving import account, estimate
from stacklib.serving.speculation.cost import checking, costs, turning_batch
from stacklib.serving.speculation.formula import speedup, tokens_per_pass
from stacklib.serving.speculation.record import FILE, LENGTH, NAMES
from stacklib.serving.token.lines import Account
from stacklib.serving.token.work import HOST

DRAFT = "llama-3.2-1b"  # has the vocabulary of the large one
MODE = "calibrated"
DRAFTED = LENGTH
ASKED: dict[str, Any] = {"tp": TP, "context": CONTEXT, "mode": MODE}
HIGHER = (0.7, 0.8)  # acceptances, as servers of large models often report them
SHOWN = {
    "draft": "a tenth the size, distilled",
    "draft_plain": "as large, trained on text",
    "grams": "counted n-grams",
    "look_up": "look-up in the text itself",
}


def drafted(length: int = DRAFTED) -> Quantity:
    """Tokens of a draft."""
    return chosen(length, label="drafted tokens")


def acceptance(name: str = "draft", which: str = "rate") -> Quantity:
    """What the tiny model keeps of a draft, on texts that neither was trained on."""
    return measured_quality("acceptance", name, which).named(f"acceptance of {name}")


def perplexity(name: str) -> Quantity:
    """Of one of the book's models, on texts that none was trained on."""
    return measured_quality("perplexity", name).named(f"perplexity of {name}")


def tokens(rate: Quantity | None = None, length: Quantity | None = None) -> Quantity:
    """Tokens a pass by the formula; at the draft's acceptance unless said."""
    found = tokens_per_pass(rate or acceptance(), length or drafted())
    return found.named("tokens a pass")


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


# -- what it costs ---------------------------------------------------------------------


def lost(model: str = MODEL) -> Quantity:
    """What the engine itself adds to a step of a model, between two of them."""
    parts = estimate(model, DEVICE, dtype="bf16", tp=TP, context=CONTEXT).parts
    found: Quantity = next(line.time for line in parts if line.name == HOST)
    return found.named(f"the engine's own, {model}")


def cost(
    which: str, batch: int = 1, length: Quantity | None = None, engine: bool = True
) -> Quantity:
    """``draft`` or ``check``: time of a proposal or a pass over that of a step.

    - ``engine``: with what an engine adds to each
    """
    asked: Any = ASKED | {"batch": batch}
    if engine:
        asked |= {"lost": (lost(), lost(DRAFT))}
    length = length or drafted()
    found: Quantity = costs(MODEL, DRAFT, DEVICE, int(length.si), **asked)[
        which == "check"
    ]
    return found.named(f"{which} over step, {batch} sequences")


def gain(
    rate: Quantity, batch: int = 1, length: Quantity | None = None, engine: bool = True
) -> Quantity:
    """How many times as fast a sequence gets its tokens."""
    length = length or drafted()
    both = (cost(which, batch, length, engine) for which in ("draft", "check"))
    found: Quantity = speedup(rate, length, *both)
    return found.named(f"gain at {batch}")


def turn(rate: Quantity) -> Quantity:
    """The smallest batch that the draft makes slower."""
    return counted(first_loss, rate, label="smallest batch that loses")


def first_loss(rate: float) -> int:
    """The same of a plain number, as a call that a reader can type."""
    both = lost().si, lost(DRAFT).si
    asked: Any = ASKED | {"acceptance": rate, "lost": both}
    found = turning_batch(MODEL, DRAFT, DEVICE, **asked)
    assert found is not None, rate
    return found


def cache_share() -> Quantity:
    """Bytes of the draft's cache over those of the large model's."""
    sizes: Any = {"on": DEVICE, "tp": TP, "context": CONTEXT}
    small, large = (fit_memory(name, **sizes).kv for name in (DRAFT, MODEL))
    return (small / large).named("the draft's cache over the other")


def a_pass(batch: int = 1) -> Quantity:
    """Seconds of a pass that checks."""
    found: Quantity = checking(MODEL, DEVICE, DRAFTED, batch=batch, **ASKED).total()
    return (found + lost()).named("a pass that checks")


def a_step(batch: int = 1, model: str = MODEL) -> Quantity:
    """Seconds of a step without a draft; or of one of the draft's."""
    found: Quantity = account(model, DEVICE, batch=batch, **ASKED).total()
    return (found + lost(model)).named(f"a step of {model}")


def exchanged(batch: int, checks: bool = True) -> Quantity:
    """Seconds in which eight chips exchange, in a pass or a step."""
    if checks:
        found = checking(MODEL, DEVICE, DRAFTED, batch=batch, **ASKED)
    else:
        found = account(MODEL, DEVICE, batch=batch, **ASKED)
    time: Quantity = found["exchanges"].time
    return time.named(f"exchanges of {'a pass' if checks else 'a step'}, {batch}")


@cache
def _pass_and_proposal(on: str) -> tuple[Account, Account]:
    return checking(MODEL, on, DRAFTED, **ASKED), account(DRAFT, on, **ASKED)


def per_token(name: str, on: str) -> Quantity:
    """A line of the token's account with a draft: pass and proposals, shared out."""
    checks, writes = (
        next(line.time for line in found.lines if line.name == name)
        for found in _pass_and_proposal(on)
    )
    found: Quantity = (checks + drafted() * writes) / tokens()
    return found.named(name)
