"""Section 8.1: Will it fit, and for how many?"""

from __future__ import annotations

import math
from typing import Any

from stacklib import models, roofline, serving
from stacklib.memory.tiers.parts import drive
from stacklib.models.compressed import CompressedAttention
from stacklib.pages.chain import posts
from stacklib.pages.chain.posts import CONTEXT, DEVICE, MODEL, TP
from stacklib.quantity import (
    Quantity,
    bytes_per_element,
    chosen,
    counted,
    counting,
    quoted,
)
from stacklib.roofline.work.moving import link_time, moving_time
from stacklib.serving.estimates.reductions import (
    Together,
    attention_kept,
    narrow,
    own_heads,
    together,
)
from stacklib.serving.estimates.room import Room, admitted, kept_by_kind, room

LONG, MILLION = posts.LONG, posts.MILLION  # tokens: a long context, the longest
LATENT, SMALL, WINDOWED = "deepseek-v3", "llama-3-8b", "gemma-3-27b"
FOURTH, BEFORE = "deepseek-v4-pro", "deepseek-v3.2"
SHOWN = ("llama-2-7b", SMALL, MODEL, WINDOWED, "qwen3-next-80b-a3b", LATENT, FOURTH)
WORDS = {
    "MHA": "own heads",
    "GQA": "grouped",
    "MLA": "latent",
    "gated delta rule": "a state",
    "HCA 1:128": "an entry for 128",
    "CSA 1:4": "an entry for 4",
}
HOST, DRIVE = "pcie5_x16", "micron_9550"
FEWER_BITS = "q4_1"  # codes of four bits, a least number and a step for each 32


def used() -> Quantity:
    """Share of each GPU's memory that an engine takes by default."""
    return quoted("vllm.memory", "share of the memory that the engine may use")


def machine(context: int = CONTEXT, kv_dtype: str = "bf16") -> Room:
    """Llama-3-70B in bf16 on eight H100s, as an engine leaves room."""
    asked: dict[str, Any] = {"tp": TP, "context": context, "kv_dtype": kv_dtype}
    return room(MODEL, DEVICE, share=used(), **asked)


def per_token(model: str = MODEL, dtype: str = "bf16") -> Quantity:
    """Bytes that one more token adds, once every window is full."""
    found = models.get(model).kv_growth_per_token(dtype)
    return found.named(f"a token of {models.get(model).name}")


def tokens() -> Quantity:
    """Tokens of the running case that fit at all."""
    return (machine().left / per_token()).named("tokens that fit")


def step(batch: int) -> Quantity:
    """A token of each of so many readers, an engine's losses included."""
    asked: dict[str, Any] = {"on": DEVICE, "tp": TP, "context": CONTEXT}
    found: Quantity = serving.estimate(MODEL, dtype="bf16", batch=batch, **asked).tpot
    return found.named(f"a token, {batch} readers")


def page_tokens() -> Quantity:
    """Tokens of a block of the cache, by default."""
    return quoted("vllm.page", "tokens of a block")


def blocks() -> Quantity:
    """Whole blocks that lie in what is left."""
    each = (page_tokens() * per_token()).named("bytes of a block")
    return counted(math.floor, machine().left / each, label="blocks")


def filled() -> Quantity:
    """Conversations that an allocator of so many blocks admits."""
    size = int(page_tokens().si)
    return counted(admitted, blocks(), CONTEXT, size, label="conversations admitted")


# -- two attentions --------------------------------------------------------------------


def grouped(context: int, dtype: str = "bf16") -> Quantity:
    """A conversation's cache with the heads that the model has."""
    found = models.get(MODEL).kv_bytes(context, dtype)
    return found.named(f"cache of {context:,} tokens, grouped, {dtype}")


def own(context: int, dtype: str = "fp8") -> Quantity:
    """The same if each query head had its own key and value."""
    held = chosen(context, label="context") * own_heads(MODEL)
    found = held * bytes_per_element(dtype)
    return found.named(f"cache of {context:,} tokens, own heads, {dtype}")


def eight_heads(model: str) -> Quantity:
    """Bytes of a token if a model kept eight heads of its size in each layer."""
    found = models.get(model)
    heads = found.size("heads", "query heads")
    share = chosen(8, label="KV heads, as the running case has") / heads
    return own_heads(model) * share * bytes_per_element("bf16")


def latent_cut() -> Quantity:
    """Own heads over the latent that DeepSeek-V3 keeps."""
    return attention_kept(LATENT).factor


def composed() -> Together:
    """Grouped heads, shorter numbers and, for a latent model, what is left out."""
    return together([attention_kept(MODEL), narrow(FEWER_BITS), attention_kept(LATENT)])


def both() -> Together:
    """Grouped heads with shorter numbers, which compose."""
    return together([attention_kept(MODEL), narrow(FEWER_BITS)])


def kept(model: str, context: int) -> Quantity:
    """A conversation's cache in bf16."""
    return models.get(model).kv_bytes(context, "bf16")


def attention_of(model: str) -> str:
    """Its kinds of attention, the layers of each."""
    found: dict[str, int] = {}
    for row in kept_by_kind(model, MILLION):
        words = WORDS.get(name := row.kind.partition(",")[0], name)
        words += ", window" if name == "GQA" and "window" in row.kind else ""
        found[words] = found.get(words, 0) + row.layers
    return "; ".join(f"{layers} x {kind}" for kind, layers in found.items())


def in_windows() -> Quantity:
    """Share of Gemma's layers that see a window."""
    layers = models.get(WINDOWED).size("layers", "layers")
    return (windowed_layers(WINDOWED) / layers).named("in windows")


@counting("layers with a window")
def windowed_layers(model: str) -> int:
    """Layers that see a window."""
    rows = kept_by_kind(model, LONG)
    return sum(row.layers for row in rows if "window" in row.kind)


def held_by_windows() -> Quantity:
    """What they hold of a long conversation."""
    (near,) = (r.held for r in kept_by_kind(WINDOWED, LONG) if "window" in r.kind)
    return (near / kept(WINDOWED, LONG)).named("held by windows")


# -- compressed entries ----------------------------------------------------------------


def rates(model: str) -> list[int]:
    """Tokens that an entry of each kind of layer stands for, the fewest first."""
    every = (block.attention for block in models.get(model).kinds)
    return sorted({a.rate for a in every if isinstance(a, CompressedAttention)} - {0})


def pooled(kind: int) -> Quantity:
    """Of V4, by the kind of layer."""
    words = "tokens of an entry"
    return counted(rates, FOURTH, take=f"[{kind}]", label=words)


def entries_left() -> Quantity:
    """Share of entries that two kinds of layers, in turn, keep of a long context."""
    both = (1 / pooled(0) + 1 / pooled(1)) / 2
    return both.named("entries left")


@counting("cache of {model}", unit="B")
def held(model: str, context: int) -> float:
    """Bytes of a conversation's cache, counted layer by layer."""
    return models.get(model).kv_bytes(context, "bf16").si


@counting("operations of {model}", unit="FLOP")
def operations(model: str, context: int) -> float:
    """Operations of a token with so many before it."""
    work = roofline.decode_work(models.get(model), dtype="e4m3fn", context=context)
    return work.operations.si


def cache_cut() -> Quantity:
    """What the cache of a million tokens is shorter by."""
    return (1 - held(FOURTH, MILLION) / held(BEFORE, MILLION)).named("cut of the cache")


def operations_cut(context: int = MILLION) -> Quantity:
    """What a token's operations are fewer by."""
    new, old = (operations(model, context) for model in (FOURTH, BEFORE))
    return (1 - new / old).named("cut of the operations")


# -- another place ---------------------------------------------------------------------


def fetch(context: int, place: str) -> Quantity:
    """Time in which a cache comes back: from the host's memory, or from a drive."""
    held = models.get(MODEL).kv_bytes(context, "bf16")
    words, kept = f"{context:,} tokens from", drive(DRIVE)
    if place == "drive":
        return (moving_time(held, kept.read) + kept.latency).named(f"{words} flash")
    return link_time(held, HOST).named(f"{words} host memory")
