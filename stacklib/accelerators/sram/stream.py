"""Weights that stay outside and pass by: layer by layer, for many tokens at once.

Cerebras trains models that no wafer holds so. A store (MemoryX) sends each layer's
weights through a tree of switches (SwarmX) that copies them to every wafer; what stays
on the wafer are the activations. A layer takes as long as the longer of its weights
over the link and its arithmetic, and only the arithmetic grows with the tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib.hardware import Accelerator
from stacklib.models import LanguageModel
from stacklib.models.weights.kept import way_of
from stacklib.quantity import Quantity, chosen, maximum
from stacklib.quantity import dtype as find_dtype
from stacklib.quantity.bounds import whole
from stacklib.quantity.stored import products
from stacklib.roofline.work.bounds import device_of
from stacklib.roofline.work.fit import model_of
from stacklib.serving.token.shape import HEAD, PRODUCTS
from stacklib.serving.token.work import counted_work, line_work


@dataclass(frozen=True, slots=True)
class Streamed:
    """One pass of some tokens through a model whose weights are streamed."""

    rows: int
    sending: Quantity  # s in which the weights pass the link
    computing: Quantity  # s of the tokens' arithmetic

    @property
    def time(self) -> Quantity:
        """Seconds of the pass: sending hides behind arithmetic, or the other way."""
        found: Quantity = maximum(self.sending, self.computing)
        return found.named("a pass with streamed weights")

    @property
    def hidden_from(self) -> Quantity:
        """Tokens of a pass from which on the link does not bind."""
        found = chosen(self.rows, label="tokens") * self.sending / self.computing
        return found.named("tokens that hide the stream")


def stream(
    model: str | LanguageModel,
    on: str | Accelerator,
    dtype: str | None = None,
    *,
    rows: int = 1,
    wafers: int = 1,
) -> Streamed:
    """Pass ``rows`` tokens through a model of which each weight is sent once.

    - ``on``: what computes; its weights come over its host link, the same to all
    - ``wafers``: that share the tokens
    - raises ``UnknownSpec`` where no host link is published
    """
    whole(rows=rows, wafers=wafers)
    held, device = model_of(model), device_of(on)
    run = products(way_of(held, dtype).numbers, device.formats).name
    operation = find_dtype(run).operation
    asked: dict[str, Any] = {"dtype": dtype, "batch": int(rows), "context": 0}
    both = [
        counted_work(line_work, name, operation, held, name, **asked)
        for name in (PRODUCTS, HEAD)
    ]
    weights, work = both[0][0] + both[1][0], both[0][1] + both[1][1]
    sending = (weights / device.host_link.across(1)).named("weights over the link")
    computing = (work / device.peak(run).across(wafers)).named("arithmetic")
    return Streamed(rows, sending, computing)
