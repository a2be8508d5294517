"""Codes of two bytes by numba, a line of the caches at once and written past them.

A line that is written whole is not read before: of very many numbers a third of what
goes through memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from ._numba_loops import AT_ONCE, BRAINS, HALVES, encode, jit, past, to_line

MANY = 32  # codes of a line


def _line(p: Any, half: bool, x: Any, out: Any, at: Any) -> Any:
    """The codes of numbers in fp32 or fp64 from ``at`` on, each rounded once."""
    mask, byte = int(p[8]), ir.IntType(8)
    whole, long, word, short = (
        ir.VectorType(kind, MANY)
        for kind in (ir.DoubleType(), ir.IntType(64), ir.IntType(32), ir.IntType(16))
    )
    single, halves = (
        ir.VectorType(kind, MANY) for kind in (ir.FloatType(), ir.HalfType())
    )

    def made(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        def place(which: int, kind: Any) -> Any:
            array = context.make_array(signature.args[which])
            first = builder.gep(array(context, builder, given[which]).data, [given[2]])
            return builder.bitcast(builder.bitcast(first, byte.as_pointer()), kind)

        def each(kind: Any, number: int) -> Any:
            return kind([number] * MANY)

        if signature.args[0].dtype == types.float64:  # to odd, see ``arrays``
            bits = builder.load(place(0, long.as_pointer()), align=8)
            low = each(long, mask)
            odd = builder.or_(bits, builder.add(builder.and_(bits, low), low))
            odd = builder.and_(odd, each(long, ~mask))
            number = builder.fptrunc(builder.bitcast(odd, whole), single)
        else:
            number = builder.load(place(0, single.as_pointer()), align=4)
        bits = builder.bitcast(number, word)
        high = builder.lshr(bits, each(word, 16))
        if half:
            code = builder.bitcast(builder.fptrunc(number, halves), short)
        else:
            even = builder.and_(high, each(word, 1))
            code = builder.add(builder.add(bits, each(word, 0x7FFF)), even)
            code = builder.trunc(builder.lshr(code, each(word, 16)), short)
        size = builder.and_(bits, each(word, 0x7FFFFFFF))
        known = builder.icmp_unsigned("<=", size, each(word, 0x7F800000))
        quiet = builder.and_(builder.trunc(high, short), each(short, 0x8000))
        quiet = builder.or_(quiet, each(short, int(p[5])))
        code = builder.select(known, code, quiet)
        past(builder, builder.store(code, place(1, short.as_pointer()), align=64))
        return context.get_dummy_value()

    return types.void(x, out, at), made


@intrinsic
def _brain_line(context: Any, x: Any, out: Any, at: Any) -> Any:
    return _line(BRAINS, False, x, out, at)


@intrinsic
def _half_line(context: Any, x: Any, out: Any, at: Any) -> Any:
    return _line(HALVES, True, x, out, at)


@jit
def brains(x: Any, out: Any) -> None:
    """Codes in bf16."""
    first = min(to_line(out), len(x))
    last = len(x) - (len(x) - first) % MANY
    for at in range(first, last, MANY):
        _brain_line(x, out, at)
    encode(x[:first], out, BRAINS)
    encode(x[last:], out[last:], BRAINS)


@jit
def halves(x: Any, out: Any) -> None:
    """Codes in fp16."""
    first = min(to_line(out), len(x))
    last = len(x) - (len(x) - first) % MANY
    for at in range(first, last, MANY):
        _half_line(x, out, at)
    encode(x[:first], out, HALVES)
    encode(x[last:], out[last:], HALVES)


# by a format's name and the number of the kind it comes from
LINES = {
    (name, np.dtype(kind).num): flat
    for name, flat in (("bf16", brains), ("fp16", halves))
    for kind in ("f4", "f8")
    if AT_ONCE
}
