"""Setup of section 1.2 How much work is one layer?"""

from __future__ import annotations

from functools import cache

from stacklib import models, roofline
from stacklib.evidence import ledger
from stacklib.quantity import Quantity, bytes_per_element, chosen, one_of
from stacklib.quantity.constants import case
from stacklib.roofline.count import operations
from stacklib.roofline.count.catalogue import catalogue
from stacklib.roofline.count.operations import Operation
from stacklib.roofline.work.work import Work

MODEL, DEVICE = "llama-3-70b", "h100-sxm"


# Tokens of the prompt; tokens cached before one more.
PROMPT, CACHED = 2048, case("context")


SIDE = 4096  # of a square product, and of the rows that norm and softmax see


ELEMENTWISE = (
    "softmax",
    "layer norm",
    "RMS norm",
    "GELU",
    "SwiGLU",
    "residual add",
    "rotary",
    "cross-entropy",
)


@cache
def prompt(rule: str = "fused") -> list[Operation]:
    """One layer reads the prompt."""
    return operations.block_operations(MODEL, tokens=PROMPT, rule=rule)


@cache
def token(rule: str = "fused") -> list[Operation]:
    """One layer makes one token."""
    return operations.block_operations(MODEL, tokens=1, context=CACHED, rule=rule)


def total(listed: list[Operation], kind: str = "") -> Work:
    """All of them, or those of a kind."""
    return operations.total(listed, kind)


def least_time(listed: list[Operation], kind: str = "") -> Quantity:
    """Sum of the least times on an H100, one operation after the other."""
    some = [op for op in listed if kind in ("", op.kind)]
    times = [roofline.bound_on(op, DEVICE).time for op in some]
    return sum(times[1:], times[0]).named("sum of least times")


def layers() -> Quantity:
    """Layers of Llama-3-70B."""
    return models.get(MODEL).size("layers", "layers")


def prompt_tokens() -> Quantity:
    """Tokens of the prompt in this section's example."""
    return chosen(PROMPT, label="prompt")


def two_p() -> Quantity:
    """Two operations for each weight of the layer and token of the prompt."""
    per_weight = (2 * one_of("FLOP")).named("FLOP per weight and token")
    return per_weight * models.get(MODEL).layer_parameters() * prompt_tokens()


def per_weight() -> Quantity:
    """Operations of the layer's products for each weight and token, counted."""
    weights = models.get(MODEL).layer_parameters() * prompt_tokens()
    return total(prompt(), "product").operations / weights


def per_number() -> Quantity:
    """Operations the product with the gate does for each number it moves."""
    (gate,) = (op for op in prompt() if op.name == "gate")
    return gate.operations / (gate.bytes / bytes_per_element("bf16"))


def cache_intensity() -> Quantity:
    """Operations for each byte of keys and values a query of Llama-3-70B reads."""
    model = models.get("llama-3-70b")
    return model.attention_flops_per_token_pair / model.kv_bytes_per_token("bf16")


def own_division() -> Quantity:
    """Operations of a step over its bytes, both as document 001 states them."""
    work, moved = (ledger.get(f"decode-step-{of}") for of in ("flops", "bytes"))
    return work.quantity() / moved.quantity()


def attention_equal() -> Quantity:
    """Tokens a query looks at when attention costs as much as the weights."""
    model = models.get(MODEL)
    per_weight = (2 * one_of("FLOP")).named("FLOP per weight")
    pairs = model.attention_flops_per_token_pair / layers()
    return per_weight * model.layer_parameters() / pairs.named("FLOP a cached token")


def norm(rule: str) -> Quantity:
    return operations.layer_norm(rows=SIDE, columns=SIDE, rule=rule).intensity


def most_intense() -> Work:
    """The elementwise operation and rule with the most operations a byte."""
    works = [
        work
        for rule in operations.RULES
        for work in catalogue(SIDE, rule=rule)
        if work.name in ELEMENTWISE
    ]
    return max(works, key=lambda work: work.intensity.si)


def highest() -> Quantity:
    """Highest intensity of an elementwise operation, by any of the rules."""
    return most_intense().intensity


def attention(rule: str) -> Quantity:
    """Intensity of attention on a prompt, by one rule."""
    works = {work.name: work for work in catalogue(SIDE, rule=rule)}
    return works["attention, prompt"].intensity


def cache_read() -> Quantity:
    """Keys and values of one layer that a token reads."""
    model = models.get(MODEL)
    each = (model.kv_bytes_per_token("bf16") / layers()).named("of a token in a layer")
    return (chosen(CACHED + 1, label="tokens") * each).to("B").named("cache of a layer")
