"""Arithmetic of PTX on raw bits: integers that wrap, FP32 that rounds once.

Every register holds its bits as a non-negative integer, as the hardware's do; the type
in the opcode says how to read them.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

_BITS, _FLOAT = struct.Struct("<I"), struct.Struct("<f")
_DOUBLE, _LONG = struct.Struct("<d"), struct.Struct("<q")
NAN = 0x7FFFFFFF  # what NVIDIA's FP32 units return for every NaN


def width(kind: str) -> int:
    """Bits of a type such as ``s32``; a predicate has one."""
    return 1 if kind == "pred" else int(kind[1:])


def signed(bits: int, size: int) -> int:
    """Two's complement."""
    return bits - (1 << size) if bits >> (size - 1) else bits


def to_float(bits: int) -> float:
    """The FP32 number with these bits."""
    value: float = _FLOAT.unpack(_BITS.pack(bits))[0]
    return value


def to_bits(value: float) -> int:
    """Bits of the nearest FP32 number, ties to even."""
    if value != value:
        return NAN
    try:
        bits: int = _BITS.unpack(_FLOAT.pack(value))[0]
    except OverflowError:  # beyond the largest: struct refuses what hardware rounds
        return 0xFF800000 if value < 0 else 0x7F800000
    return bits


def fma(a: int, b: int, c: int) -> int:
    """``a * b + c`` of FP32 bits, rounded once.

    The product of two FP32 numbers is exact in FP64. The sum is rounded there to odd,
    so that rounding it again to FP32 does what rounding once would (S. Boldo and
    G. Melquiond, "Emulation of a FMA and correctly rounded sums", 2008, theorem 3.1).
    """
    product, addend = to_float(a) * to_float(b), to_float(c)
    total = product + addend
    if not math.isfinite(total):
        return to_bits(total)
    back = total - product
    error = (product - (total - back)) + (addend - back)
    if error:
        raw: int = _LONG.unpack(_DOUBLE.pack(total))[0]
        if not raw & 1:
            toward = math.inf if error > 0 else -math.inf
            total = math.nextafter(total, toward)
    return to_bits(total)


def divide(a: int, b: int) -> int:
    """Quotient cut towards zero, as C has it; by zero all bits are set."""
    if b == 0:
        return -1
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a: int, b: int) -> int:
    """What `divide` leaves; by zero the dividend."""
    return a if b == 0 else a - divide(a, b) * b


def _shifted(a: int, b: int) -> int:
    return a << min(b, 64)


INTEGER: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "min": min,
    "max": max,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shl": _shifted,
    "shr": lambda a, b: a >> min(b, 64),
    "div": divide,
    "rem": remainder,
}
SINGLE: dict[str, Callable[[float, float], float]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
}
COMPARE: dict[str, Callable[[float, float], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
