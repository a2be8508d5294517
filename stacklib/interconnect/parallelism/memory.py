"""What a chip of a layout holds: weights, gradients, optimizer, activations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib.interconnect.pipelines.closed import in_flight
from stacklib.memory.tiers.checkpoint import ADAM
from stacklib.quantity import maximum, where

from .layout import Layout
from .shape import Kind, Shape

WEIGHTS = ADAM["bf16 weights"]
OPTIMIZER = sum(ADAM.values()) - WEIGHTS
GRADIENTS = 4  # bytes: sums of many microbatches are kept in 32 bits


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes on the chip that holds most, by kind."""

    weights: Any
    gradients: Any
    optimizer: Any
    activations: Any

    @property
    def total(self) -> Any:
        """All of them."""
        return self.weights + self.gradients + self.optimizer + self.activations


@dataclass(frozen=True, slots=True)
class Held:
    """Parameters of a pipeline's fullest stage on one of its chips."""

    dense: Any  # that all chips of data parallelism hold alike
    routed: Any  # that fewer do: one of `ep`

    @property
    def total(self) -> Any:
        """Both."""
        return self.dense + self.routed


def held(shape: Shape, layout: Layout) -> Held:
    """Parameters of one chip, before ZeRO cuts them."""
    pp, tp = layout.pp, layout.tp
    tables = where(pp == 1, 1.0 if shape.tied else 2.0, 1.0)
    inside = (shape.dense / tp + shape.whole) / pp
    return Held(
        inside + shape.table / tp * tables, shape.routed / (tp * layout.ep * pp)
    )


def layer_bytes(
    kind: Kind, shape: Shape, layout: Layout, length: int, scores: bool
) -> Any:
    """Bytes a token that a layer keeps for its backward.

    Two norms keep what they read and wrote, products their inputs, attention Q, K and
    V, the activation what it read (V. Korthikanti et al., 2022, section 4.1: 34 bytes a
    number of the hidden state and 5 a score, for GPT with dropout).
    """
    whole = 8.0 * shape.hidden + (2.0 * shape.hidden if scores else 0.0)
    cut = 2.0 * (kind.split + kind.inner + kind.middle)
    if layout.lean and not scores:
        whole, cut = whole / 2, cut - 2.0 * kind.middle
    if scores and not layout.lean:
        cut = cut + 5.0 * kind.heads * length
    if kind.routed:
        cut = cut + 2.0 * kind.routed * shape.hidden
    return whole / (1 + (layout.tp - 1) * layout.sequence) + cut / layout.tp


def memory_of(
    shape: Shape,
    layout: Layout,
    *,
    batch: Any,
    length: int,
    scores: bool = False,
    gradients: float = GRADIENTS,
) -> Memory:
    """Bytes on the first stage of a layout, by kind."""
    mine = held(shape, layout)
    group = layout.dp * layout.cp
    zero, ep = layout.zero, layout.ep

    def cut(level: int) -> Any:
        """Parameters of which a chip holds what this level of ZeRO is about."""
        dense = mine.dense / where(zero >= level, group, 1)
        return dense + mine.routed / where(zero >= level, group / ep, 1)

    tokens = layout.micro * length / layout.cp
    many = batch / (layout.dp * layout.micro)
    flying = in_flight(layout.pp, maximum(many, 1.0), "1f1b", layout.interleave)
    mean: Any = 0.0
    for kind in shape.kinds:
        mean = mean + kind.count * layer_bytes(kind, shape, layout, length, scores)
    again = layout.again
    # What is computed again keeps its input, and one layer's worth while it is.
    kept = where(
        again > 0, 2.0 * shape.hidden / where(layout.sequence, layout.tp, 1), 0
    )
    stage = mean / layout.pp * (1 - again) + again * shape.layers / layout.pp * kept
    one = mean / shape.layers
    logits = where(layout.pp == 1, 10.0 * shape.vocab / layout.tp, 0.0)
    activations = tokens * (flying * stage + again * one + logits)
    return Memory(cut(3) * WEIGHTS, cut(2) * gradients, cut(1) * OPTIMIZER, activations)
