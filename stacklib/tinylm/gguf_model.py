"""The book's models as GGUF files, and our decoder with llama.cpp's rounding.

llama.cpp turns neighbouring channels of a query where Hugging Face's layout turns the
two halves of a head: rows of the query and key matrices change places, and since a row
keeps its codes and scales, this holds for quantized rows as well. Beside the weights it
rounds what they are multiplied with: to 8 bits in blocks of 32 numbers, or of 256 for
the K-quants. `as_llama_cpp` does the same, so that both can be held to each other.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stacklib.quantizers import Quantized, write_gguf
from stacklib.quantizers.gguf_file import TYPES
from stacklib.quantizers.gguf_writing import FILE_TYPES

from .forward import Floats, KVCache
from .model import TinyLM
from .quantized import QuantizedLM

__all__ = ["as_llama_cpp", "continued", "write_model"]

# Hugging Face's names by llama.cpp's (gguf-py, tensor_mapping.py)
NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}
TURNED = {"attn_q": "num_attention_heads", "attn_k": "num_key_value_heads"}
BLOCK, SUPER = 32, 256


def write_model(path: Any, made: QuantizedLM | TinyLM, *, force: bool = False) -> Path:
    """Write a model that llama.cpp runs.

    - ``made``: quantized in a scheme GGUF has a type for, or a model as it is, in
      fp32.
    - ``force``: whether a file that is there may be replaced.
    """
    path = Path(path)
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists; choose another name, or force it")
    model, tensors = (
        (made, dict(made.weights))
        if isinstance(made, TinyLM)
        else (
            made.model,
            made.tensors,
        )
    )
    if isinstance(made, QuantizedLM) and made.method == "awq":
        raise ValueError("weights scaled by AWQ: GGUF has no place for their scales")
    if isinstance(made, QuantizedLM) and made.scheme not in TYPES:
        known = ", ".join(TYPES)
        raise ValueError(f"GGUF has no type for {made.scheme}; it has {known}")
    embedding = tensors["model.embed_tokens.weight"]
    if isinstance(embedding, Quantized) and embedding.scheme == "nvfp4":
        raise ValueError(
            "llama.cpp has no place for the embedding's own scale: "
            "quantized(..., embedding=False) leaves that matrix as it is"
        )
    named = {}
    for name, tensor in tensors.items():
        there = gguf_name(name)
        kind = there.split(".")[-2]
        if kind in TURNED:
            heads = getattr(model.config, TURNED[kind])
            tensor = _rows(tensor, turned_rows(heads, model.config.head_dim))
        named[there] = tensor
    # what was asked for, also where most rows took a type to fall back to
    kind = FILE_TYPES["fp32" if isinstance(made, TinyLM) else made.scheme]
    write_gguf(path, named, facts(model) | {"general.file_type": kind})
    return path


def gguf_name(name: str) -> str:
    """llama.cpp's name of a weight."""
    if name.startswith("model.layers."):
        _, _, layer, rest = name.split(".", 3)
        return f"blk.{layer}.{NAMES[rest.removesuffix('.weight')]}.weight"
    short = {"model.embed_tokens": "token_embd", "model.norm": "output_norm"}
    return f"{short[name.removesuffix('.weight')]}.weight"


def turned_rows(heads: int, width: int) -> NDArray[Any]:
    """Which row of each head comes where: first and second half in turn."""
    rows = np.arange(heads * width).reshape(heads, 2, width // 2)
    return rows.swapaxes(1, 2).reshape(-1)


def _rows(tensor: Any, order: NDArray[Any]) -> Any:
    if not isinstance(tensor, Quantized):
        return np.ascontiguousarray(tensor[order])
    levels = {
        key: level[order] if level.ndim else level
        for key, level in tensor.levels.items()
    }
    return dataclasses.replace(
        tensor, codes=tensor.codes[order], scales=tensor.scales[order], levels=levels
    )


def facts(model: TinyLM) -> dict[str, Any]:
    """What llama.cpp asks a file of this architecture."""
    c, tokenizer = model.config, model.tokenizer
    # Bytes as GPT-2's vocabulary prints them.
    printed = _characters().__getitem__
    spelled = ["".join(map(printed, each)) for each in tokenizer.spelled]
    end = f"<|end of {model.name}|>"
    merges = [f"{spelled[a]} {spelled[b]}" for a, b in tokenizer.merges]
    return {
        "general.architecture": "llama",
        "general.name": f"From Transistor to Token, {model.name}",
        "llama.vocab_size": c.vocab_size,
        "llama.context_length": c.max_position_embeddings,
        "llama.embedding_length": c.hidden_size,
        "llama.block_count": c.num_hidden_layers,
        "llama.feed_forward_length": c.intermediate_size,
        "llama.rope.dimension_count": c.head_dim,
        "llama.rope.freq_base": float(c.rope_theta),
        "llama.attention.head_count": c.num_attention_heads,
        "llama.attention.head_count_kv": c.num_key_value_heads,
        "llama.attention.key_length": c.head_dim,
        "llama.attention.value_length": c.head_dim,
        "llama.attention.layer_norm_rms_epsilon": float(c.rms_norm_eps),
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": [*_once(spelled), end],
        "tokenizer.ggml.token_type": [*[1] * len(spelled), 3],
        "tokenizer.ggml.merges": merges,
        "tokenizer.ggml.bos_token_id": tokenizer.end,
        "tokenizer.ggml.eos_token_id": tokenizer.end,
        "tokenizer.ggml.add_bos_token": True,
    }


@cache
def _characters() -> dict[int, str]:
    """Each byte's character in GPT-2's vocabulary: one that shows."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in shown]
    table = {byte: chr(byte) for byte in shown}
    return table | {byte: chr(256 + place) for place, byte in enumerate(hidden)}


def _once(spelled: Sequence[str]) -> list[str]:
    """Two ids may spell the same bytes; a file wants each text once."""
    seen: set[str] = set()
    found = []
    for number, text in enumerate(spelled):
        found.append(f"<|{number}|>" if text in seen else text)
        seen.add(text)
    return found


def rounded_activations(x: Floats, scheme: str) -> tuple[Floats, Floats]:
    """What llama.cpp multiplies a weight of a scheme with, and each block's sum.

    Blocks of 32 with an fp16 scale, half way to even, as ggml's code for x86 does it
    (``quantize_row_q8_0`` and ``_q8_1``); before the K-quants blocks of 256 whose scale
    is in fp32 and sends the largest magnitude to -127 (``quantize_row_q8_K``). The sum
    is what Q8_1 keeps beside the codes, in fp16.
    """
    wide = scheme.endswith("_k")
    blocks = x.reshape(*x.shape[:-1], -1, SUPER if wide else BLOCK)
    at = np.abs(blocks).argmax(-1)[..., None]
    largest = np.take_along_axis(blocks, at, -1)
    size = np.float32(-127) if wide else np.float32(127)
    inverse = _over(size, largest if wide else np.abs(largest))
    codes = np.minimum(np.rint(blocks * inverse), 127)
    exact = _over(np.float32(1), inverse) if wide else np.abs(largest) / size
    sums = (codes.sum(-1) * exact[..., 0]).astype(np.float16).astype(np.float32)
    scale = exact if wide else exact.astype(np.float16).astype(np.float32)
    return (codes * scale).astype(np.float32).reshape(x.shape), sums


def _over(number: np.float32, by: NDArray[Any]) -> NDArray[Any]:
    return np.divide(number, by, out=np.zeros_like(by), where=by != 0)


class _Product:
    """A weight whose products round the other side first."""

    __array_ufunc__ = None  # NumPy hands the product over

    def __init__(self, weight: NDArray[Any], tensor: Quantized) -> None:
        self.weight, self.tensor = weight, tensor

    @property
    def T(self) -> _Product:
        return self

    def __getitem__(self, ids: Any) -> NDArray[Any]:
        return self.weight[ids]

    def __rmatmul__(self, x: Floats) -> Floats:
        rounded, stored = rounded_activations(x, self.tensor.scheme)
        product: Floats = rounded @ self.weight.T
        if self.tensor.scheme.endswith("_1"):
            # a block's least number is multiplied with the sum as it is stored
            sums = rounded.reshape(len(x), -1, BLOCK).sum(-1)
            least = self.tensor.levels["minimum"].astype(np.float32)
            product = product + (stored - sums) @ least.T
        return product


class _Products(Mapping[str, Any]):
    def __init__(self, made: QuantizedLM) -> None:
        self.made = made

    def __getitem__(self, name: str) -> Any:
        tensor, weight = self.made.tensors[name], self.made.model.weights[name]
        if isinstance(tensor, Quantized):
            return _Product(weight, tensor)
        return weight

    def __iter__(self) -> Iterator[str]:
        return iter(self.made.tensors)

    def __len__(self) -> int:
        return len(self.made.tensors)


def as_llama_cpp(made: QuantizedLM) -> TinyLM:
    """A model whose products round activations as llama.cpp does.

    Its cache is in fp32, as llama.cpp's is with ``--cache-type-k f32`` and
    ``--cache-type-v f32``; in fp16, its default, logits part by thousandths and a
    rounding turns over here and there.
    """
    return dataclasses.replace(made.model, weights=_Products(made))


def continued(
    made: QuantizedLM, ids: Sequence[int], tokens: int
) -> tuple[list[int], list[Floats]]:
    """The likeliest token, again and again, and the logits each was taken from."""
    model = as_llama_cpp(made)
    cache = KVCache(model.config)
    logits = model.logits(ids, cache, last_only=True)[-1]
    found, seen = [], []
    for _ in range(tokens):
        found.append(int(logits.argmax()))
        seen.append(logits)
        logits = model.logits([found[-1]], cache)[-1]
    return found, seen
