"""Blocks that share a scale of one byte: MX and NVFP4.

Both work in chunks that stay in the second-level cache: the largest magnitude of each
block, the code of its scale, one multiplication, and the encoder of the element.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import CHUNK, FAR, encode_flat, number_table, plan
from .compiled import loops
from .formats import Format
from .integers import given_scale, whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .scheme import Scheme

RULES = ("floor", "even", "rceil", "ceil")


class NotFiniteError(ValueError):
    """A block holds NaN or infinity."""


IMPLIED = 64.0  # an MXINT8 code is 64 times its number (OCP MX v1.0, section 5.3.4)


def encode(
    row: Scheme,
    rows: NDArray[Any],
    rule: str = "floor",
    scale: Any = None,
    draw: Any = None,
) -> tuple[NDArray[Any], NDArray[Any], dict[str, NDArray[Any]]]:
    """Codes, scales and other levels of rows whose blocks are full.

    ``scale``: of the whole tensor, in NVFP4. ``draw``: of stochastic rounding.
    """
    flat = rows.reshape(-1)
    codes = np.empty(rows.shape, np.int8 if row.element == "int8" else np.uint8)
    scales = np.empty((*rows.shape[:-1], rows.shape[-1] // row.block), np.uint8)
    if row.family == "mx":
        _mx(row, flat, codes.reshape(-1), scales.reshape(-1), rule, draw)
        return codes, scales, {}
    tensor = _nvfp4(row, flat, codes.reshape(-1), scales.reshape(-1), scale, draw)
    return codes, scales, {"tensor": np.array(tensor, np.float32)}


@cache
def scale_values() -> NDArray[Any]:
    """2 to the power of each e8m0 code less 127, NaN for the last code."""
    found: NDArray[Any] = np.full(256, np.nan, np.float32)
    found[:255] = np.ldexp(np.float32(1), np.arange(255) - 127)
    found.flags.writeable = False
    return found


@cache
def largest_power(element: str) -> int:
    """Exponent of the element's largest number (OCP MX v1.0, section 6.3)."""
    return 0 if element == "int8" else int(np.log2(Format(element).largest))


def scale_codes(size: NDArray[Any], element: str, rule: str) -> NDArray[Any]:
    """Codes of e8m0 for blocks whose largest magnitudes are given.

    ``floor``: the exponent of the largest magnitude, less that of the element's
    largest number (OCP MX v1.0, section 6.3). ``even``: the magnitude is first rounded
    to the element's digits. ``ceil``: its exponent rounded up. ``rceil``: the quotient
    of both numbers, rounded up to a power of two (cuBLAS, block scaling), so that
    nothing saturates.
    """
    bits = size.view(np.int32)
    if rule == "rceil":
        largest = 127 / IMPLIED if element == "int8" else Format(element).largest
        need = (size / np.float32(largest)).view(np.int32)
        code = (need + 0x7FFFFF) >> 23
        # below the least normal number of fp32 the field does not count
        return np.where(need <= 1 << 22, 0, np.clip(code, 1, 254)).astype(np.uint8)
    if rule == "even":
        digits = 6 if element == "int8" else Format(element).row.significand
        bits = bits + (1 << 22 - digits)
    elif rule == "ceil":
        bits = bits + 0x7FFFFF
    code = (bits >> 23) - largest_power(element)
    # a rounded magnitude may reach the exponent of infinity
    return np.minimum(np.maximum(code, 0), 254).astype(np.uint8)


class _Room:
    """Arrays that the chunks of one call are worked in."""

    def __init__(self, numbers: int, block: int) -> None:
        chunk = min(CHUNK, numbers)
        self.work: NDArray[Any] = np.empty(chunk, np.float32)
        self.turned: NDArray[Any] = np.empty((block, chunk // block), np.float32)
        self.sizes: NDArray[Any] = np.empty(chunk // block, np.float32)

    def largest(self, part: NDArray[Any]) -> NDArray[Any]:
        """Largest magnitude of each block: blocks are turned into columns first.

        NumPy takes the largest of whole rows at once, but of a short row one by one.
        """
        block, many = len(self.turned), len(part) // len(self.turned)
        work, columns = self.work[: len(part)], self.turned[:, :many]
        np.abs(part, out=work)
        np.copyto(columns, work.reshape(-1, block).T)
        found: NDArray[Any] = np.maximum.reduce(columns, 0, out=self.sizes[:many])
        return found


def _mx(
    row: Scheme,
    x: NDArray[Any],
    codes: NDArray[Any],
    scales: NDArray[Any],
    rule: str,
    draw: Any,
) -> None:
    inverse = np.ascontiguousarray(scale_values()[254::-1])  # 2 ** (127 - code)
    plain = rule == "floor" and row.element != "int8" and draw is None
    made = loops(len(x)) if plain else None
    if made is not None:
        power, numbers = (
            largest_power(row.element),
            plan(row.element, True, True).numbers,
        )
        each = x.reshape(len(scales), -1), codes.reshape(len(scales), -1)
        if not made.encode_mx(*each, scales, inverse, power, numbers):
            raise NotFiniteError
        if row.name == "mxfp4":
            codes *= codes != 8
        return
    room = _Room(len(x), row.block)
    for start in range(0, len(x), CHUNK):
        part = x[start : start + CHUNK]
        n, many = len(part), len(part) // row.block
        size = room.largest(part)
        if not size.max() < np.inf:
            raise NotFiniteError
        code = scale_codes(size, row.element, rule)
        first = start // row.block
        scales[first : first + many] = code
        # a block whose scale is 2**-127 is multiplied by 2**127, which fp32 holds
        scaled = room.work[:n].reshape(-1, row.block)
        np.multiply(part.reshape(-1, row.block), inverse[code, None], out=scaled)
        _elements(row, room.work[:n], codes[start : start + n], draw)


def _elements(
    row: Scheme, scaled: NDArray[Any], codes: NDArray[Any], draw: Any
) -> None:
    if row.element == "int8":
        scaled *= np.float32(IMPLIED)
        codes[:] = np.clip(whole(scaled, draw), -127, 127)
        return
    if draw is None:
        encode_flat(plan(row.element, True, True), scaled, codes)
    else:
        form = Format(row.element)
        inside = np.clip(scaled, -form.largest, form.largest)
        codes[:] = form.encode(inside, rounding="stochastic", seed=draw)
    if row.name == "mxfp4":  # ggml writes no negative zero
        codes *= codes != 8


def _nvfp4(
    row: Scheme,
    x: NDArray[Any],
    codes: NDArray[Any],
    scales: NDArray[Any],
    scale: Any,
    draw: Any,
) -> float:
    """Two levels: an e4m3fn scale for 16 numbers, and one in fp32 for all."""
    room = _Room(len(x), row.block)
    element, form = Format(row.element), Format("e4m3fn")
    largest = max(abs(float(x.max())), abs(float(x.min())))
    tensor = np.float32(largest) / np.float32(element.largest * form.largest)
    # numbers too small for any scale are zeros under any other
    tensor = tensor if tensor > 2.0**-120 else np.float32(1)
    if scale is not None:
        tensor = given_scale(scale, ())[()]
    for start in range(0, len(x), CHUNK):
        part = x[start : start + CHUNK]
        n, many = len(part), len(part) // row.block
        size = room.largest(part)
        wanted = size / np.float32(element.largest) / tensor
        # torchao's bounds: a subnormal scale would lose digits
        bounded = np.clip(wanted, np.float32(form.least_normal), form.largest)
        code = form.encode(bounded.astype(np.float32))
        first = start // row.block
        scales[first : first + many] = np.where(size > 0, code, 0)
        factor = np.float32(1) / tensor / form.decode(code)
        scaled = room.work[:n].reshape(-1, row.block)
        np.multiply(part.reshape(-1, row.block), factor[:, None], out=scaled)
        _elements(row, room.work[:n], codes[start : start + n], draw)
    return float(tensor)


def decode(
    row: Scheme,
    codes: NDArray[Any],
    scales: NDArray[Any],
    levels: dict[str, NDArray[Any]],
) -> NDArray[Any]:
    """Numbers of codes and scales."""
    if row.element == "int8":
        table = number_table("int8") / np.float32(IMPLIED)
    else:
        table = number_table(row.element)
    if row.family == "mx":
        factor = scale_values()[scales]
    else:
        factor = Format("e4m3fn").decode(scales)
    return table_times(table, codes, factor, levels.get("tensor", 1))


def at_line(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """An empty array; a very large one begins where a line of the caches does."""
    if (size := math.prod(shape)) < FAR:
        return np.empty(shape, np.float32)
    room: NDArray[np.float32] = np.empty(size + 15, np.float32)
    first = (-room.ctypes.data & 63) // 4
    return room[first : first + size].reshape(shape)


def table_times(
    table: NDArray[np.float32],
    codes: NDArray[Any],
    factor: NDArray[np.float32],
    whole: Any = 1,
) -> NDArray[np.float32]:
    """A table's numbers times the factor of their block, then one for all of them."""
    found = at_line(codes.shape)
    flat = factor.reshape(-1)
    rows = codes.view(np.uint8).reshape(len(flat), -1)
    out, made = found.reshape(rows.shape), loops(codes.size)
    if made is not None:
        from ._numba_blocks import decode_blocks

        decode_blocks(rows, flat, table, np.float32(whole), out)
        return found
    many = max(CHUNK // rows.shape[1], 1)
    for start in range(0, len(rows), many):
        part = slice(start, start + many)
        np.take(table, rows[part], out=out[part], mode="clip")
        out[part] *= flat[part, None]
        out[part] *= np.float32(whole)
    return found
