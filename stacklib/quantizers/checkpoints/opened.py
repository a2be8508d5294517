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

from stacklib.models.attention_fields import layer_windows
from stacklib.models.files.safetensors import Placed, files_of, header_of
from stacklib.models.kinds import KINDS as ROWS
from stacklib.models.reading import ConfigError, Reader, load

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# model_type, and llama.cpp's name of the architecture
KINDS = {"llama": "llama", "mistral": "llama", "qwen2": "qwen2", "qwen3": "qwen3"}
HEAD, TABLE = "lm_head.weight", "model.embed_tokens.weight"
FORMS = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}
_SIZES = (
    *("vocab_size", "hidden_size", "intermediate_size"),
    *("num_attention_heads", "max_position_embeddings"),
)
_HARMLESS = "rotary_emb.inv_freq"  # older releases keep what the config says anyway
_PLAIN_ROPE = ("default", None)
_FARTHEST = 1e30  # of positions and what turns them; beyond it fp32 ends
_CHUNK = 1 << 24  # bytes that are compared at once


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A folder that was looked at, and no number decoded.

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
        """A tensor as it lies in its file; bf16 as 16 bits without a sign.

        - raises ``ValueError`` for a number that is not finite
        """
        import numpy as np

        path, (kind, shape, _, start) = self.places[name]
        found: NDArray[Any] = np.memmap(path, FORMS[kind], "r", start, shape)
        whole = found & 0x7F80 != 0x7F80 if kind == "BF16" else np.isfinite(found)
        if not whole.all():
            raise ValueError(f"{self.folder}: tensor {name!r} has infinity or NaN")
        return found

    def numbers(self, name: str) -> NDArray[np.float32]:
        """A tensor in fp32."""
        import numpy as np

        found = self.stored(name)
        if self.form(name) == "BF16":
            found = (found.astype(np.uint32) << 16).view(np.float32)
        return np.ascontiguousarray(found, np.float32)


def open_checkpoint(folder: str | Path) -> Checkpoint:
    """A folder with ``config.json`` and safetensors, one file or shards.

    - raises ``ValueError`` for a type of model, a rotary scaling or a tensor that is
      not of these shapes, a tensor that is missing, and a copy of the embedding that
      is another matrix; it is named
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
        wanted = [*_wanted(sizes, raw, kind)]
    except ConfigError as wrong:
        raise ConfigError(f"{folder / 'config.json'}: {wrong}") from None
    tied = raw.get("tie_word_embeddings")
    found: dict[str, tuple[Path, Placed]] = {}
    for path in files_of(folder):
        for name, place in header_of(path).items():
            if name in found:
                raise ConfigError(f"{path}: tensor {name!r} is in another shard, too")
            found[name] = path, place
    table = (sizes["vocab_size"], sizes["hidden_size"])
    places = _ordered(folder, [*wanted, (HEAD, table, tied is False)], found)
    if tied and HEAD in places:  # some releases keep a copy
        if _differ(places.pop(HEAD), places[TABLE]):
            raise ConfigError(
                f"{folder}: tie_word_embeddings = true, but tensor {HEAD!r} is not "
                f"{TABLE!r}: loaders disagree which of them is the head"
            )
    return Checkpoint(folder, raw, kind, sizes, turns, places)


def _differ(one: tuple[Path, Placed], other: tuple[Path, Placed]) -> bool:
    """Whether two tensors are not the same bytes of the same type."""
    if one[1][:3] != other[1][:3]:
        return True
    with one[0].open("rb") as first, other[0].open("rb") as second:
        first.seek(one[1].start)
        second.seek(other[1].start)
        for done in range(0, one[1].nbytes, _CHUNK):
            size = min(_CHUNK, one[1].nbytes - done)
            if first.read(size) != second.read(size):
                return True
    return False


def _sizes(raw: dict[str, Any], kind: str) -> dict[str, Any]:
    reader = Reader(raw, ROWS[kind].defaults, {})
    reader.flag("tie_word_embeddings")
    sizes: dict[str, Any] = {name: reader.size(name) for name in _SIZES}
    sizes["num_hidden_layers"] = reader.size("num_hidden_layers", most=10_000)
    heads = sizes["num_attention_heads"]
    sizes["num_key_value_heads"] = reader.size("num_key_value_heads", heads)
    sizes["head_dim"] = reader.size("head_dim", sizes["hidden_size"] // heads)
    if heads % sizes["num_key_value_heads"] or sizes["head_dim"] % 2:
        raise ConfigError("heads must divide evenly and be even in size")
    rope = _rope(raw, "rope_parameters")
    theta = rope.get("rope_theta", raw.get("rope_theta", 10_000.0))
    for name, default in (("rms_norm_eps", 1e-6), ("rope_theta", 10_000.0)):
        value = theta if name == "rope_theta" else raw.get(name, default)
        real = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not real or not 0 < value <= _FARTHEST:
            raise ConfigError(f"{name} = {value!r}: a number above zero is needed")
        sizes[name] = float(value)
    reader.refuse("hidden_act", ("silu",), "another function in the MLP")
    reader.refuse("partial_rotary_factor", (1, 1.0), "positions turn a part of a head")
    windows = layer_windows(reader, ROWS[kind], sizes["num_hidden_layers"])
    window = min(filter(None, windows), default=math.inf)
    if window < sizes["max_position_embeddings"]:
        raise ConfigError(f"sliding_window = {window}: shorter than the context")
    return sizes


def _rope(raw: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    """The first of these fields that says something; raises for one not an object."""
    name, told = next(((n, raw[n]) for n in names if raw.get(n)), ("", {}))
    if not isinstance(told, Mapping) or any(isinstance(v, dict) for v in told.values()):
        raise ConfigError(f"{name} = {told!r}: a JSON object of one rotation is needed")
    return told


def _turns(raw: Mapping[str, Any], sizes: Mapping[str, Any]) -> tuple[float, ...]:
    """By what Llama 3.1 slows each plane down (transformers, rope type ``llama3``).

    Planes that turn less than ``low_freq_factor`` times within the old context take
    the whole factor, those beyond ``high_freq_factor`` none, and between them it is
    led from the one to the other.
    """
    rope = _rope(raw, "rope_parameters", "rope_scaling")
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
    except (KeyError, TypeError, ValueError, OverflowError) as wrong:
        raise ConfigError(f"rope_scaling of llama3: {wrong!r}") from None
    if not (
        0 < factor <= _FARTHEST and 0 < old <= _FARTHEST and 0 < low < high <= _FARTHEST
    ):
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
    named: dict[str, tuple[int, ...]] = {TABLE: (sizes["vocab_size"], width)}
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


def _wanted(
    sizes: Mapping[str, Any], raw: dict[str, Any], kind: str
) -> Iterator[tuple[str, tuple[int, ...], bool]]:
    """Every weight, bias and norm, its shape, and that it must be there."""
    row, reader = ROWS[kind], Reader(raw, {}, {})
    has = {
        part: reader.flag(told) if isinstance(told, str) else told
        for parts, told in (
            (("q_proj", "k_proj", "v_proj"), row.qkv_bias),
            (("o_proj",), row.out_bias),
            (("gate_proj", "up_proj", "down_proj"), row.mlp_bias),
        )
        for part in parts
    }
    for name, shape in shapes(sizes).items():
        yield name, shape, True
        part = name.split(".")[-2]
        if has.get(part):
            yield name.removesuffix("weight") + "bias", shape[:1], True
        if row.qk_norm and part in ("q_proj", "k_proj"):
            yield name.replace("proj", "norm"), (sizes["head_dim"],), True


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
