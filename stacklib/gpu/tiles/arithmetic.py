"""What operators do: promotion, wrapping and dividing as Triton has them.

``//`` and ``%`` of whole numbers cut towards zero, as C's do. A signed sum or product
that leaves its type is an error where checks are on, as in Triton's debug mode: it is
how addresses of large arrays go wrong. Unsigned ones wrap.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .machine import batch, error
from .tile import Tile, as_tile, cast, each, plain, pythonic
from .types import DType, Pointer, Type, float32, int1, meet
from .work import WORK, Work, one

Function = Callable[[Any, Any], Any]


def operands(a: Any, b: Any, divides: bool = False) -> tuple[Tile, Tile]:
    """Both sides of an operator as tiles of the type they meet at."""
    a, b = pythonic(a), pythonic(b)
    weak = [x for x in (a, b) if plain(x)]
    left, right = as_tile(a), as_tile(b)
    if isinstance(left.dtype, Pointer) or isinstance(right.dtype, Pointer):
        return left, right
    one = len(weak) == 1
    side = (left if plain(a) else right).dtype if one else None
    try:
        met = meet(left.dtype, right.dtype, _dtype(side), divides)
    except TypeError as wrong:
        raise error(str(wrong)) from None
    if one:
        _fits(weak[0], met)
        return tuple(  # type: ignore[return-value]
            as_tile(x, met) if plain(x) else cast(t, met)
            for x, t in ((a, left), (b, right))
        )
    return cast(left, met), cast(right, met)


def _dtype(x: Any) -> DType | None:
    return x if isinstance(x, DType) else None


def _fits(value: Any, dtype: DType) -> None:
    """A plain number must be one of the type it joins."""
    if dtype.is_int() and not dtype.least() <= value <= dtype.most():
        raise error(f"{value} beside a tile of {dtype}, which ends at {dtype.most()}")


def _kind(dtype: Type) -> str:
    """The kind of instruction that calculates in a type."""
    if not dtype.is_floating():
        return "int"
    return {64: "fp64", 32: "fp32"}.get(dtype.bits, "fp16")


def _packed(dtype: Type) -> Work:
    """One instruction an element; of 16-bit floats one for two."""
    kind = _kind(dtype)
    return one(kind, 0.5 if kind == "fp16" else 1.0)


def _bounds(x: Any) -> tuple[int, int]:
    return int(x.min()), int(x.max())


def _exact(how: Function, a: Any, b: Any, dtype: DType, word: str) -> Any:
    """A sum, difference or product of signed numbers, watched for leaving the type."""
    ends = [how(x, y) for x in _bounds(a) for y in _bounds(b)]
    least, most = dtype.least(), dtype.most()
    if least <= min(ends) and max(ends) <= most:
        return how(a, b)
    wide = how(a.astype(object if dtype.bits == 64 else np.int64), b)
    out = (wide < least) | (wide > most)
    if out.any():
        first = int(np.asarray(wide)[out][0])
        raise error(
            f"a {word} is {first}, too large for {dtype}: it would wrap round; "
            "convert one side with .to(tl.int64)"
        )
    return wide.astype(dtype.held)


def _watched(how: Function, dtype: DType, word: str) -> Function:
    watch = dtype.is_int_signed() and batch().check
    return (lambda a, b: _exact(how, a, b, dtype, word)) if watch else how


def _calculate(how: Function, word: str, a: Any, b: Any) -> Tile:
    left, right = operands(a, b)
    dtype = left.dtype
    if not isinstance(dtype, DType) or not isinstance(right.dtype, DType):
        raise error(f"the {word} of a pointer: pointers take + and - of whole numbers")
    if dtype.is_fp8():
        raise error(f"a {word} of {dtype}: convert to tl.float16 first")
    return each(
        _kind(dtype),
        _watched(how, dtype, word),
        dtype,
        left,
        right,
        work=_packed(dtype),
    )


def add(a: Any, b: Any) -> Tile:
    """``a + b``; of a pointer and whole numbers, the address so many elements on."""
    if _pointer(b):
        a, b = b, a
    return moved(a, b, 1) if _pointer(a) else _calculate(np.add, "sum", a, b)


def subtract(a: Any, b: Any) -> Tile:
    """``a - b``."""
    if _pointer(a):
        return moved(a, b, -1)
    return _calculate(np.subtract, "difference", a, b)


def multiply(a: Any, b: Any) -> Tile:
    """``a * b``."""
    return _calculate(np.multiply, "product", a, b)


def wrapping(how: Function, a: Any, b: Any) -> Tile:
    """A sum or product that may wrap round."""
    left, right = operands(a, b)
    return each(_kind(left.dtype), how, left.dtype, left, right)


def _pointer(x: Any) -> bool:
    return isinstance(x, Tile) and isinstance(x.dtype, Pointer)


def moved(pointer: Tile, by: Any, sign: int) -> Tile:
    """Addresses so many elements further."""
    offset = as_tile(by)
    if not offset.dtype.is_int():
        raise error(f"a pointer and {offset.dtype}: whole numbers are needed")
    assert isinstance(pointer.dtype, Pointer)
    step = sign * pointer.dtype.element_ty.itemsize
    return each(
        "int",
        lambda p, n: p + step * n.astype(np.int64),
        pointer.dtype,
        pointer,
        offset,
        # one address for the 16 bytes that a thread takes at once
        work=one("int", pointer.dtype.element_ty.itemsize / 16),
        home=pointer.home,
    )


def divide(a: Any, b: Any) -> Tile:
    """``a / b``, of whole numbers too a float."""
    left, right = operands(a, b, divides=True)
    if not (isinstance(left.dtype, DType) and isinstance(right.dtype, DType)):
        raise error("a pointer is divided")
    if left.dtype.is_int():
        left, right = cast(left, float32), cast(right, float32)
    return quotient(left, right)


def quotient(left: Tile, right: Tile) -> Tile:
    """``left / right`` of floats of one type."""
    word = "divide fp64" if left.dtype.bits == 64 else "divide"
    return each("fp32", np.divide, left.dtype, left, right, work=WORK[word])


def _cut(a: Any, b: Any) -> Any:
    """Whole quotients, cut towards zero."""
    safe = np.where(b == 0, np.ones_like(b), b)
    return (a - np.fmod(a, safe)) // safe


def _no_zero(b: Tile, word: str) -> None:
    if batch().check and b.dtype.is_int() and (b.data == 0).any():
        raise error(f"a whole number {word} 0")


def floor_divide(a: Any, b: Any) -> Tile:
    """``a // b`` of whole numbers, cut towards zero."""
    left, right = operands(a, b, divides=True)
    if not (left.dtype.is_int() and right.dtype.is_int()):
        raise error(
            f"// of {left.dtype}: whole numbers are needed, floats have tl.fdiv"
        )
    _no_zero(right, "//")
    return each("int", _cut, left.dtype, left, right, work=WORK["whole divide"])


def remainder(a: Any, b: Any) -> Tile:
    """``a % b``, with the sign of ``a``."""
    left, right = operands(a, b, divides=True)
    if left.dtype.is_int():
        _no_zero(right, "%")
    return each(
        _kind(left.dtype),
        lambda x, y: (
            np.fmod(x, np.where(y == 0, np.ones_like(y), y))
            if left.dtype.is_int()
            else np.fmod(x, y)
        ),
        left.dtype,
        left,
        right,
        work=WORK["whole divide" if left.dtype.is_int() else "remainder"],
    )


def bitwise(how: Function, word: str, a: Any, b: Any) -> Tile:
    """``&``, ``|``, ``^``, ``<<`` and ``>>``."""
    left, right = operands(a, b)
    if not (left.dtype.is_int() and right.dtype.is_int()):
        raise error(f"{word} of {left.dtype}: whole numbers are needed")
    return each("int", how, left.dtype, left, right)


def compare(how: Function, a: Any, b: Any) -> Tile:
    """``<`` and its kin: true or false by element."""
    left, right = operands(a, b)
    return each(_kind(left.dtype), how, int1, left, right)


def logical(how: Function, a: Any, b: Any) -> Tile:
    """``and`` and ``or`` by element."""
    left, right = truth(a), truth(b)
    return each("int", how, int1, left, right)


def logical_and(a: Any, b: Any) -> Tile:
    """Whether both hold, by element."""
    return logical(np.logical_and, a, b)


def logical_or(a: Any, b: Any) -> Tile:
    """Whether one holds, by element."""
    return logical(np.logical_or, a, b)


def truth(a: Any) -> Tile:
    """Whether elements are not zero."""
    tile = as_tile(a)
    if tile.dtype is int1:
        return tile
    return each(_kind(tile.dtype), lambda x: x != 0, int1, tile)


def negate(a: Tile) -> Tile:
    """``-a``: what is left of zero, so that ``-0.0`` is ``0.0`` as in Triton."""
    if not isinstance(a.dtype, DType):
        raise error("a pointer with a minus")
    return subtract(as_tile(0, a.dtype), a)


def invert(a: Tile) -> Tile:
    """``~a``."""
    return each("int", np.invert, _whole(a), a)


def _whole(a: Tile) -> DType:
    if not isinstance(a.dtype, DType) or not a.dtype.is_int():
        raise error(f"{a!r} where whole numbers are needed")
    return a.dtype
