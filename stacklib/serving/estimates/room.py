"""How many conversations a machine has room for: what weights and engine leave."""

from __future__ import annotations

import math
from dataclasses import dataclass

from stacklib.hardware import Accelerator
from stacklib.models import LanguageModel
from stacklib.models.formulas import Sizes, block_cache
from stacklib.models.weights.mixtures import cache_number
from stacklib.paged_kv import BlockAllocator
from stacklib.quantity import Quantity, chosen, counted
from stacklib.quantity.bounds import above_zero, whole
from stacklib.roofline.work.fit import fit_memory, fit_with_copies, model_of


@dataclass(frozen=True, slots=True)
class Room:
    """Memory of all chips, and what of it is left for conversations.

    - ``have``, ``weights``, ``reserve``: published capacity; the weights; what the
      engine keeps for other things
    - ``each``: one conversation's cache, with every copy that chips keep of a KV head
    """

    model: str
    device: str
    chips: int
    context: int
    have: Quantity
    weights: Quantity
    reserve: Quantity
    each: Quantity

    @property
    def left(self) -> Quantity:
        """Bytes for caches; below zero where the weights alone do not fit."""
        return (self.have - self.reserve - self.weights).named("left for conversations")

    @property
    def conversations(self) -> Quantity:
        """Caches that lie in what is left, whole ones."""
        if self.left.si < 0:
            return chosen(0, label="conversations: the weights do not fit")
        words = f"conversations of {self.context:,} tokens"
        if not self.each.si:
            raise ValueError(f"{self.model} keeps no cache: nothing fills the memory")
        return counted(math.floor, self.left / self.each, label=words)

    @property
    def why(self) -> str:
        """The sum in one line."""
        parts = f"{self.have:.4 GB} - {self.reserve:.4 GB} - {self.weights:.4 GB}"
        kept = f"{self.chips} x {self.device}: {parts} = {self.left:.4 GB}"
        if self.left.si < 0:
            return f"{kept}: the weights do not fit"
        return f"{kept}, / {self.each:.4 GB} = {self.conversations:,.0f} conversations"


def room(
    model: str | LanguageModel,
    on: str | Accelerator,
    *,
    dtype: str | Quantity | None = "bf16",
    kv_dtype: str | Quantity | None = None,
    tp: int = 1,
    context: int = 4096,
    share: float | Quantity = 1.0,
) -> Room:
    """What weights and engine leave of ``tp`` chips' memory, and what fills it.

    - ``model``, ``on``, ``dtype``, ``kv_dtype``, ``tp``: as ``roofline.fit_memory``
      takes and refuses them
    - ``context``: tokens of each conversation
    - ``share``: of each chip's memory, what the engine may use at all, above 0 and at
      most 1

    >>> room("llama-3-70b", "h100-sxm", tp=8).conversations.text()
    '371'
    """
    whole(context=context)
    above_zero(share=share.to("1").value if isinstance(share, Quantity) else share)
    if share > 1:
        raise ValueError(f"share = {share}: at most all of the memory, 1")
    used = share if isinstance(share, Quantity) else chosen(share, label="share used")
    found = model_of(model)
    asked = {"dtype": dtype, "kv_dtype": kv_dtype, "tp": tp, "context": context}
    fit = fit_with_copies(found, fit_memory(found, on=on, **asked))  # type: ignore[arg-type]
    have = fit.have.across(chosen(tp, label="chips")).named("memory of all chips")
    sums = have, fit.weights, (have * (1 - used)).named("kept back"), fit.kv
    return Room(found.key, fit.device, tp, context, *sums)


@dataclass(frozen=True, slots=True)
class Kept:
    """What the layers of one kind hold of a conversation."""

    kind: str
    layers: int
    held: Quantity


def kept_by_kind(
    model: str | LanguageModel, context: int, dtype: str | Quantity = "bf16"
) -> list[Kept]:
    """Bytes of a conversation's cache by kind of layer; they sum to ``kv_bytes``."""
    whole(0, context=context)
    found, tokens = model_of(model), chosen(context, label="context")
    sizes, rows = Sizes(found), []
    for number, block in enumerate(found.kinds):
        kind, layers = block.attention.kind, found.count(number)
        numbers = block_cache(sizes, block, tokens, read=False)
        held = sizes(layers, f"layers ({kind})") * numbers * cache_number(dtype)
        rows.append(Kept(kind, layers, held.named(kind)))
    return rows


def admitted(blocks: int, context: int, block_size: int = 16) -> int:
    """Conversations that an allocator admits, one after another, until it refuses.

    No two begin alike, so that none shares a block with another.
    """
    whole(blocks=blocks, context=context)
    pool, count = BlockAllocator(blocks, block_size), 0
    while pool.allocate([-count, *range(1, context)], publish=False) is not None:
        count += 1
    return count
