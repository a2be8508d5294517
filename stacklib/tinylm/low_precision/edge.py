"""The model in whole numbers, as a phone runs it: calibrated once, then INT8 for good.

    x = scale * (code - zero),   code = round(x / scale) + zero  in 0..255

Every product reads codes of eight bits and sums them in 32. Scale and zero point of
what goes in are found beforehand, from texts, and stay; weights have a scale a row.
Norms, attention and the activation run in floats between. The same numbers are written
as ONNX by ``edge_onnx``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stacklib.quantity.bounds import at_least
from stacklib.quantizers import quantize

from ..model import TinyLM
from ..quantized import calibration

LEVELS = 255  # codes above the lowest
HEAD = "model.embed_tokens.weight"  # read by the lookup, and as the output matrix


def affine(low: float, high: float) -> tuple[np.float32, int]:
    """Scale and zero point of codes 0 to 255 over a range that is made to hold zero.

    Zero itself gets a code, so that padding and a dead activation are exact.
    """
    at_least(0, high_over_low=high - low)
    low, high = min(low, 0.0), max(high, 0.0)
    scale = np.float32((high - low) / LEVELS) or np.float32(1)
    return scale, round(-low / float(scale))


class _Matrix:
    """What stands for a weight on the right of a product with floats."""

    __array_ufunc__ = None  # NumPy hands the product over

    @property
    def T(self) -> Any:
        return self


@dataclass(frozen=True)
class Product(_Matrix):
    """A matrix in eight bits, and what its input is rounded with."""

    codes: NDArray[np.int8]  # (rows out, columns in)
    scales: NDArray[np.float32]  # (rows out,)
    scale: np.float32
    zero: int

    def __getitem__(self, ids: Any) -> NDArray[np.float32]:
        return self.codes[ids] * self.scales[ids][..., None]

    def rounded(self, x: NDArray[Any]) -> NDArray[np.uint8]:
        """The codes of an input; beyond the range the first or the last."""
        near = np.rint(x / self.scale) + np.float32(self.zero)
        return np.clip(near, 0, LEVELS).astype(np.uint8)

    def sums(self, codes: NDArray[np.uint8]) -> NDArray[np.int32]:
        """Whole sums of products. A float64 holds each, so BLAS may make them."""
        x = codes.astype(np.float64) - self.zero
        return (x @ self.codes.T.astype(np.float64)).astype(np.int32)

    def __rmatmul__(self, x: NDArray[Any]) -> NDArray[np.float32]:
        return self.sums(self.rounded(x)) * (self.scale * self.scales)


@dataclass
class _Seen(_Matrix):
    """A weight that keeps the range of what is multiplied with it."""

    weight: NDArray[Any]
    low: float = 0.0
    high: float = 0.0

    def __getitem__(self, ids: Any) -> Any:
        return self.weight[ids]

    def __rmatmul__(self, x: NDArray[Any]) -> Any:
        self.low = min(self.low, float(x.min()))
        self.high = max(self.high, float(x.max()))
        return x @ self.weight.T

    def product(self) -> Product:
        """The same in eight bits."""
        q = quantize(self.weight, "int8_channel")
        return Product(q.codes, q.scales.reshape(-1), *affine(self.low, self.high))


def calibrated(model: TinyLM, texts: Sequence[str] | None = None) -> TinyLM:
    """The model with every matrix in INT8; inputs have the ranges that texts showed.

    ``texts``: read from their starts, up to the model's context; none: of the training
    text. What comes back is run, scored and generated with as any other model.
    """
    texts = calibration() if texts is None else texts
    if not texts:
        raise ValueError("no texts: a range needs at least one to be seen in")
    seen = {key: _Seen(w) for key, w in model.weights.items() if w.ndim == 2}
    watched: Any = dataclasses.replace(model, weights={**model.weights, **seen})
    for text in texts:
        ids = [model.tokenizer.end, *model.tokenizer.encode(text)]
        watched.logits(ids[: model.config.max_position_embeddings])
    whole: Any = {key: each.product() for key, each in seen.items()}
    return dataclasses.replace(model, weights={**model.weights, **whole})


def products(model: TinyLM) -> Mapping[str, Product]:
    """The products of a model in INT8, by the names of their weights."""
    return {k: w for k, w in model.weights.items() if isinstance(w, Product)}
