"""Numbers of the section on counting work: one layer of Llama-3-8B, by operation."""

from __future__ import annotations

from functools import cache

from stacklib import models, roofline
from stacklib.quantity import Quantity, bytes_per_element
from stacklib.roofline.count import operations
from stacklib.roofline.count.catalogue import catalogue
from stacklib.roofline.count.operations import Operation
from stacklib.roofline.work.work import Work

from .. import ledger as claims
from .registry import number

MODEL, DEVICE = "llama-3-8b", "h100-sxm"
PROMPT, CACHED = 2048, 4096  # tokens of the prompt; tokens cached before one more
SIDE = 4096  # of a square product, and of the rows that norm and softmax see
ELEMENTWISE = ("softmax", "layer norm", "RMS norm", "GELU", "SwiGLU", "residual add",
               "rotary", "cross-entropy")  # fmt: skip


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
    chosen = [op for op in listed if kind in ("", op.kind)]
    times = [roofline.bound_on(op, DEVICE).time for op in chosen]
    return sum(times[1:], times[0]).named("sum of least times")


@number("counting.layers", evidence="spec")
def layers() -> Quantity:
    """Layers of Llama-3-8B."""
    model = models.get(MODEL)
    return Quantity(model.layers, label="layers", source=model.source, kind="config")


@number("counting.layer_params", evidence="spec")
def layer_params() -> Quantity:
    """Weights of one layer of Llama-3-8B, counted from its shape."""
    return models.get(MODEL).layer_parameters()


@number("counting.prompt", digits=4)
def prompt_tokens() -> Quantity:
    """Tokens of the prompt in this section's example."""
    return Quantity(PROMPT, label="prompt", kind="assumption")


@number("counting.cached", digits=4)
def cached_tokens() -> Quantity:
    """Tokens in the cache when the layer makes one more, in this section's example."""
    return Quantity(CACHED, label="tokens cached", kind="assumption")


@number("counting.two_p")
def two_p() -> Quantity:
    """Two operations for each weight of the layer and token of the prompt."""
    per_weight = Quantity(2, "FLOP", label="FLOP per weight and token")
    return per_weight * models.get(MODEL).layer_parameters() * prompt_tokens()


@number("counting.per_weight", digits=2)
def per_weight() -> Quantity:
    """Operations of the layer's products for each weight and token, counted."""
    weights = models.get(MODEL).layer_parameters() * prompt_tokens()
    return total(prompt(), "product").operations / weights


@number("counting.per_number", unit="FLOP", digits=2)
def per_number() -> Quantity:
    """Operations the product with the gate does for each number it moves."""
    (gate,) = (op for op in prompt() if op.name == "gate")
    return gate.operations / (gate.bytes / bytes_per_element("bf16"))


@number("counting.cache_intensity", digits=2)
def cache_intensity() -> Quantity:
    """Operations for each byte of keys and values a query of Llama-3-70B reads."""
    model = models.get("llama-3-70b")
    return model.attention_flops_per_token_pair / model.kv_bytes_per_token("bf16")


@number("counting.own_division", digits=3, evidence="claimed")
def own_division() -> Quantity:
    """Operations of a step over its bytes, both as document 001 states them."""
    work, moved = (claims.get(f"decode-step-{of}") for of in ("flops", "bytes"))
    return work.quantity() / moved.quantity()


@number("counting.prompt_flop")
def prompt_flop() -> Quantity:
    """Arithmetic of one layer on the prompt, every operation counted."""
    return total(prompt()).operations


@number("counting.prompt_bytes")
def prompt_bytes() -> Quantity:
    """Bytes of one layer on the prompt when each operation moves its data once."""
    return total(prompt()).bytes


@number("counting.prompt_intensity")
def prompt_intensity() -> Quantity:
    """Arithmetic intensity of one layer on the prompt."""
    return total(prompt()).intensity


@number("counting.product_share", unit="%")
def product_share() -> Quantity:
    """Share of the layer's arithmetic that is done by products with weights."""
    return total(prompt(), "product").operations / total(prompt()).operations


@number("counting.attention_share", unit="%", digits=2)
def attention_share() -> Quantity:
    """Share of the layer's arithmetic that attention does on the prompt."""
    return total(prompt(), "attention").operations / total(prompt()).operations


@number("counting.elementwise_flop", unit="%", digits=2)
def elementwise_flop() -> Quantity:
    """Share of the layer's arithmetic done by norms, activation and additions."""
    return total(prompt(), "elementwise").operations / total(prompt()).operations


@number("counting.elementwise_bytes", unit="%", digits=2)
def elementwise_bytes() -> Quantity:
    """Share of the layer's bytes moved by norms, activation and additions."""
    return total(prompt(), "elementwise").bytes / total(prompt()).bytes


@number("counting.elementwise_time", unit="%", digits=2)
def elementwise_time() -> Quantity:
    """Share of the layer's least time on an H100 spent in norms and the like."""
    return least_time(prompt(), "elementwise") / least_time(prompt())


@number("counting.decode_elementwise", unit="%", digits=2)
def decode_elementwise() -> Quantity:
    """Share of a decoding layer's bytes moved by norms, activation and additions."""
    return total(token(), "elementwise").bytes / total(token()).bytes


@number("counting.steps_bytes", digits=2)
def steps_bytes() -> Quantity:
    """Bytes of plain array code over bytes of fused operations, on the prompt."""
    return total(prompt("steps")).bytes / total(prompt()).bytes


@number("counting.steps_flop", unit="%", digits=2)
def steps_flop() -> Quantity:
    """Arithmetic that plain array code adds by computing what the mask hides."""
    return total(prompt("steps")).operations / total(prompt()).operations - 1


@number("counting.steps_time", digits=2)
def steps_time() -> Quantity:
    """Least time on an H100 of plain array code over that of fused operations."""
    return least_time(prompt("steps")) / least_time(prompt())


@number("counting.steps_attention", unit="%", digits=2)
def steps_attention() -> Quantity:
    """Share of the bytes of plain array code that attention moves."""
    return total(prompt("steps"), "attention").bytes / total(prompt("steps")).bytes


@number("counting.decode_flop")
def decode_flop() -> Quantity:
    """Arithmetic of one layer for one new token, 4,096 cached."""
    return total(token()).operations


@number("counting.decode_bytes")
def decode_bytes() -> Quantity:
    """Bytes of one layer for one new token, 4,096 cached."""
    return total(token()).bytes


@number("counting.decode_intensity")
def decode_intensity() -> Quantity:
    """Arithmetic intensity of one layer for one new token."""
    return total(token()).intensity


@number("counting.attention_equal", digits=2)
def attention_equal() -> Quantity:
    """Tokens a query looks at when attention costs as much as the weights."""
    model = models.get(MODEL)
    per_weight = Quantity(2, "FLOP", label="FLOP per weight")
    pairs = model.attention_flops_per_token_pair / layers()
    return per_weight * model.layer_parameters() / pairs.named("FLOP a cached token")


@number("counting.matmul")
def square() -> Quantity:
    """Intensity of a square bf16 product of side 4,096."""
    return roofline.matmul(m=SIDE, n=SIDE, k=SIDE).intensity


@number("counting.side")
def side() -> Quantity:
    """Side above which a square bf16 product is bound by an H100's arithmetic."""
    return operations.crossover_side(DEVICE, "bf16")


def _norm(rule: str) -> Quantity:
    return operations.layer_norm(rows=SIDE, columns=SIDE, rule=rule).intensity


@number("counting.norm_fused")
def norm_fused() -> Quantity:
    """Intensity of LayerNorm that reads once and writes once, in bf16."""
    return _norm("fused")


@number("counting.norm_steps", digits=2)
def norm_steps() -> Quantity:
    """Intensity of LayerNorm whose every step goes through memory, in bf16."""
    return _norm("steps")


def _highest() -> Work:
    """The elementwise operation and rule with the most operations a byte."""
    works = [work for rule in operations.RULES for work in catalogue(SIDE, rule=rule)
             if work.name in ELEMENTWISE]  # fmt: skip
    return max(works, key=lambda work: work.intensity.si)


@number("counting.highest")
def highest() -> Quantity:
    """Highest intensity of an elementwise operation, by any of the rules."""
    return _highest().intensity


@number("counting.below", digits=2)
def below() -> Quantity:
    """Ridge of an H100 over the highest intensity of an elementwise operation."""
    return roofline.ridge(DEVICE) / highest()


def _attention(rule: str) -> Quantity:
    """Intensity of attention on a prompt, by one rule."""
    works = {work.name: work for work in catalogue(SIDE, rule=rule)}
    return works["attention, prompt"].intensity


@number("counting.attention_fused")
def attention_fused() -> Quantity:
    """Intensity of fused attention on a prompt of 4,096 tokens."""
    return _attention("fused")


@number("counting.attention_steps")
def attention_steps() -> Quantity:
    """The same when each step goes through memory and all scores are stored."""
    return _attention("steps")


@number("claim.decode_1p6", digits=2, evidence="claimed")
def claimed_1p6() -> Quantity:
    """Intensity of a decode step as document 001 states it."""
    return claims.get("decode-intensity-1p6").quantity()
