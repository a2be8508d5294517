"""What a chip of a layout holds: weights, gradients, optimizer, activations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib.interconnect.pipelines.closed import flying
from stacklib.memory.tiers.checkpoint import ADAM
from stacklib.quantity import maximum, where

from .layout import Layout
from .shape import Kind, Shape
from .split import Stage, splits

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
    stage: Any = 0  # of the pipeline, which holds as much

    @property
    def total(self) -> Any:
        """All of them."""
        return self.weights + self.gradients + self.optimizer + self.activations


@dataclass(frozen=True, slots=True)
class Held:
    """Parameters of a pipeline's stage on one of its chips."""

    dense: Any  # that all chips of data parallelism hold alike
    routed: Any  # that fewer do: one of `ep`

    @property
    def total(self) -> Any:
        """Both."""
        return self.dense + self.routed


def held(shape: Shape, layout: Layout, stage: Stage) -> Held:
    """Parameters of one chip of a stage, before ZeRO cuts them."""
    tp = layout.tp
    dense: Any = 0.0
    routed: Any = 0.0
    for many, own in zip(stage.layers, shape.own, strict=True):
        dense = dense + many * (own.dense / tp + own.whole)
        if own.routed:  # of a model without experts it stays a plain zero
            routed = routed + many * own.routed / (layout.inner * layout.ep)
    tables = stage.embedding + stage.head
    if shape.tied:  # one, where both are
        tables = maximum(stage.embedding, stage.head)
    return Held(dense + shape.table / tp * tables, routed)


def layer_bytes(
    kind: Kind,
    shape: Shape,
    layout: Layout,
    length: int,
    scores: bool,
    width: float = 2.0,
) -> Any:
    """Bytes a token that a layer keeps for its backward.

    Two norms keep what they read and wrote, products their inputs, attention Q, K and
    V, the activation what it read (V. Korthikanti et al., 2022, section 4.1: 34 bytes a
    number of the hidden state and 5 a score, for GPT with dropout).

    - ``width``: bytes an element of a product's operands, as which its input is kept.
    """
    norms = 2.0 * (2 + width) * shape.hidden + (2.0 * shape.hidden if scores else 0.0)
    cut = 2.0 * (kind.split + kind.inner) + width * kind.middle
    if layout.lean and not scores:
        norms, cut = 4.0 * shape.hidden, cut - width * kind.middle
        cut = cut - 2.0 * sum(m.columns for m in kind.latent)  # expanded again
    if scores and not layout.lean:
        cut = cut + 5.0 * kind.heads * length
    if kind.routed:
        cut = cut + width * kind.routed * shape.hidden
    return norms / (1 + (layout.tp - 1) * layout.sequence) + cut / layout.tp


def memory_of(
    shape: Shape,
    layout: Layout,
    stages: tuple[Stage, ...] = (),
    *,
    batch: Any,
    length: int,
    scores: bool = False,
    gradients: float = GRADIENTS,
    width: float = 2.0,
) -> Memory:
    """Bytes on the stage of a layout that holds most, by kind.

    - ``stages``: of its split; without, of one where all layers cost the same.
    """
    if not stages:
        _, stages = splits(shape.pattern, layout, (1.0,) * len(shape.kinds), 0.0, 0.0)
    tokens = layout.micro * length / layout.cp
    many = maximum(batch / (layout.dp * layout.micro), 1.0)
    again = layout.again
    # What is computed again keeps its input, and one layer's worth while it is.
    input_ = where(
        again > 0, 2.0 * shape.hidden / where(layout.sequence, layout.tp, 1), 0
    )
    each = [
        layer_bytes(kind, shape, layout, length, scores, width) for kind in shape.kinds
    ]
    # 16 bits of a logit are read and 32 written, twice.
    logits = 10.0 * shape.vocab / layout.tp
    found: Memory | None = None
    cut = [_cut(layout, level) for level in (3, 2, 1)]
    for stage in stages:
        layers = zip(stage.layers, each, strict=True)
        held_at_once = flying(
            layout.pp, many, layout.schedule, layout.interleave, stage.place
        )
        keeps: Any = 0.0
        one: Any = 0.0
        for count, bytes_ in layers:
            keeps = keeps + count * (bytes_ * (1 - again) + again * input_)
            one = maximum(one, where(count > 0, 1.0, 0.0) * bytes_)
        mine = held(shape, layout, stage)
        now = Memory(
            WEIGHTS * _kept(mine, cut[0]),
            gradients * _kept(mine, cut[1]),
            OPTIMIZER * _kept(mine, cut[2]),
            tokens * (held_at_once * keeps + again * one + stage.head * logits),
            stage.place,
        )
        found = now if found is None else _fuller(found, now)
    assert found is not None
    return found


def kept(mine: Held, layout: Layout, level: int) -> Any:
    """Parameters of which a chip keeps what a level of ZeRO is about.

    DualPipe's two copies of a stage are one copy more among which it is cut.
    """
    return _kept(mine, _cut(layout, level))


def _cut(layout: Layout, level: int) -> tuple[Any, Any]:
    """Ways by which ZeRO cuts what a level is about, and that of experts."""
    over = layout.zero >= level
    group = layout.dp * layout.cp * (2 if layout.schedule == "dualpipe" else 1)
    if over is False:
        return 1, 1
    fewer = group * layout.tp / (layout.ep * layout.inner)
    return where(over, group, 1), where(over, fewer, 1)


def _kept(mine: Held, cut: tuple[Any, Any]) -> Any:
    return mine.dense / cut[0] + mine.routed / cut[1]


def _fuller(one: Memory, other: Memory) -> Memory:
    """Of two stages what the fuller holds, the first of those alike."""
    more = other.total > one.total
    if type(more) is bool:
        return other if more else one
    names = ("weights", "gradients", "optimizer", "activations", "stage")
    pairs = ((getattr(other, n), getattr(one, n)) for n in names)
    return Memory(*(where(more, new, old) for new, old in pairs))
