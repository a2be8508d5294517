"""Quantized arrays as bytes, in the layouts their makers published, and back.

ggml's formats are blocks: scales and codes of 32, 64 or 256 numbers side by side, rows
one after the other. The others are planes: all codes, then all scales. Numbers of more
than one byte are little-endian.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from stacklib.quantity.stored import STORED

from .scheme import SCHEMES, Quantized, scheme_row

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .scheme import Scheme

# numbers and bytes of a block of those that have one (ggml-common.h)
BLOCKS = {
    name: (STORED[name].row, STORED[name].row_bytes)
    for name in SCHEMES
    if STORED[name].ggml >= 0
}


def pack(q: Quantized) -> bytes:
    """The bytes of a quantized array; ``schemes()`` says where each lies.

    Parameters
    ----------
    q : Quantized
        What ``quantize`` or ``gptq`` gave.

    Raises
    ------
    TypeError
        For anything else.
    ValueError
        For columns in an order of their own, which no published layout holds.
    """
    if not isinstance(q, Quantized):
        raise TypeError(f"pack({type(q).__name__}): what quantize gave is needed")
    if "order" in q.levels:
        raise ValueError(
            "columns in an order of their own: no published layout holds that; "
            "gptq(..., act_order=True, static_groups=True) keeps blocks in place"
        )
    if q.scheme in BLOCKS:
        count, size = BLOCKS[q.scheme]
        many = q.codes.size // count
        out = np.zeros((many, size), np.uint8)
        for place, part in _fields(q.scheme, many, q.codes, q.scales, q.levels):
            out[:, place] = part
        data = out.tobytes()
        if q.scheme == "nvfp4":
            data += q.levels["tensor"].astype("<f4").tobytes()
        return data
    return b"".join(part.tobytes() for part in _planes(q))


def packed_bytes(row: Scheme, shape: tuple[int, ...], axis: int) -> int:
    """Bytes of an array of a shape, without its numbers."""
    name = row.name
    outer, last = _extent(row, shape, axis)
    if name in BLOCKS:
        count, size = BLOCKS[name]
        return outer * last // count * size + 4 * (name == "nvfp4")
    return sum(size for _, size in _sizes(row, outer, last))


def _extent(row: Scheme, shape: tuple[int, ...], axis: int) -> tuple[int, int]:
    """Rows and numbers in a row, blocks filled up."""
    from .quantizing import moved_shape, pad_block

    moved = moved_shape(shape, axis)
    full = -(-moved[-1] // pad_block(row)) * pad_block(row)
    if row.name == "fp8_128x128":
        rows = moved[-2] if len(moved) > 1 else 1
        return math.prod(moved[:-2]) * (-(-rows // 128) * 128), full
    return math.prod(moved[:-1]), full


def _sizes(row: Scheme, outer: int, last: int) -> list[tuple[str, int]]:
    """The planes of a scheme and their bytes."""
    count = outer * last
    scales = {"int8_tensor": 1, "int8_channel": outer}.get(row.name)
    many = count // row.block if scales is None else scales
    codes = ("codes", -(-count * row.code_bits // 8))
    if row.family == "mx":
        return [codes, ("scales", many)]
    if row.name == "nf4_dq":
        return [codes, ("scales", many), ("second", 4 * -(-many // 256)), ("mean", 4)]
    planes = [codes, ("scales", (2 if row.name.startswith("int4") else 4) * many)]
    if row.name == "int4_g128_asym":
        planes.append(("zero", -(-many // 2)))
    return planes


def _planes(q: Quantized) -> list[NDArray[Any]]:
    row = q.row
    codes = q.codes.reshape(-1).view(np.uint8)
    planes = [_bits(codes, row.code_bits, row.family == "table")]
    planes.append(q.scales.astype(q.scales.dtype.newbyteorder("<")))
    if "zero" in q.levels:
        planes.append(_bits(q.levels["zero"].reshape(-1), 4, False))
    planes += [
        q.levels[name].astype("<f4")
        for name in ("second", "mean")
        if row.name == "nf4_dq"
    ]
    return planes


def _bits(codes: NDArray[Any], width: int, high_first: bool) -> NDArray[Any]:
    """Codes of a few bits without gaps, from the lowest bit of a byte on."""
    if width == 8:
        return codes
    if width == 4:
        filled = np.append(codes, np.uint8(0)) if len(codes) % 2 else codes
        low, high = filled[0::2] & 15, filled[1::2] & 15
        return low << 4 | high if high_first else low | high << 4
    single = np.unpackbits(codes[:, None], axis=1, count=width, bitorder="little")
    return np.packbits(single.reshape(-1), bitorder="little")


def _unbits(
    data: NDArray[Any], count: int, width: int, high_first: bool
) -> NDArray[Any]:
    if width == 8:
        return data[:count].copy()
    if width == 4:
        halves = (data >> 4, data & 15) if high_first else (data & 15, data >> 4)
        return np.stack(halves, 1).reshape(-1)[:count]
    single = np.unpackbits(data, bitorder="little")[: count * width]
    return np.packbits(single.reshape(-1, width), axis=1, bitorder="little")[:, 0]


def unpack(
    data: bytes, scheme: str, shape: Any, *, axis: int = -1, block: int | None = None
) -> Quantized:
    """A quantized array from its bytes.

    Parameters
    ----------
    data : bytes
        As ``pack`` wrote them, or a file of the same layout.
    scheme : str
        One of ``schemes()``.
    shape : tuple of int
        Of the array.
    axis : int
        The quantized axis of that shape.
    block : int, optional
        As ``quantize`` was given it.

    Raises
    ------
    ValueError
        When the bytes are not as many as the shape needs; both counts are named.
    TypeError
        For what is not bytes, or a shape that is not whole numbers.
    """
    from .quantizing import checked_axis, moved_shape

    row = scheme_row(scheme, block)
    shape = _checked_shape(shape)
    axis = checked_axis(axis, len(shape))
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"unpack({type(data).__name__}): bytes are needed")
    need, size = packed_bytes(row, shape, axis), memoryview(data).nbytes
    if size != need:
        raise ValueError(
            f"{size} bytes: shape {shape} in {row.name} has {need} of them"
        )
    whole = memoryview(data).c_contiguous
    raw = np.frombuffer(data if whole else bytes(data), np.uint8)
    outer, last = _extent(row, shape, axis)
    lead = moved_shape(shape, axis)[:-1] or (1,)
    if row.name == "fp8_128x128":
        lead = (math.prod(moved_shape(shape, axis)[:-2]), -1)
    full = (
        (*lead, last)
        if row.name != "fp8_128x128"
        else (lead[0], outer // lead[0], last)
    )
    if row.name in BLOCKS:
        codes, scales, levels = _from_blocks(row, raw, full)
    else:
        codes, scales, levels = _from_planes(row, raw, outer, last, full)
    return Quantized(codes, scales, shape, row.name, axis, levels, block or 0)


def _checked_shape(shape: Any) -> tuple[int, ...]:
    if isinstance(shape, (int, np.integer)):
        shape = (shape,)
    found = tuple(shape)
    for size in found:
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)):
            raise TypeError(f"shape {shape!r}: whole numbers are needed")
        if size < 1:
            raise ValueError(f"shape {shape!r}: an axis of {size} holds nothing")
    return tuple(int(size) for size in found)


def _from_planes(
    row: Scheme, raw: NDArray[Any], outer: int, last: int, full: tuple[int, ...]
) -> tuple[NDArray[Any], NDArray[Any], dict[str, NDArray[Any]]]:
    parts, start = {}, 0
    for name, size in _sizes(row, outer, last):
        parts[name] = raw[start : start + size]
        start += size
    codes = _unbits(parts["codes"], outer * last, row.code_bits, row.family == "table")
    if row.element == "int8":
        codes = codes.view(np.int8)
    elif row.name == "int4_g128":  # the sign is the highest of four bits
        codes = (codes ^ 8).astype(np.int8) - np.int8(8)
    kind = {"int4_g128": "<f2", "int4_g128_asym": "<f2"}.get(row.name, "<f4")
    if row.family == "mx" or row.name == "nf4_dq":
        kind = "u1"
    scales = parts["scales"].view(kind).copy()
    if row.name == "fp8_128x128":
        scales = scales.reshape(full[0], full[1] // 128, -1)
    elif row.name != "int8_tensor":
        scales = scales.reshape(*full[:-1], -1)
    if row.name == "int8_channel":
        scales = scales.reshape(*full[:-1], 1)
    levels = {}
    if "zero" in parts:
        zero = _unbits(parts["zero"], scales.size, 4, False)
        levels["zero"] = zero.reshape(scales.shape)
    if "second" in parts:
        levels["second"] = parts["second"].view("<f4").copy()
        levels["mean"] = parts["mean"].view("<f4").copy().reshape(())
    return codes.reshape(full), scales, levels


def _halves(codes: NDArray[Any], stride: int) -> NDArray[Any]:
    """Pairs of 4-bit codes ``stride`` apart, the first in the low half of a byte."""
    pairs = codes.reshape(len(codes), -1, 2, stride)
    return (pairs[:, :, 0] | pairs[:, :, 1] << 4).reshape(len(codes), -1)


def _unhalves(data: NDArray[Any], stride: int) -> NDArray[Any]:
    parts = data.reshape(len(data), -1, 1, stride)
    return np.concatenate([parts & 15, parts >> 4], 2).reshape(len(data), -1)


def _spread(bits: NDArray[Any], shifts: range, stride: int) -> NDArray[Any]:
    """Fields of a few bits, ``stride`` bytes long, laid over each other."""
    parts = bits.reshape(len(bits), -1, len(shifts), stride).astype(np.uint8)
    moved = parts << np.array(shifts, np.uint8)[:, None]
    return np.bitwise_or.reduce(moved, axis=2).reshape(len(bits), -1)


def _gather(data: NDArray[Any], shifts: range, stride: int, mask: int) -> NDArray[Any]:
    parts = data.reshape(len(data), -1, 1, stride)
    moved = parts >> np.array(shifts, np.uint8)[:, None] & np.uint8(mask)
    return moved.reshape(len(data), -1)


def _raw(numbers: NDArray[Any], many: int) -> NDArray[Any]:
    """The bytes of fp16 numbers, a row for each block."""
    return np.ascontiguousarray(numbers.reshape(many, -1).astype("<f2")).view(np.uint8)


def _fields(
    name: str,
    many: int,
    codes: NDArray[Any],
    scales: NDArray[Any],
    levels: dict[str, NDArray[Any]],
) -> list[tuple[slice, NDArray[Any]]]:
    """Where each part of ggml's blocks lies, and its bytes."""
    code = codes.reshape(many, -1).view(np.uint8)
    if name in ("q4_0", "iq4_nl"):
        return [(slice(0, 2), _raw(scales, many)), (slice(2, None), _halves(code, 16))]
    if name == "q4_1":
        least = _raw(levels["minimum"], many)
        top = [(slice(0, 2), _raw(scales, many)), (slice(2, 4), least)]
        return [*top, (slice(4, None), _halves(code, 16))]
    if name in ("q5_0", "q5_1"):
        fifth = np.packbits(code >> 4, axis=1, bitorder="little")
        top = [(slice(0, 2), _raw(scales, many))]
        if name == "q5_1":
            top.append((slice(2, 4), _raw(levels["minimum"], many)))
        at = 2 * len(top)
        low = _halves(code & 15, 16)
        return [*top, (slice(at, at + 4), fifth), (slice(at + 4, None), low)]
    if name == "q8_0":
        return [(slice(0, 2), _raw(scales, many)), (slice(2, None), code)]
    if name == "mxfp4":
        top = [(slice(0, 1), scales.reshape(many, 1))]
        return [*top, (slice(1, None), _halves(code, 16))]
    if name == "nvfp4":
        top = [(slice(0, 4), scales.reshape(many, 4))]
        return [*top, (slice(4, None), _halves(code, 8))]
    return _k_fields(name, many, code, scales, levels)


def _k_fields(
    name: str,
    many: int,
    code: NDArray[Any],
    scales: NDArray[Any],
    levels: dict[str, NDArray[Any]],
) -> list[tuple[slice, NDArray[Any]]]:
    tensor, scale = _raw(levels["tensor"], many), scales.reshape(many, -1)
    if name == "q6_k":
        code = code + np.uint8(32)
        high = _spread(code >> 4, range(0, 8, 2), 32)
        return [
            (slice(0, 128), _halves(code & 15, 64)),
            (slice(128, 192), high),
            (slice(192, 208), scale.view(np.uint8)),
            (slice(208, 210), tensor),
        ]
    if name == "q3_k":
        code, scale = code + np.uint8(4), (scale + 32).astype(np.uint8)
        low, high = scale & 15, scale >> 4
        return [
            (slice(0, 32), _spread(code >> 2, range(8), 32)),
            (slice(32, 96), _spread(code & 3, range(0, 8, 2), 32)),
            (slice(96, 104), low[:, :8] | low[:, 8:] << 4),
            (slice(104, 108), _spread(high, range(0, 8, 2), 4)),
            (slice(108, 110), tensor),
        ]
    least, minimum = _raw(levels["least"], many), levels["minimum"].reshape(many, -1)
    if name == "q2_k":
        return [
            (slice(0, 16), scale | minimum << 4),
            (slice(16, 80), _spread(code, range(0, 8, 2), 32)),
            (slice(80, 82), tensor),
            (slice(82, 84), least),
        ]
    first = [(slice(0, 2), tensor), (slice(2, 4), least)]
    first += [(slice(4, 16), _six_bits(scale, minimum))]
    if name == "q4_k":
        return [*first, (slice(16, 144), _halves(code, 32))]
    fifth = _spread(code >> 4, range(8), 32)
    return [*first, (slice(16, 48), fifth), (slice(48, 176), _halves(code & 15, 32))]


def _six_bits(scale: NDArray[Any], minimum: NDArray[Any]) -> NDArray[Any]:
    """Eight scales and minima of six bits in twelve bytes: the last four are split."""
    high_s, high_m = scale[:, 4:], minimum[:, 4:]
    return np.concatenate(
        [
            scale[:, :4] | high_s >> 4 << 6,
            minimum[:, :4] | high_m >> 4 << 6,
            high_s & 15 | (high_m & 15) << 4,
        ],
        axis=1,
    )


def _from_blocks(
    row: Scheme, raw: NDArray[Any], full: tuple[int, ...]
) -> tuple[NDArray[Any], NDArray[Any], dict[str, NDArray[Any]]]:
    size = BLOCKS[row.name][1]
    levels: dict[str, NDArray[Any]] = {}
    if row.name == "nvfp4":
        levels["tensor"] = raw[-4:].view("<f4").copy().reshape(())
        raw = raw[:-4]
    blocks = raw.reshape(-1, size)
    if row.family == "k":
        codes, scales, levels = _k_parts(row.name, blocks)
    elif row.family in ("mx", "nvfp4"):
        at = 1 if row.family == "mx" else 4
        scales = blocks[:, :at]
        codes = _unhalves(np.ascontiguousarray(blocks[:, at:]), 16 if at == 1 else 8)
    else:
        codes, scales, levels = _ggml_parts(row.name, blocks)
    lead = full[:-1]
    for key, part in levels.items():
        levels[key] = part.reshape(*lead, -1) if part.ndim else part
    return codes.reshape(full), scales.reshape(*lead, -1).copy(), levels


def _numbers(part: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(part).view("<f2").astype(np.float16)


def _ggml_parts(
    name: str, blocks: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], dict[str, NDArray[Any]]]:
    scales = _numbers(blocks[:, :2])
    if name == "q8_0":
        return np.ascontiguousarray(blocks[:, 2:]).view(np.int8), scales, {}
    at, levels = 2, {}
    if name.endswith("_1"):
        levels["minimum"], at = _numbers(blocks[:, 2:4]), 4
    fifth = 0
    if name.startswith("q5"):
        fifth = np.unpackbits(
            np.ascontiguousarray(blocks[:, at : at + 4]), axis=1, bitorder="little"
        )
        at += 4
    codes = _unhalves(np.ascontiguousarray(blocks[:, at:]), 16)
    return codes | np.uint8(16) * fifth, scales, levels


def _k_parts(
    name: str, blocks: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], dict[str, NDArray[Any]]]:
    def part(start: int, stop: int) -> NDArray[Any]:
        return np.ascontiguousarray(blocks[:, start:stop])

    if name == "q6_k":
        high = _gather(part(128, 192), range(0, 8, 2), 32, 3)
        codes = (_unhalves(part(0, 128), 64) | high << 4).view(np.int8) - np.int8(32)
        levels = {"tensor": _numbers(part(208, 210))}
        return codes, part(192, 208).view(np.int8), levels
    if name == "q3_k":
        high = _gather(part(0, 32), range(8), 32, 1)
        codes = _gather(part(32, 96), range(0, 8, 2), 32, 3) | high << 2
        low = _unhalves(part(96, 104), 8)
        scale = low | _gather(part(104, 108), range(0, 8, 2), 4, 3) << 4
        levels = {"tensor": _numbers(part(108, 110))}
        return (
            (codes.view(np.int8) - np.int8(4)),
            scale.view(np.int8) - np.int8(32),
            levels,
        )
    if name == "q2_k":
        levels = {"tensor": _numbers(part(80, 82)), "least": _numbers(part(82, 84))}
        levels["minimum"] = part(0, 16) >> 4
        codes = _gather(part(16, 80), range(0, 8, 2), 32, 3)
        return codes, part(0, 16) & 15, levels
    levels = {"tensor": _numbers(part(0, 2)), "least": _numbers(part(2, 4))}
    a, b, c = part(4, 8), part(8, 12), part(12, 16)
    scale = np.concatenate([a & 63, c & 15 | a >> 6 << 4], 1)
    levels["minimum"] = np.concatenate([b & 63, c >> 4 | b >> 6 << 4], 1)
    if name == "q4_k":
        return _unhalves(part(16, 144), 32), scale, levels
    fifth = _gather(part(16, 48), range(8), 32, 1)
    return _unhalves(part(48, 176), 32) | fifth << 4, scale, levels
