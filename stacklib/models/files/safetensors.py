"""Safetensors files as a LanguageModel: bytes of each tensor from the headers alone.

Source: huggingface/safetensors, README, *Format*: eight bytes with the header's length,
then JSON that names every tensor's type, shape and place. The sizes of the model are in
the ``config.json`` beside the files.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from stacklib.quantity import Source
from stacklib.quantity.bounds import is_whole
from stacklib.quantity.stored import HALF, STORED, Stored

from ..config import from_hf_config
from ..language_model import LanguageModel
from ..reading import ConfigError, load, parse, reads, shown
from ..weights.mixtures import Way
from ..weights.module_names import names_of
from ..weights.tensors import OUTSIDE, tensors
from .gguf import Piece, kept_as

INDEX = "model.safetensors.index.json"
_LONGEST = 100_000_000  # bytes of a header, as the library itself allows
# by type: bits, and the format that numbers of it are; others are parts of one
_TYPES = {
    kind: (int(bits), STORED[name] if name else Stored(kind.lower(), "", int(bits)))
    for kind, bits, name in (
        row.split(":")
        for row in (
            "F64:64:fp64 F32:32:fp32 F16:16:fp16 BF16:16:bf16 F8_E4M3:8:e4m3fn "
            "F8_E5M2:8:e5m2 F8_E8M0:8: F6_E2M3:6:e2m3 F6_E3M2:6:e3m2 F4:4:e2m1 "
            "I8:8:int8 U8:8: I16:16: U16:16: I32:32: U32:32: I64:64: U64:64: BOOL:8: "
            "C64:64:"
        ).split()
    )
}
# what stands beside a matrix: scales, zero points, places; the first is the matrix
_SUFFIX = re.compile(
    r"[._](weight|weight_packed|qweight|blocks|bias|weight_scale(_inv|_2)?|scales?"
    r"|weight_global_scale|input_global_scale|input_scale|qzeros|g_idx|weight_shape"
    r"|weight_zero_point|weight\.(absmax|quant_map|nested_absmax|nested_quant_map"
    r"|quant_state\.[a-z0-9_]+)|SCB|k_scale|v_scale)$"
)
_MAIN = ("weight", "weight_packed", "qweight", "blocks")
_LAYER = re.compile(r"(?:^|\.)(?:layers|h|blocks)\.(\d+)\.(.+)$")


class Placed(NamedTuple):
    """A tensor of a file: type, shape, bytes, and its first byte."""

    kind: str
    shape: tuple[int, ...]
    nbytes: int
    start: int


def header_of(path: Path) -> dict[str, Placed]:
    """Type, shape and place of each tensor of one file.

    - raises ``ConfigError`` for a file that is cut off or no safetensors, and a tensor
      of a type that is not known, of a shape that is no size, beyond the end, or not
      where the one before ends; it is named
    """
    with reads(path), path.open("rb") as file:
        size, first = path.stat().st_size, file.read(8)
        length = struct.unpack("<Q", first)[0] if len(first) == 8 else 0
        if not 2 <= length <= min(_LONGEST, size - 8):
            raise ConfigError(
                f"{path}: a header of {length} bytes in a file of {size}; "
                "it is cut off or is not safetensors"
            )
        text = file.read(length)
    found = {
        name: _entry(path, name, told, size, 8 + length)
        for name, told in parse(text, path).items()
        if name != "__metadata__"
    }
    end = 8 + length
    for name, place in sorted(found.items(), key=lambda each: each[1][3:1:-1]):
        if place.start != end:
            raise ConfigError(
                f"{path}: tensor {shown(name)} begins at byte {place.start}, where the "
                f"one before ends at {end}"
            )
        end += place.nbytes
    if end != size:
        raise ConfigError(f"{path}: {size - end} bytes behind the last tensor")
    return found


def _entry(path: Path, name: str, told: Any, size: int, base: int) -> Placed:
    said = f"{path}: tensor {shown(name)}"
    fields = told if isinstance(told, Mapping) else {}
    kind: Any = fields.get("dtype")
    shape: Any = fields.get("shape")
    place: Any = fields.get("data_offsets")
    if not isinstance(kind, str) or kind not in _TYPES:
        raise ConfigError(f"{said} has dtype {shown(kind)}, unknown here")
    for what, value in (("shape", shape), ("data_offsets", place)):
        if not isinstance(value, list) or not all(
            is_whole(n) and n >= 0 for n in value
        ):
            raise ConfigError(f"{said} has {what} {shown(value)}")
    nbytes = math.prod(shape) * _TYPES[kind][0] / 8
    if len(place) != 2 or place[1] - place[0] != nbytes:
        raise ConfigError(f"{said} of shape {shape} has data_offsets {shown(place)}")
    if place[1] > size - base:
        raise ConfigError(
            f"{said} ends at byte {place[1]} of {size - base}; the file is cut off"
        )
    return Placed(kind, tuple(shape), int(nbytes), base + place[0])


def from_safetensors(path: str | Path) -> LanguageModel:
    """A LanguageModel whose weights are as its safetensors files have them.

    Parameters
    ----------
    path : path
        A file, a folder of shards, or an index; ``config.json`` lies beside it.

    Raises
    ------
    ConfigError
        For files that are cut off, missing or not safetensors, a config that
        ``from_hf_config`` refuses, and tensors that are not as many numbers as the
        config counts.
    """
    path = Path(path)
    files = files_of(path)
    folder = path if path.is_dir() else path.parent
    if not (folder / "config.json").is_file():
        raise ConfigError(f"{folder}: no config.json beside the safetensors files")
    model = from_config(folder / "config.json", folder.name)
    if not any(file.exists() for file in files) and path.suffix == ".json":
        return _held_to(model, path)
    found: dict[str, Placed] = {}
    for file in files:
        found |= header_of(file)
    words = f"every tensor as {path.name} has it"
    if model.kept is None:
        way = Way(model.key, words, _most(found), HALF)
    else:
        way = replace(model.kept.way, words=words)
    return kept_as(model, way, _pieces(model, found), str(path))


def _held_to(model: LanguageModel, index: Path) -> LanguageModel:
    """The model as its config says, held to the total that an index without shards has.

    What is left out of the model (layers that predict further tokens) may be besides.
    """
    told = load(index, _LONGEST)[0].get("metadata")
    total: Any = told.get("total_size") if isinstance(told, Mapping) else None
    if not is_whole(total) or total <= 0:
        raise ConfigError(f"{index}: metadata.total_size = {shown(total)}: no size")
    ours = model.weight_bytes().si
    if not 0.99 * ours <= total <= (1.05 if model.left_out else 1.01) * ours:
        raise ConfigError(
            f"{index}: metadata.total_size = {total:,}, but a model of that config has "
            f"{ours:,.0f} bytes; its shards are not there to be looked at"
        )
    return model


def from_config(path: Path, key: str = "") -> LanguageModel:
    """The model of a ``config.json``, ModelOpt's ``hf_quant_config.json`` beside it."""
    raw = load(path)[0]
    beside = path.with_name("hf_quant_config.json")
    if not raw.get("quantization_config") and beside.is_file():
        told = load(beside)[0].get("quantization")
        if isinstance(told, Mapping):
            raw["quantization_config"] = {"quant_method": "modelopt", **told}
    raw.setdefault("_name_or_path", key or path.name)
    source = Source(path.name, "", date.today().isoformat(), "vendor")
    return from_hf_config(raw, key=key, source=source)


def _most(found: Mapping[str, Placed]) -> str:
    """The plain format of most bytes."""
    sums: dict[str, int] = {}
    for place in found.values():
        sums[place.kind] = sums.get(place.kind, 0) + place.nbytes
    return _TYPES[max(sums, key=lambda k: sums[k])][1].numbers


def files_of(path: Path) -> list[Path]:
    """The files meant: one, those of an index, or all of a folder."""
    if path.is_dir():
        if (path / INDEX).is_file():
            return files_of(path / INDEX)
        shards = sorted(path.glob("*.safetensors"))
        if not shards:
            raise ConfigError(f"{path}: no safetensors file in this folder")
        return shards
    if path.suffix != ".json":
        return [path]
    # of a large mixture it has many times the size of a config
    places = load(path, _LONGEST)[0].get("weight_map")
    if not isinstance(places, Mapping) or not places:
        raise ConfigError(f"{path}: weight_map = {shown(places)}: no index")
    for name in places.values():
        if not isinstance(name, str) or name in ("", "..") or Path(name).name != name:
            raise ConfigError(
                f"{path}: weight_map has {shown(name)}: not a file's name"
            )
    return [path.with_name(name) for name in sorted(set(places.values()))]


def _pieces(model: LanguageModel, found: Mapping[str, Placed]) -> Iterator[Piece]:
    """Tensors of the files by the matrix they belong to."""
    listed = (
        model.kept.tensors if model.kept else ((t, None, 0) for t in tensors(model))
    )
    known = {name: (t, row) for t, row, _ in listed for name in names_of(t)}
    modules: dict[str, list[tuple[str, str, tuple[int, ...], int]]] = {}
    for name, (kind, shape, nbytes, _) in found.items():
        cut = _SUFFIX.search(name)
        module = name[: cut.start()] if cut else name
        modules.setdefault(module, []).append(
            (cut[1] if cut else "", kind, shape, nbytes)
        )
    for module, parts in modules.items():
        yield from _module(model, known, module, parts)


def _module(
    model: LanguageModel,
    known: Mapping[str, Any],
    module: str,
    parts: list[tuple[str, str, tuple[int, ...], int]],
) -> Iterator[Piece]:
    layer, part, name, told = _place(model, known, module)
    if layer >= model.layers or part == "":
        return
    main = next((p for p in parts if p[0] in _MAIN and len(p[2]) > 1), None)
    beside = sum(p[3] for p in parts if p is not main and p[0] != "bias")
    for suffix, kind, shape, nbytes in parts:
        if suffix == "bias" or main is None:
            row = _TYPES[kind][1]
            count = math.prod(shape)
            small = "vectors" if part in ("matrix", "head") else part
            yield Piece(layer, small, name, count, row, nbytes)
    if main is not None:
        row, each = _format(main, parts, told)
        count = math.prod(main[2]) * each
        yield Piece(layer, part, name, count, row, main[3] + beside)


def _format(
    main: tuple[str, str, tuple[int, ...], int],
    parts: Iterable[Any],
    told: Stored | None,
) -> tuple[Stored, int]:
    """The format of a matrix, and how many numbers one entry of it packs."""
    kind = main[1]
    kinds = {p[0]: p[1] for p in parts}
    if kind in ("I32", "U32"):  # codes side by side: the config says of how many bits
        row = told or STORED["gptq_g128" if "qzeros" in kinds else "int4_g128"]
        return row, round(32 / row.code_bits)
    if kind == "U8":
        scale = kinds.get("weight_scale") or kinds.get("scales")
        if scale == "F8_E4M3":
            return STORED["nvfp4"], 2
        return STORED["nf4" if "weight.absmax" in kinds else "mxfp4"], 2
    return _TYPES[kind][1], 1


def _place(
    model: LanguageModel, known: Mapping[str, Any], module: str
) -> tuple[int, str, str, Stored | None]:
    """Layer, part, name and told format of a module; no part: not in the model."""
    if re.search(r"(^|\.)(visual|vision\w*|audio\w*|mm\w*|multi_modal\w*)\.", module):
        return OUTSIDE, "vision" if model.vision else "", "vision", None
    if re.match(r"(model\.)?mtp\.", module):
        return OUTSIDE, "", "", None
    found = _LAYER.search(module)
    if not found:
        last = module.split(".")[-1]
        if last in ("embed_tokens", "embed", "wte", "word_embeddings"):
            return OUTSIDE, "embedding", "embedding", None
        if last in ("lm_head", "head", "embed_out"):
            return OUTSIDE, "" if model.tied else "head", "output", None
        small = "positions" if last == "wpe" else "vectors"
        return OUTSIDE, small, "norms", None
    layer = int(found[1])
    rest = re.sub(r"\bexperts\.\d+", "experts.0", found[2])
    if f"layers.{layer}.{rest}" in known:
        tensor, row = known[f"layers.{layer}.{rest}"]
        return layer, "matrix", tensor.name, row
    name = next((name for like, name in _FUSED if re.search(like, rest)), "")
    return layer, "matrix" if name else "vectors", name or "norms", None


# modules that hold several of the model's matrices, or small ones
_FUSED = (
    (r"(^|\.)experts\..*(down|w2)", "expert down"),
    (r"(^|\.)experts\.", "expert up"),
    (r"(^|\.)(gate|router)$", "router"),
    (r"(qkv|query_key_value|c_attn)(_proj)?$", "qkv"),
    (r"(^|\.)shared_experts?\.gate_up_proj$", "shared up"),
    (r"gate_up_proj$", "up"),
    (r"proj$", "other"),
)
