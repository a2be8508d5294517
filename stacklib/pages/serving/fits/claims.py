"""Claims on what a cache takes, what it shares memory with, and what makes it less."""

from __future__ import annotations

import math

from stacklib import hardware, models
from stacklib.evidence import Finding, claim
from stacklib.memory.tiers.parts import drive
from stacklib.pages.serving import fits as page
from stacklib.quantity import Quantity, chosen, counted, log2, one_of, quoted
from stacklib.roofline.work.moving import moving_time
from stacklib.serving.estimates.reductions import attention_kept

MODEL, LONG = page.MODEL, page.LONG
H200, OWN = "h200_sxm", "each query head keeps a key and a value of its own"
REQUESTS = chosen(100, label="requests, as claimed")
SESSIONS = chosen(500, label="sessions, as claimed")
SIXTEEN = 16  # tokens of a page


@claim("kv-70b-128k")
def long_cache() -> Finding:
    """The long conversation of the running case, grouped heads in 16 bits."""
    half = page.grouped(LONG, "fp8")
    return Finding(
        page.grouped(LONG),
        why=f"Grouped heads in bf16; in FP8 it is {half:.3 GB}. Another document has "
        "four times as much for the same model: own heads, in FP8.",
    )


@claim("kv-exceeds-h100")
def beside_one_gpu() -> Finding:
    """The same cache beside the memory that it is said to exceed."""
    have, weights = hardware.get(page.DEVICE).memory_capacity, models.get(MODEL)
    return Finding.false(
        f"Alone it lies in the {have:.3 GB} of one H100. Beside weights of "
        f"{weights.weight_bytes('bf16'):.4 GB} nothing does.",
        computed=page.grouped(LONG),
    )


@claim("kv-100-requests")
def hundred() -> Quantity:
    """So many long conversations."""
    return (REQUESTS * page.grouped(LONG)).named("caches of all requests")


@claim("gqa-reduction")
def grouped_heads() -> Finding:
    """Query heads for each KV head: of a small model, and of the running case."""
    few, many = (attention_kept(m).factor for m in ("mistral-7b-v0.1", MODEL))
    return Finding(few, to=many, why="A 7B model has four, the 70B model eight.")


@claim("kv-offload-latency")
def offload() -> Finding:
    """A page of sixteen tokens from the host's memory, and from a drive."""
    near, new = (page.fetch(SIXTEEN, place) for place in ("host", "drive"))
    whole = [page.fetch(LONG, place) for place in ("host", "drive")]
    held = models.get(MODEL).kv_bytes(SIXTEEN, "bf16")
    rates = quoted("micron_7450.read"), drive("micron_9200").read
    mid, old = (moving_time(held, rate) for rate in rates)
    return Finding(
        near,
        to=mid.named("a page from a drive of PCIe 4"),
        why=f"A page of {SIXTEEN} tokens from the host over PCIe 5, and from a drive "
        f"of PCIe 4; one of PCIe 5 takes {new:.3 ms}, one of PCIe 3 {old:.3 ms}. A "
        f"whole context of {LONG:,} tokens takes {whole[0]:.3 s} and {whole[1]:.3 s}.",
    )


@claim("kv-per-token-70b", right_if=OWN)
def token() -> Finding:
    """A token of the running case in FP8, grouped as the model is."""
    each = one_of("token")
    return Finding(
        page.per_token(dtype="fp8") / each,
        then=page.own(1) / each,
        why="The model has eight KV heads for 64 query heads.",
    )


@claim("kv-128k-session", right_if=OWN)
def session() -> Finding:
    """A long conversation in FP8, grouped as the model is."""
    return Finding(
        page.grouped(LONG, "fp8"),
        then=page.own(LONG),
        why=f"The {page.grouped(LONG):.3 GB} of another document are the same model in "
        "16 bits.",
    )


@claim("kv-exceeds-h200")
def beside_another() -> Finding:
    """The same conversation beside the memory of one H200."""
    have = hardware.get(H200).memory_capacity
    return Finding.depends(
        OWN,
        why=f"Then it has {page.own(LONG):.3 GB}. With the heads that the model has it "
        f"lies in the {have:.3 GB} of an H200 several times.",
        computed=page.grouped(LONG, "fp8"),
    )


@claim("kv-500-sessions", right_if=OWN)
def many_sessions() -> Finding:
    """So many of them."""
    return Finding(
        SESSIONS * page.grouped(LONG, "fp8"),
        then=SESSIONS * page.own(LONG),
        why="It follows from a cache with a key and a value for each query head.",
    )


def capacity(context: int, kv_dtype: str) -> Quantity:
    """Conversations of a model in FP8 on one H200, as an engine leaves room."""
    model, have = models.get(MODEL), hardware.get(H200).memory_capacity
    left = (have * page.used() - model.weight_bytes("e4m3fn")).named("left for caches")
    return counted(math.floor, left / model.kv_bytes(context, kv_dtype), label="fit")


@claim("kv-batch-capacity-4k", page.CONTEXT)
@claim("kv-batch-capacity-128k", LONG)
def on_one_h200(context: int) -> Finding:
    """From a cache in 16 bits to one in 8."""
    return Finding(
        capacity(context, "bf16"),
        to=capacity(context, "fp8"),
        why=f"Weights in FP8 on one H200, {page.used():.2 %} of its memory used, a "
        "cache in bf16 and in FP8. With the cache a token that the same document "
        "prints, one of the long context does not fit at all.",
    )


@claim("kv-linear")
def law() -> Finding:
    """How often the cache doubles when the context does, with grouped heads."""
    small = models.get(page.SMALL)
    one, two = (small.kv_bytes(n, "bf16") for n in (LONG // 4, LONG // 2))
    return Finding(
        log2(two / one).named("exponent of the context"),
        why=f"{small.name}: {one:.1 GiB} for a conversation of {LONG // 4:,} tokens. "
        "A window bends the law, a state breaks it.",
    )


@claim("weights-7b-70b-fit")
def weights() -> Finding:
    """Weights of both in bf16, and of the larger in half as many bits."""
    have, large = hardware.get(page.DEVICE).memory_capacity, models.get(MODEL)
    bf16, fp8 = (large.weight_bytes(name) for name in ("bf16", "fp8"))
    small = models.get("llama-2-7b").weight_bytes("bf16")
    why = f"A 7B model has {small:.3 GB} then. An H100 has {have:.3 GB}, in which the "
    why += f"{fp8:.3 GB} lie that the larger one takes in FP8."
    return Finding.depends("weights are kept in 16 bits", why, computed=bf16)


@claim("v4-kv-90")
def fourth_cache() -> Finding:
    """Both models' caches at a million tokens, counted layer by layer."""
    left = 1 - page.entries_left()
    return Finding(
        page.cache_cut(),
        why=f"Of entries alone {left:.3 %} go, in layers of two rates in equal number. "
        "V3.2 keeps keys of its index, too; formats are taken as equal.",
    )


@claim("v4-flops-73", right_if="the context is a million tokens")
def fourth_operations() -> Finding:
    """A token's operations, products and attention, at the case's context."""
    return Finding(
        page.operations_cut(page.CONTEXT),
        then=page.operations_cut(),
        why=f"After {page.CONTEXT:,} tokens V4's more active parameters count.",
    )


@claim("v4-params", page.FOURTH)
@claim("v3-active-5p5", page.LATENT)
def active(name: str) -> Quantity:
    """Parameters that a token passes, of all."""
    model = models.get(name)
    return (model.active_parameters / model.parameters).named("active share")


@claim("kv-1m-hundreds-gb")
def million() -> Finding:
    """A million tokens of the running case."""
    latent = models.get(page.LATENT)
    own = page.own_heads(page.LATENT) * page.bytes_per_element("bf16") * page.MILLION
    return Finding.true(
        "Grouped heads. A latent keeps "
        f"{latent.kv_bytes(page.MILLION, 'bf16'):.3 GB}; own heads of that size would "
        f"keep {own:.3 TB}.",
        computed=page.grouped(page.MILLION),
    )


@claim("mla-4-8x")
def latent() -> Finding:
    """Own heads over a latent, as the paper of the latent counts them."""
    kept = models.get(page.LATENT).kv_bytes_per_token("bf16")
    eight = page.eight_heads(page.LATENT) / kept
    return Finding(
        page.latent_cut(),
        why="Against a key and a value for each head, which the text says it replaces. "
        f"Against eight grouped heads of the same size it is {eight:.2}.",
    )


@claim("kv-128k-tens-gb")
def long_latent() -> Finding:
    """A long conversation of DeepSeek-V3."""
    held = models.get(page.LATENT).kv_bytes(LONG, "bf16").named("cache, latent, bf16")
    return Finding.false("Less than ten: a latent is kept, and no heads.", held)
