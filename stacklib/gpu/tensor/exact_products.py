"""Products that lose nothing or round once a step: INT8, INT4 and FP64.

Whole numbers are added in 32 bits, which wrap, or stay at the ends where ``satfinite``
is asked for; FP64 is a chain of fused multiply-adds, rounded to the nearest (PTX ISA
9.1, ``mma``, precision and rounding). That the chain goes along k is MMA-Sim's, at
c785138. No chip that has them differs from another.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from stacklib.quantity import UnknownName, resolve
from stacklib.quantizers.inputs import doubles, unmasked

from ..issue.instructions import generations, instruction
from .kinds import CAPABILITY, has, integers

if TYPE_CHECKING:
    from numpy.typing import NDArray

RANGES = {"int8": (-128, 127), "uint8": (0, 255), "int4": (-8, 7), "uint4": (0, 15)}
ENDS = -(2**31), 2**31 - 1


def _whole(name: str, values: Any, form: str, ends: tuple[int, int]) -> NDArray[Any]:
    """Whole numbers within a range, as int64."""
    unmasked(values, name)
    array = np.asarray(values)
    if array.ndim != 2 or array.dtype.kind not in "iu":
        raise ValueError(
            f"{name}: {array.dtype} of shape {array.shape}; a matrix of whole numbers "
            "is needed, .astype(int) of rounded ones"
        )
    wrong = (array < ends[0]) | (array > ends[1])
    if wrong.any():
        worst = array[wrong][0].item()
        raise ValueError(
            f"{name} holds {worst}: {form} is {ends[0]} to {ends[1]}, clip first"
        )
    return array.astype(np.int64)


def multiply_whole(
    a: Any,
    b: Any,
    c: Any = None,
    *,
    dtype: str = "int8",
    other: str = "",
    generation: str = "hopper",
    satfinite: bool = False,
) -> NDArray[Any]:
    """``a @ b + c`` in 32 bits: int32 array (m, n).

    ``dtype`` is that of ``a``, ``other`` that of ``b``: ``int8``, ``uint8``, ``int4``
    or ``uint4``, of the same width. With ``satfinite`` a sum that leaves the range
    stays at its end, one instruction after the other; without, it wraps.
    """
    forms = [resolve(x, RANGES, "whole format") for x in (dtype, other or dtype)]
    key = resolve(generation, generations(), "generation")
    if forms[0][-1] != forms[1][-1]:
        raise ValueError(f"{forms[0]} x {forms[1]}: both have the same width")
    width = forms[0].removeprefix("u")
    if width not in integers(key):
        raise UnknownName(f"{key} tensor cores have no {width}; they have: {has(key)}")
    left = _whole("a", a, forms[0], RANGES[forms[0]])
    right = _whole("b", b, forms[1], RANGES[forms[1]])
    total = _start(c, left, right)
    step = instruction(CAPABILITY[key]).k[width]
    for start in range(0, left.shape[1], step):
        part = slice(start, start + step)
        total = total + left[:, part] @ right[part]
        if satfinite:
            total = np.clip(total, *ENDS)
    return (total & 0xFFFFFFFF).astype(np.uint32).view(np.int32)


def _start(c: Any, left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    if left.shape[1] != right.shape[0]:
        raise ValueError(f"a is {left.shape} and b {right.shape}: k differs")
    shape = (left.shape[0], right.shape[1])
    total = np.zeros(shape, np.int64) if c is None else _whole("c", c, "int32", ENDS)
    if total.shape != shape:
        raise ValueError(f"c is {total.shape}: a @ b is {shape}")
    return total


def multiply_doubles(
    a: Any, b: Any, c: Any = None, *, generation: str = "hopper"
) -> NDArray[Any]:
    """``a @ b + c`` in FP64: a fused multiply-add for each product, along k."""
    key = resolve(generation, generations(), "generation")
    if "fp64" not in has(key):
        raise UnknownName(f"{key} tensor cores have no fp64; they have: {has(key)}")
    left, right = doubles(a, "a"), doubles(b, "b")
    if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[0]:
        raise ValueError(f"a is {left.shape} and b {right.shape}: matrices that fit")
    shape = (left.shape[0], right.shape[1])
    total = np.zeros(shape) if c is None else doubles(c, "c")
    if total.shape != shape:
        raise ValueError(f"c is {total.shape}: a @ b is {shape}")
    for i, j in np.ndindex(shape):
        total[i, j] = _chain(left[i].tolist(), right[:, j].tolist(), total[i, j].item())
    return total


def _chain(row: list[float], column: list[float], total: float) -> float:
    for x, y in zip(row, column, strict=True):
        total = _fused(x, y, total)
    return total


def _fused(x: float, y: float, z: float) -> float:
    """``x * y + z`` rounded once."""
    if not all(map(math.isfinite, (x, y, z))):
        return x * y + z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if not exact:  # the sign of a zero is that of the plain sum
        return x * y + z
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
