"""A folder of Hugging Face's as one GGUF file, its matrices in few bits.

llama.cpp turns neighbouring channels of a query where Llama's layout turns the two
halves of a head: rows of the query and key matrices change places. Qwen's are read as
they are. Norms and biases are kept in fp32 (convert_hf_to_gguf.py does the same).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stacklib.quantity.stored import STORED
from stacklib.sweep import progress

from ..gguf_file import TYPES, beside
from ..gguf_writing import FILE_TYPES, FLOATS, Planned, kind_of, write_planned
from ..layouts import BLOCKS, pack
from ..quantizing import NAME, quantize
from .opened import HEAD, KINDS, Checkpoint
from .words import vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..scheme import Quantized

# Hugging Face's names by llama.cpp's (gguf-py, tensor_mapping.py)
NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}
WHOLE = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
}
TURNED = {"attn_q": "num_attention_heads", "attn_k": "num_key_value_heads"}
ROPE = "rope_freqs.weight"
# llama.cpp, llama-quant.cpp: for rows that 256 does not divide
FALLBACK = {
    "q2_k": "iq4_nl",
    "q3_k": "iq4_nl",
    "q4_k": "q5_0",
    "q5_k": "q5_1",
    "q6_k": "q8_0",
}
# matrices that are left as they are
KEPT = {"F32": "fp32", "F16": "fp16", "BF16": "bf16"}


@dataclass(frozen=True, slots=True)
class Written:
    """What a folder became.

    - ``bits``: of a weight, over all of them
    - ``kinds``: how many tensors are in each scheme
    - ``fallbacks``: those in another than the one asked for
    - ``words``: what became of the vocabulary
    """

    parameters: int
    nbytes: int
    kinds: dict[str, int]
    fallbacks: dict[str, str]
    words: str

    @property
    def bits(self) -> float:
        """Bits of a weight, over all of them."""
        return 8 * self.nbytes / self.parameters


def gguf_name(name: str) -> str:
    """llama.cpp's name of a weight or bias."""
    module, _, end = name.rpartition(".")
    if module in WHOLE:
        return f"{WHOLE[module]}.{end}"
    _, _, layer, rest = module.split(".", 3)
    return f"blk.{layer}.{NAMES[rest]}.{end}"


def turned_rows(heads: int, width: int) -> NDArray[Any]:
    """Which row of each head comes where: first and second half in turn."""
    rows = np.arange(heads * width).reshape(heads, 2, width // 2)
    return rows.swapaxes(1, 2).reshape(-1)


def size_facts(arch: str, sizes: Mapping[str, Any]) -> dict[str, Any]:
    """What llama.cpp asks of a dense decoder, by the names of its ``config.json``."""
    return {
        f"{arch}.vocab_size": sizes["vocab_size"],
        f"{arch}.context_length": sizes["max_position_embeddings"],
        f"{arch}.embedding_length": sizes["hidden_size"],
        f"{arch}.block_count": sizes["num_hidden_layers"],
        f"{arch}.feed_forward_length": sizes["intermediate_size"],
        f"{arch}.rope.dimension_count": sizes["head_dim"],
        f"{arch}.rope.freq_base": float(sizes["rope_theta"]),
        f"{arch}.attention.head_count": sizes["num_attention_heads"],
        f"{arch}.attention.head_count_kv": sizes["num_key_value_heads"],
        f"{arch}.attention.key_length": sizes["head_dim"],
        f"{arch}.attention.value_length": sizes["head_dim"],
        f"{arch}.attention.layer_norm_rms_epsilon": float(sizes["rms_norm_eps"]),
    }


def scheme_of(checkpoint: Checkpoint, name: str, scheme: str) -> str:
    """The scheme that a tensor is written in: of a vector fp32, of a matrix the one
    asked for, or what llama.cpp falls back to where its rows are not divided.
    """
    shape = checkpoint.shape(name)
    if len(shape) < 2:
        return "fp32"
    table = name in (HEAD, "model.embed_tokens.weight")
    if scheme == "nvfp4" and table:  # llama.cpp has no place for their own scales
        return KEPT[checkpoint.form(name)]
    for fitting in (scheme, FALLBACK.get(scheme, scheme)):
        if shape[-1] % BLOCKS[fitting][0] == 0:
            return fitting
    return KEPT[checkpoint.form(name)]


def planned_bytes(checkpoint: Checkpoint, scheme: str) -> Written:
    """What a file of that scheme would hold; nothing is written."""
    if scheme not in TYPES:
        raise ValueError(f"GGUF has no type for {scheme}; it has {', '.join(TYPES)}")
    kinds: dict[str, int] = {}
    fallbacks, numbers, size = {}, 0, 0
    for name in checkpoint.places:
        found = scheme_of(checkpoint, name, scheme)
        shape = checkpoint.shape(name)
        kinds[found] = kinds.get(found, 0) + 1
        if found != scheme and len(shape) > 1:
            fallbacks[name] = found
        numbers += math.prod(shape)
        size += sum(p.nbytes for p in _planned(name, found, shape))
    words = vocabulary(checkpoint)[1]
    return Written(numbers, size, kinds, fallbacks, words)


def _planned(name: str, scheme: str, shape: tuple[int, ...]) -> list[Planned]:
    there, row = gguf_name(name), STORED[scheme]
    size = math.prod(shape) // row.row * row.row_bytes
    if scheme not in TYPES:
        return [Planned(there, shape, row.ggml, size)]
    found = [Planned(there, shape, kind_of(name, scheme, shape), size)]
    if scheme == "nvfp4":
        found.append(Planned(beside(there), (1,), FLOATS["f4"], 4))
    return found


def write_checkpoint(path: Path, checkpoint: Checkpoint, scheme: str) -> Written:
    """Write the file, a matrix at a time.

    - ``scheme``: one that GGUF has a type for
    - raises ``ValueError`` for another, and for a tensor with infinity or NaN
    """
    found = planned_bytes(checkpoint, scheme)
    arch = KINDS[checkpoint.kind]
    facts: dict[str, Any] = {
        "general.architecture": arch,
        "general.name": checkpoint.folder.resolve().name,
        "general.file_type": FILE_TYPES[scheme],
        **size_facts(arch, checkpoint.sizes),
        **vocabulary(checkpoint)[0],
    }
    kinds = {name: scheme_of(checkpoint, name, scheme) for name in checkpoint.places}
    plan = [
        p for n, kind in kinds.items() for p in _planned(n, kind, checkpoint.shape(n))
    ]
    turns = np.array(checkpoint.turns, "<f4")
    if len(turns):
        plan.append(Planned(ROPE, turns.shape, FLOATS["f4"], turns.nbytes))

    def made() -> Iterator[bytes]:
        for name, kind in progress(kinds.items(), len(kinds), "tensors"):
            yield from _bytes(checkpoint, name, kind)
        if len(turns):
            yield turns.tobytes()

    write_planned(path, plan, made(), facts)
    return found


def rounded(name: str, numbers: NDArray[Any], scheme: str) -> Quantized:
    """A tensor in a scheme; what is told or refused names the tensor, too."""
    token = NAME.set(f"tensor {name!r}: ")
    try:
        return quantize(numbers, scheme)
    except ValueError as wrong:
        raise ValueError(f"{NAME.get()}{wrong}") from None
    finally:
        NAME.reset(token)


def _bytes(checkpoint: Checkpoint, name: str, scheme: str) -> list[bytes]:
    """A tensor's bytes, and of NVFP4 those of its scale."""
    if scheme in TYPES or scheme == "fp32":
        found: NDArray[Any] = checkpoint.numbers(name)
    else:
        found = checkpoint.stored(name)
    word = gguf_name(name).split(".")[-2]
    if word in TURNED and KINDS[checkpoint.kind] == "llama":
        heads = checkpoint.sizes[TURNED[word]]
        found = found[turned_rows(heads, checkpoint.sizes["head_dim"])]
    if scheme not in TYPES:
        return [found.tobytes()]
    data = pack(rounded(name, np.ascontiguousarray(found), scheme))
    return [data[:-4], data[-4:]] if scheme == "nvfp4" else [data]
