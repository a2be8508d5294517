"""Section 8.2: What will a token cost, before you pay for the hour?"""

from __future__ import annotations

from typing import Any

from stacklib import hardware, models, serving
from stacklib.evidence.calibrate.kinds import KIND_BARS, errors_by_kind, kind_error
from stacklib.hardware.errors import error_band
from stacklib.pages.chain.posts import ANSWER, CONTEXT, DEVICE, MODEL, READERS, TP
from stacklib.quantity import Quantity, chosen, counted, counting, stamp
from stacklib.quantity.keys import keys_of
from stacklib.roofline.work.moving import memory_time
from stacklib.serving import Account
from stacklib.serving.estimates import steady
from stacklib.serving.estimates.estimate import Estimate
from stacklib.serving.estimates.step import step_of
from stacklib.serving.token.shape import ATTENTION, HEAD, PRODUCTS
from stacklib.serving.token.work import HOST

CROWD = READERS  # conversations
MIXED = "deepseek-v3"
WORDS = {
    "one sequence": "one sequence, its tokens",
    "served": "a token among others",
    "most": "largest throughput",
    "prompt": "one prompt",
    "first token": "first token among others",
}
WEIGHTS = (PRODUCTS, HEAD)


def estimate(batch: int = 1, mode: str = "calibrated") -> Estimate:
    """The running case for so many conversations."""
    asked: dict[str, Any] = {"batch": batch, "context": CONTEXT, "mode": mode}
    return serving.estimate(MODEL, DEVICE, "bf16", TP, **asked)


def tpot(batch: int = 1, mode: str = "calibrated") -> Quantity:
    """Time of a step: of one token of each of so many conversations."""
    found: Quantity = estimate(batch, mode).tpot
    return found.named(f"a step of {batch}")


def growth() -> Quantity:
    """A step of the crowd over a step of one."""
    return (tpot(CROWD) / tpot()).named(f"a step of {CROWD} over one of 1")


def rate(batch: int = 1) -> Quantity:
    """Tokens a second of the whole machine."""
    found: Quantity = estimate(batch).tokens_per_s
    return found.named(f"tokens a second of {batch}")


def part(name: str, batch: int = 1) -> Quantity:
    """What one line of the step takes."""
    found: Quantity = next(x.time for x in estimate(batch).parts if x.name == name)
    return found.named(f"{name}, {batch}")


def band(take: str, batch: int = 1) -> Quantity:
    """An end, ``low`` or ``high``, of what nine in ten published rows allow."""
    cell = estimate(batch).error
    assert cell is not None
    factor = counted(error_band, cell.cell, take=take, label=f"{take} end of the band")
    return (factor * tpot(batch)).named(f"{take} end, {batch}")


# -- what is moved ---------------------------------------------------------------------


def limit(batch: int = 1) -> Account:
    """The step at the data sheet's rates: bytes and operations of each line."""
    asked: dict[str, Any] = {"batch": batch, "context": CONTEXT}
    return serving.account(MODEL, DEVICE, "bf16", TP, **asked)


def weights(batch: int = 1) -> Quantity:
    """Bytes of the weights that a step reads, over all chips."""
    found = limit(batch)
    moved: Quantity = found[PRODUCTS].bytes + found[HEAD].bytes
    return moved.named("weights read")


def cache(batch: int = 1) -> Quantity:
    """Bytes of all conversations' caches that a step reads."""
    moved: Quantity = limit(batch)[ATTENTION].bytes
    return moved.named(f"caches read, {batch}")


def bandwidth() -> Quantity:
    """Bytes a second of all chips' memories."""
    rate = hardware.get(DEVICE).memory_bandwidth
    return rate.across(chosen(TP, label="chips"))


def reading(batch: int = 1) -> Quantity:
    """Time to read both at the data sheet's bandwidth."""
    return memory_time(weights(batch) + cache(batch), DEVICE, TP).named("reading")


def turning() -> Quantity:
    """Conversations whose caches are as many bytes as the weights."""
    return (weights() / cache()).named("as many bytes as the weights")


# -- operations for each byte ----------------------------------------------------------


def intensity(rows: int, prompt: bool = False) -> Quantity:
    """Operations of the products for each byte of weights, of a step or a prompt."""
    if not prompt:
        found = limit(rows)[PRODUCTS]
    else:
        asked: dict[str, Any] = {"context": CONTEXT, "prompt": rows}
        found = serving.account(MODEL, DEVICE, "bf16", TP, **asked)[PRODUCTS]
    each: Quantity = found.operations / found.bytes
    return each.named(f"intensity, {rows}")


def ridge() -> Quantity:
    """Operations for each byte at which the chip's arithmetic is the longer."""
    chip = hardware.get(DEVICE)
    return (chip.peak("bf16") / chip.memory_bandwidth).named("ridge")


@counting("bytes read, {batch} conversations", unit="B")
def read_of_experts(batch: int) -> float:
    """Bytes of DeepSeek-V3's weights in FP8 that a step reads."""
    return models.get(MIXED).read_parameters(batch).si


def like_dense() -> Quantity:
    """Those of the crowd over those of one conversation."""
    both = read_of_experts(CROWD) / read_of_experts(1)
    return both.named("read by the crowd, over one")


BENCH = ANSWER


@counting("a token among others", unit="s")
def among_others(batch: int, prompt: int, new: int) -> float:
    """Seconds of a token of one request of many, their prompts on its steps."""
    keys = (*keys_of(MODEL, DEVICE, "bf16", None), TP, 1)
    step = step_of(keys, "engine", "calibrated")
    load = steady.Load(float(batch), float(prompt), float(new))
    return steady.token_time(step, load)


def benched() -> Quantity:
    """What tonight's benchmark prints as the mean time of a token."""
    return stamp(among_others(CROWD, CONTEXT, BENCH), "E_decode/served")


def bench_end(take: str) -> Quantity:
    """An end of what nine in ten published rows allow for it."""
    factor = counted(error_band, "E_decode/served", take=take, label=f"{take} end")
    return (factor * benched()).named(f"{take} end, tonight's benchmark")


# -- held against measurements ---------------------------------------------------------


def kinds() -> list[dict[str, Any]]:
    """A row a kind of published inference: rows, and errors of those never seen."""
    return [
        {
            "kind": words,
            "rows": errors_by_kind()[kind].n,
            "median": error(kind),
            "90th percentile": error(kind, "p90"),
            "bars": f"{KIND_BARS[kind].median:.0%}, {KIND_BARS[kind].p90:.0%}",
        }
        for kind, words in WORDS.items()
    ]


def error(kind: str, take: str = "median") -> Quantity:
    """A quantile of a kind's errors."""
    return counted(kind_error, kind, take, label=f"{kind}: {take}")


def lost(batch: int = 1) -> Quantity:
    """What the engine loses between layers in a step."""
    return part(HOST, batch)


def each_layer() -> Quantity:
    """What it loses between one layer and the next."""
    return hardware.efficiency_quantity("engine_layer")


def without() -> Quantity:
    """A step of one by the account alone."""
    return (tpot() - lost()).named("without the engine's losses")
