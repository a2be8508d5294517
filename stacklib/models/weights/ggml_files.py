"""Which tensor of a GGUF file takes which type, by the name of the file.

llama.cpp's rule (src/llama-quant.cpp at 007dbbf, ``llama_tensor_get_type``): a file has
one type for most matrices, and more bits for the few that matter more or cost little.
Rows that the block does not divide fall back to a type of 32. Norms, biases, routers
and convolutions stay in fp32. Taken as given: experts that a release has in MXFP4 alone
stay so (gpt-oss, as unsloth's files have it; the rule itself would round them again),
an importance matrix for the ``iq`` types alone, the split latent of files since April
2025, and no layer of Falcon's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from stacklib.quantity.stored import HALF, STORED, Stored

from ..parts import LatentAttention
from ..recurrent import Recurrent
from .tensors import Tensor

if TYPE_CHECKING:
    from ..language_model import LanguageModel

SOURCE = "ggml-org/llama.cpp, src/llama-quant.cpp, 007dbbf"
_SAME = (
    "q4_0 q4_1 q5_0 q5_1 q8_0 q2_k q6_k iq1_s iq1_m iq2_xxs iq2_xs iq2_s iq3_xxs iq3_s "
    "iq4_nl iq4_xs tq1_0 tq2_0 q1_0 q2_0"
)
# the type of most matrices, by the file's name
FILES = {name: name for name in _SAME.split()}
FILES |= {f"q{n}_k_{size}": f"q{n}_k" for n in "345" for size in "sm"}
FILES |= {"q2_k_s": "q2_k", "q3_k_l": "q3_k", "iq2_m": "iq2_s"}
FILES |= {"iq2_s": "iq2_xs", "iq3_xs": "iq3_s", "iq3_m": "iq3_s"}
FILES |= {"mxfp4_moe": "mxfp4"}
# files with embedding and output in q8_0, as bartowski publishes them
WIDER = {"q2_k_l": "q2_k", "q3_k_xl": "q3_k_l", "q6_k_l": "q6_k"}
WIDER |= {"q4_k_l": "q4_k_m", "q5_k_l": "q5_k_m"}

_LOWEST = ("iq1_s", "iq1_m", "iq2_xxs", "iq2_xs", "iq2_s", "iq2_m")
_FALLBACK = {"q4_k": "q5_0", "q5_k": "q5_1", "q6_k": "q8_0"}
_FALLBACK |= dict.fromkeys(("q2_k", "q3_k", "tq1_0", "tq2_0", "q2_0"), "q4_0")
_EMBEDDING = dict.fromkeys(("iq2_xxs", "iq2_xs", "iq1_s", "iq1_m"), "q2_k")
_EMBEDDING |= dict.fromkeys(("iq2_s", "iq2_m", "iq3_xxs"), "iq3_s")
_EMBEDDING |= dict.fromkeys(("tq1_0", "tq2_0", "q2_0"), "q4_k")
_OUT = {"q2_k": "q3_k", "iq3_xxs": "iq3_s", "q3_k_m": "q4_k", "q3_k_l": "q5_k"}
_OUT |= {"iq3_m": "q4_k", "iq1_s": "iq2_xxs", "iq1_m": "iq2_xxs"}
_OUT |= {"iq2_s": "iq3_s", "iq2_m": "iq3_s"}
_OUT_OF_EIGHT = (
    "q2_k iq3_xs iq3_xxs q3_k_s q3_k_m iq4_nl q4_k_s q4_k_m iq3_s iq3_m iq4_xs"
).split()
# of files whose values cost little, with four queries a key or more
_GROUPED = dict.fromkeys(("q2_k", "q2_k_s", "iq3_xxs", "iq3_xs", "iq3_s"), "q4_k")
_GROUPED |= {"iq4_nl": "q5_k", "iq4_xs": "q5_k"}
_FUSED = (
    "phi3 phi gpt2 bloom falcon RefinedWeb RefinedWebModel gpt_neox gpt_bigcode mpt"
).split()  # types whose files keep queries, keys and values in one tensor


@dataclass(slots=True)
class _Place:
    """Where a tensor stands among those of its sort."""

    layer: int  # its layer, or its number in a model without experts
    number: int  # how many of its sort came before
    layers: int
    alike: int  # how many of its sort there are


def more_bits(layer: int, layers: int) -> bool:
    """The first and the last eighth of the layers, and every third between."""
    eighth = layers // 8
    return layer < eighth or layer >= 7 * layers // 8 or (layer - eighth) % 3 == 2


def types(model: LanguageModel, file: str) -> Iterator[tuple[Tensor, Stored]]:
    """Every tensor of a file of this name, with its type."""
    wide, file = file in WIDER, WIDER.get(file, file)
    found = [(t, _sort(model, t)) for t in _laid_out(model)]
    counts = Counter(sort for _, sort in found)
    seen = dict.fromkeys(counts, 0)
    mixed = model.experts is not None
    as_released = model.kept is not None and model.kept.way.name == "mxfp4"
    for tensor, sort in found:
        number = seen[sort]
        seen[sort] += 1
        place = _Place(
            *(tensor.layer if mixed else number, number, model.layers, counts[sort])
        )
        if sort == "vision":  # a file of its own, mmproj
            continue
        if sort in ("vectors", "positions"):
            yield tensor, STORED["fp32"]
            continue
        if tensor.name == "project layer input":  # never quantized, Gemma 4's
            yield tensor, STORED[HALF]
            continue
        if tensor.experts and as_released:
            yield tensor, STORED["mxfp4"]
            continue
        name = _type(model, file, tensor, sort, place)
        if wide and sort in ("head", "embedding"):
            name = "q8_0"
        yield tensor, STORED[_that_divides(name, tensor.inputs)]


def _that_divides(name: str, inputs: int) -> str:
    """The type itself, or the one of 32 that its rows fall back to."""
    if inputs % STORED[name].row:
        name = _FALLBACK.get(name, "iq4_nl" if name.startswith("iq") else "fp16")
    return "fp16" if inputs % STORED[name].row else name


def _laid_out(model: LanguageModel) -> Iterator[Tensor]:
    """The tensors as GGUF has them: the latent's matrix in two, or q, k, v in one."""
    from .tensors import tensors

    fused = model.model_type in _FUSED
    for _, group in groupby(tensors(model), key=lambda t: t.layer):
        layer = [*group]
        qkv = [t for t in layer if fused and t.linear and t.name in ("q", "k", "v")]
        if qkv:
            every = sum(t.outputs for t in qkv)
            yield replace(qkv[0], name="qkv", outputs=every)
        for t in layer:
            if t.name == "kv up":
                a = model.kinds[model.pattern[t.layer]].attention
                assert isinstance(a, LatentAttention)
                nope = a.nope_head_dim
                yield replace(t, inputs=nope, outputs=a.heads * t.inputs)
                yield replace(t, outputs=t.outputs - a.heads * nope)
            elif t not in qkv:
                yield t


def _sort(model: LanguageModel, t: Tensor) -> str:
    """What llama.cpp's rule takes a tensor for."""
    if t.part in ("embedding", "tables"):  # of a tied model both are its output's
        return "head" if model.tied else "embedding"
    if t.part != "matrix":
        return t.part
    if not t.linear:
        return "vectors"
    block = model.kinds[model.pattern[t.layer]]
    if isinstance(block.attention, Recurrent) and t.name == "o":
        return "other"
    words = t.name.split()
    if len(words) == 1 or words[0] in ("expert", "shared"):
        return {"qkv": "v"}.get(words[-1], words[-1])
    return "q" if t.name == "q and gate" else "other"


def _type(model: LanguageModel, file: str, t: Tensor, sort: str, at: _Place) -> str:
    """The type of one tensor, before its rows are looked at."""
    base = FILES[file]
    if sort == "head":
        if file == "mxfp4_moe" or t.inputs % STORED[base].row:
            return "q8_0"
        if file in (*_LOWEST, "iq3_xxs"):
            return "q5_k"
        return base if base == "q8_0" else "q6_k"
    if file == "mxfp4_moe":
        return base if t.experts else "q8_0"
    if sort == "embedding":
        return _EMBEDDING.get(file, base)
    eight = model.experts is not None and model.experts.experts == 8
    if sort == "v":
        return _values(model, file, base, at, eight)
    if sort == "k" and eight:
        return "q4_k" if file in _LOWEST else "q8_0"
    if sort in ("q", "k"):
        return {"iq3_xs": "iq3_xxs", "iq3_xxs": "iq2_s"}.get(file, base)
    if sort == "o":
        if eight and file in (*_LOWEST, *_OUT_OF_EIGHT):
            return "q5_k"
        return base if eight else _OUT.get(file, base)
    if sort == "down":
        return _down(file, base, at, eight)
    if sort in ("gate", "up") and file == "iq3_xs":
        middle = at.layers // 8 <= at.layer < 7 * at.layers // 8
        return "iq3_xxs" if middle else base
    return base


def _values(model: LanguageModel, file: str, base: str, at: _Place, eight: bool) -> str:
    """Values decide more than queries and keys, and are few where heads share them."""
    shared = model.heads // model.cache_heads >= 4
    if file in _LOWEST:
        if shared or (model.experts and model.experts.experts >= 4):
            return "q4_k"
        return "iq3_s" if file in ("iq2_s", "iq2_m") else "q2_k"
    if eight:
        return "q8_0"
    found = base
    if shared and file in _GROUPED:
        found = _GROUPED[file]
    elif file == "q2_k":
        found = "q3_k"
    elif file in ("iq3_m", "q3_k_m"):
        found = "q5_k" if file == "q3_k_m" and at.number < 2 else "q4_k"
    elif file == "q3_k_l" or (file == "q4_k_s" and at.number < 4):
        found = "q5_k"
    elif file in ("q4_k_m", "q5_k_m") and more_bits(at.number, at.alike):
        found = "q6_k"
    # its 70B: eighty layers whose heads share values
    large = at.layers == 80 and model.heads != model.cache_heads
    dense = model.experts is None
    return "q5_k" if large and dense and found in ("q3_k", "q4_k") else found


def _down(file: str, base: str, at: _Place, eight: bool) -> str:
    first = at.layer < at.layers // 8
    if file in _LOWEST:
        if at.number >= at.layers // 8:
            return base
        return "iq3_s" if file in ("iq2_s", "iq2_m") else "q2_k"
    if file in ("q4_k_m", "q5_k_m"):
        return "q6_k" if more_bits(at.layer, at.layers) else base
    if file == "q3_k_m":
        return "q5_k" if at.layer < at.layers // 16 else "q4_k"
    if file == "iq3_m" and eight and more_bits(at.layer, at.layers):
        return "q4_k"
    early = {"q2_k_s": "q4_k", "iq3_m": "q4_k", "q4_k_s": "q5_k"}
    always = {"q2_k": "q3_k", "q3_k_l": "q5_k"}
    return always.get(file) or (early.get(file, base) if first else base)
