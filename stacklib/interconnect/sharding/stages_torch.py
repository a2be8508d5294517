"""The tiny model as stages of a pipeline, and a stage's order of work carried out.

A backward can be taken apart here as zero-bubble schedules ask: a product's gradient
goes on to its inputs at once, and what its matrix needs (its inputs and that gradient)
is put aside, to be multiplied when the order of work says ``weights``.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from torch.nn import functional as F

from stacklib.interconnect.pipelines.order import (
    BACKWARD,
    FORWARD,
    WEIGHTS,
    Pipeline,
    Work,
)
from stacklib.interconnect.pipelines.run import Span
from stacklib.tinylm.config import Config
from stacklib.tinylm.model_torch import Decoder
from stacklib.tinylm.train_torch import text_loss

EMBEDDING = "model/embed_tokens/weight"
Tag = tuple[str, int, int]  # forward or backward, microbatch, part that is to read


class Wire(Protocol):
    """What stages send each other, and themselves; sending holds up nobody."""

    def send(self, tensor: Tensor, stage: int, tag: Tag) -> None:
        """Hand a tensor over to a stage."""

    def receive(self, shape: Sequence[int], stage: int, tag: Tag) -> Tensor:
        """Wait for a tensor of a stage."""


@dataclass
class Kept:
    """Bytes of what a backward will read; each storage counts once."""

    there: frozenset[int] = frozenset()  # not counted: weights, tables, ids
    now: int = 0
    most: int = 0
    readers: Counter[int] = field(default_factory=Counter)

    def add(self, tensor: Tensor) -> None:
        """One more will read it."""
        storage = tensor.untyped_storage()
        at = storage.data_ptr()
        if at in self.there:
            return
        if not self.readers[at]:
            self.now += storage.nbytes()
            self.most = max(self.most, self.now)
        self.readers[at] += 1

    def drop(self, tensor: Tensor) -> None:
        """One has read it."""
        storage = tensor.untyped_storage()
        at = storage.data_ptr()
        if at in self.there:
            return
        self.readers[at] -= 1
        if not self.readers[at]:
            self.now -= storage.nbytes()


class _Saved:
    """A tensor that autograd keeps; it is dropped with the graph."""

    def __init__(self, kept: Kept, tensor: Tensor) -> None:
        self.kept, self.tensor = kept, tensor
        kept.add(tensor)

    def __del__(self) -> None:
        self.kept.drop(self.tensor)


class _Product(torch.autograd.Function):
    """x W', whose backward puts the matrix's part aside."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, later: list[Any]) -> Tensor:
        ctx.save_for_backward(x)
        ctx.weight, ctx.later = weight, later  # the leaf itself, to get its gradient
        return x @ weight.T

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        (x,) = ctx.saved_tensors
        ctx.later.append((ctx.weight, x, grads[0]))
        return grads[0] @ ctx.weight, None, None


class _Matrix:
    """A weight that is read as ``x @ weight.T``, by ``_Product``."""

    def __init__(self, weight: Tensor, later: list[Any]) -> None:
        self.weight, self.later = weight, later

    @property
    def T(self) -> _Matrix:
        """Itself: it knows which way it is read."""
        return self

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Tensor:
        x, matrix = args
        return _Product.apply(x, matrix.weight, matrix.later)


class Part(Decoder):
    """Some of the model's layers; the first embeds, the last has the logits."""

    def __init__(self, whole: Decoder, part: int, parts: int) -> None:
        nn.Module.__init__(self)
        self.config: Config = whole.config
        many = self.config.num_hidden_layers
        if many % parts:
            raise ValueError(f"{many} layers in {parts} parts: each needs as many")
        each = many // parts
        self.layers = range(part * each, (part + 1) * each)
        self.first, self.last = part == 0, part == parts - 1
        ends = [EMBEDDING] * (self.first or self.last)
        ends += ["model/norm/weight"] * self.last
        mine = tuple(f"model/layers/{layer}/" for layer in self.layers)
        self.weights = nn.ParameterDict(
            {
                name: nn.Parameter(weight.detach().clone())
                for name, weight in whole.weights.items()
                if name in ends or name.startswith(mine)
            }
        )
        self.register_buffer("cos", whole.cos, persistent=False)
        self.register_buffer("sin", whole.sin, persistent=False)
        self.later: list[tuple[Tensor, Tensor, Tensor]] = []

    def weight(self, name: str) -> Any:
        """A weight by its name; matrices put their gradients aside."""
        found = super().weight(name)
        return _Matrix(found, self.later) if found.dim() == 2 else found

    def forward(self, x: Tensor) -> Tensor:
        """Of ids or the stream before this part: the stream behind it, or logits."""
        if self.first:
            x = F.embedding(x, self.weights[EMBEDDING])
        for layer in self.layers:
            x = self.block(x, layer)
        return self.logits(x) if self.last else x


@dataclass(frozen=True)
class Done:
    """A step of a stage: its work with times, its loss, and what it kept."""

    spans: tuple[Span, ...]
    loss: float  # 0 on all stages but the last
    after: tuple[int, ...]  # bytes kept after each piece of work
    kept: int  # the most at once


def carry_out(
    plan: Pipeline,
    stage: int,
    parts: Mapping[int, Part],
    batches: Sequence[Tensor],
    wire: Wire,
) -> Done:
    """A stage's work of a step, in its order; gradients are left in its parts.

    - ``parts``: those of this stage, by their place in the model.
    - ``batches``: ids of each microbatch, (sequences, tokens + 1); ``ValueError`` where
      there are more or fewer than the plan has.
    """
    if len(batches) != plan.microbatches:
        raise ValueError(f"{len(batches)} batches of {plan.microbatches} microbatches")
    last = plan.stages * plan.chunks - 1
    there = [
        t for part in parts.values() for t in (*part.parameters(), *part.buffers())
    ]
    kept = Kept(frozenset(t.untyped_storage().data_ptr() for t in (*there, *batches)))
    ends: dict[tuple[int, int], tuple[Tensor, Tensor]] = {}
    aside: dict[tuple[int, int], list[Any]] = {}
    spans, after, loss = [], [], 0.0
    for work in plan.orders[stage]:
        kind, k, chunk = work
        at = chunk * plan.stages + stage
        part, ids = parts[at], batches[k]
        came = _awaited(plan, work, at, ids, part, wire)
        start = time.monotonic()
        gone = None
        if kind == FORWARD:
            x = ids[:, :-1] if came is None else came.requires_grad_()
            with saved_tensors_hooks(lambda t: _Saved(kept, t), lambda s: s.tensor):
                y = part(x)
                y = text_loss(y, ids) / plan.microbatches if at == last else y
            loss += y.item() if at == last else 0.0
            ends[at, k] = x, y
            gone = None if at == last else y.detach()
        elif kind == WEIGHTS:
            _multiply(aside.pop((at, k)), kept)
        else:
            x, y = ends.pop((at, k))
            y.backward(came)
            del y
            gone = x.grad
            mine, part.later[:] = list(part.later), []
            for _, inputs, grad in mine:
                kept.add(inputs)
                kept.add(grad)
            if kind == BACKWARD:
                _multiply(mine, kept)
            else:
                aside[at, k] = mine
        spans.append(Span(work, start, time.monotonic()))
        after.append(kept.now)
        if gone is not None:
            way, to = ("forward", at + 1) if kind == FORWARD else ("backward", at - 1)
            wire.send(gone, to % plan.stages, (way, k, to))
    _tie(plan, stage, parts, wire)
    return Done(tuple(spans), loss, tuple(after), kept.most)


def _awaited(
    plan: Pipeline, work: Work, at: int, ids: Tensor, part: Part, wire: Wire
) -> Tensor | None:
    """What another stage sends for this work; None where nothing does."""
    last = plan.stages * plan.chunks - 1
    if work.kind == WEIGHTS or at == (0 if work.kind == FORWARD else last):
        return None
    shape = (len(ids), ids.shape[1] - 1, part.config.hidden_size)
    way, source = ("forward", at - 1) if work.kind == FORWARD else ("backward", at + 1)
    return wire.receive(shape, source % plan.stages, (way, work.microbatch, at))


def _multiply(aside: list[Any], kept: Kept) -> None:
    """Gradients of matrices, of what was put aside."""
    for weight, inputs, grad in aside:
        found = grad.flatten(0, 1).T @ inputs.flatten(0, 1)
        weight.grad = found if weight.grad is None else weight.grad.add_(found)
        kept.drop(inputs)
        kept.drop(grad)


def _tie(plan: Pipeline, stage: int, parts: Mapping[int, Part], wire: Wire) -> None:
    """The embedding is in the first part and in the last: both get both gradients."""
    last = plan.stages * plan.chunks - 1
    mine = {at: parts[at].weights[EMBEDDING] for at in (0, last) if at in parts}
    if not last:
        return
    if len(mine) == 2:
        total = mine[0].grad + mine[last].grad
        mine[0].grad, mine[last].grad = total, total.clone()
        return
    for at, weight in mine.items():
        other = last - at
        wire.send(weight.grad, other % plan.stages, ("tied", 0, other))
    for at, weight in mine.items():
        other = last - at
        weight.grad = weight.grad + wire.receive(
            weight.shape, other % plan.stages, ("tied", 0, at)
        )
