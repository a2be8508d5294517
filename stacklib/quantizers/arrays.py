"""The same encoding for arrays: integer arithmetic on the bits of the input.

Rounding a magnitude to the format's last digit is one floating-point addition: added to
a power of two that many binades above, it keeps just the digits the format has, and
the processor rounds to nearest even. What was added below the least normal number is
the same for all, which makes subnormal numbers the same case. Input is taken in chunks
that stay in the second-level cache, in arrays made once.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .formats import grid, table_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .formats import Format

CHUNK = 32768  # numbers; five arrays of four bytes each stay in 1 MiB
_AS_INT: dict[Any, Any] = {
    np.dtype(np.float32): (np.uint32, 23, 8),
    np.dtype(np.float64): (np.uint64, 52, 11),
}


def code_type(bits: int) -> Any:
    """Smallest unsigned integer that holds a code."""
    return next(t for t in (np.uint8, np.uint16, np.uint32) if t(0).nbytes * 8 >= bits)


def encode_array(
    form: Format,
    x: Any,
    saturate: bool = False,
    rounding: str = "nearest",
    seed: int | None = None,
) -> NDArray[Any]:
    """Codes of an array, equal to ``Format.encode`` of each number."""
    x = np.asarray(x)
    if x.dtype not in _AS_INT:
        if x.dtype.kind not in "fiu":
            raise TypeError(f"an array of {x.dtype}: real numbers are needed")
        x = x.astype(np.float64)
    x = np.ascontiguousarray(x)
    if form.row.special in ("integer", "table"):
        return _listed(form, x, rounding, seed)
    if rounding == "stochastic":
        x = _drawn(form, x, seed)
    elif rounding == "zero":
        x = _cut(form, x)
    if form.row.special == "scale":
        return _scales(form, x, saturate)
    if x.dtype == np.float32 and form.bits <= 16 and form.row.bias < 127:
        codes = np.empty(x.shape, code_type(form.bits))
        encode_into(form, x.reshape(-1), codes.reshape(-1), stays(form, saturate))
        return codes
    return _wide(form, x, saturate)


def stays(form: Format, saturate: bool) -> bool:
    """Whether what is too large becomes the largest number."""
    return form.row.special == "finite" or (form.row.special == "fn" and saturate)


class _Kept:
    """Arrays that the chunks of one format are worked in."""

    def __init__(self, form: Format, keep: bool) -> None:
        row = form.row
        self.cut = np.int32(23 - row.significand)
        least: Any = np.float32(form.least_normal).view(np.int32)
        # a number that rounds to the code behind the largest one
        beyond = form.largest if keep else form.largest + 2.0**form.step_of_largest
        limit: Any = np.float32(beyond).view(np.int32)
        self.least: NDArray[Any] = np.full(CHUNK, least, np.int32)
        self.limit: NDArray[Any] = np.full(CHUNK, limit, np.int32)
        self.raised = np.int32(int(self.cut) << 23)
        first = (int(least) >> 23) + int(self.cut)
        kind = code_type(form.bits)
        # left in each code by the exponent of what was added
        excess = (first << row.significand) & (1 << 8 * kind(0).nbytes) - 1
        self.excess = kind(excess)
        self.sign = kind(1 << form.bits - 1)
        self.size: NDArray[Any] = np.empty(CHUNK, np.int32)
        self.magic: NDArray[Any] = np.empty(CHUNK, np.int32)
        self.minus: NDArray[Any] = np.empty(CHUNK, np.bool_)
        self.wide = np.empty(CHUNK, kind)
        # NaN that the code behind the largest number does not stand for already
        self.look = row.special in ("ieee", "finite") or keep


@lru_cache(maxsize=32)
def _kept(form: Format, keep: bool) -> _Kept:
    return _Kept(form, keep)


def encode_into(
    form: Format,
    x: NDArray[Any],
    codes: NDArray[Any],
    clamp: bool = False,
    finite: bool = False,
) -> None:
    """Codes of flat float32 numbers, written into an array that is there already.

    ``clamp``: what is too large becomes the largest number, else what lies behind it.
    ``finite``: no number is NaN, and none is looked for.
    """
    kept = _kept(form, clamp)
    bits = x.view(np.int32)
    for start in range(0, len(x), CHUNK):
        part = slice(start, min(start + CHUNK, len(x)))
        n = part.stop - start
        size, magic, out = kept.size[:n], kept.magic[:n], codes[part]
        np.bitwise_and(bits[part], np.int32(0x7FFFFFFF), out=size)
        unknown = kept.look and not finite and n and size.max() > 0x7F800000
        np.minimum(size, kept.limit[:n], out=size)
        np.bitwise_and(size, np.int32(0x7F800000), out=magic)
        np.maximum(magic, kept.least[:n], out=magic)
        np.add(magic, kept.raised, out=magic)
        np.add(size.view(np.float32), magic.view(np.float32), out=size.view(np.float32))
        np.subtract(size, magic, out=size)  # steps of the last digit
        np.right_shift(magic, kept.cut, out=magic)
        np.add(size, magic, out=size)
        np.copyto(out, size, casting="unsafe")
        np.subtract(out, kept.excess, out=out)
        minus, wide = kept.minus[:n], kept.wide[:n]
        np.signbit(x[part], out=minus)
        if form.row.special == "fnuz":
            np.logical_and(minus, out, out=minus)  # zero has no sign
        np.multiply(minus, kept.sign, out=wide, dtype=wide.dtype)
        np.bitwise_or(out, wide, out=out)
        if unknown:
            where = np.isnan(x[part])
            turned = np.signbit(x[part][where]) * kept.sign
            out[where] = kept.sign.dtype.type(form.nan) ^ turned


def _wide(form: Format, x: NDArray[Any], saturate: bool) -> NDArray[Any]:
    """Codes of float64, or in a format with the exponent of fp32."""
    kind, width, exponent = _AS_INT[x.dtype]
    bits = x.view(kind)
    size = bits & kind((1 << width + exponent) - 1)
    code = _rounded(form, size, x.dtype, kind, width, exponent)
    row, infinity = form.row, kind((1 << exponent) - 1 << width)
    over = kind(form.top if stays(form, saturate) else form.top + 1)
    np.minimum(code, over, out=code)
    body = row.exponent + row.significand
    sign = (bits >> kind(width + exponent)) << kind(body)
    if row.special == "fnuz":
        sign[code == 0] = 0
    unknown = size > infinity
    if unknown.any():
        code[unknown] = kind(form.nan)
    code = code | sign if row.special == "fnuz" else code ^ sign
    return code.astype(code_type(form.bits))


def _rounded(
    form: Format, size: NDArray[Any], dtype: Any, kind: Any, width: int, exponent: int
) -> NDArray[Any]:
    """Codes of magnitudes as if the format went on without end, up to infinity."""
    row = form.row
    cut = width - row.significand
    rebias = (1 << exponent - 1) - 1 - row.bias
    if cut:
        # with one digit only, half way goes up, whatever the exponent's last bit
        last = (size >> kind(cut)) & kind(1) if row.significand else kind(1)
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


def _scales(form: Format, x: NDArray[Any], saturate: bool) -> NDArray[Any]:
    kind, width, exponent = _AS_INT[x.dtype]
    bits = x.view(kind)
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


def _listed(
    form: Format, x: NDArray[Any], rounding: str, seed: int | None
) -> NDArray[Any]:
    """Codes in a format whose numbers are whole, or a table."""
    unknown = np.isnan(x)
    if unknown.any():
        where = tuple(int(i) for i in np.argwhere(unknown)[0])
        raise ValueError(f"NaN at {where} has no code in {form.name}")
    if rounding == "nearest" and form.row.special == "table":
        order, half = table_order(form.name)
        codes = np.array(order, np.uint8)
        return codes[np.searchsorted(np.array(half, x.dtype), x)]
    if form.row.special == "table":
        values, order = grid(form.name)
        x = np.clip(x, values[0], values[-1])
        low, high = _neighbours(np.array(values), x)
        at = low + _up(np.array(values), x, low, high, rounding, seed)
        return np.array(order, np.uint8)[at]
    ends = -(1 << form.bits - 1), (1 << form.bits - 1) - 1
    x = np.clip(x, *ends)
    if rounding == "stochastic":
        low = np.floor(x)
        whole = low + (np.random.default_rng(seed).random(x.shape) < x - low)
    else:
        whole = np.rint(x) if rounding == "nearest" else np.trunc(x)
    return (whole.astype(np.int16) & (1 << form.bits) - 1).astype(np.uint8)


def _neighbours(values: NDArray[Any], x: NDArray[Any]) -> tuple[Any, Any]:
    """Places of the numbers of a list below and above each ``x`` inside it."""
    at = np.searchsorted(values, x, side="right")
    high = np.minimum(at, len(values) - 1)
    return high - 1, high


def _up(
    values: NDArray[Any], x: Any, low: Any, high: Any, rounding: str, seed: int | None
) -> NDArray[Any]:
    """Whether the upper of two neighbours is taken."""
    below, above = values[low], values[high]
    if rounding == "zero":
        return (x == above) | ((below < x) & (x < 0))
    share = (x.astype(np.float64) - below) / (above - below)
    return np.random.default_rng(seed).random(x.shape) < share


def _cut(form: Format, x: NDArray[Any]) -> NDArray[Any]:
    """Numbers of the format next to ``x`` toward zero; infinity and NaN stay."""
    low, _ = _between(form, x)
    return np.where(np.isfinite(x), np.copysign(low, x), x)


def _drawn(form: Format, x: NDArray[Any], seed: int | None) -> NDArray[Any]:
    """One of the two numbers of the format around ``x``, right in the mean."""
    low, step = _between(form, x)
    size = np.abs(x.astype(np.float64))
    inside = size <= form.largest
    share = np.divide(size - low, step, out=np.zeros_like(size), where=inside)
    up = np.random.default_rng(seed).random(x.shape) < share
    return np.where(inside, np.copysign(low + up * step, x), x)


def _between(form: Format, x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The largest magnitude up to ``|x|``, and the step from it to the next."""
    row = form.row
    size = np.minimum(np.abs(x.astype(np.float64)), form.largest)
    size = np.where(np.isnan(size), 0.0, size)
    power = np.frexp(size)[1] - 1
    if row.special == "scale":  # powers of two, and none below the first
        low = np.ldexp(1.0, np.maximum(power, -row.bias))
        return low, low
    step = np.ldexp(1.0, np.maximum(power, 1 - row.bias) - row.significand)
    return np.floor(size / step) * step, step


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
