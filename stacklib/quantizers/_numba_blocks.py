"""Numbers of blocks by numba: eight codes of four bits at once, from registers."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from ._numba_loops import IN_REGISTERS, F, jit, past, to_line
from .arrays import FAR


def _eight(
    far: bool, codes: Any, table: Any, factor: Any, tensor: Any, out: Any, at: Any
) -> Any:
    """Numbers of eight codes of four bits, their table in two of the registers.

    ``far``: written past the caches, where all of them lie in a line.
    """
    word, lanes = ir.IntType(32), ir.VectorType(ir.IntType(32), 8)
    numbers = ir.VectorType(ir.FloatType(), 8)

    def made(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        def place(which: int, start: Any, kind: Any) -> Any:
            array = context.make_array(signature.args[which])
            first = builder.gep(array(context, builder, given[which]).data, [start])
            return builder.bitcast(first, ir.VectorType(kind, 8).as_pointer())

        def spread(x: Any) -> Any:
            alone = builder.insert_element(numbers(ir.Undefined), x, word(0))
            return builder.shuffle_vector(alone, alone, lanes(None))

        def picked(start: int) -> Any:
            half = builder.load(place(1, word(start), ir.FloatType()), align=4)
            # read once: nothing writes to a table
            half.set_metadata("invariant.load", builder.module.add_metadata([]))
            found = numbers(ir.Undefined)
            for i in range(8):
                number = builder.extract_element(
                    half, builder.extract_element(low, word(i))
                )
                found = builder.insert_element(found, number, word(i))
            return found

        byte = builder.load(place(0, given[5], ir.IntType(8)), align=1)
        code = builder.zext(byte, lanes)
        low = builder.and_(code, lanes([7] * 8))
        high = builder.icmp_unsigned(
            "!=", builder.and_(code, lanes([8] * 8)), lanes(None)
        )
        found = builder.select(high, picked(8), picked(0))
        found = builder.fmul(builder.fmul(found, spread(given[2])), spread(given[3]))
        there = place(4, given[5], ir.FloatType())
        stored = builder.store(found, there, align=32 if far else 4)
        if far:
            past(builder, stored)
        return context.get_dummy_value()

    return types.void(codes, table, factor, tensor, out, at), made


@intrinsic
def _near_eight(
    context: Any, codes: Any, table: Any, factor: Any, tensor: Any, out: Any, at: Any
) -> Any:
    return _eight(False, codes, table, factor, tensor, out, at)


@intrinsic
def _far_eight(
    context: Any, codes: Any, table: Any, factor: Any, tensor: Any, out: Any, at: Any
) -> Any:
    return _eight(True, codes, table, factor, tensor, out, at)


@jit
def decode_blocks(codes: Any, factors: Any, table: Any, tensor: Any, out: Any) -> None:
    """Numbers of rows, a block each, times the block's factor and that of all."""
    eights = IN_REGISTERS and np.isnan(table[16]) and codes.shape[1] % 8 == 0
    far = out.size >= FAR and to_line(out) == 0
    for which in range(len(codes)):
        row, numbers, factor = codes[which], out[which], factors[which]
        if eights and far:
            for at in range(0, len(row), 8):
                _far_eight(row, table, factor, tensor, numbers, at)
        elif eights:
            for at in range(0, len(row), 8):
                _near_eight(row, table, factor, tensor, numbers, at)
        else:
            for i in range(len(row)):
                numbers[i] = F(F(table[row[i]] * factor) * tensor)
