"""Section 6.13: What must every chip hold, and what must it send?"""

from __future__ import annotations

from statistics import median
from typing import Any

from stacklib import hardware, models
from stacklib.evidence import results, runs
from stacklib.evidence.runs import promised
from stacklib.interconnect.sharding.held import (
    GRADIENT,
    STATE,
    WEIGHT,
    Held,
    kept_activations,
    shard_bytes,
    shard_memory,
    tensor_bytes,
    tensor_message,
)
from stacklib.pages.interconnect.links.claims import one_way
from stacklib.pages.interconnect.sharding import claims
from stacklib.plots.live.parts import stand
from stacklib.quantity import Quantity, chosen, counted, counting, recorded
from stacklib.quantity.stored import bytes_per_element
from stacklib.roofline.work.moving import moving_time

RUN, MODEL, TP, RANKS, DEVICE = "sharded_training", "llama-3-70b", 8, 64, "h100_sxm"
SEQUENCE = 4096  # tokens of a training sequence
BYTES = {"weight": WEIGHT, "gradient": GRADIENT, "state": STATE}
SUMMED = "gradient, summed in fp32"  # over the microbatches of a step
STAGES = {"data parallel": 0, "ZeRO-1": 1, "ZeRO-2": 2, "ZeRO-3, FSDP": 3}
CASES = ("ddp-2", "ddp-4", "ours-2", "ours-4", "fsdp-2", "fsdp-4", "tensor-2")
WAYS = {
    "ddp": "DDP",
    "ours": "our ring",
    "fsdp": "FSDP",
    "tensor": "tensor parallel",
}


# -- training --------------------------------------------------------------------------


def parameters() -> Quantity:
    """Of the model."""
    return models.get(MODEL).parameters


def ranks() -> Quantity:
    """Chips of the training run."""
    return stand(__name__, "ranks", RANKS).named("chips that train")


def each(what: str) -> Quantity:
    """Bytes of a parameter's weight, gradient or optimizer state."""
    one = bytes_per_element("bf16" if what in ("weight", "gradient") else "fp32")
    return ((3 if what == "state" else 1) * one).named(f"bytes of a parameter, {what}")


def all_each(gradient: str = "gradient") -> Quantity:
    """Bytes that a parameter needs in training, its gradient in bf16 or ``SUMMED``."""
    total = each("weight") + each(gradient) + each("state")
    return total.named("bytes of a parameter in training")


def holds(zero: int) -> Held:
    """Bytes of one chip."""
    given = {what: each(what) for what in BYTES}
    return shard_memory(parameters(), ranks(), zero, **given)


def total(zero: int) -> Quantity:
    """Their sum."""
    held: Quantity = holds(zero).total
    return held.named(f"held by a chip, stage {zero}").to("GB")


def sends(zero: int) -> Quantity:
    """Bytes that a chip sends in a step, one direction."""
    told: Quantity = shard_bytes(
        parameters(), ranks(), zero, weight=each("weight"), gradient=each("gradient")
    )
    return told.named(f"sent by a chip in a step, stage {zero}").to("GB")


def more() -> Quantity:
    """Bytes of a step of FSDP over those of data parallel."""
    return (sends(3) / sends(0)).named("FSDP over data parallel, bytes")


def capacity() -> Quantity:
    """Of an H100."""
    return hardware.get(DEVICE).memory_capacity


# -- tensor parallel, for a token ------------------------------------------------------


def _size(field: str) -> Quantity:
    return models.get(MODEL).size(field, {"hidden": "hidden size"}.get(field, field))


def message(tokens: int = 1) -> Quantity:
    """Bytes that one all-reduce adds up."""
    width = chosen(2, "B", label="bytes of an activation")
    count = chosen(tokens, label="tokens at once")
    told: Quantity = tensor_message(_size("hidden"), count, width=width)
    return told.named(f"message of an all-reduce, {tokens} tokens")


def token_sends() -> Quantity:
    """Bytes that each of eight chips sends for a token, rings, one direction."""
    told: Quantity = tensor_bytes(
        _size("layers"),
        _size("hidden"),
        chosen(1, label="a token"),
        chosen(TP, label="chips"),
        width=chosen(2, "B", label="bytes of an activation"),
    )
    return told.named("sent by a chip for a token, tp 8").to("MB")


def token_holds() -> Quantity:
    """Weights of one of eight chips."""
    width = chosen(2, "B", label="bytes of a weight")
    held = parameters() * width / chosen(TP, label="chips")
    return held.named("weights of a chip, tp 8").to("GB")


def wire_time() -> Quantity:
    """Time of a token's bytes over NVLink 4, one direction."""
    time = moving_time(token_sends(), one_way("nvlink4"))
    return time.named("a token's bytes over NVLink 4").to("µs")


def kept(sequence: bool) -> Quantity:
    """Activations of a layer that wait for the backward pass, a sequence, tp 8."""
    words = "sequence parallel" if sequence else "tensor parallel"
    told = counted(
        kept_activations,
        models.get(MODEL).hidden,
        SEQUENCE,
        TP,
        sequence=sequence,
        unit="B",
        label=f"activations of a layer, {words}",
    )
    return told.to("MB")


def large(which: str) -> Quantity:
    """Of the 405B model: ``token`` bytes, or the share that PCIe takes of a prompt."""
    if which == "token":
        return claims.synchronised(1).to("MB")
    return claims.share_of_compute()


# -- the tiny model, run ---------------------------------------------------------------


def cases() -> dict[str, dict[str, Any]]:
    """Runs, each with what was predicted of it."""
    return runs.beside(RUN)


def seen(id: str, what: str) -> Quantity:
    """Median seconds of a step, bytes carried by all, or bytes held by rank 0."""
    file, label = results.file(RUN), f"{what}, {id}"
    if what == "time":
        field = "times_s/median"
        return recorded(file, id, field, unit="s", label=label).to("ms")
    fields = ["carried_bytes"]
    if what == "held":
        fields = [f"held/{part}" for part in cases()[id]["held"]]
    parts = [recorded(file, id, field, unit="B") for field in fields]
    return sum(parts[1:], parts[0]).named(label).to("MB")


def foretold(id: str, what: str) -> Quantity:
    """The same as predicted; ``form``: bytes by the form, whatever gloo does."""
    label = f"predicted {what}, {id}"
    if what == "time":
        return promised(RUN, id, "predicted_s", "s", label).to("ms")
    fields = {"carried": ["predicted_bytes"], "form": ["form_bytes"]}.get(what)
    if fields is None:
        fields = [f"held/{part}" for part in cases()[id]["told"]["held"]]
    parts = [promised(RUN, id, field, "B", field) for field in fields]
    return sum(parts[1:], parts[0]).named(label).to("MB")


@counting("largest error of bytes on the wire")
def bytes_off() -> float:
    """The largest error of the bytes on the wire."""
    return max(
        abs(foretold(id, "carried").si / seen(id, "carried").si - 1) for id in CASES
    )


@counting("largest difference of a loss")
def loss_off() -> float:
    """The largest difference of a loss from that of one process, relative."""
    alone = cases()["alone-1"]["losses"]
    return max(
        abs(a / b - 1)
        for id in CASES
        for a, b in zip(cases()[id]["losses"], alone, strict=True)
    )


@counting("median error of a step's time")
def time_off() -> float:
    """The median error of a step's time."""
    return median(
        abs(foretold(id, "time").si / seen(id, "time").si - 1) for id in CASES
    )


# -- tables ----------------------------------------------------------------------------


def stages() -> list[dict[str, Any]]:
    """What a chip holds and sends, by stage."""
    return [
        {
            "split": words,
            "weights": holds(zero).weights,
            "gradients": holds(zero).gradients,
            "optimizer": holds(zero).state,
            "together": total(zero),
            "sent": sends(zero),
        }
        for words, zero in STAGES.items()
    ]


def trained() -> list[dict[str, Any]]:
    """The tiny model's runs."""
    return [
        {
            "run": f"{WAYS[cases()[id]['kind']]}, {cases()[id]['world']} processes",
            "held, counted": seen(id, "held"),
            "sent, by the form": foretold(id, "form"),
            "sent, counted": seen(id, "carried"),
            "step, predicted": foretold(id, "time"),
            "step, measured": seen(id, "time"),
        }
        for id in CASES
    ]
