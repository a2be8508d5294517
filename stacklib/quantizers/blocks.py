"""Blocks that share a scale of one byte: MX and NVFP4.

Both work in chunks that stay in the second-level cache: the largest magnitude of each
block, the code of its scale, one multiplication, and the encoder of the element.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import CHUNK, encode_into
from .compiled import mx_by_numba
from .formats import Format

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .scheme import Scheme

RULES = ("floor", "even", "rceil", "ceil")


class NotFiniteError(ValueError):
    """A block holds NaN or infinity."""


IMPLIED = 64.0  # an MXINT8 code is 64 times its number (OCP MX v1.0, section 5.3.4)


def encode(
    row: Scheme, rows: NDArray[Any], rule: str = "floor"
) -> tuple[NDArray[Any], NDArray[Any], dict[str, NDArray[Any]]]:
    """Codes, scales and other levels of rows whose blocks are full."""
    flat = rows.reshape(-1)
    codes = np.empty(rows.shape, np.int8 if row.element == "int8" else np.uint8)
    scales = np.empty((*rows.shape[:-1], rows.shape[-1] // row.block), np.uint8)
    if row.family == "mx":
        _mx(row, flat, codes.reshape(-1), scales.reshape(-1), rule)
        return codes, scales, {}
    tensor = _nvfp4(row, flat, codes.reshape(-1), scales.reshape(-1))
    return codes, scales, {"tensor": np.array(tensor, np.float32)}


@cache
def scale_values() -> NDArray[Any]:
    """2 to the power of each e8m0 code less 127; the last code, NaN, is left out."""
    return np.ldexp(np.float32(1), np.arange(255) - 127, dtype=np.float32)


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


@cache
def _room(block: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    turned: NDArray[Any] = np.empty((block, CHUNK // block), np.float32)
    return np.empty(CHUNK, np.float32), turned, np.empty(CHUNK // block, np.float32)


def _largest(
    part: NDArray[Any], work: NDArray[Any], turned: NDArray[Any], sizes: NDArray[Any]
) -> NDArray[Any]:
    """Largest magnitude of each block: blocks are turned into columns first.

    NumPy takes the largest of whole rows at once, but of a short row one by one.
    """
    block, many = len(turned), len(part) // len(turned)
    np.abs(part, out=work[: len(part)])
    columns = turned[:, :many]
    np.copyto(columns, work[: len(part)].reshape(-1, block).T)
    found: NDArray[Any] = np.maximum.reduce(columns, axis=0, out=sizes[:many])
    return found


def _mx(
    row: Scheme, x: NDArray[Any], codes: NDArray[Any], scales: NDArray[Any], rule: str
) -> None:
    work, turned, sizes = _room(row.block)
    inverse = scale_values()[254::-1]  # 2 ** (127 - code)
    if rule == "floor" and row.element != "int8":
        form, power = Format(row.element), largest_power(row.element)
        finite = mx_by_numba(form, power, x, codes, scales, np.array(inverse))
        if finite is False:
            raise NotFiniteError
        if finite and row.name == "mxfp4":
            codes *= codes != 8
        if finite:
            return
    for start in range(0, len(x), CHUNK):
        part = x[start : start + CHUNK]
        n, many = len(part), len(part) // row.block
        size = _largest(part, work, turned, sizes)
        if not size.max() < np.inf:
            raise NotFiniteError
        code = scale_codes(size, row.element, rule)
        first = start // row.block
        scales[first : first + many] = code
        # a block whose scale is 2**-127 is multiplied by 2**127, which fp32 holds
        scaled = work[:n].reshape(-1, row.block)
        np.multiply(part.reshape(-1, row.block), inverse[code, None], out=scaled)
        _elements(row, work[:n], codes[start : start + n])


def _elements(row: Scheme, scaled: NDArray[Any], codes: NDArray[Any]) -> None:
    if row.element == "int8":
        scaled *= np.float32(IMPLIED)
        codes[:] = np.clip(np.rint(scaled, out=scaled), -127, 127)
        return
    encode_into(Format(row.element), scaled, codes, clamp=True, finite=True)
    if row.name == "mxfp4":  # ggml writes no negative zero
        codes *= codes != 8


def _nvfp4(
    row: Scheme, x: NDArray[Any], codes: NDArray[Any], scales: NDArray[Any]
) -> float:
    """Two levels: an e4m3fn scale for 16 numbers, and one in fp32 for all."""
    work, turned, sizes = _room(row.block)
    element, form = Format(row.element), Format("e4m3fn")
    largest = max(abs(float(x.max())), abs(float(x.min())))
    tensor = np.float32(largest) / np.float32(element.largest * form.largest)
    # numbers too small for any scale are zeros under any other
    tensor = tensor if tensor > 2.0**-120 else np.float32(1)
    for start in range(0, len(x), CHUNK):
        part = x[start : start + CHUNK]
        n, many = len(part), len(part) // row.block
        size = _largest(part, work, turned, sizes)
        wanted = size / np.float32(element.largest) / tensor
        # torchao's bounds: a subnormal scale would lose digits
        bounded = np.clip(wanted, np.float32(form.least_normal), form.largest)
        code = form.encode(bounded.astype(np.float32))
        first = start // row.block
        scales[first : first + many] = np.where(size > 0, code, 0)
        factor = np.float32(1) / tensor / form.decode(code)
        scaled = work[:n].reshape(-1, row.block)
        np.multiply(part.reshape(-1, row.block), factor[:, None], out=scaled)
        encode_into(element, work[:n], codes[start : start + n], True, True)
    return float(tensor)


def decode(
    row: Scheme,
    codes: NDArray[Any],
    scales: NDArray[Any],
    levels: dict[str, NDArray[Any]],
) -> NDArray[Any]:
    """Numbers of codes and scales."""
    if row.element == "int8":
        numbers = codes.astype(np.float32) / np.float32(IMPLIED)
    else:
        numbers = Format(row.element).decode(codes)
    if row.family == "mx":
        factor = scale_values()[scales]
    else:
        factor = Format("e4m3fn").decode(scales)
    found = numbers.reshape(*factor.shape, -1) * factor[..., None]
    if "tensor" in levels:  # the product before it is exact: one rounding
        found *= levels["tensor"]
    return found.reshape(codes.shape)
