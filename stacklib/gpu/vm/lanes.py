"""Arithmetic of thirty-two lanes: one instruction of a warp at a time.

A register is 32 numbers of 64 bits; a float is kept as a float64 that holds a number of
its format, so that adding, multiplying, dividing and square roots round as that format
does (a float64 has more than twice its digits: S. Figueroa, *When is double rounding
innocuous?*, 1995). One plain source, compiled with numba where that is present.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._apart import apart, inner
from .formats import (
    BF16,
    BOOL,
    E4M3,
    E5M2,
    F16,
    F32,
    I8,
    I16,
    I32,
    U8,
    U16,
    U32,
    U64,
    WEAK_INT,
)
from .program import OP
from .rounding import fused_to, narrow

WARP = 32


@inner
def wrapped(form: int, x: int) -> int:
    """A whole number as a format keeps it: its low bits."""
    if form == I32 or form == WEAK_INT:
        return ((x + 2147483648) & 4294967295) - 2147483648
    if form == U32:
        return x & 4294967295
    if form == U8:
        return x & 255
    if form == I8:
        return ((x + 128) & 255) - 128
    if form == U16:
        return x & 65535
    if form == I16:
        return ((x + 32768) & 65535) - 32768
    if form == BOOL:
        return x & 1
    return x


@inner
def floor_div(a: int, b: int, form: int) -> Any:
    """Rounded down, as Python does."""
    if form == U64:
        return np.int64(np.uint64(a) // np.uint64(b))
    return a // b


@inner
def floor_mod(a: int, b: int, form: int) -> Any:
    """What ``floor_div`` leaves."""
    if form == U64:
        return np.int64(np.uint64(a) % np.uint64(b))
    return a % b


@inner
def power(a: int, n: int) -> int:
    """Whole powers, in 64 bits."""
    result = 1
    while n > 0:
        if n & 1:
            result *= a
        a *= a
        n >>= 1
    return result


@inner
def bits_set(x: int) -> int:
    """Bits that are set, of 64."""
    n = 0
    while x != 0:
        x &= x - 1
        n += 1
    return n


@inner
def leading(x: int, width: int) -> int:
    """Zero bits before the highest that is set."""
    n = width
    while x != 0 and n > 0:
        x = (x >> 1) & 0x7FFFFFFFFFFFFFFF
        n -= 1
    return n


_ADD, _SUB, _MUL, _DIV, _MOD = (OP[x] for x in ("ADD", "SUB", "MUL", "DIV", "MOD"))
_AND, _OR, _XOR, _SHL, _SHR = (OP[x] for x in ("AND", "OR", "XOR", "SHL", "SHR"))
_NEG, _INV, _ABS, _MIN, _MAX = (OP[x] for x in ("NEG", "INV", "ABS", "MIN", "MAX"))
_MAD, _POW, _CLZ, _FFS, _POPC = (OP[x] for x in ("MAD", "POW", "CLZ", "FFS", "POPC"))


@inner
def width_of(form: int) -> int:
    """Bits of a whole number."""
    if form == I8 or form == U8:
        return 8
    if form == I16 or form == U16:
        return 16
    if form == I32 or form == U32 or form == WEAK_INT:
        return 32
    return 1 if form == BOOL else 64


@inner
def kept(x: int, form: int) -> int:
    """The bits of a whole number that its format has."""
    width = width_of(form)
    return x if width == 64 else x & ((1 << width) - 1)


@apart
def whole_lane(op: int, form: int, x: int, y: int, z: int, imm: int) -> Any:
    """The rarer operations on whole numbers, one lane."""
    if op == _INV:
        return ~x
    if op == _ABS:
        return -x if x < 0 else x
    if op == _MIN or op == _MAX:
        less = np.uint64(x) < np.uint64(y) if form == U64 else x < y
        return x if less == (op == _MIN) else y
    if op == _SHL:
        return x << y if 0 <= y < 64 else 0
    if op == _SHR:
        if form == U64:
            return np.int64(np.uint64(x) >> np.uint64(y)) if 0 <= y < 64 else 0
        return x >> (y if 0 <= y < 64 else 63)
    if op == _POW:
        return power(x, y)
    if op == _CLZ:
        return leading(kept(x, form), width_of(form))
    if op == _POPC:
        return bits_set(kept(x, form))
    if op == _FFS:
        low = kept(x, form)
        return bits_set((low & -low) - 1) + 1 if low != 0 else 0
    return x


@apart
def whole(
    op: int,
    form: int,
    mask: int,
    R: Any,
    T: Any,
    d: int,
    a: int,
    b: int,
    c: int,
    imm: int,
) -> int:
    """An operation on whole numbers; -1, or a lane whose result is none."""
    b, c = (b if b >= 0 else a), (c if c >= 0 else a)
    if op == _ADD:
        for lane in range(32):
            T[lane] = R[a, lane] + R[b, lane]
    elif op == _SUB:
        for lane in range(32):
            T[lane] = R[a, lane] - R[b, lane]
    elif op == _MUL:
        for lane in range(32):
            T[lane] = R[a, lane] * R[b, lane]
    elif op == _MAD:
        sign = -1 if imm else 1
        for lane in range(32):
            T[lane] = R[a, lane] * R[b, lane] + sign * R[c, lane]
    elif op == _AND:
        for lane in range(32):
            T[lane] = R[a, lane] & R[b, lane]
    elif op == _OR:
        for lane in range(32):
            T[lane] = R[a, lane] | R[b, lane]
    elif op == _XOR:
        for lane in range(32):
            T[lane] = R[a, lane] ^ R[b, lane]
    elif op == _NEG:
        for lane in range(32):
            T[lane] = -R[a, lane]
    elif op == _DIV or op == _MOD:
        for lane in range(32):
            if mask >> lane & 1:
                if R[b, lane] == 0:
                    return lane
                if op == _DIV:
                    T[lane] = floor_div(R[a, lane], R[b, lane], form)
                else:
                    T[lane] = floor_mod(R[a, lane], R[b, lane], form)
    else:
        for lane in range(32):
            if mask >> lane & 1:
                if op == _POW and R[b, lane] < 0:
                    return lane
                T[lane] = whole_lane(op, form, R[a, lane], R[b, lane], R[c, lane], imm)
    put_whole(form, mask, T, R, d)
    return -1


@inner
def put_whole(form: int, mask: int, T: Any, R: Any, d: int) -> None:
    """Results to the active lanes, as their format keeps them."""
    if mask == 4294967295:
        for lane in range(32):
            R[d, lane] = wrapped(form, T[lane])
    else:
        for lane in range(32):
            if mask >> lane & 1:
                R[d, lane] = wrapped(form, T[lane])


_FADD, _FSUB, _FMUL, _FDIV = (OP[x] for x in ("FADD", "FSUB", "FMUL", "FDIV"))
_FMAD, _FMA, _FNEG, _FABS = (OP[x] for x in ("FMAD", "FMA", "FNEG", "FABS"))
_FMIN, _FMAX, _FFLOOR, _FMOD = (OP[x] for x in ("FMIN", "FMAX", "FFLOOR", "FMOD"))
_FPOW, _EXP, _EXP2, _LOG = (OP[x] for x in ("FPOW", "EXP", "EXP2", "LOG"))
_LOG2, _SQRT, _RSQRT, _RCP = (OP[x] for x in ("LOG2", "SQRT", "RSQRT", "RCP"))
_SIN, _COS, _TANH, _FLOOR = (OP[x] for x in ("SIN", "COS", "TANH", "FLOOR"))
_CEIL = OP["CEIL"]


@apart
def real_lane(op: int, form: int, x: float, y: float, z: float) -> float:
    """The rarer operations on floats, one lane."""
    if op == _FMIN or op == _FMAX:
        if x != x or y != y:
            return y if x != x else x
        return min(x, y) if op == _FMIN else max(x, y)
    if op == _FMA:
        return fused_to(form, x, y, z)
    if op == _FFLOOR:
        return float(np.floor_divide(x, y))
    if op == _FMOD:
        return float(np.mod(x, y))
    if op == _FPOW:
        return float(np.power(x, y))
    if op == _EXP:
        return float(np.exp(x))
    if op == _EXP2:
        return float(np.exp2(x))
    if op == _LOG:
        return float(np.log(x))
    if op == _LOG2:
        return float(np.log2(x))
    if op == _SQRT:
        return float(np.sqrt(x))
    if op == _RSQRT:
        return 1.0 / float(np.sqrt(x))
    if op == _RCP:
        return 1.0 / x
    if op == _SIN:
        return float(np.sin(x))
    if op == _COS:
        return float(np.cos(x))
    if op == _TANH:
        return float(np.tanh(x))
    if op == _FLOOR:
        return float(np.floor(x))
    return float(np.ceil(x))


@apart
def real(
    op: int,
    form: int,
    mask: int,
    F: Any,
    T: Any,
    d: int,
    a: int,
    b: int,
    c: int,
    imm: int,
) -> None:
    """An operation on floats."""
    b, c = (b if b >= 0 else a), (c if c >= 0 else a)
    if op == _FADD:
        for lane in range(32):
            T[lane] = F[a, lane] + F[b, lane]
    elif op == _FSUB:
        for lane in range(32):
            T[lane] = F[a, lane] - F[b, lane]
    elif op == _FMUL:
        for lane in range(32):
            T[lane] = F[a, lane] * F[b, lane]
    elif op == _FDIV:
        for lane in range(32):
            T[lane] = F[a, lane] / F[b, lane]
    elif op == _FMAD:
        products(form, imm, F, a, b, c, T)
    elif op == _FNEG:
        for lane in range(32):
            T[lane] = -F[a, lane]
    elif op == _FABS:
        for lane in range(32):
            T[lane] = abs(F[a, lane])
    else:
        for lane in range(32):
            if mask >> lane & 1:
                T[lane] = real_lane(op, form, F[a, lane], F[b, lane], F[c, lane])
    put_real(form, mask, T, F, d)


@inner
def products(form: int, less: int, F: Any, a: int, b: int, c: int, T: Any) -> None:
    """A product and a sum as they are written: each rounds."""
    sign = -1.0 if less else 1.0
    if form == F32:
        for lane in range(32):
            T[lane] = float(np.float32(F[a, lane] * F[b, lane])) + sign * F[c, lane]
    else:
        for lane in range(32):
            T[lane] = narrow(F[a, lane] * F[b, lane], form) + sign * F[c, lane]


@inner
def put_real(form: int, mask: int, T: Any, F: Any, d: int) -> None:
    """Results to the active lanes, rounded to their format."""
    if form == F32:
        for lane in range(32):
            T[lane] = float(np.float32(T[lane]))
    elif form == F16 or form == BF16 or form == E4M3 or form == E5M2:
        for lane in range(32):
            if mask >> lane & 1:
                T[lane] = narrow(T[lane], form)
    if mask == 4294967295:
        for lane in range(32):
            F[d, lane] = T[lane]
    else:
        for lane in range(32):
            if mask >> lane & 1:
                F[d, lane] = T[lane]


@apart
def compared(
    code: int, form: int, mask: int, X: Any, F: Any, d: int, a: int, b: int
) -> None:
    """Yes or no a lane: 0 to 5 for ``< <= > >= == !=``. ``F``: the operands' view."""
    for lane in range(32):
        if mask >> lane & 1:
            x, y = F[a, lane], F[b, lane]
            if code == 0:
                X[d, lane] = x < y
            elif code == 1:
                X[d, lane] = x <= y
            elif code == 2:
                X[d, lane] = x > y
            elif code == 3:
                X[d, lane] = x >= y
            elif code == 4:
                X[d, lane] = x == y
            else:
                X[d, lane] = x != y


@apart
def compared_unsigned(code: int, mask: int, R: Any, d: int, a: int, b: int) -> None:
    """The same of numbers of 64 bits without a sign."""
    for lane in range(32):
        if mask >> lane & 1:
            x, y = np.uint64(R[a, lane]), np.uint64(R[b, lane])
            less, same = x < y, x == y
            yes = less if code == 0 else less or same
            if code == 2:
                yes = not (less or same)
            elif code == 3:
                yes = not less
            elif code >= 4:
                yes = same == (code == 4)
            R[d, lane] = yes


@inner
def once(x: int) -> int:
    """What a float64 holds of a whole number and fewer digits round as they round it.

    Of more than 53 bits the last that stays is odd where others are left out (S. Boldo
    and G. Melquiond, *Emulation of FMA and correctly rounded sums*, 2008, section 3).
    """
    if -(1 << 53) <= x <= 1 << 53:
        return x
    return (x & -2048) | (2048 if x & 2047 != 0 else 0)


@apart
def converted(
    form: int, source: int, mask: int, R: Any, F: Any, T: Any, d: int, a: int
) -> None:
    """A number in another format, rounded or cut as NumPy does."""
    float_from = 9 <= source <= 14 or source == 16
    float_to = 9 <= form <= 14 or form == 16
    for lane in range(32):
        if mask >> lane & 1:
            if float_from:
                x = F[a, lane]
            else:
                whole = once(R[a, lane]) if 9 <= form <= 11 else R[a, lane]
                x = float(np.uint64(whole)) if source == U64 else float(whole)
            if float_to:
                F[d, lane] = narrow(x, form)
            elif float_from:
                R[d, lane] = cut(x, form)
            elif form == BOOL:
                R[d, lane] = R[a, lane] != 0
            else:
                R[d, lane] = wrapped(form, R[a, lane])


@inner
def cut(x: float, form: int) -> int:
    """A float without its fraction, as a whole number of a format."""
    if form == BOOL:
        return 1 if x != 0.0 else 0
    if x != x:
        return wrapped(form, -9223372036854775807 - 1)
    if form == U64 and x >= 9223372036854775808.0:
        whole: Any = np.int64(np.uint64(x))
        return whole
    if x >= 9223372036854775808.0 or x < -9223372036854775808.0:
        return wrapped(form, -9223372036854775807 - 1)
    return wrapped(form, int(x))
