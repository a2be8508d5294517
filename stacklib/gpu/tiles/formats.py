"""Values into another type's: rounding, codes in memory, bits seen as another type."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from stacklib.quantizers import Format

from .types import DType, bfloat16, int1


@cache
def _format(name: str) -> Format:
    return Format(name)


def _bf16_codes(values: Any) -> Any:
    """The upper halves of float32 numbers, rounded to the nearest, ties to even."""
    with np.errstate(over="ignore"):
        bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = (bits + (((bits >> 16) & 1) + 0x7FFF)) >> 16
    quiet = (bits >> 16) | 0x40  # NaN stays one when its payload is cut
    return np.where(np.isnan(values), quiet, rounded).astype(np.uint16)


def codes(values: Any, dtype: DType) -> Any:
    """How values of a type stand in memory."""
    if dtype is bfloat16:
        return _bf16_codes(values)
    if dtype.form:  # conversions to 8 bits end at the largest number: PTX has no others
        most = _format(dtype.form).largest
        return _format(dtype.form).encode(np.clip(values, -most, most))
    return values.astype(dtype.stored)


def decoded(stored: Any, dtype: DType) -> Any:
    """What stands in memory, as the values a tile holds."""
    if dtype is bfloat16:
        return (stored.astype(np.uint32) << 16).view(np.float32)
    if dtype.form:
        return _format(dtype.form).decode(stored).astype(np.float32)
    return stored if dtype is not int1 else stored != 0


def rounded(values: Any, dtype: DType) -> Any:
    """Results of an operation, as numbers of its type."""
    if dtype.form:
        return decoded(codes(values, dtype), dtype)
    return values if values.dtype == dtype.held else values.astype(dtype.held)


def converted(values: Any, source: DType, target: DType) -> Any:
    """Values of one type as values of another.

    Floats are rounded to nearest, ties to even; towards zero when they become whole
    numbers, which end at the type's least and most as in PTX's ``cvt``.
    """
    with np.errstate(all="ignore"):
        if target is int1:
            return values != 0
        if source.is_floating() and target.is_int():
            # the largest float64 below 2**63 or 2**64
            most = float(target.most())
            most = np.nextafter(most, 0) if most > target.most() else most
            cut = np.clip(np.trunc(values.astype(np.float64)), target.least(), most)
            return np.where(np.isnan(cut), 0, cut).astype(target.held)
        if target.form and values.dtype.itemsize > 2:
            values = _odd_float32(values.astype(np.float64))
        return rounded(values.astype(target.held), target)


def _odd_float32(values: Any) -> Any:
    """float64 in float32, rounded to odd, so that another rounding is the only one."""
    near = values.astype(np.float32)
    inexact = (near != values) & np.isfinite(near)
    bits = near.view(np.int32)
    away = np.abs(near.astype(np.float64)) > np.abs(values)
    towards = np.where(away & inexact, bits - 1, bits)
    return np.where(inexact, towards | 1, towards).view(np.float32)


def bits_as(values: Any, source: DType, target: DType) -> Any:
    """The same bits, seen as another type of the same width."""
    if source.bits != target.bits:
        raise ValueError(
            f"{source} has {source.bits} bits and {target} {target.bits}: "
            "a bitcast keeps the width"
        )
    stored = np.ascontiguousarray(codes(values, source))
    return decoded(stored.view(target.stored), target)
