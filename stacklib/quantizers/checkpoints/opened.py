"""A model's folder as Hugging Face releases it: sizes, and matrices read one by one.

Dense decoders of Llama's shape: Llama and Mistral, Qwen 2 with biases before attention,
Qwen 3 with norms of queries and keys. Whatever else a folder holds is refused by name,
because a tensor that is left out makes another model. Sizes need no NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stacklib.models.files.safetensors import Placed, files_of, header_of
from stacklib.models.reading import ConfigError, Reader, load

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# model_type, and llama.cpp's name of the architecture
KINDS = {"llama": "llama", "mistral": "llama", "qwen2": "qwen2", "qwen3": "qwen3"}
HEAD = "lm_head.weight"
FORMS = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}
_OPTIONAL = (
    *("self_attn.q_proj.bias", "self_attn.k_proj.bias", "self_attn.v_proj.bias"),
    *("self_attn.o_proj.bias", "self_attn.q_norm.weight", "self_attn.k_norm.weight"),
    *("mlp.gate_proj.bias", "mlp.up_proj.bias", "mlp.down_proj.bias"),
)
_SIZES = (
    *("vocab_size", "hidden_size", "intermediate_size"),
    *("num_attention_heads", "max_position_embeddings"),
)
_HARMLESS = "rotary_emb.inv_freq"  # older releases keep what the config says anyway
_PLAIN_ROPE = ("default", None)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A folder that was looked at, and no number read.

    - ``config``: as its ``config.json`` has it
    - ``kind``: ``model_type``
    - ``sizes``: by the names of ``config.json``, defaults filled in
    - ``turns``: by what each plane of the rotary positions is slowed down; none: plain
    - ``places``: the file and place of each tensor, in the order of the forward pass
    """

    folder: Path
    config: dict[str, Any]
    kind: str
    sizes: dict[str, Any]
    turns: tuple[float, ...]
    places: dict[str, tuple[Path, Placed]]

    @property
    def tied(self) -> bool:
        """Whether the embedding is the output matrix, too."""
        return HEAD not in self.places

    def shape(self, name: str) -> tuple[int, ...]:
        """Sizes of a tensor."""
        return self.places[name][1].shape

    def form(self, name: str) -> str:
        """Its type, as safetensors calls it."""
        return self.places[name][1].kind

    def stored(self, name: str) -> NDArray[Any]:
        """A tensor as it lies in its file; bf16 as 16 bits without a sign."""
        import numpy as np

        path, (kind, shape, _, start) = self.places[name]
        return np.memmap(path, FORMS[kind], "r", start, shape)

    def numbers(self, name: str) -> NDArray[np.float32]:
        """A tensor in fp32; raises ``ValueError`` for a number that is not finite."""
        import numpy as np

        found = self.stored(name)
        if self.form(name) == "BF16":
            found = (found.astype(np.uint32) << 16).view(np.float32)
        wide: NDArray[np.float32] = np.ascontiguousarray(found, np.float32)
        if not np.isfinite(wide).all():
            raise ValueError(f"{self.folder}: tensor {name!r} has infinity or NaN")
        return wide


def open_checkpoint(folder: str | Path) -> Checkpoint:
    """A folder with ``config.json`` and safetensors, one file or shards.

    - raises ``ValueError`` for a type of model, a rotary scaling or a tensor that is
      not of these shapes, and a tensor that is missing; it is named
    """
    folder = Path(folder)
    raw, _ = load(folder)
    kind = raw.get("model_type")
    if not isinstance(kind, str) or kind not in KINDS:
        raise ConfigError(
            f"{folder}: model_type = {kind!r}: dense decoders are quantized from a "
            f"folder; known are {', '.join(KINDS)}"
        )
    if raw.get("quantization_config"):
        raise ConfigError(f"{folder}: quantization_config: its weights are in few bits")
    try:
        sizes = _sizes(raw, kind)
        turns = _turns(raw, sizes)
    except ConfigError as wrong:
        raise ConfigError(f"{folder / 'config.json'}: {wrong}") from None
    tied = raw.get("tie_word_embeddings")
    found: dict[str, tuple[Path, Placed]] = {}
    for path in files_of(folder):
        for name, place in header_of(path).items():
            if name in found:
                raise ConfigError(f"{path}: tensor {name!r} is in another shard, too")
            found[name] = path, place
    if tied:
        found.pop(HEAD, None)  # some releases keep a copy
    wanted = [*_allowed(sizes)]
    if not tied:
        table = (sizes["vocab_size"], sizes["hidden_size"])
        wanted.append((HEAD, table, tied is not None))
    places = _ordered(folder, wanted, found)
    return Checkpoint(folder, raw, kind, sizes, turns, places)


def _sizes(raw: dict[str, Any], kind: str) -> dict[str, Any]:
    reader = Reader(raw, {}, {})
    sizes: dict[str, Any] = {name: reader.size(name) for name in _SIZES}
    sizes["num_hidden_layers"] = reader.size("num_hidden_layers", most=10_000)
    heads = sizes["num_attention_heads"]
    sizes["num_key_value_heads"] = reader.size("num_key_value_heads", heads)
    sizes["head_dim"] = reader.size("head_dim", sizes["hidden_size"] // heads)
    if heads % sizes["num_key_value_heads"] or sizes["head_dim"] % 2:
        raise ConfigError("heads must divide evenly and be even in size")
    rope = raw.get("rope_parameters") or {}
    theta = rope.get("rope_theta", raw.get("rope_theta", 10_000.0))
    for name, default in (("rms_norm_eps", 1e-6), ("rope_theta", 10_000.0)):
        value = theta if name == "rope_theta" else raw.get(name, default)
        real = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not real or not 0 < value < math.inf:
            raise ConfigError(f"{name} = {value!r}: a number above zero is needed")
        sizes[name] = float(value)
    reader.refuse("hidden_act", ("silu",), "another function in the MLP")
    reader.refuse("partial_rotary_factor", (1, 1.0), "positions turn a part of a head")
    if kind == "mistral" or raw.get("use_sliding_window"):
        most = sizes["max_position_embeddings"]
        window = raw.get("sliding_window")
        if isinstance(window, int) and window < most:
            raise ConfigError(f"sliding_window = {window}: shorter than the context")
    return sizes


def _turns(raw: Mapping[str, Any], sizes: Mapping[str, Any]) -> tuple[float, ...]:
    """By what Llama 3.1 slows each plane down (transformers, rope type ``llama3``).

    Planes that turn less than ``low_freq_factor`` times within the old context take
    the whole factor, those beyond ``high_freq_factor`` none, and between them it is
    led from the one to the other.
    """
    rope = raw.get("rope_parameters") or raw.get("rope_scaling") or {}
    if not isinstance(rope, Mapping):
        raise ConfigError(f"rope_scaling = {rope!r}: a JSON object is needed")
    kind = rope.get("rope_type", rope.get("type"))
    if kind in _PLAIN_ROPE:
        return ()
    if kind != "llama3":
        raise ConfigError(
            f"rope_scaling.rope_type = {kind!r}: known are default, llama3"
        )
    try:
        names = ("factor", "low_freq_factor", "high_freq_factor")
        factor, low, high = (float(rope[name]) for name in names)
        old = float(rope["original_max_position_embeddings"])
    except (KeyError, TypeError, ValueError) as wrong:
        raise ConfigError(f"rope_scaling of llama3: {wrong!r}") from None
    if not (factor > 0 and old > 0 and 0 < low < high):
        raise ConfigError(f"rope_scaling = {dict(rope)!r}: not a scaling")
    width = sizes["head_dim"]
    speeds = [sizes["rope_theta"] ** (-2 * n / width) for n in range(width // 2)]
    found = []
    for speed in speeds:
        smooth = (old * speed / (2 * math.pi) - low) / (high - low)
        smooth = min(max(smooth, 0.0), 1.0)
        found.append(1 / ((1 - smooth) / factor + smooth))
    return tuple(found)


def shapes(sizes: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Every weight that such a decoder must have, in the order of the forward pass."""
    width, inner = sizes["hidden_size"], sizes["intermediate_size"]
    queries = sizes["num_attention_heads"] * sizes["head_dim"]
    keys = sizes["num_key_value_heads"] * sizes["head_dim"]
    named: dict[str, tuple[int, ...]] = {
        "model.embed_tokens.weight": (sizes["vocab_size"], width)
    }
    for layer in range(sizes["num_hidden_layers"]):
        block = {
            "input_layernorm": (width,),
            "self_attn.q_proj": (queries, width),
            "self_attn.k_proj": (keys, width),
            "self_attn.v_proj": (keys, width),
            "self_attn.o_proj": (width, queries),
            "post_attention_layernorm": (width,),
            "mlp.gate_proj": (inner, width),
            "mlp.up_proj": (inner, width),
            "mlp.down_proj": (width, inner),
        }
        for name, shape in block.items():
            named[f"model.layers.{layer}.{name}.weight"] = shape
    return {**named, "model.norm.weight": (width,)}


def _allowed(sizes: Mapping[str, Any]) -> Iterator[tuple[str, tuple[int, ...], bool]]:
    """Every weight, its shape, and whether it must be there."""
    for name, shape in shapes(sizes).items():
        yield name, shape, True
        layer, _, rest = name.rpartition(".layers.")[2].partition(".")
        short = rest.removesuffix(".weight")
        if f"{short}.bias" in _OPTIONAL:
            yield name.removesuffix("weight") + "bias", shape[:1], False
        if short in ("self_attn.q_proj", "self_attn.k_proj"):
            norm = f"model.layers.{layer}.{short.replace('proj', 'norm')}.weight"
            yield norm, (sizes["head_dim"],), False


def _ordered(
    folder: Path,
    wanted: Iterable[tuple[str, tuple[int, ...], bool]],
    found: Mapping[str, tuple[Path, Placed]],
) -> dict[str, tuple[Path, Placed]]:
    """The tensors in the order of the forward pass, each held to its shape."""
    ordered = {}
    for name, shape, needed in wanted:
        if name not in found:
            if needed:
                raise ConfigError(f"{folder}: tensor {name!r} is missing")
            continue
        place = found[name][1]
        if place.shape != shape:
            raise ConfigError(
                f"{folder}: tensor {name!r} of shape {place.shape}, and by config.json "
                f"{shape}"
            )
        if place.kind not in FORMS:
            raise ConfigError(
                f"{folder}: tensor {name!r} in {place.kind}, not {', '.join(FORMS)}"
            )
        ordered[name] = found[name]
    for name in found:
        if name not in ordered and not name.endswith(_HARMLESS):
            mixed = ", a mixture of experts," if ".experts." in name else ""
            raise ConfigError(
                f"{folder}: tensor {name!r}{mixed} is not covered: no weight of a "
                "dense decoder of Llama's or Qwen's shape"
            )
    return ordered
