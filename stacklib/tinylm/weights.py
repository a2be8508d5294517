"""Weights in bf16 safetensors: written once, checked at every load.

A file is eight bytes of header length, a JSON header with each tensor's dtype, shape
and byte range, and the bytes. NumPy has no bf16, but bf16 is the upper half of fp32,
so widening is a shift. Beside each `model.safetensors` stands `weights.json` with the
SHA-256 of every tensor: a fault names the tensor it is in.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stacklib.quantity.files import replacing
from stacklib.quantizers import Quantized, pack, unpack

WEIGHTS, MANIFEST = "model.safetensors", "weights.json"
LONGEST_HEADER = 1 << 20  # bytes; ours are a few thousand

Floats: TypeAlias = NDArray[np.float32]
Shapes: TypeAlias = Mapping[str, tuple[int, ...]]


class CorruptWeights(ValueError):
    """A weight file is not what was written; the message names the tensor."""


def to_bf16(values: Floats) -> NDArray[np.uint16]:
    """Nearest bf16 of each fp32 value, ties to even, as its 16 bits."""
    values = np.asarray(values, dtype=np.float32)
    if not np.isfinite(values).all():
        raise ValueError("a weight is not finite")
    bits = values.view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bf16(bits: NDArray[np.uint16]) -> Floats:
    """The fp32 values of bf16 bits; exact."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def sha256(data: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def write_weights(folder: Path, weights: Mapping[str, Floats]) -> None:
    """Write ``model.safetensors`` and ``weights.json`` into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / WEIGHTS).exists():
        raise FileExistsError(f"{folder / WEIGHTS} exists; choose another folder")
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    manifest, parts, at = {}, [], 0
    for name, values in weights.items():
        data = to_bf16(values).astype("<u2").tobytes()
        place = {"dtype": "BF16", "shape": list(values.shape)}
        header[name] = {**place, "data_offsets": [at, at + len(data)]}
        manifest[name] = {"shape": list(values.shape), "sha256": sha256(data)}
        parts.append(data)
        at += len(data)
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    (folder / WEIGHTS).write_bytes(
        len(head).to_bytes(8, "little") + head + b"".join(parts)
    )
    lines = ",\n".join(
        f"  {json.dumps(n)}: {json.dumps(m)}" for n, m in manifest.items()
    )
    (folder / MANIFEST).write_text(f"{{\n{lines}\n}}\n")


def write_quantized(path: Path, tensors: Mapping[str, Any]) -> None:
    """Write quantized tensors and fp32 ones into one safetensors file.

    A quantized tensor is its packed bytes, as U8; its scheme and shape stand in the
    header's metadata under its name. The file is replaced in one step.
    """
    header: dict[str, Any] = {}
    said, parts, at = {"format": "np"}, [], 0
    for name, tensor in tensors.items():
        if isinstance(tensor, Quantized):
            data = pack(tensor)
            how: dict[str, Any] = {"scheme": tensor.scheme, "shape": tensor.shape}
            how |= {"axis": tensor.axis} if tensor.axis != -1 else {}
            how |= {"block": tensor.block} if tensor.block else {}
            said[name] = json.dumps(how)
            place: dict[str, Any] = {"dtype": "U8", "shape": [len(data)]}
        else:
            data = np.asarray(tensor, "<f4").tobytes()
            place = {"dtype": "F32", "shape": list(tensor.shape)}
        header[name] = {**place, "data_offsets": [at, at + len(data)]}
        parts.append(data)
        at += len(data)
    head = json.dumps({"__metadata__": said, **header}, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    with replacing(path) as partial:
        partial.write_bytes(len(head).to_bytes(8, "little") + head + b"".join(parts))


def read_quantized(path: Path) -> dict[str, Any]:
    """What `write_quantized` wrote: a ``Quantized`` or an fp32 array by name."""
    raw = path.read_bytes()
    said = _metadata(raw)
    header, start = read_header(raw)
    found: dict[str, Any] = {}
    for name, entry in header.items():
        try:
            first, last = entry["data_offsets"]
            data = raw[start + first : start + last]
            if name in said:
                how = json.loads(said[name])
                found[name] = unpack(data, how.pop("scheme"), how.pop("shape"), **how)
            else:
                found[name] = np.frombuffer(data, "<f4").reshape(entry["shape"])
        except (KeyError, TypeError, ValueError, LookupError) as error:
            raise CorruptWeights(f"{name}: {error}") from None
    return found


def _metadata(raw: bytes) -> dict[str, Any]:
    read_header(raw)  # says what is wrong with a file that has none
    size = int.from_bytes(raw[:8], "little")
    return dict(json.loads(raw[8 : 8 + size]).get("__metadata__") or {})


def read_weights(folder: Path, wanted: Shapes) -> dict[str, Floats]:
    """Every wanted tensor as fp32, its name, shape and SHA-256 checked."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text())
        hashes = {name: str(entry["sha256"]) for name, entry in manifest.items()}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise CorruptWeights(f"{MANIFEST}: no table of hashes: {error!r}") from None
    raw = (folder / WEIGHTS).read_bytes()
    header, start = read_header(raw)
    compare_names(header, wanted, "the file")
    compare_names(hashes, wanted, MANIFEST)
    weights = {}
    for name, shape in wanted.items():
        data = tensor_bytes(raw, start, name, header[name], shape)
        if sha256(data) != hashes[name]:
            raise CorruptWeights(f"{name}: its bytes are not those that were written")
        bits = np.frombuffer(data, dtype="<u2").reshape(shape)
        weights[name] = from_bf16(bits)
    return weights


def read_header(raw: bytes) -> tuple[dict[str, Any], int]:
    """The header's tensors, and where their bytes begin."""
    size = int.from_bytes(raw[:8], "little")
    if len(raw) < 8 or size > min(LONGEST_HEADER, len(raw) - 8):
        raise CorruptWeights(
            f"the header asks for {size} B of a file of {len(raw)} B: cut off, or "
            "not a safetensors file"
        )
    try:
        header = json.loads(raw[8 : 8 + size])
    except ValueError as error:
        raise CorruptWeights(f"the header is not JSON: {error}") from None
    if not isinstance(header, dict):
        raise CorruptWeights("the header is not a table of tensors")
    header.pop("__metadata__", None)
    return header, 8 + size


def compare_names(found: Mapping[str, Any], wanted: Shapes, where: str) -> None:
    """Raise on the first tensor that is missing or not asked for."""
    for name in wanted:
        if name not in found:
            raise CorruptWeights(f"{name}: missing from {where}")
    for name in found:
        if name not in wanted:
            raise CorruptWeights(
                f"{name}: in {where}, but the config has no such tensor"
            )


def tensor_bytes(
    raw: bytes, start: int, name: str, entry: Any, shape: tuple[int, ...]
) -> bytes:
    """One tensor's bytes, once its entry says what the config says."""
    try:
        dtype, given = entry["dtype"], tuple(entry["shape"])
        first, last = (int(each) for each in entry["data_offsets"])
    except (KeyError, TypeError, ValueError):
        raise CorruptWeights(f"{name}: its header entry is {entry!r}") from None
    if (dtype, given) != ("BF16", shape):
        raise CorruptWeights(f"{name}: {dtype} {given}, not BF16 {shape}")
    size = 2 * int(np.prod(shape))
    if first < 0 or last - first != size:
        raise CorruptWeights(f"{name}: bytes {first} to {last}, not {size} of them")
    if start + last > len(raw):
        missing = start + last - len(raw)
        raise CorruptWeights(f"{name}: the file ends {missing} B before it does")
    return raw[start + first : start + last]
