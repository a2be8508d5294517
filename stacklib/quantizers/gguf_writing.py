"""Writing GGUF: what ggml reads and nothing that it refuses, one tensor at a time."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stacklib.models.files.gguf_header import ALIGNED, ALIGNMENT, MAGIC, UINT32
from stacklib.models.files.gguf_values import ARRAY, SCALARS, STRING, Listed
from stacklib.models.reading import shown
from stacklib.quantity.files import replacing

from .gguf_file import TYPES, Tensors, beside, kind_of_number
from .inputs import plain
from .layouts import BLOCKS, pack
from .scheme import Quantized

VERSION = 3
FLOATS = {"f4": 0, "f2": 1, "i2": 30}  # ggml.h, enum ggml_type; of bf16 the bits
KINDS = {np.dtype(form).str[1:]: number for number, form in SCALARS.items()}
LONGEST_KEY = 1 << 16  # ggml, docs/gguf.md
LONGEST_NAME = 64  # ggml.h, GGML_MAX_NAME, the zero at its end included
# llama.h, enum llama_ftype: what a file is called that has most numbers in a type
FILE_TYPES = {
    "fp32": 0,
    "fp16": 1,
    "q4_0": 2,
    "q4_1": 3,
    "q8_0": 7,
    "q5_0": 8,
    "q5_1": 9,
    "q2_k": 10,
    "q3_k": 11,
    "q4_k": 14,
    "q5_k": 16,
    "q6_k": 18,
    "iq4_nl": 25,
    "bf16": 32,
    "mxfp4": 38,
    "nvfp4": 39,
}
_FILE_TYPE, _LAYOUTS = "general.file_type", "general.quantization_version"
_LAYOUTS_NOW = 2  # ggml.h, GGML_QNT_VERSION


@dataclass(frozen=True, slots=True)
class Planned:
    """A tensor that is to be written: its number in ggml, and how many bytes come."""

    name: str
    shape: tuple[int, ...]
    kind: int
    nbytes: int


def write_gguf(
    path: Any, tensors: Mapping[str, Any], metadata: Mapping[str, Any]
) -> None:
    """Write a file that gguf and llama.cpp read.

    Parameters
    ----------
    path : path
        Replaced in one step, so that a stopped run leaves what was there.
    tensors : mapping of str to Quantized or array
        Arrays and torch tensors are written as fp32, or fp16 or bf16 where they are
        that. An NVFP4 tensor's own scale is written beside it, as ``NAME.scale`` for
        ``NAME.weight``. Those of ``read_gguf`` are copied as they lie.
    metadata : mapping of str to value
        ``general.architecture`` is what llama.cpp asks for first. A Python integer is
        written in 32 bits where it fits, a float in 32; a NumPy number keeps its type.
        ``general.file_type`` is added where it is missing, and for quantized tensors
        ``general.quantization_version``.

    Raises
    ------
    ValueError
        For a scheme GGUF has no type for, a quantized axis that is not the last, a row
        that the block does not divide, a number that fp32 does not hold, a name or an
        alignment that ggml refuses; tensor or fact is named.
    TypeError
        For a fact that is not a number, text, truth value or list of them.
    """
    if isinstance(tensors, Tensors) and tensors.header.order == "<":
        header = tensors.header
        plan = [Planned(e.name, e.shape, e.kind, e.nbytes) for e in header.tensors]
        data: Iterable[Any] = map(tensors.stored, header.tensors)
        version = max(header.version, 2)  # of the first no counts of 64 bits
        write_planned(path, plan, data, metadata, version, header.padded)
        return
    pairs = [pair for name, each in tensors.items() for pair in _tensor(name, each)]
    write_planned(path, [p for p, _ in pairs], (data for _, data in pairs), metadata)


def write_planned(
    path: Any,
    plan: Sequence[Planned],
    data: Iterable[Any],
    metadata: Mapping[str, Any],
    version: int = VERSION,
    padded: bool = False,
) -> None:
    """Write tensors whose bytes are made while the file is written.

    - ``plan``, ``data``: what comes, and the bytes of each in that order
    - ``padded``: whether the header is filled up where no tensor follows it
    """
    path, metadata = Path(path), _completed(plan, metadata)
    align = metadata.get(ALIGNED, ALIGNMENT)
    known = isinstance(align, (int, np.uint32)) and not isinstance(align, bool)
    if not known or align < 1 or align & (align - 1) or _kind(ALIGNED, align) != UINT32:
        raise ValueError(f"{ALIGNED} = {align!r}: a power of two below 2**32 is needed")
    align = int(align)
    _check_names([p.name for p in plan])
    facts = b"".join(_key(key) + _value(key, value) for key, value in metadata.items())
    head = [MAGIC + struct.pack("<IQQ", version, len(plan), len(metadata)), facts]
    start = 0
    for p in plan:
        sizes = struct.pack(f"<I{len(p.shape)}Q", len(p.shape), *reversed(p.shape))
        head.append(_text(p.name) + sizes + struct.pack("<IQ", p.kind, start))
        start += p.nbytes + -p.nbytes % align
    with replacing(path) as partial, partial.open("wb") as file:
        file.writelines(head)
        if plan or padded:
            file.write(bytes(-file.tell() % align))
        for p, part in zip(plan, data, strict=True):
            if memoryview(part).nbytes != p.nbytes:
                raise ValueError(f"tensor {p.name!r}: {p.nbytes} bytes are needed")
            file.write(part)
            file.write(bytes(-p.nbytes % align))


def _completed(
    plan: Sequence[Planned], metadata: Mapping[str, Any]
) -> Mapping[str, Any]:
    """The facts, with those that llama.cpp wants of what the tensors are."""
    counts: dict[int, int] = {}
    for p in plan:
        counts[p.kind] = counts.get(p.kind, 0) + math.prod(p.shape)
    added: dict[str, Any] = {}
    if any(kind in counts for kind in TYPES.values()) and _LAYOUTS not in metadata:
        added[_LAYOUTS] = _LAYOUTS_NOW
    kinds = dict(zip(FLOATS.values(), ("fp32", "fp16", "bf16"), strict=True))
    kinds |= {number: name for name, number in TYPES.items()}
    most = kinds.get(max(counts, key=lambda k: counts[k], default=-1))
    if most in FILE_TYPES and _FILE_TYPE not in metadata:
        added[_FILE_TYPE] = FILE_TYPES[most]
    return {**metadata, **added}


def _check_names(names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        # of a text with a zero in it ggml keeps what stands before
        if "\0" in str(name) or not 0 < _length(name) < LONGEST_NAME:
            raise ValueError(
                f"tensor {name!r}: ggml takes a name of 1 to {LONGEST_NAME - 1} bytes"
            )
        if name in seen:
            raise ValueError(f"tensor {name!r} is given twice")
        seen.add(name)


def _length(name: Any) -> int:
    """Bytes of a name; 0 for what is no text that can be read back."""
    try:
        return len(name.encode()) if isinstance(name, str) else 0
    except UnicodeEncodeError:
        return 0


def _text(text: str) -> bytes:
    raw = text.encode("utf-8", "surrogateescape")
    return struct.pack("<Q", len(raw)) + raw


def _key(key: Any) -> bytes:
    if not 0 < _length(key) < LONGEST_KEY:
        raise TypeError(
            f"fact {shown(key)}: its key is a text of 1 to {LONGEST_KEY - 1} bytes"
        )
    return _text(key)


def _tensor(name: str, tensor: Any) -> list[tuple[Planned, bytes]]:
    if not isinstance(tensor, Quantized):
        array, brain = plain(tensor, f"tensor {name!r}")
        brain |= array.dtype.type.__name__ == "bfloat16"
        real = brain or array.dtype.kind == "f"
        if not real or array.size == 0 or array.ndim > 4:
            raise ValueError(f"tensor {name!r}: {array.dtype} of shape {array.shape}")
        if brain:
            array = array.view("i2")
        form = "i2" if brain else "f2" if array.dtype.itemsize == 2 else "f4"
        with np.errstate(over="ignore"):
            data = np.ascontiguousarray(array, f"<{form}")
        if array.itemsize > 4 and (np.isinf(data) & np.isfinite(array)).any():
            worst = array[np.isfinite(array)]
            worst = worst.flat[np.abs(worst).argmax()]
            raise ValueError(f"tensor {name!r}: {worst:.4g} is more than fp32 holds")
        planned = Planned(name, array.shape or (1,), FLOATS[form], data.nbytes)
        return [(planned, data.tobytes())]
    kind = kind_of(name, tensor.scheme, tensor.shape, tensor.axis)
    data = pack(tensor)
    if tensor.scheme != "nvfp4":
        return [(Planned(name, tensor.shape, kind, len(data)), data)]
    scale = Planned(beside(name), (1,), FLOATS["f4"], 4)
    return [
        (Planned(name, tensor.shape, kind, len(data) - 4), data[:-4]),
        (scale, data[-4:]),
    ]


def kind_of(name: str, scheme: str, shape: tuple[int, ...], axis: int = -1) -> int:
    """ggml's number of a scheme; raises ``ValueError`` where it does not fit."""
    if scheme not in TYPES:
        known = ", ".join(TYPES)
        raise ValueError(f"tensor {name!r}: GGUF has no {scheme}, but {known}")
    block = BLOCKS[scheme][0]
    if axis != -1 or not 0 < len(shape) <= 4 or shape[-1] % block:
        raise ValueError(
            f"tensor {name!r} of shape {shape}, axis {axis}: "
            f"GGUF wants {scheme} along rows that {block} divides"
        )
    return TYPES[scheme]


def _value(key: str, value: Any) -> bytes:
    if isinstance(value, Listed) and (value.order, value.wide) == ("<", "Q"):
        return struct.pack("<IIQ", ARRAY, value.kind, len(value)) + value.raw.tobytes()
    listed = isinstance(value, np.ndarray) and value.ndim == 1
    if listed or isinstance(value, (list, tuple, Listed)):
        kind = value.kind if isinstance(value, Listed) else _kind_of_list(key, value)
        head = struct.pack("<IIQ", ARRAY, kind, len(value))
        return head + b"".join(_items(key, kind, value))
    kind = _kind(key, value)
    return struct.pack("<I", kind) + b"".join(_items(key, kind, [value]))


def _kind_of_list(key: str, values: Any) -> int:
    if isinstance(values, np.ndarray) and values.dtype.str[1:] in KINDS:
        return KINDS[values.dtype.str[1:]]
    if not len(values):
        raise TypeError(f"{key}: an empty list has no type; an empty array has one")
    kinds = {_kind(key, item) for item in values}
    if kinds <= {4, 5, 10, 11}:
        # lists of whole numbers are signed: llama.cpp asks for token types like that
        low, high = min(values), max(values)
        ranges = ((5, -(1 << 31), 1 << 31), (4, 0, 1 << 32), (10, 0, 1 << 64))
        return next((k for k, a, b in ranges if a <= low and high < b), 11)
    if len(kinds) > 1:
        raise TypeError(f"{key}: a list of more than one type")
    return kinds.pop()


def _kind(key: str, value: Any) -> int:
    if isinstance(value, str):
        return STRING
    if isinstance(value, np.generic) and value.dtype.str[1:] in KINDS:
        return KINDS[value.dtype.str[1:]]
    if isinstance(value, (int, float)):
        kind = kind_of_number(value)
        if kind is not None:
            return kind
    raise TypeError(f"{key} = {value!r}: GGUF holds numbers, texts and truth values")


def _items(key: str, kind: int, values: Iterable[Any]) -> Iterator[bytes]:
    for value in values:
        try:
            if kind == STRING:
                yield _text(value)
            elif isinstance(value, np.generic):
                yield value.astype(f"<{value.dtype.str[1:]}").tobytes()
            else:
                yield struct.pack(f"<{SCALARS[kind]}", value)
        except (struct.error, OverflowError, UnicodeEncodeError) as wrong:
            raise TypeError(f"{key} = {value!r}: {wrong}") from None
