"""GGUF: one file with a model's numbers, names and facts, as llama.cpp reads it.

Source: ggml, docs/gguf.md, version 3. A header, the facts, a table of tensors, and from
a multiple of 32 bytes on the tensors' bytes, each in the layout of ``pack``. Sizes are
written with the fastest axis first.
"""

from __future__ import annotations

import math
import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from stacklib.models.files.gguf_header import (
    ALIGNMENT,
    ARRAY,
    MAGIC,
    SCALARS,
    STRING,
    Entry,
    read_header,
)
from stacklib.quantity.stored import STORED

from .layouts import BLOCKS, pack, unpack
from .scheme import Quantized

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = 3
# ggml.h, enum ggml_type
PLAIN = {0: np.dtype("<f4"), 1: np.dtype("<f2")}
TYPES = {name: STORED[name].ggml for name in BLOCKS}
KINDS = {np.dtype(fmt[1:]).str.lstrip("|"): number for number, fmt in SCALARS.items()}


@dataclass(frozen=True, eq=False, slots=True)
class Gguf:
    """What a GGUF file holds.

    Parameters
    ----------
    metadata : dict
        Facts by key: numbers, texts, truth values, or lists of one of them.
    tensors : dict
        By name: a ``Quantized``, or a NumPy array of fp32 or fp16. bf16 comes as fp32.
    """

    metadata: dict[str, Any]
    tensors: dict[str, Any]


def write_gguf(
    path: Any, tensors: Mapping[str, Any], metadata: Mapping[str, Any]
) -> None:
    """Write a file that gguf and llama.cpp read.

    Parameters
    ----------
    path : path
        Replaced in one step, so that a stopped run leaves what was there.
    tensors : mapping of str to Quantized or array
        Arrays are written as fp32, or fp16 where they are that. An NVFP4 tensor's own
        scale is written beside it, as ``NAME.scale`` for ``NAME.weight``.
    metadata : mapping of str to value
        ``general.architecture`` is what llama.cpp asks for first. A Python integer is
        written in 32 bits where it fits, a float in 32; a NumPy scalar keeps its type.

    Raises
    ------
    ValueError
        For a scheme GGUF has no type for, a quantized axis that is not the last, a row
        that the block does not divide; the tensor is named.
    TypeError
        For a fact that is not a number, text, truth value or list of them.
    """
    path = Path(path)
    flat: list[tuple[str, tuple[int, ...], int, bytes]] = []
    for name, tensor in tensors.items():
        flat += _tensor(name, tensor)
    facts = b"".join(_text(key) + _value(key, value) for key, value in metadata.items())
    partial = path.with_name(path.name + ".partial")
    with partial.open("wb") as file:
        file.write(MAGIC + struct.pack("<IQQ", VERSION, len(flat), len(metadata)))
        file.write(facts)
        start = 0
        for name, shape, kind, data in flat:
            sizes = struct.pack(f"<I{len(shape)}Q", len(shape), *reversed(shape))
            file.write(_text(name) + sizes + struct.pack("<IQ", kind, start))
            start += _aligned(len(data))
        file.write(bytes(-file.tell() % ALIGNMENT))
        for *_, data in flat:
            file.write(data + bytes(_aligned(len(data)) - len(data)))
    os.replace(partial, path)


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _text(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def _tensor(name: str, tensor: Any) -> list[tuple[str, tuple[int, ...], int, bytes]]:
    if not isinstance(tensor, Quantized):
        array = np.asarray(tensor)
        if array.dtype.kind != "f" or array.size == 0:
            raise ValueError(f"tensor {name!r}: {array.dtype} of shape {array.shape}")
        kind = 1 if array.dtype == np.float16 else 0
        data = np.ascontiguousarray(array, PLAIN[kind]).tobytes()
        return [(name, array.shape or (1,), kind, data)]
    if tensor.scheme not in TYPES:
        known = ", ".join(TYPES)
        raise ValueError(f"tensor {name!r}: GGUF has no {tensor.scheme}, but {known}")
    block = BLOCKS[tensor.scheme][0]
    if tensor.axis != -1 or not tensor.shape or tensor.shape[-1] % block:
        raise ValueError(
            f"tensor {name!r} of shape {tensor.shape}, axis {tensor.axis}: "
            f"GGUF wants {tensor.scheme} along rows that {block} divides"
        )
    data = pack(tensor)
    kind = TYPES[tensor.scheme]
    if tensor.scheme != "nvfp4":
        return [(name, tensor.shape, kind, data)]
    return [(name, tensor.shape, kind, data[:-4]), (_beside(name), (1,), 0, data[-4:])]


def _beside(name: str) -> str:
    return name.removesuffix(".weight") + ".scale"


def _value(key: str, value: Any) -> bytes:
    if isinstance(value, (list, tuple)) or (
        isinstance(value, np.ndarray) and value.ndim == 1
    ):
        if not len(value):
            raise TypeError(f"{key}: an empty list has no type")
        kinds = {_kind(key, item) for item in value}
        if kinds == {4, 5}:
            kinds = {5}
        if len(kinds) > 1:
            raise TypeError(f"{key}: a list of more than one type")
        kind = kinds.pop()
        # lists of whole numbers are signed: llama.cpp asks for token types like that
        kind = 5 if kind == 4 and not isinstance(value, np.ndarray) else kind
        head = struct.pack("<IIQ", ARRAY, kind, len(value))
        return head + b"".join(_item(kind, item) for item in value)
    kind = _kind(key, value)
    return struct.pack("<I", kind) + _item(kind, value)


def _kind(key: str, value: Any) -> int:
    if isinstance(value, str):
        return STRING
    if isinstance(value, bool):
        return 7
    if isinstance(value, np.generic) and value.dtype.str.lstrip("|") in KINDS:
        return KINDS[value.dtype.str.lstrip("|")]
    if isinstance(value, int):
        if 0 <= value < 1 << 32:
            return 4
        if -(1 << 31) <= value < 0:
            return 5
        return 10 if value > 0 else 11
    if isinstance(value, float) and math.isfinite(value):
        return 6
    raise TypeError(f"{key} = {value!r}: GGUF holds numbers, texts and truth values")


def _item(kind: int, value: Any) -> bytes:
    if kind == STRING:
        return _text(value)
    return struct.pack(SCALARS[kind], value)


def read_gguf(path: Any) -> Gguf:
    """Read a GGUF file of version 1 to 3.

    Raises
    ------
    ValueError
        For another kind of file, or one that is cut off or of a type not known here;
        the tensor is named.
    """
    header = read_header(path, lists=True)
    tensors = {}
    with header.path.open("rb") as file:
        for entry in header.tensors:
            file.seek(entry.start)
            tensors[entry.name] = _numbers(file, header.path, entry)
    _with_scales(tensors)
    return Gguf(header.facts, tensors)


def _numbers(file: BinaryIO, path: Path, entry: Entry) -> Any:
    shape, scheme = entry.shape, entry.row.name
    data = file.read(entry.nbytes)
    if entry.row.ggml in PLAIN or scheme == "bf16":
        raw = np.frombuffer(data, PLAIN.get(entry.row.ggml, np.dtype("<u2")))
        if scheme == "bf16":
            raw = (raw.astype(np.uint32) << 16).view(np.float32)
        return raw.reshape(shape)
    if scheme not in TYPES or not shape:
        raise ValueError(
            f"{path}: tensor {entry.name!r} of shape {shape} is in {scheme}; known "
            f"here are {', '.join(TYPES)}"
        )
    if scheme == "nvfp4":
        data += np.float32(1).tobytes()
    return unpack(data, scheme, shape)


def _with_scales(tensors: dict[str, Any]) -> None:
    """Put the scales that lie beside NVFP4 tensors where they belong."""
    for name, tensor in list(tensors.items()):
        if isinstance(tensor, Quantized) and tensor.scheme == "nvfp4":
            beside = tensors.pop(_beside(name), None)
            if beside is not None:
                tensor.levels["tensor"] = beside.reshape(()).copy()
