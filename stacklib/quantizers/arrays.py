"""The same encoding for arrays: integer arithmetic on the bits of the input.

Rounding a magnitude to the format's last digit is one floating-point addition: added to
a power of two that many binades above, it keeps just the digits the format has, and
the processor rounds to nearest even. What was added below the least normal number is
the same for all, which makes subnormal numbers the same case. Input is taken in chunks
that stay in the second-level cache, in arrays of the call's own: no state outlives it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .compiled import loops
from .formats import Format, grid, table_order
from .inputs import in_memory_order, plain, real, single

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

NEAR = 1 << 18  # numbers; of more a line of the caches is where they begin
FAR = 1 << 23  # numbers: in fp32 as much as a last cache holds
CHUNK = 32768  # numbers; five arrays of four bytes each stay in 1 MiB
# how a format is rounded to
BIASED, UNSIGNED_ZERO, WIDE, HALF, SCALE = range(5)
FLOAT, HALVES, BITS = (np.dtype(kind) for kind in ("f4", "f2", "u2"))
MAGNITUDE, INFINITE = np.int32(0x7FFFFFFF), np.int32(0x7F800000)


class Plan(NamedTuple):
    """What the loops must know of a format, once for all calls.

    - ``kind``: type of a code, the smallest that holds it.
    - ``listed``: its numbers are whole or a table, and the loops do not encode them.
    - ``numbers``: way, cut, least, limit, excess, NaN, sign, saturate and mask, where
      ``least`` and ``limit`` are the bits of the least normal number and of the first
      one that is too large, ``excess`` is what is left in each code by the exponent of
      what was added, and ``mask`` the digits of a double that only count
      together; none for fp32, to which the processor rounds.
    """

    kind: np.dtype[Any]
    listed: bool
    numbers: NDArray[np.int64]


@cache
def plan(name: str, saturate: bool, kept: bool | None = None) -> Plan:
    """Of a format by name; ``kept``: what is too large becomes the largest."""
    form = Format(name)
    row, cut = form.row, 23 - form.row.significand
    kind = next(np.dtype(f"u{n}") for n in (1, 2, 4) if 8 * n >= form.bits)
    if row.special in ("integer", "table"):
        return Plan(kind, True, np.zeros(0, np.int64))
    kept = stays(form, saturate) if kept is None else kept
    least = limit = excess = 0
    if row.special == "scale":
        way = SCALE
    elif row.bias == 127:
        way = WIDE
    else:
        way = HALF if name == "fp16" else BIASED
        way = UNSIGNED_ZERO if row.special == "fnuz" else way
        least = int(np.float32(form.least_normal).view(np.int32))
        beyond = form.largest if kept else form.largest + 2.0**form.step_of_largest
        limit = int(np.float32(beyond).view(np.int32))
        excess = ((least >> 23) + cut) << row.significand
    mask = (1 << 50 - row.significand) - 1 if cut else 0
    sign = 1 << form.bits - 1
    numbers = np.array(
        [way, cut, least, limit, excess, form.nan, sign, saturate, mask], np.int64
    )
    numbers.flags.writeable = False
    return Plan(kind, False, numbers)


def encode_array(
    form: Format,
    x: Any,
    saturate: bool = False,
    rounding: str = "nearest",
    seed: int | None = None,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Codes of an array, equal to ``Format.encode`` of each number."""
    x = real(x)
    if out is None and rounding == "nearest" and form.name in ("bf16", "fp16"):
        made = loops(x.size)
        flat = made and made.SHORT.get((form.name, x.dtype.num))
        if made and x.size >= FAR:
            from ._numba_lines import LINES

            flat = LINES.get((form.name, x.dtype.num), flat)
        if flat is not None:
            found: NDArray[Any] = (
                flat(x) if isinstance(flat, np.ufunc) else _made(flat, x, BITS, None)
            )
            return found
    row = plan(form.name, saturate)
    if rounding != "nearest" or row.listed:
        x = as_single(x) if x.dtype.itemsize == 2 else x
        if row.listed:
            x = _listed(form, x, rounding, seed)
            return x if out is None else given(out, x.shape, x.dtype, x)
        x = _drawn(form, x, seed) if rounding == "stochastic" else _cut(form, x)
    made = loops(x.size)
    if made is None:
        return _made(_by_numpy, x, row.kind, out, row)
    x = x.view(BITS) if x.dtype == HALVES else x
    flat = made.encode if x.itemsize < 8 else made.OWN.get(form.name, made.encode)
    return _made(flat, x, row.kind, out, row.numbers)


class Opened:
    """A read-only array as one that may be written to; no loop here writes to it.

    Loops are compiled for the types of their arrays, and this is part of one.
    """

    def __init__(self, x: NDArray[Any]) -> None:
        self.x, told = x, x.__array_interface__
        self.__array_interface__ = {**told, "data": (told["data"][0], False)}


def _made(
    flat: Callable[..., Any], x: NDArray[Any], kind: Any, out: Any, *rest: Any
) -> NDArray[Any]:
    """What ``flat`` makes of the numbers as they lie in memory, in their shape.

    Most of a call of few numbers passes before them: one look at the flags decides.
    """
    flags = x.flags
    x = x if flags.writeable else np.asarray(Opened(x))
    if out is not None:
        room = given(out, x.shape, kind)
        alone = not np.may_share_memory(room, x)
        if alone and flags.c_contiguous and room.flags.c_contiguous:
            flat(x.ravel(), room.ravel(), *rest)
        else:
            room[...] = _made(flat, x, kind, None, *rest)
        return room
    if flags.forc:
        found: NDArray[Any] = np.empty(
            x.shape, kind, "C" if flags.c_contiguous else "F"
        )
        flat(x.ravel("K"), found.ravel("K"), *rest)
        return found
    turned, back = in_memory_order(x)
    return _made(flat, turned, kind, None, *rest).transpose(back)


def as_single(x: NDArray[Any]) -> NDArray[np.float32]:
    """Numbers of ``real`` in fp32, in the order that they have in memory."""
    made = loops(x.size) if x.dtype.itemsize == 2 else None
    if made is None:
        return single(x, 0)
    return _made(made.widen, x.view(BITS) if x.dtype == HALVES else x, FLOAT, None)


def given(
    out: Any, shape: tuple[int, ...], kind: Any, found: NDArray[Any] | None = None
) -> NDArray[Any]:
    """``out`` where it can hold the codes, filled with those found already."""
    fits = isinstance(out, np.ndarray) and out.shape == shape and out.dtype == kind
    if not fits or not out.flags.writeable:
        is_ = f"{getattr(out, 'dtype', type(out).__name__)} of {np.shape(out)}"
        want = f"a writable array of {np.dtype(kind)} of shape {shape} is needed"
        raise ValueError(f"out is {is_}: {want}")
    if found is not None:
        out[...] = found
    kept: NDArray[Any] = out
    return kept


def stays(form: Format, saturate: bool) -> bool:
    """Whether what is too large becomes the largest number."""
    return form.row.special == "finite" or (form.row.special == "fn" and saturate)


def encode_flat(row: Plan, x: NDArray[Any], codes: NDArray[Any]) -> None:
    """Codes of flat numbers in fp32, into an array that is there."""
    made = loops(len(x))
    if made is not None:
        x = x if x.flags.writeable else np.asarray(Opened(x))
        made.encode(x, codes, row.numbers)
    else:
        _by_numpy(x, codes, row)


def _by_numpy(x: NDArray[Any], codes: NDArray[Any], row: Plan) -> None:
    by_numpy = STEPS[int(row.numbers[0])]
    room: list[NDArray[Any]] = [np.empty(min(len(x), CHUNK), np.int32) for _ in "ab"]
    for start in range(0, len(x), CHUNK):
        bits = single(x[start : start + CHUNK], int(row.numbers[8])).view(np.int32)
        by_numpy(bits, codes[start : start + len(bits)], row, *room)


def _biased(bits: Any, out: Any, row: Plan, size: Any, magic: Any) -> None:
    """The addition of the module's first lines."""
    _, cut, least, limit, excess, nan, sign, _, _ = (int(n) for n in row.numbers)
    size, magic = size[: len(bits)], magic[: len(bits)]
    np.bitwise_and(bits, MAGNITUDE, out=size)
    unknown = size.max() > INFINITE
    np.minimum(size, np.int32(limit), out=size)
    np.bitwise_and(size, INFINITE, out=magic)
    np.maximum(magic, np.int32(least), out=magic)
    np.add(magic, np.int32(cut << 23), out=magic)
    np.add(size.view(np.float32), magic.view(np.float32), out=size.view(np.float32))
    np.subtract(size, magic, out=size)  # steps of the last digit
    np.right_shift(magic, np.int32(cut), out=magic)
    np.add(size, magic, out=size)
    np.subtract(size, np.int32(excess), out=size)
    if unknown:
        size[np.isnan(bits.view(np.float32))] = nan
    np.right_shift(bits, np.int32(31), out=magic)
    np.bitwise_and(magic, np.int32(sign), out=magic)
    if row.numbers[0] == UNSIGNED_ZERO:
        magic[size & sign - 1 == 0] = 0
    np.bitwise_xor(size, magic, out=size)
    np.copyto(out, size, casting="unsafe")


def _wide(bits: Any, out: Any, row: Plan, size: Any, code: Any) -> None:
    """In a format with the exponent of fp32 a half is added, less one if even."""
    cut, nan, sign = int(row.numbers[1]), int(row.numbers[5]), int(row.numbers[6])
    size, code = size[: len(bits)], code[: len(bits)]
    np.bitwise_and(bits, MAGNITUDE, out=size)
    code[:] = size
    if cut:
        code += (size >> cut & 1) + ((1 << cut - 1) - 1)
    code >>= cut
    code[size > INFINITE] = nan
    wide = code.view(np.uint32)
    wide |= (bits < 0) * np.uint32(sign)
    np.copyto(out, wide, casting="unsafe")


def _scale(bits: Any, out: Any, row: Plan, size: Any, code: Any) -> None:
    """Powers of two; half way goes up, and below the first two the first is met."""
    nan, saturate = int(row.numbers[5]), bool(row.numbers[7])
    size, code = size[: len(bits)], code[: len(bits)]
    np.bitwise_and(bits, MAGNITUDE, out=size)
    np.right_shift(size + (1 << 22), 23, out=code)
    low = size < 1 << 23
    code[low] = size[low] > 1 << 22
    code[(size >= INFINITE) | ((bits <= 0) & (not saturate))] = nan
    np.copyto(out, code, casting="unsafe")


STEPS: dict[int, Callable[..., None]] = {
    BIASED: _biased,
    UNSIGNED_ZERO: _biased,
    WIDE: _wide,
    HALF: _biased,
    SCALE: _scale,
}


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
        return np.where(size > 0, low, 0.0), low
    step = np.ldexp(1.0, np.maximum(power, 1 - row.bias) - row.significand)
    return np.floor(size / step) * step, step


@cache
def number_table(name: str) -> NDArray[np.float32]:
    """The number of each byte: of the codes of a format, and NaN behind them."""
    form = Format(name)
    found: NDArray[np.float32] = np.full(256, np.nan, np.float32)
    found[: 1 << form.bits] = [form.decode(code) for code in range(1 << form.bits)]
    found.flags.writeable = False
    return found


def decode_array(
    form: Format, codes: Any, out: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Numbers of an array of codes, equal to ``Format.decode`` of each."""
    if type(codes) is not np.ndarray:
        codes, brain = plain(codes, "codes")
        codes = codes.view(HALVES) if brain else codes
    made = loops(codes.size)
    if out is None and codes.size < NEAR and made is not None:
        short = made.BACK.get((form.name, codes.dtype.num))
        if short is not None:
            found: NDArray[Any] = short(codes)
            return found
    row = plan(form.name, False)
    if codes.dtype != row.kind:
        if codes.dtype.kind not in "iu":
            raise TypeError(f"an array of {codes.dtype}: codes are whole numbers")
        _inside(form, codes)
        codes = codes.astype(row.kind)
    flat = made.DECODERS.get(form.name) if made is not None else None
    if flat is not None:
        return _made(flat, codes, FLOAT, out)
    return _made(_by_table, codes, FLOAT, out, form, made)


def _inside(form: Format, codes: NDArray[Any]) -> None:
    if codes.size and not 0 <= int(codes.min()) <= int(codes.max()) < 1 << form.bits:
        worst = int(codes.min()) if codes.min() < 0 else int(codes.max())
        raise ValueError(f"code {worst}: {form.name} has {form.bits} bits")


def _by_table(codes: NDArray[Any], out: NDArray[Any], form: Format, made: Any) -> None:
    if form.bits > 8:  # but for fp16 fp32 with its last bits cut
        _inside(form, codes)
        bits = codes.astype(np.uint32) << 32 - form.bits
        out[:] = codes.view(HALVES) if form.name == "fp16" else bits.view(FLOAT)
        return
    table = number_table(form.name)
    if made is None:
        _inside(form, codes)
        np.take(table, codes, out=out, mode="clip")
    elif made.decode(codes, out, table) >> form.bits:
        _inside(form, codes)
