"""The plans of ``recompute`` on the book's tiny model: bytes that autograd keeps.

``tiny_layers`` cuts the bytes that ``tinylm.plan`` foretells into the layers of a
chain; ``kept_bytes`` runs the model in torch by a plan's segments, counts the storages
that are kept for the backward pass, and follows them segment by segment to their peak.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from stacklib.tinylm.config import Config
from stacklib.tinylm.model_torch import Decoder
from stacklib.tinylm.plan import SIZE, forward_flops, training_memory
from stacklib.tinylm.train_torch import text_loss

from .recompute import CheckpointPlan, Layer, Segment


def tiny_layers(config: Config, batch: int, tokens: int) -> list[Layer]:
    """The model's blocks, and its norm, head and loss as the last layer."""
    one, two = (
        training_memory(replace(config, num_hidden_layers=n), batch, tokens)
        for n in (1, 2)
    )
    block = two.activations - one.activations
    top = one.activations - block
    stream = SIZE * batch * tokens * config.hidden_size
    head = 2.0 * batch * tokens * config.hidden_size * config.vocab_size
    layers = config.num_hidden_layers
    each = (forward_flops(config, batch, tokens) - head) / layers
    return [Layer(stream, block, each)] * layers + [Layer(stream, top, head)]


def kept_bytes(
    config: Config, plan: CheckpointPlan, *, batch: int, tokens: int
) -> float:
    """Bytes of activations at the peak of a training step, as torch keeps them.

    Each segment runs as the plan says; what autograd keeps is counted by storage,
    the weights not, and a segment that runs again is counted whole in its turn.
    """
    model = Decoder(config)
    ids = torch.zeros((batch, tokens + 1), dtype=torch.long)
    shape = (batch, tokens, config.hidden_size)
    stored, peak = 0.0, 0.0
    for segment in plan.segments:
        x = torch.zeros(shape, requires_grad=True)
        run = _runner(model, segment, ids)
        whole = _saved(model, partial(run, x))
        again = partial(_Again.apply, x, run)
        peak = max(peak, stored + whole)
        stored += whole if segment.kept else _saved(model, again)
    return peak


def gradients(model: Decoder, plan: CheckpointPlan, ids: Any) -> list[Any]:
    """Gradients of the loss by weight, run by a plan; every plan gives the same."""
    x = torch.nn.functional.embedding(
        ids[:, :-1], model.weight("model.embed_tokens.weight")
    )
    for segment in plan.segments:
        run = _runner(model, segment, ids)
        x = run(x) if segment.kept else _Again.apply(x, run)
    model.zero_grad()
    x.backward()
    return [p.grad for p in model.parameters()]


class _Again(torch.autograd.Function):
    """Runs a segment and keeps its input; runs it once more on the way back."""

    @staticmethod
    def forward(ctx: Any, x: Any, run: Callable[[Any], Any]) -> Any:
        """Without a graph: nothing inside is kept."""
        ctx.run = run
        ctx.save_for_backward(x)
        return run(x)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        """The segment again, this time with a graph, and back through it."""
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            own = x.detach().requires_grad_()
            # A sum has a gradient of one: nothing has to check shapes.
            (ctx.run(own) * gradient).sum().backward()
        return own.grad, None


def _runner(model: Decoder, segment: Segment, ids: Any) -> Callable[[Any], Any]:
    blocks = range(segment.first, min(segment.last, model.config.num_hidden_layers))

    def run(x: Any) -> Any:
        for block in blocks:
            x = model.block(x, block)
        if segment.last > model.config.num_hidden_layers:
            return text_loss(model.logits(x), ids)
        return x

    return run


def _saved(model: Decoder, run: Callable[[], Any]) -> int:
    """Bytes of the storages that autograd keeps of a call, weights not counted."""
    fixed: Sequence[Any] = [*model.parameters(), *model.buffers()]
    own = {p.untyped_storage().data_ptr() for p in fixed}
    kept: dict[int, Any] = {}

    def keep(tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage  # held, so that no address comes twice
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        result = run()
    del result
    return sum(found.nbytes() for at, found in kept.items() if at not in own)
