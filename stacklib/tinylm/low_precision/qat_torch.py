"""Quantization-aware training: the model learns with the weights it will have.

The forward pass sees each block matrix on its grid of few bits; the backward pass takes
the rounding for the identity (straight-through estimator: Bengio et al., arXiv
1308.3432, section 4), so that the unrounded weights go on collecting small changes
until one crosses to the next level. Quantization after training (PTQ) rounds once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from stacklib.quantity.bounds import above_zero, is_whole

from ..config import Config, shapes
from ..corpus import Document
from ..model import TinyLM
from ..model_torch import Decoder
from ..perplexity import Score, bits_per_byte, difference, score
from ..train_torch import CLIP, text_loss

# Shares of a row's largest magnitude that are tried as the end of its grid.
CLIPS = tuple(float(share) for share in np.linspace(0.3, 1.0, 15))
Quantize = Callable[[Tensor], Tensor]


class _StraightThrough(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, quantize: Quantize) -> Tensor:
        return quantize(x)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return gradient, None


def straight_through(x: Tensor, quantize: Quantize) -> Tensor:
    """``quantize(x)`` whose gradient is passed to ``x`` as it is.

    Bengio, Leonard and Courville (arXiv 1308.3432, section 4).

    - ``x``: what is quantized.
    - ``quantize``: from a tensor to one of the same shape.
    """
    apply: Callable[..., Tensor] = _StraightThrough.apply
    found = apply(x, quantize)
    if found.shape != x.shape:
        raise ValueError(
            f"quantize gave {tuple(found.shape)} for {tuple(x.shape)}: the shape stays"
        )
    return found


def levels(weights: Tensor, bits: int) -> Tensor:
    """Weights (rows, columns) on a symmetric grid per row, its end of least error.

    - ``weights``: a matrix.
    - ``bits``: 2 to 8; the lowest code is not used, so that the grid is symmetric:
      -1, 0 and 1 for two bits.
    """
    if not is_whole(bits) or not 2 <= bits <= 8:
        raise ValueError(f"bits = {bits!r}: 2 to 8 are possible")
    if not bool(weights.isfinite().all()):
        raise ValueError("a weight is not finite")
    top = 2 ** (bits - 1) - 1
    ends = weights.abs().amax(dim=1, keepdim=True)
    best, least = torch.zeros_like(weights), torch.full_like(ends, torch.inf)
    for share in CLIPS:
        step = (ends * (share / top)).clamp(min=torch.finfo(weights.dtype).tiny)
        tried = (weights / step).round().clamp(-top, top) * step
        error = (tried - weights).square().sum(dim=1, keepdim=True)
        best = torch.where(error < least, tried, best)
        least = torch.minimum(least, error)
    return best


class Aware(Decoder):
    """`Decoder` whose block matrices are on a grid of few bits in every pass.

    `named` gives the weights as they would be deployed; ``bits`` of None leaves them.
    """

    def __init__(self, config: Config, bits: int | None) -> None:
        super().__init__(config)
        self.bits = bits

    def weight(self, name: str) -> Tensor:
        """One weight as the forward pass meets it."""
        found: Tensor = super().weight(name)
        if self.bits is None or not name.endswith("proj.weight"):
            return found
        bits = self.bits
        return straight_through(found, lambda w: levels(w, bits))

    def assign(self, weights: Mapping[str, Any]) -> None:
        """Take over ``weights``, arrays by name, unrounded."""
        with torch.no_grad():
            for name in shapes(self.config):
                super().weight(name).copy_(torch.as_tensor(weights[name]))


def deployed(model: TinyLM, trained: Decoder) -> TinyLM:
    """The NumPy model with the weights that a torch one computes with."""
    weights = {name: w.numpy().copy() for name, w in trained.named().items()}
    return replace(model, weights=weights)


def ptq(model: TinyLM, bits: int) -> TinyLM:
    """A model whose block matrices are rounded once, after its training.

    - ``bits``: as in `levels`.
    """
    rounded = Aware(model.config, bits)
    rounded.assign(model.weights)
    return deployed(model, rounded)


def qat(
    model: TinyLM,
    batches: Sequence[Tensor],
    texts: Sequence[Document],
    *,
    bits: int | None,
    rate: float = 2e-3,
    every: int = 50,
) -> tuple[dict[str, Any], TinyLM]:
    """Train on from a model's weights with the rounding in the forward pass.

    - ``model``: where training starts.
    - ``batches``: ids of each step, (batch, tokens + 1).
    - ``texts``: held-out text that is scored.
    - ``bits``: as in `levels`; None is the control, trained as long without
      rounding.
    - ``rate``: learning rate of AdamW at the first step; it falls to nothing on a
      line.
    - ``every``: steps between measurements.

    Gives ``step`` and ``bits_per_byte`` by measurement, step 0 being PTQ;
      ``less``: what the end has over step 0, with its paired 95 % interval over
      documents. And the model with the weights of the end, on their grid.
    """
    if not batches:
        raise ValueError("no batches: at least one step is needed")
    above_zero(rate=rate)
    student = Aware(model.config, bits)
    student.assign(model.weights)
    optimizer = torch.optim.AdamW(student.parameters(), lr=rate, weight_decay=0.0)
    told: dict[str, Any] = {"step": [0], "bits_per_byte": []}
    first = last = _scored(model, student, texts)
    told["bits_per_byte"].append(bits_per_byte(first).value)
    for step, ids in enumerate(batches):
        optimizer.param_groups[0]["lr"] = rate * (1 - step / len(batches))
        text_loss(student(ids[:, :-1]), ids).backward()
        torch.nn.utils.clip_grad_norm_(student.parameters(), CLIP)
        optimizer.step()
        optimizer.zero_grad()
        if (step + 1) % every == 0 or step + 1 == len(batches):
            last = _scored(model, student, texts)
            told["step"].append(step + 1)
            told["bits_per_byte"].append(bits_per_byte(last).value)
    gain = difference(last, first)
    told["less"] = [gain.value, gain.low, gain.high]
    return told, deployed(model, student)


def _scored(model: TinyLM, student: Decoder, texts: Sequence[Document]) -> list[Score]:
    return score(deployed(model, student), texts, model.tokenizer)
