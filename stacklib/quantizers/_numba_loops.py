"""The codec's loops for numba: the arithmetic of ``arrays`` and ``blocks``.

Numbers are widened to fp32, rounded, and narrowed in pieces that stay in the first
cache, in memory of the call itself. Views of a piece count from zero, so that the
compiler uses vectors. In numba a shift or a sum of two int32 is an int64, which halves
what a vector holds: each is cast back, and a shift is known to be less than 32.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import binding, ir  # type: ignore[import-untyped]
from numba import njit, types, vectorize
from numba.core import config
from numba.extending import intrinsic, overload

from .arrays import BIASED, FAR, HALF, SCALE, UNSIGNED_ZERO, WIDE, plan
from .formats import FORMATS, Format

BRIEF, PIECE, LONG = 1024, 4096, 32768
I, F = np.int32, np.float32  # noqa: E741
MAGNITUDE, INFINITE, LEAST = I(0x7FFFFFFF), I(0x7F800000), I(-0x80000000)
L, D = np.int64, np.float64  # the same of doubles
LONG_MAGNITUDE, BEYOND = L((1 << 63) - 1), L(0x7FF << 52)
# Of the processor that numba compiles for: another may be named to it.
HOST = config.CPU_NAME is None and config.CPU_FEATURES is None


def _has(feature: str) -> bool:
    if HOST:
        return bool(binding.get_host_cpu_features().get(feature))
    return f"+{feature}" in (config.CPU_FEATURES or "")


AT_ONCE, IN_REGISTERS = _has("f16c"), _has("avx2")
jit = njit(cache=True, nogil=True)
# For compiled callers alone: nothing is made that Python could call.
part = njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


@part
def to_line(out: Any) -> Any:
    """Numbers before the next line of the caches: a vector across two is slow."""
    return (-out.ctypes.data & 63) // out.itemsize


@jit
def encode(x: Any, out: Any, p: Any) -> None:
    """Codes of flat numbers."""
    room: Any = np.empty(0 if x.itemsize == 4 else min(len(x), PIECE), np.int32)
    way = p[0]
    for start in range(0, len(x), PIECE):
        codes = out[start : start + PIECE]
        bits = widened(x[start : start + PIECE], room, p[8])
        if way == BIASED:
            _biased(bits, codes, p)
        elif way == UNSIGNED_ZERO:
            _unsigned_zero(bits, codes, p)
        elif way == WIDE:
            _wide(bits, codes, p)
        elif way == HALF:
            _half(bits, codes, p)
        elif way == SCALE:
            _scale(bits, codes, p)


def widened(part: Any, out: Any, mask: Any) -> Any:
    """The bits of numbers as fp32; the type says which loop it is."""


@overload(widened)
def _widened(part: Any, out: Any, mask: Any) -> Any:
    kinds = {types.float32: _single, types.float64: _double, types.int16: _brain}
    kinds |= {types.uint16: _from_half, types.uint8: _power}
    return kinds[part.dtype]


def _single(part: Any, out: Any, mask: Any) -> Any:
    return part.view(np.int32)


def _brain(part: Any, out: Any, mask: Any) -> Any:
    for i in range(len(part)):
        out[i] = I(part[i]) << I(16)
    return out[: len(part)]


def _from_half(part: Any, out: Any, mask: Any) -> Any:
    for i in range(len(part)):
        out[i] = _half_bits(part[i])
    return out[: len(part)]


def _power(part: Any, out: Any, mask: Any) -> Any:
    for i in range(len(part)):
        out[i] = _power_bits(part[i])
    return out[: len(part)]


def _double(part: Any, out: Any, mask: Any) -> Any:
    numbers, part = out.view(np.float32), part.view(np.int64)
    for i in range(len(part)):
        bits = part[i]
        # digits that no rounding needs become one: whether there were any
        kept = np.int64((bits | ((bits & mask) + mask)) & ~mask)
        numbers[i] = F(kept.view(np.float64))
    return out[: len(part)]


@intrinsic
def _by_instruction(context: Any, half: Any) -> Any:
    def made(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        number = builder.fpext(builder.bitcast(given[0], ir.HalfType()), ir.FloatType())
        return builder.bitcast(number, ir.IntType(32))

    return types.int32(types.uint16), made


@part
def _half_bits(half: Any) -> Any:
    """The bits of a number in fp16 as fp32."""
    if AT_ONCE:
        return _by_instruction(half)
    low = I((I(half) & I(0x7FFF)) << I(13))
    size = I(F(low.view(np.float32) * F(2.0**112)).view(np.int32))
    if low >= I(0x0F800000):  # infinity and NaN
        size = I(size | INFINITE)
    return I(size | ((I(half) & I(0x8000)) << I(16)))


@part
def _power_bits(code: Any) -> Any:
    """The bits as fp32 of an exponent: the first is less than normal."""
    size = max(I(I(code) << I(23)), I(1 << 22))
    return I(0x7FC00000 if code == 255 else size)


@part
def _code(bits: Any, cut: Any, least: Any, limit: Any, excess: Any) -> Any:
    """A code without its sign, by one addition (see ``arrays``)."""
    capped = I(min(I(bits & MAGNITUDE), limit))
    magic = I(max(I(capped & INFINITE), least) + I(cut << I(23)))
    added = F(capped.view(np.float32) + magic.view(np.float32))
    steps = I(added.view(np.int32) - magic)
    return I(I(steps + I(magic >> (cut & I(31)))) - excess)


@part
def _biased(bits: Any, out: Any, p: Any) -> None:
    cut, least, limit, excess = I(p[1]), I(p[2]), I(p[3]), I(p[4])
    sign, top = I(p[6]), I(0)
    for i in range(len(bits)):
        top = max(top, I(bits[i] & MAGNITUDE))
        code = _code(bits[i], cut, least, limit, excess)
        out[i] = I(code | I(I(bits[i] >> I(31)) & sign))
    if top > INFINITE:
        _marked(bits, out, p)


@part
def _unsigned_zero(bits: Any, out: Any, p: Any) -> None:
    cut, least, limit, excess = I(p[1]), I(p[2]), I(p[3]), I(p[4])
    sign = I(p[6])
    for i in range(len(bits)):  # NaN is the code behind the largest number
        code = _code(bits[i], cut, least, limit, excess)
        turned = I(code | I(I(bits[i] >> I(31)) & sign))
        out[i] = turned if I(code & I(sign - I(1))) else code


@part
def _wide(bits: Any, out: Any, p: Any) -> None:
    cut, last, top = I(p[1]), I(min(p[1], 1)), I(0)
    half, shift = I(I(I(1 << p[1]) >> I(1)) - last), cut & I(31)
    if cut == 16:  # known beforehand, the shift is free
        for i in range(len(bits)):
            top = max(top, I(bits[i] & MAGNITUDE))
            out[i] = I(bits[i] + I(0x7FFF) + ((bits[i] >> I(16)) & I(1))) >> I(16)
    else:
        for i in range(len(bits)):
            top = max(top, I(bits[i] & MAGNITUDE))
            odd = I(I(bits[i] >> shift) & last)
            out[i] = I(I(bits[i] + half + odd) >> shift)
    if top > INFINITE or out.itemsize == 4:
        _marked(bits, out, p)


@part
def _marked(bits: Any, out: Any, p: Any) -> None:
    """NaN among codes that are rounded as if it were a number."""
    nan, sign, kept = I(p[5]), I(p[6]), I(p[6] * 2 - 1)
    for i in range(len(bits)):
        unknown = I(bits[i] & MAGNITUDE) > INFINITE
        code = I(nan ^ I(I(bits[i] >> I(31)) & sign))
        out[i] = code if unknown else I(I(out[i]) & kept)


@intrinsic
def _wide_vectors(context: Any) -> Any:
    """The caller's vectors are as wide as the processor has them.

    LLVM takes half of it, for the clock of processors of 2017.
    """

    def made(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.none(), made


@intrinsic
def _narrowed(context: Any, number: Any) -> Any:
    """A number as fp16 by the processor's own instruction."""

    def made(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        half = builder.fptrunc(given[0], ir.HalfType())
        return builder.zext(builder.bitcast(half, ir.IntType(16)), ir.IntType(32))

    return types.int32(types.float32), made


@part
def _half(bits: Any, out: Any, p: Any) -> None:
    if not AT_ONCE:
        _biased(bits, out, p)
        return
    top = I(0)
    for i in range(len(bits)):
        top = max(top, I(bits[i] & MAGNITUDE))
        out[i] = _narrowed(I(bits[i]).view(np.float32))
    if top > INFINITE:
        _marked(bits, out, p)


@part
def _scale(bits: Any, out: Any, p: Any) -> None:
    saturate, nan = I(p[7]), I(p[5])
    for i in range(len(bits)):
        size = I(bits[i] & MAGNITUDE)
        code = I(I(size + I(1 << 22)) >> I(23))
        code = I(size > I(1 << 22)) if size < I(1 << 23) else code
        bad = size >= INFINITE or (not saturate and bits[i] <= I(0))
        out[i] = nan if bad else code


@part
def _odd(bits: Any, mask: Any) -> Any:
    """A double whose digits that no rounding needs say whether there were any."""
    return np.int64((bits | ((bits & mask) + mask)) & ~mask).view(np.float64)


HALVES, BRAINS = plan("fp16", False).numbers, plan("bf16", False).numbers
HALF_MASK, BRAIN_MASK = np.int64(int(HALVES[8])), np.int64(int(BRAINS[8]))


@jit
def halves(x: Any, out: Any) -> None:
    """Codes in fp16 of fp32 or bf16."""
    room: Any = np.empty(0 if x.itemsize == 4 else min(len(x), LONG), np.int32)
    for start in range(to_line(out) - LONG, len(x), LONG):
        here = slice(max(start, 0), start + LONG)
        _half(widened(x[here], room, HALF_MASK), out[here], HALVES)


@vectorize(["uint16(float32)"], cache=True)
def brains(number: Any) -> Any:
    """The code in bf16 of a number in fp32."""
    bits: Any = F(number).view(np.int32)
    rounded = I(I(bits + I(0x7FFF) + I(I(bits >> I(16)) & I(1))) >> I(16))
    quiet = I(I(I(bits >> I(16)) & I(0x8000)) | I(0x7FC0))
    return quiet if I(bits & MAGNITUDE) > INFINITE else I(rounded & I(0xFFFF))


@jit
def halves_of_doubles(x: Any, out: Any) -> None:
    """Codes in fp16 of fp64, by two instructions of the processor."""
    _wide_vectors()
    for start in range(0, len(x), PIECE):
        whole, codes = x[start : start + PIECE].view(np.int64), out[start:]
        top = I(0)
        for i in range(len(whole)):
            number = F(_odd(whole[i], HALF_MASK))
            top = max(top, I(I(number.view(np.int32)) & MAGNITUDE))
            codes[i] = _narrowed(number)
        if top > INFINITE:
            room: Any = np.empty(len(whole), np.int32)
            bits = widened(x[start : start + PIECE], room, HALF_MASK)
            _marked(bits, codes, HALVES)


@jit
def brains_of_doubles(x: Any, out: Any) -> None:
    """Codes in bf16 of fp64: where fp32 lies half way, from the digits behind it."""
    _wide_vectors()
    for start in range(to_line(out) - BRIEF, len(x), BRIEF):
        here = slice(max(start, 0), start + BRIEF)
        part, codes = x[here], out[here]
        top, tie = I(0), I(0)
        for i in range(len(part)):
            bits = I(F(part[i]).view(np.int32))
            top = max(top, I(bits & MAGNITUDE))
            tie = min(tie, I(bits << I(16)))  # half way is the least
            codes[i] = I(bits + I(0x8000)) >> I(16)
        if tie == LEAST or top > INFINITE:
            room: Any = np.empty(len(part), np.int32)
            _wide(widened(part, room, BRAIN_MASK), codes, BRAINS)


@jit
def powers_of_doubles(x: Any, out: Any, p: Any) -> None:
    """Codes in e8m0 of fp64; those beneath fp32's least normal number apart."""
    _wide_vectors()
    nan, signs = L(p[5]), L(p[7] - 1)  # a sign counts where nothing saturates
    for start in range(0, len(x), PIECE):
        part, codes, least = x[start : start + PIECE].view(L), out[start:], BEYOND
        for i in range(len(part)):
            size = L(part[i] & LONG_MAGNITUDE)
            least = min(least, size)
            code = min(L(((size + L(1 << 51)) >> L(52)) - L(896)), nan)
            codes[i] = nan if size >= BEYOND or (part[i] & signs) < L(0) else code
        if least < L(897 << 52):
            for i in range(len(part)):
                size = L(part[i] & LONG_MAGNITUDE)
                if size < L(897 << 52):
                    bad = signs and part[i] <= 0
                    codes[i] = nan if bad else size > L(896 << 52)


@part
def _long_code(size: Any, cut: Any, least: Any, limit: Any, excess: Any) -> Any:
    """A code by the addition of ``_code``, of the bits of a double."""
    number: Any = L(size).view(D)
    capped = D(number if number < limit else limit)
    power: Any = L(L(capped.view(L)) & BEYOND).view(D)
    magic = L(D(power if power > least else least).view(L) + (cut << L(52)))
    steps = L(D(capped + magic.view(D)).view(L) - magic)
    return L(steps + (magic >> (cut & L(63))) - excess)


@jit
def doubles(x: Any, out: Any, p: Any) -> None:
    """Codes of fp64 in formats of a byte, rounded once by an addition of doubles."""
    _wide_vectors()
    cut, sign, zero = L(p[1] + 29), L(p[6]), L(p[0] == UNSIGNED_ZERO)
    least, limit = D(I(p[2]).view(F)), D(I(p[3]).view(F))
    excess = L((L(least.view(L)) >> L(52)) + cut) << L(52 - cut)
    for start in range(0, len(x), PIECE):
        part, codes, top = x[start : start + PIECE].view(L), out[start:], L(0)
        for i in range(len(part)):
            size = L(part[i] & LONG_MAGNITUDE)
            top = max(top, size)
            code = _long_code(size, cut, least, limit, excess)
            turned = L(code | ((part[i] >> L(63)) & sign))
            codes[i] = code if zero and not code & (sign - L(1)) else turned
        if top > BEYOND and not zero:
            room: Any = np.empty(len(part), np.int32)
            _marked(widened(x[start : start + PIECE], room, p[8]), codes, p)


# What a format has for a kind of numbers alone, by its name and the kind's number.
SHORT = {
    ("bf16", np.dtype("f4").num): brains.ufunc,
    ("bf16", np.dtype("f8").num): brains_of_doubles,
    ("fp16", np.dtype("f4").num): halves,
    ("fp16", np.dtype("i2").num): halves,
}
OWN = {form.name: doubles for form in map(Format, FORMATS) if form.bits < 9}  # of fp64
OWN |= {"e8m0": powers_of_doubles}
if AT_ONCE:
    SHORT["fp16", np.dtype("f8").num] = halves_of_doubles


@jit
def encode_mx(
    x: Any, codes: Any, scales: Any, inverse: Any, power: Any, p: Any
) -> bool:
    """Codes and scales of rows, a block each, by the rule ``floor``."""
    finite, power = True, I(power)
    cut, least, limit, excess = I(p[1]), I(p[2]), I(p[3]), I(p[4])
    sign = I(p[6])
    for which in range(len(x)):
        row, out = x[which], codes[which]
        bits = row.view(np.int32)
        top = I(0)
        for i in range(len(row)):
            top = max(top, I(bits[i] & MAGNITUDE))
        if top >= INFINITE:
            finite, top = False, I(0)
        scale = max(I((top >> I(23)) - power), I(0))
        scales[which] = scale
        factor = inverse[scale]
        for i in range(len(row)):
            size = I(F(row[i] * factor).view(np.int32))
            code = _code(size, cut, least, limit, excess)
            out[i] = np.uint8(I(code | I(I(bits[i] >> I(31)) & sign)))
    return finite


@jit
def decode(codes: Any, out: Any, table: Any) -> Any:
    """Numbers of codes of a byte; returns all bits that occurred."""
    seen = np.uint8(0)
    for i in range(len(codes)):
        seen |= codes[i]
        out[i] = table[codes[i]]
    return seen


@intrinsic
def _sixteen(context: Any, codes: Any, out: Any, at: Any) -> Any:
    """Sixteen numbers of bf16, fp16 or e8m0 as fp32, written past the caches."""

    def made(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        def place(which: int, kind: Any) -> Any:
            array = context.make_array(signature.args[which])
            first = builder.gep(array(context, builder, given[which]).data, [given[2]])
            return builder.bitcast(first, ir.VectorType(kind, 16).as_pointer())

        whole, word = signature.args[0].dtype, ir.IntType(32)
        words = ir.VectorType(word, 16)
        code = builder.load(place(0, ir.IntType(whole.bitwidth)), align=1)
        long = builder.zext(code, words)
        if whole == types.int16:  # bf16
            found = builder.shl(long, words([16] * 16))
        elif whole == types.uint8:  # the first is less than normal, the last is NaN
            known = [
                builder.icmp_unsigned("!=", long, words([n] * 16)) for n in (0, 255)
            ]
            found = builder.shl(long, words([23] * 16))
            found = builder.select(known[0], found, words([1 << 22] * 16))
            found = builder.select(known[1], found, words([0x7FC00000] * 16))
        else:
            half = builder.bitcast(code, ir.VectorType(ir.HalfType(), 16))
            number = builder.fpext(half, ir.VectorType(ir.FloatType(), 16))
            found = builder.bitcast(number, words)
        past(builder, builder.store(found, place(1, word), align=64))
        return context.get_dummy_value()

    return types.void(codes, out, at), made


def past(builder: Any, stored: Any) -> None:
    """A store that fills no cache."""
    words = builder.module.add_metadata([ir.IntType(32)(1)])
    stored.set_metadata("nontemporal", words)


@jit
def widen(x: Any, out: Any) -> None:
    """Numbers of a byte or two as fp32; of very many no cache is filled."""
    bits, first = out.view(np.int32), min(to_line(out), len(x))
    last = first
    widened(x[:first], bits, 0)
    if AT_ONCE and len(x) >= FAR:
        last = len(x) - (len(x) - first) % 16
        for at in range(first, last, 16):
            _sixteen(x, bits, at)
    widened(x[last:], bits[last:], 0)


@jit
def lengthen(x: Any, out: Any) -> None:
    """Numbers of codes of bf16."""
    widen(x.view(np.int16), out)


@vectorize(["float32(uint16)"], cache=True)
def _lengthened(code: Any) -> Any:
    """The number of a code of bf16."""
    return I(I(code) << I(16)).view(np.float32)


@vectorize(["float32(uint16)"], cache=True)
def _doubled(code: Any) -> Any:
    """The number of a code of fp16; a NaN that signals would be told as invalid."""
    signals = I(I(code) & I(0x7FFF)) > I(0x7C00)
    quiet = np.uint16(I(code) | I(0x200)) if signals else code
    return I(_half_bits(quiet)).view(np.float32)


@vectorize(["float32(uint8)"], cache=True)
def _powers(code: Any) -> Any:
    """The number of a code of e8m0."""
    return I(_power_bits(code)).view(np.float32)


DECODERS = {"bf16": lengthen, "fp16": widen, "e8m0": widen}
BACK = {  # for codes of a kind of any order, in memory or in bytes
    ("bf16", np.dtype("u2").num): _lengthened.ufunc,
    ("fp16", np.dtype("u2").num): _doubled.ufunc,
    ("e8m0", np.dtype("u1").num): _powers.ufunc,
}
