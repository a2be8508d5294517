"""The book's models with their weights in few bits, and what that cost them.

Matrices are quantized along their rows, which are what a product reads; gains of the
norms stay as they are. A row that ggml's blocks of 256 do not divide takes the type
that llama.cpp falls back to, and is counted with its own bits.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stacklib.quantity.bounds import above_zero, whole
from stacklib.quantizers import Quantized, awq, dequantize, gptq, hessian, quantize
from stacklib.quantizers.checkpoints.gguf import FALLBACK
from stacklib.quantizers.scheme import scheme_row

from .config import DATA
from .corpus import own_prose
from .model import TinyLM
from .perplexity import Interval

METHODS = ("round", "gptq", "awq")
STORE = DATA / "low_precision" / "schemes.json"
SAMPLES = 16  # texts to calibrate with
READERS = {  # which matrices read what a norm gives
    "input_layernorm": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    "post_attention_layernorm": ("mlp.gate_proj", "mlp.up_proj"),
}


@dataclass(frozen=True)
class QuantizedLM:
    """A model in few bits.

    - ``model``: with the numbers that the codes stand for: run it, score it, probe
      it.
    - ``scheme``, ``method``: what was asked for.
    - ``tensors``: by Hugging Face name, in the order of the forward pass:
      ``Quantized``, or the fp32 array that was left alone.
    """

    model: TinyLM
    scheme: str
    method: str
    tensors: dict[str, Any] = field(repr=False)

    @property
    def nbytes(self) -> int:
        """Bytes of all tensors; gains of the norms in fp32."""
        return sum(tensor.nbytes for tensor in self.tensors.values())

    @property
    def bits(self) -> float:
        """Bits of a weight, over all of them."""
        return 8 * self.nbytes / self.model.parameters

    @property
    def fallbacks(self) -> dict[str, str]:
        """Tensors in another scheme than the one asked for, and which."""
        return {
            name: tensor.scheme
            for name, tensor in self.tensors.items()
            if isinstance(tensor, Quantized) and tensor.scheme != self.scheme
        }


def quantized(
    model: TinyLM,
    scheme: str,
    method: str = "round",
    inputs: Mapping[str, NDArray[Any]] | None = None,
    *,
    embedding: bool = True,
) -> QuantizedLM:
    """Quantize every matrix of a model.

    - ``model``: what is quantized; it is left as it was.
    - ``scheme``: one of ``stacklib.quantizers.schemes()``.
    - ``method``: plain rounding, or one that looks at each layer's inputs.
    - ``inputs``: from ``layer_inputs``, for ``gptq`` and ``awq``.
    - ``embedding``: whether the embedding, which is the output matrix too, is
      quantized. It has no inputs to look at and is always rounded plainly.
    """
    name = scheme_row(scheme).name
    if method not in METHODS:
        raise ValueError(f"method={method!r}: one of {', '.join(METHODS)}")
    if method != "round" and not inputs:
        raise ValueError(f"method={method!r}: it looks at inputs=layer_inputs(...)")
    tensors: dict[str, Any] = {}
    weights: dict[str, NDArray[np.float32]] = {}
    for key, weight in model.weights.items():
        plain = weight.ndim != 2 or ("embed" in key and not embedding)
        if plain:
            tensors[key] = weights[key] = weight
            continue
        used = method if inputs and key in inputs else "round"
        tensors[key], weights[key] = _matrix(
            weight, _fitting(name, weight), used, (inputs or {}).get(key)
        )
    changed = dataclasses.replace(model, weights=weights)
    return QuantizedLM(changed, name, method, tensors)


def regrouped(model: TinyLM, scheme: str, seed: int) -> TinyLM:
    """The model rounded plainly, its columns dealt into other groups.

    The columns of each matrix are put in an order that is drawn, rounded, and put
    back: a scheme is the same whichever columns share a scale, but its answers are not.
    """
    whole(0, seed=seed)
    random = np.random.default_rng(seed)
    weights: dict[str, NDArray[np.float32]] = {}
    for key, weight in model.weights.items():
        weights[key] = weight
        if weight.ndim == 2:
            order = random.permutation(weight.shape[1])
            found: NDArray[np.float32] = np.empty_like(weight)
            dealt = np.ascontiguousarray(weight[:, order])
            found[:, order] = dequantize(quantize(dealt, scheme))
            weights[key] = found
    return dataclasses.replace(model, weights=weights)


def _fitting(scheme: str, weight: NDArray[Any]) -> str:
    if scheme in FALLBACK and weight.shape[-1] % 256:
        return FALLBACK[scheme]
    return scheme


def _matrix(
    weight: NDArray[np.float32], scheme: str, method: str, inputs: Any
) -> tuple[Quantized, NDArray[np.float32]]:
    if method == "awq":
        found = awq(weight, inputs, scheme)
        return found.quantized, found.weights.astype(np.float32)
    if method == "gptq":
        q = gptq(weight, hessian(inputs), scheme)
    else:
        q = quantize(weight, scheme)
    return q, dequantize(q)


class _Watched:
    """A weight that keeps what is multiplied with it."""

    __array_ufunc__ = None  # NumPy hands the product over

    def __init__(self, weight: NDArray[Any], seen: list[NDArray[Any]]) -> None:
        self.weight, self.seen = weight, seen

    @property
    def T(self) -> _Watched:
        return self

    def __rmatmul__(self, x: NDArray[Any]) -> NDArray[Any]:
        self.seen.append(x)
        return x @ self.weight.T


class _Watching(Mapping[str, Any]):
    def __init__(self, weights: Mapping[str, NDArray[Any]]) -> None:
        self.weights = weights
        self.seen: dict[str, list[NDArray[Any]]] = {}

    def __getitem__(self, name: str) -> Any:
        weight = self.weights[name]
        if weight.ndim != 2 or "embed" in name:
            return weight
        return _Watched(weight, self.seen.setdefault(name, []))

    def __iter__(self) -> Iterator[str]:
        return iter(self.weights)

    def __len__(self) -> int:
        return len(self.weights)


def layer_inputs(
    model: TinyLM, texts: Sequence[str] | Sequence[ArrayLike]
) -> dict[str, NDArray[np.float32]]:
    """What each matrix is multiplied with while the model reads some texts.

    - ``texts``: each is read from its start, up to the model's context.

    Gives by the matrix's Hugging Face name; the embedding is not among them.
    """
    if not len(texts):
        raise ValueError("no texts: calibration needs at least one sample")
    watching = _Watching(model.weights)
    watched = dataclasses.replace(model, weights=watching)
    for text in texts:
        ids = model.tokenizer.encode(text) if isinstance(text, str) else text
        read = [model.tokenizer.end, *np.asarray(ids).tolist()]
        watched.logits(read[: model.config.max_position_embeddings])
    return {name: np.concatenate(parts) for name, parts in watching.seen.items()}


def calibration() -> list[str]:
    """Texts to calibrate with: the beginnings of what the model was trained on.

    Of this project's own prose, which is here under every Python; what is held out is
    not among them.
    """
    texts = [d.text[:2000] for d in own_prose() if not d.is_held_out]
    return texts[:: max(1, len(texts) // SAMPLES)][:SAMPLES]


def with_outliers(
    model: TinyLM, factor: float = 64.0, channels: Sequence[int] = (7, 100)
) -> TinyLM:
    """The same function with some channels of its activations made large.

    What a norm gives in these channels is multiplied by a power of two, and the
    matrices that read it divided by it: every logit stays as it was, to the last bit
    but for the order of sums. Large models have such channels by training (Dettmers et
    al., *LLM.int8()*, arXiv 2208.07339); this one has few.
    """
    above_zero(factor=factor)
    if np.frexp(factor)[0] != 0.5:
        raise ValueError(f"factor={factor}: a power of two leaves every digit alone")
    width = model.config.hidden_size
    for channel in channels:
        if not 0 <= channel < width:
            raise ValueError(f"channel {channel}: the model has {width}")
    scale: NDArray[np.float32] = np.ones(width, np.float32)
    scale[list(channels)] = factor
    weights = dict(model.weights)
    for layer in range(model.config.num_hidden_layers):
        at = f"model.layers.{layer}."
        for norm, readers in READERS.items():
            weights[f"{at}{norm}.weight"] = weights[f"{at}{norm}.weight"] * scale
            for reader in readers:
                name = f"{at}{reader}.weight"
                weights[name] = weights[name] / scale
    return dataclasses.replace(model, weights=weights)


@dataclass(frozen=True, slots=True)
class Measured:
    """What a scheme cost the model on text it never saw.

    ``id`` is scheme and method; ``loss`` is bits per byte above the model in bf16,
    document by document; ``probe`` the share of all minimal pairs, ``cloze`` of the
    cloze items, answered right.
    """

    id: str
    scheme: str
    method: str
    nbytes: int
    bits: float
    bits_per_byte: Interval
    loss: Interval
    probe: Interval
    cloze: Interval
    flipped: int  # answers of pairs and cloze that are not those of bf16


@cache
def measured() -> tuple[Measured, ...]:
    """Every scheme and method as ``benchmarks/quantized_model.py`` found them."""
    table = json.loads(STORE.read_text(encoding="utf-8"))
    intervals = ("bits_per_byte", "loss", "probe", "cloze")
    return tuple(
        Measured(**row | {name: Interval(*row[name]) for name in intervals})
        for row in table["rows"]
    )
