"""The same encoding for arrays: integer arithmetic on the bits of the input.

A float with its bits read as an integer is ordered like its magnitude, so rounding to
fewer bits is an addition and a shift, and the carry into the exponent is right by
itself. Numbers below the format's normal ones are rounded by adding a power of two
whose last bit is worth the format's smallest step.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .formats import Format

__all__ = ["decode_array", "encode_array"]

_AS_INT: dict[Any, Any] = {
    np.dtype(np.float32): (np.uint32, 23, 8),
    np.dtype(np.float64): (np.uint64, 52, 11),
}


def code_type(bits: int) -> Any:
    """Smallest unsigned integer that holds a code."""
    return next(t for t in (np.uint8, np.uint16, np.uint32) if t(0).nbytes * 8 >= bits)


def encode_array(form: Format, x: Any, saturate: bool = False) -> NDArray[Any]:
    """Codes of an array, equal to ``Format.encode`` of each number."""
    x = np.asarray(x)
    if x.dtype not in _AS_INT:
        if x.dtype.kind not in "fiu":
            raise TypeError(f"an array of {x.dtype}: real numbers are needed")
        x = x.astype(np.float64)
    kind, width, exponent = _AS_INT[x.dtype]
    bits = np.ascontiguousarray(x).view(kind)
    if form.row.special == "scale":
        return _scales(form, bits, kind, width, exponent, saturate)
    size = bits & kind((1 << width + exponent) - 1)
    code = _rounded(form, size, x.dtype, kind, width, exponent)
    row, infinity = form.row, kind((1 << exponent) - 1 << width)
    keep = row.special == "finite" or (row.special == "fn" and saturate)
    over = kind(form.top if keep else form.top + 1)
    np.minimum(code, over, out=code)
    body = row.exponent + row.significand
    sign = (bits >> kind(width + exponent)) << kind(body)
    unknown = size > infinity
    if unknown.any():
        code[unknown] = kind(form.nan)
    code ^= sign
    return code.astype(code_type(form.bits))


def _rounded(
    form: Format, size: NDArray[Any], dtype: Any, kind: Any, width: int, exponent: int
) -> NDArray[Any]:
    """Codes of magnitudes as if the format went on without end, up to infinity."""
    row = form.row
    cut = width - row.significand
    rebias = (1 << exponent - 1) - 1 - row.bias
    if cut:
        last = (size >> kind(cut)) & kind(1)
        code = (size + (kind((1 << cut - 1) - 1) + last)) >> kind(cut)
    else:
        code = size.copy()
    if not rebias:
        return code
    low = size < kind(rebias + 1 << width)
    code -= kind(rebias << row.significand)
    if low.any():
        # float plus this has its last bit at the format's smallest step
        step = dtype.type(2.0 ** (1 - row.bias - row.significand + width))
        small = np.where(low, size, kind(0)).view(dtype) + step
        code = np.where(low, small.view(kind) - step.view(kind), code)
    return code


def _scales(
    form: Format,
    bits: NDArray[Any],
    kind: Any,
    width: int,
    exponent: int,
    saturate: bool,
) -> NDArray[Any]:
    size = bits & kind((1 << width + exponent) - 1)
    rebias = (1 << exponent - 1) - 1 - form.row.bias
    code = ((size + kind(1 << width - 1)) >> kind(width)).astype(np.int64) - rebias
    lowest = np.array([form.smallest, 2 * form.smallest]).astype(f"f{size.itemsize}")
    first, second = lowest.view(kind)
    low = size < second
    code[low] = size[low] > first
    np.clip(code, 0, form.nan, out=code)
    bad = size >= kind((1 << exponent) - 1 << width)
    if not saturate:
        bad |= (bits >> kind(width + exponent)).astype(bool) | (size == 0)
    code[bad] = form.nan
    return code.astype(np.uint8)


@cache
def _table(form: Format) -> NDArray[Any]:
    return np.array([form.decode(code) for code in range(1 << form.bits)], np.float32)


def decode_array(form: Format, codes: Any) -> NDArray[Any]:
    """Numbers of an array of codes, equal to ``Format.decode`` of each."""
    codes = np.asarray(codes)
    if codes.dtype.kind not in "iu":
        raise TypeError(f"an array of {codes.dtype}: codes are whole numbers")
    if codes.size and not 0 <= int(codes.min()) <= int(codes.max()) < 1 << form.bits:
        worst = int(codes.min()) if codes.min() < 0 else int(codes.max())
        raise ValueError(f"code {worst}: {form.name} has {form.bits} bits")
    if form.bits <= 8:
        return _table(form)[codes]
    if form.name == "fp16":
        return codes.astype(np.uint16).view(np.float16).astype(np.float32)
    # the others are fp32 with its last bits cut
    return (codes.astype(np.uint32) << np.uint32(32 - form.bits)).view(np.float32)
