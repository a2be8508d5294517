"""Section 7.7: What may the cache forget?"""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib import hardware, models
from stacklib.evidence import ledger
from stacklib.pages.quantizers import steps
from stacklib.pages.quantizers.steps import CHIP, CHIPS, MODEL
from stacklib.quantity import Quantity, bytes_per_element, chosen, counting, recorded
from stacklib.quantity.constants import case
from stacklib.roofline import DecodeStep

SHORT, LONG = steps.CONTEXT, case("long")  # tokens that are cached
ENDS = ("value", "low", "high")  # of an interval
GROUP, WIDE = 32, 16  # numbers that share a scale; bits of a number left alone
PAGE = 16  # tokens of a page, by default, in vLLM
WIDTHS = (16, 8, 4, 3, 2)
LAYER = 3  # of the small model, whose keys are looked at
WAYS = {
    "keys by channel, values by token": ("channel", "token"),
    "both by token": ("token", "token"),
    "both by channel": ("channel", "channel"),
}


def stored_bits(bits: int, group: int = GROUP) -> Quantity:
    """Bits of a number with its share of a least number and a step in fp16."""
    code = chosen(bits, "bit", label="bits of a code")
    if bits == WIDE:
        return code.named("bits of a number left alone")
    half = bytes_per_element("fp16").to("bit")
    share = 2 * half / chosen(group, label="numbers of a group")
    return (code + share).named(f"bits of a number, codes of {bits}")


def per_token() -> Quantity:
    """Numbers that a token leaves in the cache."""
    found = models.get(MODEL).kv_bytes_per_token("bf16") / bytes_per_element("bf16")
    return found.named("numbers of a token")


def cached(context: int, bits: int) -> Quantity:
    """Bytes of one sequence's cache."""
    found = models.get(MODEL).kv_bytes(context, stored_bits(bits))
    return found.named(f"cache, {bits} bits")


def step(context: int, bits: int, batch: int = 1) -> DecodeStep:
    """The step with weights in bf16 and such a cache."""
    return steps.step(kv_dtype=stored_bits(bits), batch=batch, context=context)


def cache_time(context: int, bits: int) -> Quantity:
    """Time in which it reads the cache of one sequence."""
    found: Quantity = steps.line(steps.CACHE, "bf16", stored_bits(bits), context).time
    return found.named("reading the cache")


def share(context: int, bits: int, batch: int = 1) -> Quantity:
    """Share of a step's bytes that is cache."""
    weights = models.get(MODEL).read_bytes(batch, "bf16")
    left = 1 - weights / step(context, bits, batch).bytes
    return left.named("share of the cache")


def room() -> Quantity:
    """Memory of all chips that the weights leave."""
    have = hardware.get(CHIP).memory_capacity * chosen(CHIPS, label="chips")
    held = models.get(MODEL).parameters * bytes_per_element("bf16")
    return (have - held).named("room beside the weights")


@counting("sequences that fit, {bits} bits")
def fitting(context: int, bits: int) -> int:
    """Sequences whose caches fit beside the weights."""
    return int((room() / cached(context, bits)).si)


def tail(bits: int) -> Quantity:
    """Bytes of the tokens whose group is not full yet, at most: they wait in bf16."""
    wait = (chosen(GROUP, label="tokens of a group") - 1).named("tokens that wait")
    numbers = wait * per_token() / 2  # keys only
    return (numbers * bytes_per_element("bf16")).named(f"tail of the keys, {bits} bits")


# -- what was run ----------------------------------------------------------------------


def _row(bits: int, way: str) -> Any:
    from stacklib.tinylm.quantized_kv import measured_kv

    wanted = (bits, bits, *WAYS[way])
    for row in measured_kv():
        if (row.key_bits, row.value_bits, row.key_axis, row.value_axis) == wanted:
            return row
    raise ValueError(f"{bits} bits, {way}: not run")


def loss(bits: int, way: str, end: str = "value") -> Quantity:
    """Bits a byte that the small model loses; ``end``: value, low or high."""
    from stacklib.tinylm.quantized_kv import FILE

    label, field = f"loss, {bits} bits, {way}, {end}", f"loss/{ENDS.index(end)}"
    return recorded(FILE, _row(bits, way).id, field, unit="bit/B", label=label)


def ways_of(bits: int) -> list[str]:
    """Ways to share a scale that were run with so many bits."""
    from stacklib.tinylm.quantized_kv import measured_kv

    ran = {
        (row.key_axis, row.value_axis)
        for row in measured_kv()
        if row.key_bits == row.value_bits == bits
    }
    return [way for way, axes in WAYS.items() if axes in ran]


@cache
def _kept() -> Any:
    """Keys and values of one text, each by layer, head, token and channel."""
    from stacklib.tinylm import load
    from stacklib.tinylm.corpus import evaluation_text
    from stacklib.tinylm.forward import KVCache

    model = load()
    held = KVCache(model.config)
    ids = [model.tokenizer.end, *model.tokenizer.encode(evaluation_text()[0].text)]
    ids = ids[: model.config.max_position_embeddings]
    model.logits(ids, held)
    return [parts[:, :, : len(ids)] for parts in (held.keys, held.values)]


def _array(what: str, layer: int) -> Any:
    return _kept()[("keys", "values").index(what)][layer - 1]


def own_mean(what: str, layer: int = LAYER) -> float:
    """Share of the squares of a layer's numbers that is their channel's mean."""
    x = _array(what, layer)
    return float((x.mean(-2) ** 2).mean() / (x**2).mean())


def off(what: str, axis: str, bits: int, layer: int = LAYER) -> float:
    """Root of the squared error over that of the squares, after rounding."""
    from stacklib.tinylm.quantized_kv import rounded

    x = _array(what, layer)
    return float((((rounded(x, bits, axis) - x) ** 2).mean() / (x**2).mean()) ** 0.5)


# -- joules ----------------------------------------------------------------------------


def claimed_saving() -> Quantity:
    """What a claim says that FP8 saves of the power of FP16."""
    return ledger.get("fp8-power-saving").quantity()


def energy_saved(bits: int, account: str, context: int = LONG) -> Quantity:
    """Share of a token's energy that a smaller cache saves.

    All but the arithmetic goes with the bytes: moving them, and the power that flows
    while they are moved.
    """
    from stacklib.memory import decode_energy

    energy = decode_energy(MODEL, on=CHIP, tp=CHIPS, account=account, context=context)
    fewer = 1 - step(context, bits).bytes / step(context, WIDE).bytes
    with_bytes = 1 - energy.share("arithmetic")
    return (fewer * with_bytes).named(f"energy saved by the cache, {account}")
