"""Numbers of pages that have no cells: the landing page, the stack map, the readme.

``make execute`` stores them in ``book/said.json``, as a cell would in its output.
"""

from __future__ import annotations

import math

from stacklib import evidence, hardware, models, roofline
from stacklib.evidence import results
from stacklib.pages import chain
from stacklib.quantity import Quantity, chosen, counted, one_of, recorded, say
from stacklib.quantity.say import Saying
from stacklib.roofline.count.readiness import QUESTIONS

MODEL, DEVICE, DTYPE, CHIPS, CONTEXT = "llama-3-70b", "h100-sxm", "bf16", 8, 4096
COUNTED = "06-interconnect/journey"  # before weights get shorter
SHARES = {
    "memory": ("reading memory", chain.READ),
    "kernels": ("norms, launches and sampling", chain.KERNELS),
    "link": ("exchanges between the chips", (chain.EXCHANGES,)),
}
# Where the peer's time is the measure: the most of all shapes, by kind of processor.
ATTENTION = {
    "flash": ("flash_attention_numpy", "Attention in NumPy over torch's"),
    "both": ("flash_attention_torch", "Both passes through torch over torch's"),
    "heads": ("flash_attention_heads", "Many small heads, or decode, over torch's"),
}


def full() -> Quantity:
    """Sequences whose caches fit beside the weights, not rounded."""
    model = models.get(MODEL)
    memory = hardware.get(DEVICE).memory_capacity.across(chosen(CHIPS, label="chips"))
    return (memory - model.weight_bytes(DTYPE)) / model.kv_bytes(CONTEXT, DTYPE)


def price(batch: int) -> Quantity:
    """Dollars of a million tokens at the rented price and the least time."""
    hour = hardware.get(DEVICE).cloud_price.across(chosen(CHIPS, label="chips"))
    step = roofline.decode_step(
        MODEL, on=DEVICE, dtype=DTYPE, tp=CHIPS, batch=batch, context=CONTEXT
    )
    price = hour * (10**6 * one_of("token")) / step.tokens_per_s
    return price.named("price of a million tokens")


def stack() -> Saying:
    """One number for each layer of the stack map."""
    chip = hardware.get(DEVICE)
    sent = chip.link.retag("per_chip")
    four = roofline.decode_work(
        models.get(MODEL), dtype="fp4", tp=CHIPS, context=CONTEXT
    )
    return say(
        "stack",
        cost_fall=(
            price(1) / price(math.floor(full().si)),
            "How many times cheaper a token becomes when the chips are full",
            None,
            2,
        ),
        batch_full=(full(), "Sequences whose caches fit beside the weights"),
        link=(chip.link, "What one H100 sends to the others, in one direction", "GB/s"),
        link_gap=(
            chip.memory_bandwidth / sent,
            "How many times faster an H100 reads its memory than it sends",
            None,
            2,
        ),
        bytes_4bit=(
            four.bytes,
            "Bytes a token moves with weights and cache in 4 bits",
            "GB",
        ),
        transistors=(chip.transistors, "Transistors on the die of one H100", None, 2),
        die=(chip.die_area, "Area of the die of one H100", "mm2"),
    )


def token() -> Saying:
    """The token's account as chapter 6 leaves it, by layers of the stack."""
    own = chain.account(COUNTED, after=True)
    whole = own.total()
    hour = hardware.get(DEVICE).cloud_price.across(chosen(CHIPS, label="chips"))
    million = 10**6 * one_of("token") / one_of("token")
    shares = {
        f"{layer}_share": (
            chain.time(COUNTED, *names) / whole,
            f"Share of the token's time that is {what}",
            "%",
            2,
        )
        for layer, (what, names) in SHARES.items()
    }
    return say(
        "token",
        time=(whole, "A token on eight H100s, every line of its account", "ms"),
        cost=(
            (hour * whole * million).named("price of a million tokens"),
            "Rent of eight H100s while they make a million tokens for one reader",
            "USD",
            2,
        ),
        **shares,
    )


def house() -> Saying:
    """What the readme counts: devices, links, models, claims."""
    sheets = [name for name in hardware.names() if name != hardware.THIS_MACHINE]
    links = [*hardware.link_names(), *hardware.memory_names()]
    return say(
        "house",
        devices=(counted(len, sheets), "Devices with a data sheet, this machine apart"),
        links=(counted(len, links), "Links and memories"),
        models=(counted(len, models.names()), "Models counted to their parameters"),
        claims=(counted(len, evidence.claims()), "Claims of the source documents"),
    )


def ratio(result: str, *rows: str) -> Quantity:
    """How many times a peer's speed: the least of some rows, on any processor."""
    files = [results.file(name) for name in results.by_kind(result)]
    found = (recorded(file, row, "ratio") for file in files for row in rows)
    least = min(found, key=lambda q: q.si)
    return least.named(f"least ratio to the peer, {', '.join(rows)}")


def longest(result: str) -> Quantity:
    """How many times a peer's time: the most of the rows of a result file."""
    rows = [row["id"] for row in results.need(result)["rows"]]
    found = (recorded(results.file(result), row, "time_over_peer") for row in rows)
    most = max(found, key=lambda q: q.si)
    return most.named(f"most of the peer's time, {result}")


def peers() -> Saying:
    """What was measured beside named peers, for the readme's table."""
    grid, large = "benchmarks/results/codec_grid.json", "from 64 k on"
    found = {
        "codec": (recorded(grid, large, "least"), "Encode, decode: the least cell"),
        "codec_median": (recorded(grid, large, "median"), "Encode, decode: the median"),
        "codec_cells": (recorded(grid, large, "cells"), "Cells of 64 k and more"),
        "mxfp8": (ratio("quantize", "mxfp8_e4m3"), "MXFP8 over torchao"),
        "mxfp4": (ratio("quantize", "mxfp4"), "MXFP4 over gguf"),
        "nvfp4": (ratio("quantize", "nvfp4"), "NVFP4 over torchao"),
        "nf4": (ratio("quantize", "nf4"), "NF4 over bitsandbytes"),
        "q4_k": (ratio("q4_k", "q4_k encode"), "Q4_K encode over ggml"),
        "q4_k_decode": (ratio("q4_k", "q4_k decode"), "Q4_K decode over gguf"),
    }
    for key, (file, what) in ATTENTION.items():
        for name in results.by_kind(file):
            kind = name.removeprefix(f"{file}_")
            found[f"{key}_{kind}"] = longest(name), f"{what}, {kind}"
    return say("peers", **{k: (q, what, None, 2) for k, (q, what) in found.items()})


def readiness() -> Saying:
    """Answers to the questions that tell whether a reader knows enough."""
    answers = {q.key: (q.answer, q.what, q.unit or None, 4) for q in QUESTIONS}
    return say("readiness", **answers)


def said() -> Saying:
    """Everything that pages without cells say."""
    parts = (stack(), token(), house(), peers(), readiness())
    return Saying({name: one for part in parts for name, one in part.numbers.items()})
