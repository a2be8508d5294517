"""A folder in few bits as ``compressed-tensors`` lays it out, which vLLM reads.

Every linear layer but the output head has codes, scales and, packed, its shape; the
rest is copied as it was. ``config.json`` says how under ``quantization_config`` (vLLM
project, compressed-tensors 0.20: formats ``pack-quantized`` and
``nvfp4-pack-quantized``). Codes of integers are kept with an offset that makes them
positive, the first in the lowest bits of 32.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stacklib.models.files.safetensors import files_of, header_of
from stacklib.models.reading import ConfigError, load
from stacklib.sweep import progress

from ..formats import Format
from ..layouts import _unbits
from ..scheme import Quantized
from .gguf import KEPT, Written, rounded
from .opened import FORMS, HEAD, Checkpoint

if TYPE_CHECKING:
    from numpy.typing import NDArray

PACKED, FLOATS = "pack-quantized", "nvfp4-pack-quantized"
# scheme: format, bits of a code, numbers that share a scale (none: a row)
LAYOUTS: dict[str, tuple[str, int, int | None]] = {
    "int4_g128": (PACKED, 4, 128),
    "int8_channel": (PACKED, 8, None),
    "nvfp4": (FLOATS, 4, 16),
}
WEIGHTS = "model.safetensors"
_PARTS = ("weight_scale", "weight_shape", "weight_global_scale")
_INPUTS = ("input_scale", "input_global_scale", "k_scale", "v_scale")  # no weights
_ALSO = (
    *("tokenizer.json", "tokenizer_config.json", "tokenizer.model", "vocab.json"),
    *("merges.txt", "special_tokens_map.json", "generation_config.json"),
    "chat_template.jinja",
)
_KINDS = {"<i4": "I32", "|u1": "U8", "<f2": "F16", "<f4": "F32", "<i8": "I64"}
_READ = {kind: form for form, kind in _KINDS.items()} | FORMS | {"F8_E4M3": "|u1"}


def write_compressed(folder: Path, checkpoint: Checkpoint, scheme: str) -> Written:
    """Write a folder, a matrix at a time; it appears when it is whole.

    - ``scheme``: one of ``LAYOUTS``
    - raises ``ValueError`` for another, and a matrix whose rows are not divided
    """
    plan = _plan(checkpoint, scheme)
    for other in (*folder.glob("*.safetensors"), *folder.glob("*.index.json")):
        if other.name != WEIGHTS:
            raise ValueError(f"{folder}: {other.name} is there, too; another folder")
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    at = 0
    for parts in plan.values():
        for part, (kind, shape, size) in parts.items():
            place = [at, at + size]
            header[part] = {"dtype": kind, "shape": [*shape], "data_offsets": place}
            at += size
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=folder.name) as made:
        partial = Path(made)
        with (partial / WEIGHTS).open("wb") as file:
            file.write(len(head).to_bytes(8, "little") + head)
            for name, parts in progress(plan.items(), len(plan), "tensors"):
                if list(parts) == [name]:
                    file.write(checkpoint.stored(name).tobytes())
                else:
                    q = rounded(name, checkpoint.numbers(name), scheme)
                    file.writelines(part.tobytes() for part in _parts(q))
        config = checkpoint.config | {"quantization_config": described(scheme)}
        (partial / "config.json").write_text(json.dumps(config, indent=2) + "\n")
        for name in _ALSO:
            if (checkpoint.folder / name).is_file():
                shutil.copyfile(checkpoint.folder / name, partial / name)
        folder.mkdir(exist_ok=True)
        for path in partial.iterdir():
            os.replace(path, folder / path.name)
    return planned_folder(checkpoint, scheme)


def planned_folder(checkpoint: Checkpoint, scheme: str) -> Written:
    """What such a folder holds."""
    kinds: dict[str, int] = {}
    size = 0
    for name, parts in _plan(checkpoint, scheme).items():
        found = scheme if list(parts) != [name] else KEPT[checkpoint.form(name)]
        kinds[found] = kinds.get(found, 0) + 1
        size += sum(part[2] for part in parts.values())
    many = sum(math.prod(checkpoint.shape(name)) for name in checkpoint.places)
    there = [name for name in _ALSO if (checkpoint.folder / name).is_file()]
    words = f"copied {', '.join(there)}" if there else "no vocabulary in the folder"
    return Written(many, size, kinds, {}, words)


def described(scheme: str) -> dict[str, Any]:
    """The ``quantization_config`` of a scheme."""
    form, bits, group = LAYOUTS[scheme]
    strategy = "channel" if group is None else "group"
    weights = {
        "num_bits": bits,
        "type": "int" if form == PACKED else "float",
        "symmetric": True,
        "strategy": strategy if form == PACKED else "tensor_group",
        "group_size": group,
        "dynamic": False,
        "observer": "minmax",
    }
    group_0 = {
        "targets": ["Linear"],
        "weights": weights,
        "input_activations": None,
        "output_activations": None,
        "format": form,
    }
    return {
        "quant_method": "compressed-tensors",
        "format": form,
        "quantization_status": "compressed",
        "config_groups": {"group_0": group_0},
        "ignore": ["lm_head"],
        "kv_cache_scheme": None,
    }


def _plan(
    checkpoint: Checkpoint, scheme: str
) -> dict[str, dict[str, tuple[str, tuple[int, ...], int]]]:
    """By tensor the ones that are written for it: type, shape and bytes."""
    if scheme not in LAYOUTS:
        raise ValueError(
            f"no layout of compressed-tensors here for {scheme}; known are "
            f"{', '.join(LAYOUTS)}"
        )
    form, bits, group = LAYOUTS[scheme]
    found = {}
    for name in checkpoint.places:
        shape = checkpoint.shape(name)
        if not _linear(name, shape):
            place = checkpoint.places[name][1]
            found[name] = {name: (place.kind, shape, place.nbytes)}
            continue
        rows, inputs = shape
        if group and inputs % group:
            raise ValueError(
                f"tensor {name!r} of shape {shape}: {scheme} wants rows that "
                f"{group} divides"
            )
        stem = name.removesuffix("weight")
        scales = inputs // group if group else 1
        if form == PACKED:
            words, wide = _words(inputs, bits), 2 if group else 4
            found[name] = {
                f"{stem}weight_packed": ("I32", (rows, words), 4 * rows * words),
                f"{stem}weight_scale": (
                    *("F16" if group else "F32", (rows, scales)),
                    wide * rows * scales,
                ),
                f"{stem}weight_shape": ("I64", (2,), 16),
            }
        else:
            found[name] = {
                f"{stem}weight_packed": ("U8", (rows, inputs // 2), rows * inputs // 2),
                f"{stem}weight_scale": ("F8_E4M3", (rows, scales), rows * scales),
                f"{stem}weight_global_scale": ("F32", (1,), 4),
            }
    return found


def _words(inputs: int, bits: int) -> int:
    """Words of 32 bits of a row, the last filled up with zeros (``pack_to_int32``)."""
    return -(-inputs * bits // 32)


def _linear(name: str, shape: tuple[int, ...]) -> bool:
    return len(shape) == 2 and name != HEAD and "embed" not in name


def _parts(q: Quantized) -> list[NDArray[Any]]:
    """Codes, scales, and shape or the tensor's own scale, in the order of the plan."""
    form, bits, group = LAYOUTS[q.scheme]
    if form == FLOATS:
        inputs = q.shape[-1]  # GGUF's blocks of 64 may go on behind a row's end
        codes = q.codes[:, 0:inputs:2] | q.codes[:, 1:inputs:2] << 4
        # the library divides by it
        own = (1 / q.levels["tensor"]).astype("<f4").reshape(1)
        return [codes, q.scales[:, : inputs // 16], own]
    raw = (q.codes.astype(np.int16) + (1 << bits - 1)).astype(np.uint8)
    if bits == 4:
        raw = raw[:, 0::2] | raw[:, 1::2] << 4
    raw = np.pad(raw, ((0, 0), (0, -raw.shape[1] % 4)))
    scales = q.scales.astype("<f2" if group else "<f4")
    return [raw, scales, np.array(q.shape, "<i8")]


def read_compressed(folder: str | Path) -> dict[str, NDArray[np.float32]]:
    """The weights that such a folder stands for, in fp32 by their plain names.

    - raises ``ValueError`` for a layout that is not known here, or a tensor whose
      parts do not fit; it is named
    """
    folder = Path(folder)
    told = load(folder)[0].get("quantization_config")
    form = told.get("format") if isinstance(told, Mapping) else None
    if form not in (PACKED, FLOATS):
        raise ConfigError(f"{folder}: quantization_config.format = {form!r}: not known")
    if form == FLOATS:
        return dict(_read(folder, form, ()))
    try:
        groups = dict(told or {})["config_groups"].values()
        widths = sorted({group["weights"]["num_bits"] for group in groups})
    except (AttributeError, KeyError, TypeError) as wrong:
        raise ConfigError(f"{folder}: config_groups: no num_bits: {wrong}") from None
    return dict(_read(folder, form, widths))


def _read(
    folder: Path, form: str, widths: Sequence[Any]
) -> Iterator[tuple[str, NDArray[np.float32]]]:
    found: dict[str, NDArray[Any]] = {}
    plain = set()
    for path in files_of(folder):
        for name, (kind, shape, _, start) in header_of(path).items():
            if kind not in _READ:
                raise ConfigError(f"{path}: tensor {name!r} in {kind}: not known")
            if name in found:
                raise ConfigError(f"{path}: tensor {name!r} is in another shard, too")
            plain |= {name} if kind in FORMS and ".weight_" not in name else set()
            part: NDArray[Any] = np.memmap(path, _READ[kind], "r", start, shape)
            if kind == "BF16":
                part = (part.astype(np.uint32) << 16).view(np.float32)
            found[name] = part
    for name, raw in found.items():
        stem, _, end = name.rpartition(".")
        if end == "weight_packed":
            try:
                yield f"{stem}.weight", _decoded(stem, widths, found)
            except (KeyError, ValueError) as wrong:
                raise ConfigError(f"{folder}: tensor {name!r}: {wrong}") from None
        elif (end in _PARTS and f"{stem}.weight_packed" in found) or end in _INPUTS:
            continue
        elif name in plain:
            yield name, np.asarray(raw, np.float32)
        else:  # zero points, an order of the columns, codes of a byte
            raise ConfigError(f"{folder}: tensor {name!r} is not read here")


def _decoded(
    stem: str, widths: Sequence[Any], found: Mapping[str, NDArray[Any]]
) -> NDArray[np.float32]:
    packed, scale = found[f"{stem}.weight_packed"], found[f"{stem}.weight_scale"]
    raw = np.ascontiguousarray(packed).view(np.uint8)
    if not widths:
        halves = np.stack((raw & 15, raw >> 4), -1).reshape(len(raw), -1)
        numbers = Format("e2m1").decode(halves)
        scales = Format("e4m3fn").decode(np.asarray(scale))
        scales = scales / found[f"{stem}.weight_global_scale"]
    else:
        rows, inputs = map(int, found[f"{stem}.weight_shape"])
        words = raw.shape[1] // 4
        fit = [n for n in range(1, 9) if n in widths and _words(inputs, n) == words]
        if len(fit) != 1 or len(raw) != rows:
            told = f"{rows} rows of {inputs} numbers in {widths} bits"
            raise ValueError(f"words of shape {packed.shape} for {told}")
        codes = np.stack([_unbits(row, inputs, fit[0], False) for row in raw])
        numbers = codes.astype(np.float32) - (1 << fit[0] - 1)
        scales = scale.astype(np.float32)
    if scales.size > 1 and len(scales) != len(numbers):
        raise ValueError(f"scales of shape {scales.shape} for {len(numbers)} rows")
    blocks = np.asarray(numbers, np.float32).reshape(*scales.shape, -1)
    found_numbers: NDArray[np.float32] = blocks * scales[..., None].astype(np.float32)
    return found_numbers.reshape(numbers.shape)
