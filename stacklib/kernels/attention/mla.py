"""The cache of keys and values by kind of attention, and what decoding it takes.

Multi-head latent attention keeps a latent of 512 numbers a token and 64 that carry its
place. A decode kernel reads all 576 columns, as keys; the first 512 of the same columns
serve as values and are not read again. How small that is depends on what it is held
against, so a ratio names both sides.
"""

from __future__ import annotations

from dataclasses import dataclass

from stacklib import models
from stacklib.hardware import Accelerator
from stacklib.models.parts import LatentAttention
from stacklib.quantity import (
    Quantity,
    assumed,
    bytes_per_element,
    chosen,
    maximum,
    one_of,
    quoted,
)
from stacklib.quantity import dtype as find_dtype
from stacklib.quantity.bounds import whole
from stacklib.roofline.work.bounds import Bound, bound_on, device_of
from stacklib.roofline.work.work import Work

# Sizes of older models, of which the book keeps no record.
V2_BITS = quoted("deepseek_v2.cache_bits")
OLD_LAYERS = quoted("deepseek_67b.layers")
OLD_HEADS = quoted("deepseek_67b.kv_heads")
OLD_HEAD = quoted("deepseek_67b.head")
OLD_BITS = assumed(
    16,
    "bit",
    "bits a number of DeepSeek-67B's cache",
    why="No format is named; with so many the share that is printed comes out.",
)
MEMORY_BOUND = quoted("flash_mla.memory_bound")
COMPUTE_BOUND = quoted("flash_mla.compute_bound")
KINDS = ("MHA", "GQA", "MQA", "MLA")


@dataclass(frozen=True, slots=True)
class Latent:
    """The sizes of a model's latent attention, as quantities of its config."""

    heads: Quantity
    head: Quantity  # of a value, and of a key without the part that carries place
    latent: Quantity
    rope: Quantity
    layers: Quantity

    @classmethod
    def of(cls, name: str) -> Latent:
        """From `stacklib.models`.

        - raises ``ValueError`` for a model without latent attention.
        """
        model = models.get(name)
        a = model.attention
        if not isinstance(a, LatentAttention):
            raise ValueError(f"{model.name} has {a.kind}: a model with MLA is needed")

        def size(value: int, words: str) -> Quantity:
            key = f"{model.key}.{words}"
            return Quantity(
                value, label=words, source=model.source, kind="config", key=key
            )

        return cls(
            size(a.heads, "query heads"),
            size(a.v_head_dim, "value size"),
            size(a.kv_lora_rank, "KV latent"),
            size(a.rope_head_dim, "rope size"),
            size(model.layers, "layers"),
        )

    @property
    def columns(self) -> Quantity:
        """Numbers a token keeps in a layer, all of which are read: 576, not 512."""
        return (self.latent + self.rope).named("columns of the cache")


def bytes_by_kind(
    model: str = "deepseek-v3", *, groups: int = 8, dtype: str = "bf16"
) -> dict[str, Quantity]:
    """Bytes a token and layer if a model's heads had each kind of attention.

    - ``model``: str; one with latent attention: its heads and sizes are used.
    - ``groups``: int; heads of keys and values for GQA.
    - ``dtype``: str; of the cache.
    - raises ``ValueError`` for ``groups`` that do not divide the heads, or a model
      without a latent.
    """
    sizes = Latent.of(model)
    whole(groups=groups)
    if sizes.heads.si % groups:
        raise ValueError(f"groups = {groups} do not divide {sizes.heads.si:g} heads")
    grouped = chosen(groups, label="KV heads")
    pair = 2 * sizes.head
    numbers = sizes.heads * pair, grouped * pair, pair, sizes.columns
    width = bytes_per_element(dtype)
    return {
        kind: (count * width).named(f"{kind}: cache a token and layer")
        for kind, count in zip(KINDS, numbers, strict=True)
    }


def share_of_own(model: str = "deepseek-v2") -> Quantity:
    """The latent cache over that of the same heads without one: 1.76 %."""
    found = bytes_by_kind(model)
    return (found["MLA"] / found["MHA"]).named("MLA cache over MHA's")


def share_of_67b() -> Quantity:
    """DeepSeek-V2's cache over DeepSeek-67B's: 6.7 %, of which three causes multiply.

    Fewer layers (60 for 95), GQA and not MHA in the older model, and 6 bits a number
    for 16. (The abstract's *reduces the KV cache by 93.3 %*.)
    """
    sizes = Latent.of("deepseek-v2")
    new = sizes.layers * sizes.columns * V2_BITS
    old = 2 * OLD_LAYERS * OLD_HEADS * OLD_HEAD * OLD_BITS
    return (new / old).named("V2's cache over 67B's")


def latent_decode(
    *,
    keys: int,
    batch: int = 1,
    queries: int = 1,
    model: str = "deepseek-v3",
    dtype: str = "bf16",
) -> Work:
    """One layer's decode attention, absorbed, for all heads.

    Every head scores all columns of a token and weighs the latent ones: 2 (576 + 512)
    operations a head and token, and 576 numbers read a token, once for all heads.

    - ``keys``, ``batch``: int; tokens cached by a sequence; sequences.
    - ``queries``: int; new tokens of a sequence: 1, or more where tokens are guessed
      ahead.
    - raises ``ValueError`` for a size that is no whole number from 1, or a model
      without a latent.
    """
    whole(keys=keys, batch=batch, queries=queries)
    sizes, fmt = Latent.of(model), find_dtype(dtype)
    n, b, m = (
        chosen(value, label=label)
        for value, label in ((keys, "keys"), (batch, "batch"), (queries, "queries"))
    )
    rows = b * m * sizes.heads
    operations = 2 * one_of(fmt.operation) * rows * n * (sizes.columns + sizes.latent)
    numbers = b * n * sizes.columns + rows * (sizes.columns + sizes.latent)
    return Work(
        operations.named("operations"),
        (numbers * bytes_per_element(dtype)).named("bytes moved"),
        f"latent decode of {queries} on {keys}",
        fmt.name,
    )


@dataclass(frozen=True, slots=True)
class LatentTime:
    """A latent decode on a device: its bound, and at the speeds published for it."""

    work: Work
    limits: Bound
    time: Quantity  # at the published bandwidth or rate, whichever takes longer
    share_of_bandwidth: Quantity  # that the published bandwidth is of the device's
    share_of_peak: Quantity  # that the published rate is of the device's


def flash_mla_time(
    on: str | Accelerator = "h800_sxm", **sizes: int | str
) -> LatentTime:
    """`latent_decode` at FlashMLA's published speeds, which are *up to*, on H800.

    ``sizes``: as `latent_decode` takes them.

    - raises ``UnknownName, UnknownSpec, ValueError`` for an unknown device, one without
      the rates, and as `latent_decode`.
    """
    work, device = latent_decode(**sizes), device_of(on)  # type: ignore[arg-type]
    peak, bandwidth = device.peak(work.dtype), device.memory_bandwidth
    rate = COMPUTE_BOUND.to("TFLOP/s")
    time = maximum(work.bytes / MEMORY_BOUND, work.operations / rate)
    return LatentTime(
        work,
        bound_on(work, device),
        time.named("time at published speeds"),
        (MEMORY_BOUND / bandwidth).named("share of the bandwidth"),
        (rate / peak).named("share of the peak"),
    )
