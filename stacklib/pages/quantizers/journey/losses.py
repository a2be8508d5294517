"""What six schemes cost a model: published of that model, or the book's own's order."""

from __future__ import annotations

import re
from dataclasses import dataclass

from stacklib import models
from stacklib.pages import figures_of
from stacklib.pages.quantizers import quality
from stacklib.quantity import Quantity, Source, bytes_per_element, chosen, quoted

# As people call them: how the weights are kept, and how the book's own model has them.
SCHEMES = {
    "BF16": ("bf16", "bf16"),
    "FP8": ("fp8_128x128", "fp8_128x128"),
    "INT8": ("int8_channel", "int8_channel"),
    "INT4": ("int4_g128", "int4_g128"),
    "NVFP4": ("nvfp4", "nvfp4"),
    "Q4_K_M": ("q4_k_m", "q4_k"),
}
PERPLEXITY, SCORE = "perplexity", "score"


@dataclass(frozen=True, slots=True)
class Published:
    """What one source measured of a model, rounded and in sixteen bits.

    - ``narrow``, ``wide``: rows of the measurements, or quotes; a card of Red Hat's
      scores the model that follows instructions
    - ``kept``: how that file keeps the weights; ``""``: as large as its row says
    """

    what: str
    narrow: str
    wide: str
    kept: str = ""


def _card(name: str) -> Published:
    return Published(SCORE, f"redhat.{name}_fp8", f"redhat.{name}", "fp8_tensor")


PUBLISHED = {
    ("llama-2-7b", "INT8"): Published(PERPLEXITY, "G-0002", "G-0001"),
    ("llama-2-7b", "INT4"): Published(PERPLEXITY, "G-0003", "G-0001"),
    ("llama-2-70b", "Q4_K_M"): Published(PERPLEXITY, "G-0019", "G-0023", "q4_k_m"),
    ("llama-3-8b", "FP8"): _card("llama_3_8b"),
    ("llama-3-8b", "INT8"): Published(PERPLEXITY, "G-0007", "G-0006"),
    ("llama-3-8b", "INT4"): Published(PERPLEXITY, "G-0008", "G-0006"),
    ("llama-3-70b", "FP8"): _card("llama_3_70b"),
    ("llama-3-70b", "Q4_K_M"): Published(
        PERPLEXITY, "llama_3_70b.q4_k_m", "G-0069", "q4_k_m"
    ),
    ("llama-3.1-70b", "FP8"): _card("llama_31_70b"),
    ("mixtral-8x7b-v0.1", "FP8"): _card("mixtral_8x7b"),
}
PLACES = ("1st", "2nd", "3rd", "4th", "5th", "6th")


def figure(key: str) -> Quantity:
    """A published figure, by its row of the measurements or of the quotes."""
    row = re.fullmatch(r"[A-K]-\d{4}", key)
    return figures_of.measured(key) if row else quoted(key)


def kept(model: str, scheme: str) -> str | Quantity:
    """How the file keeps its weights whose loss is told, or else the scheme does."""
    found = PUBLISHED.get((model, scheme))
    if found is None:
        return SCHEMES[scheme][0]
    return found.kept or bits_read(model, found.narrow)


def bits_read(model: str, id: str) -> Quantity:
    """Bits of a weight that a token reads, by a file's published size.

    torchao leaves the embedding as it is and out of the size, and rounds the rest.
    """
    row = figures_of.row(id)
    source = Source(row.source, row.id, "2026-11-21", "secondary")
    size = Quantity(
        row.number("model_size_GB"),
        "GB",
        label=f"size of {row.subject}, {row.text('quant')}",
        source=source,
        kind="measured",
        key=row.id,
    )
    bits = size.to("bit") / models.get(model).streamed_parameters
    return bits.named("bits of a weight in that file")


def embedding(model: str, dtype: str | Quantity) -> Quantity:
    """Bytes by which an embedding left in 16 bits exceeds one in those bits."""
    shape = models.get(model)
    if not isinstance(dtype, Quantity):
        return chosen(0, "B", label="embedding, counted with the rest")
    wide = bytes_per_element("bf16") - dtype.to("B")
    more = (shape.parameters - shape.streamed_parameters) * wide
    return more.named("embedding left in 16 bits")


def lost(model: str, scheme: str) -> Quantity | None:
    """Share by which perplexity rises or a score falls; None: nobody published it."""
    found = PUBLISHED.get((model, scheme))
    if found is None:
        return None
    ratio = figure(found.narrow) / figure(found.wide)
    share = ratio - 1 if found.what == PERPLEXITY else 1 - ratio
    return share.named(f"{found.what} lost, {model} in {scheme}")


def place(scheme: str) -> int:
    """Place among the six by the loss of the book's own model, from one up."""
    losses = {name: _of_ours(tiny).si for name, (_, tiny) in SCHEMES.items()}
    return sorted(losses, key=losses.__getitem__).index(scheme) + 1


def _of_ours(tiny: str) -> Quantity:
    return quality.of(tiny, method="none" if tiny == "bf16" else "round")


def told(model: str, scheme: str) -> str:
    """The loss in words, or that none is published and where the book's own has it."""
    share = lost(model, scheme)
    if scheme == "BF16":
        return "as it is"
    if share is None:
        place_here = f"{PLACES[place(scheme) - 1]} of {len(SCHEMES)}"
        return f"none published; {place_here} in the book's own model"
    what = PUBLISHED[model, scheme].what
    worse, better = ("higher", "lower") if what == PERPLEXITY else ("lower", "higher")
    return f"{what} {abs(share).text('%', 2)} {worse if share.si >= 0 else better}"
