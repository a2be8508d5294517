"""Functions of every element: exponentials, roots, choices, rounding to a type."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from .arithmetic import _kind, operands, quotient, truth
from .formats import bits_as
from .machine import error
from .tile import Tile, as_tile, cast, each, meeting, spread
from .types import DType, Pointer, bfloat16, float32, float64, int64, uint64
from .work import WORK


def _of_floats(name: str, how: Callable[[Any], Any]) -> Callable[[Any], Tile]:
    def function(x: Any) -> Tile:
        tile = as_tile(x)
        if tile.dtype not in (float32, float64):
            raise error(
                f"tl.{name} of {tile.dtype}: fp32 or fp64 is needed, convert with "
                ".to(tl.float32)"
            )
        return each("special", how, tile.dtype, tile, work=WORK[name])

    function.__name__ = name
    function.__doc__ = f"{name} of every element."
    return function


exp = _of_floats("exp", np.exp)
exp2 = _of_floats("exp2", np.exp2)
log = _of_floats("log", np.log)
log2 = _of_floats("log2", np.log2)
sqrt = _of_floats("sqrt", np.sqrt)
sqrt_rn = _of_floats("sqrt_rn", np.sqrt)
rsqrt = _of_floats("rsqrt", lambda x: 1 / np.sqrt(x))
sin = _of_floats("sin", np.sin)
cos = _of_floats("cos", np.cos)
floor = _of_floats("floor", np.floor)
ceil = _of_floats("ceil", np.ceil)


def _erf(x: Any) -> Any:
    import math

    return np.vectorize(math.erf, otypes=[np.float64])(x)


erf = _of_floats("erf", _erf)


def abs_(x: Any) -> Tile:
    """Elements without their sign."""
    tile = as_tile(x)
    return each(_kind(tile.dtype), np.abs, tile.dtype, tile)


sigmoid = _of_floats("sigmoid", lambda x: 1 / (1 + np.exp(-x)))


def fdiv(x: Any, y: Any, ieee_rounding: bool = False) -> Tile:
    """``x / y`` of floats."""
    left, right = operands(x, y, divides=True)
    if not left.dtype.is_floating():
        raise error(f"tl.fdiv of {left.dtype}: floats are needed")
    return quotient(left, right)


def div_rn(x: Any, y: Any) -> Tile:
    """``x / y``, rounded to nearest, as every quotient is here."""
    return fdiv(x, y, True)


def fma(x: Any, y: Any, z: Any) -> Tile:
    """``x * y + z``, rounded once."""
    left, right = operands(x, y)
    left, third = operands(left, z)
    right, third = operands(right, third)
    dtype = left.dtype
    if not dtype.is_floating():
        return each("int", lambda a, b, c: a * b + c, dtype, left, right, third)
    return each(_kind(dtype), _fused, dtype, left, right, third)


def _fused(a: Any, b: Any, c: Any) -> Any:
    """A product and a sum with one rounding."""
    if a.dtype == np.float64:
        return np.vectorize(_fused_one, otypes=[np.float64])(a, b, c)
    product, more = a.astype(np.float64) * b, c.astype(np.float64)  # exact
    near = product + more
    part = near - product
    lost = (product - (near - part)) + (more - part)
    # Rounded to odd, the sum can be rounded again without harm.
    even = (near.view(np.int64) & 1) == 0
    toward = np.nextafter(near, np.where(lost > 0, np.inf, -np.inf))
    odd = np.where((lost != 0) & np.isfinite(near) & even, toward, near)
    return odd.astype(a.dtype)


def _fused_one(a: float, b: float, c: float) -> float:
    plain = a * b + c
    if not np.isfinite(plain):
        return plain
    return float(Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c)))


def _wide(x: Any) -> Any:
    """bfloat16 as float32: GPUs compare no bfloat16."""
    found = x
    half = isinstance(found, Tile) and found.dtype is bfloat16
    return cast(found, float32) if half else found


def _larger(word: str, plain: Any, passing: Any) -> Callable[..., Tile]:
    def function(x: Any, y: Any, propagate_nan: bool = False) -> Tile:
        left, right = operands(_wide(x), _wide(y))
        how = passing if propagate_nan else plain
        return each(_kind(left.dtype), how, left.dtype, left, right)

    function.__name__ = word
    function.__doc__ = (
        f"The {word} of two, by element; a number wins over NaN unless "
        "``propagate_nan``."
    )
    return function


maximum = _larger("maximum", np.fmax, np.maximum)
minimum = _larger("minimum", np.fmin, np.minimum)


def clamp(x: Any, min: Any, max: Any, propagate_nan: bool = False) -> Tile:
    """Elements kept between two bounds."""
    return minimum(maximum(x, min, propagate_nan), max, propagate_nan)


def where(condition: Any, x: Any, y: Any) -> Tile:
    """Elements of ``x`` where the condition holds, of ``y`` elsewhere."""
    chooses = truth(as_tile(condition))
    left, right = operands(x, y)
    if left.dtype != right.dtype:
        raise error(f"tl.where of {left.dtype} and {right.dtype}")
    if not chooses.shape:
        chooses = spread(chooses, meeting(left, right))
    home = left.home if left.home is right.home else None
    return each("move", np.where, left.dtype, chooses, left, right, home=home)


def to(
    x: Any, dtype: Any, fp_downcast_rounding: Any = None, bitcast: Any = False
) -> Tile:
    """Elements in another type; their bits as another type with ``bitcast``."""
    tile, target = as_tile(x), dtype
    if fp_downcast_rounding not in (None, "rtne"):
        raise error(f"fp_downcast_rounding = {fp_downcast_rounding!r}: 'rtne'")
    if isinstance(target, Pointer) or isinstance(tile.dtype, Pointer):
        return _address(tile, target)
    if not isinstance(target, DType):
        raise error(f".to({dtype!r}): a type such as tl.float32 is needed")
    source = tile.dtype
    if not bitcast or source is target:
        return cast(tile, target)
    try:
        return each("free", lambda a: bits_as(a, source, target), target, tile)
    except ValueError as wrong:
        raise error(str(wrong)) from None


def _address(x: Tile, target: Any) -> Tile:
    """Pointers as whole numbers, as pointers to another type, and back."""
    if isinstance(target, Pointer) or target in (int64, uint64):
        home = x.home if x.dtype == target else None
        return Tile(x.data.astype(target.held), target, x.op, home)
    raise error(f"a {x.dtype} as {target}: a pointer has 64 bits")


def umulhi(x: Any, y: Any) -> Tile:
    """The upper half of the bits of a product of whole numbers."""
    left, right = operands(x, y)
    bits = left.dtype.bits

    def high(a: Any, b: Any) -> Any:
        if bits == 32:
            unsigned = a.astype(np.uint32).astype(np.uint64) * b.astype(np.uint32)
            return (unsigned >> np.uint64(32)).astype(a.dtype)
        mask = (1 << 64) - 1
        top = (a.astype(object) & mask) * (b.astype(object) & mask) >> 64
        return top.astype(np.uint64).astype(a.dtype)

    if bits not in (32, 64):
        raise error(f"tl.umulhi of {left.dtype}: whole numbers of 32 or 64 bits")
    return each("int", high, left.dtype, left, right)


def cdiv(x: Any, div: Any) -> Any:
    """``x / div`` rounded up, of positive numbers."""
    from .arithmetic import add, floor_divide, subtract

    if isinstance(x, Tile) or isinstance(div, Tile):
        return floor_divide(add(x, subtract(div, 1)), div)
    return -(-x // div)
