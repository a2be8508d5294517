"""Section 4.7: How does one query use a whole chip?"""

from __future__ import annotations

from typing import Any

from stacklib import hardware, models
from stacklib.kernels.attention import mla
from stacklib.kernels.plan.published import GAINS, Gain
from stacklib.pages.kernels.mla import split
from stacklib.quantity import (
    Quantity,
    bytes_per_element,
    chosen,
    counted,
    counting,
    one_of,
)
from stacklib.roofline import decode_step
from stacklib.roofline.work.moving import memory_time

from ...figures_of import measured, published, row

MODEL, CHIP, CHIPS, KEYS = "llama-3-70b", "h100_sxm", 8, 4096
LATENT, FIRST = "deepseek-v3", "deepseek-v2"
LONG = 16_384  # tokens, at which all SMs have a piece
FLASH_MLA = ("B-0356", "B-0357")  # bandwidth, and rate
# H100 and B200, by batch and context
RUNS = ("B-0030", "B-0031", "B-0035", "B-0042", "B-0097", "B-0099", "B-0103", "B-0109")
FRAMEWORKS = (
    "flashinfer-itl",
    "flashinfer-long",
    "flashinfer-parallel",
    "vllm-orca",
    "sglang",
    "tensorrt-llm",
)


def step() -> Quantity:
    """The token's line: all reading, at the full bandwidth."""
    return decode_step(MODEL, on=CHIP, tp=CHIPS, context=KEYS).time


# -- one layer's cache on one GPU -----------------------------------------------------


def size(field: str, words: str) -> Quantity:
    """A size of the model."""
    return models.get(MODEL).size(field, words)


def heads() -> Quantity:
    """Query heads on a GPU: they share one KV head."""
    a = models.get(MODEL).attention
    return (size("heads", "heads") / chosen(CHIPS, label="GPUs")).named(
        f"query heads of a GPU, {a.kv_heads // CHIPS} KV head"
    )


def a_token() -> Quantity:
    """Bytes of a cached token in a layer, keys and values of a KV head."""
    return (2 * size("head_dim", "head size") * bytes_per_element("bf16")).named(
        "bytes of a token, one KV head"
    )


def cached(keys: int = KEYS) -> Quantity:
    """Bytes that a layer's attention reads on a GPU."""
    return (chosen(keys, label="tokens cached") * a_token()).named("cache of a layer")


def of_step() -> Quantity:
    """Share of the cache in the bytes that a step reads."""
    return (at_full() / step()).named("share of the cache in the reading")


def idle() -> Quantity:
    """SMs without a piece."""
    return (hardware.get(CHIP).compute_units - pieces()).named("SMs without a piece")


def at_full(on: str = CHIP) -> Quantity:
    """Time of these bytes in all layers at the bandwidth of the data sheet."""
    moved = size("layers", "layers") * cached()
    return memory_time(moved, on).named("cache at full bandwidth")


def _plan(keys: int, on: str, batch: int = 1) -> split.Plan:
    a = models.get(MODEL).attention
    return split.planned(
        on,
        keys=keys,
        heads=a.heads // CHIPS,
        kv_heads=a.kv_heads // CHIPS,
        head_dim=a.head_dim,
        batch=batch,
    )


def seconds(keys: int, splits: int, on: str) -> float:
    """Predicted seconds in which a layer's cache comes; 0 splits: as many as fit."""
    found = _plan(keys, on)
    return split.in_pieces(found, splits or found.grid.splits).memory


def layer(splits: int = 0, keys: int = KEYS, on: str = CHIP) -> Quantity:
    """The same as a quantity: a layer's cache."""
    words = f"{splits} pieces" if splits else "split"
    label = f"reading a layer's cache, {words}, {keys} tokens, {on}"
    return counted(seconds, keys, splits, on, unit="s", label=label, family="B")


def all_layers(splits: int = 0, keys: int = KEYS, on: str = CHIP) -> Quantity:
    """Of all layers of a step, without the launches of section 4.1."""
    return (size("layers", "layers") * layer(splits, keys, on)).named(
        layer(splits, keys, on).label.replace("a layer's cache", "all caches")
    )


@counting("pieces of {keys} tokens")
def pieces(keys: int = KEYS, on: str = CHIP) -> int:
    """Into how many the room's prediction cuts the keys."""
    return _plan(keys, on).grid.splits


def tile() -> Quantity:
    """Keys of a tile."""
    return (chosen(KEYS, label="tokens cached") / pieces()).named("keys of a tile")


def rate_of(splits: int = 0, keys: int = KEYS) -> Quantity:
    """Bandwidth that so many blocks draw."""
    return (cached(keys) / layer(splits, keys)).named(
        f"bandwidth of {splits or 'all'} pieces"
    )


def partial() -> Quantity:
    """Bytes of the pieces' results in a layer: outputs, maxima and sums in FP32."""
    row = size("head_dim", "head size") + 2  # maximum and sum
    each = (heads() * row * bytes_per_element("fp32")).named("results of a piece")
    return (pieces() * each).named("results of all pieces")


def partial_share() -> Quantity:
    """The same over the cache itself."""
    return (partial() / cached()).named("results over the cache")


# -- kinds of attention --------------------------------------------------------------


def kinds() -> dict[str, Quantity]:
    """Bytes of a token and layer by kind, with DeepSeek-V3's heads."""
    return mla.bytes_by_kind(LATENT)


def intensity(kind: str) -> Quantity:
    """Operations of all heads for a byte of the cache that one query reads."""
    sizes = mla.Latent.of(LATENT)
    wide = sizes.columns + sizes.latent if kind == "MLA" else 2 * sizes.head
    flops = 2 * one_of("FLOP") * sizes.heads * wide
    return (flops / kinds()[kind]).named(f"{kind}: operations a byte")


def on_a_gpu(kind: str) -> Quantity:
    """Bytes of a token and layer on each GPU: heads can be shared out, a row cannot."""
    groups = {"MHA": CHIPS, "GQA": CHIPS}.get(kind, 1)
    share = chosen(groups, label=f"GPUs that share out {kind}'s heads")
    return (kinds()[kind] / share).named(f"{kind}: cache of a token on a GPU")


def kind_rows() -> list[dict[str, Any]]:
    """The table of kinds."""
    whole = kinds()["MHA"]
    return [
        {
            "kind": kind,
            "token and layer": bytes_,
            "of MHA": (bytes_ / whole).named(f"{kind} over MHA"),
            "on each of eight": on_a_gpu(kind),
            "FLOP per byte": intensity(kind),
        }
        for kind, bytes_ in kinds().items()
    ]


@counting("columns loaded")
def columns() -> float:
    """Columns of the cache that the absorbed attention loaded for each token, run."""
    import numpy as np

    from stacklib.kernels.attention.mla_decode import LatentHeads, absorbed

    random, sizes = np.random.default_rng(0), mla.Latent.of(LATENT)
    latent, rope = int(sizes.latent.si), int(sizes.rope.si)
    cache = random.standard_normal((256, latent + rope))
    few, small = 4, 32  # heads and their size do not matter to what is read
    given = LatentHeads(
        random.standard_normal((few, small)),
        random.standard_normal((few, rope)),
        cache,
        random.standard_normal((few, small, latent)),
        random.standard_normal((few, small, latent)),
    )
    return absorbed(given)[1] / cache.itemsize / len(cache)


def ridge() -> Quantity:
    """Operations per byte from which an H800 computes for longer than it reads."""
    chip = hardware.get("h800_sxm")
    return (chip.peak("bf16") / chip.memory_bandwidth).named("ridge of an H800")


def twice() -> Quantity:
    """Operations per byte with two queries in each sequence."""
    return (2 * intensity("MLA")).named("with two queries")


def flash_mla() -> tuple[Quantity, Quantity]:
    """What its repository says: up to, where memory binds and where compute does."""
    first, second = map(measured, FLASH_MLA)
    return first, second


def drawn() -> Quantity:
    """Its bandwidth over the memory's."""
    return mla.flash_mla_time(keys=KEYS).share_of_bandwidth


def predicted(id: str, unit: str) -> Quantity:
    """What family B's predictor says of a published row, in SI units."""
    label = f"predicted for {id}"
    return counted(attention_row, id, unit=unit, label=label, family="B")


def attention_row(id: str) -> float:
    """The same as a number."""
    from stacklib.evidence.predict import predictor

    return predictor("B")(row(id))().value


def run_rows() -> list[dict[str, Any]]:
    """Published decode kernels: device, shape, time, and what is predicted."""
    return [
        {
            "GPU": "H100" if "H100" in one.system else "B200",
            "batch": one.integer("batch"),
            "tokens": one.integer("kv_len"),
            "cache": one.text("kv_dtype").replace("bfloat16", "bf16"),
            "published": measured(one.id),
            "predicted": predicted(one.id, "s"),
        }
        for one in map(row, RUNS)
    ]


def framework_rows() -> list[dict[str, Any]]:
    """Published gains of attention frameworks, each with what it is over."""
    return [
        {
            "gain of": one.what,
            "over": one.over,
            "at least": None if one.best_case else _share(one, "low"),
            "at most": _share(one, "high"),
            "as": "more work" if one.kind == "faster" else "less time",
            "measured on": one.where,
        }
        for one in (GAINS[name] for name in FRAMEWORKS)
    ]


def _share(one: Gain, end: str) -> Quantity:
    label = f"{one.what} over {one.over}, {end}"
    name = next(name for name, known in GAINS.items() if known is one)
    return published(getattr(one, end), "", label, one.source, f"gains/{name}/{end}")


def sooner() -> Quantity:
    """The larger of FlashInfer's shares of time saved, as a ratio of speed."""
    most = _share(GAINS["flashinfer-itl"], "high")
    return (1 / (1 - most)).named("times as fast")
