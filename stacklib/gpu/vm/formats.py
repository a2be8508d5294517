"""Formats of the numbers in kernels: what a register or an element of an array holds.

Where two meet, the usual arithmetic conversions of C decide (ISO C 6.3.1.8), as in
CUDA: narrow whole numbers become ``int32``, a whole number beside a float becomes that
float. A plain Python number takes the format of what it meets; by itself it is a 32-bit
``int``, or a ``float64`` as a literal of C without a suffix is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from stacklib.quantity import resolve


@dataclass(frozen=True, slots=True)
class Form:
    """A format: its name, number, bytes, and whether it is ``int``, ``uint``, ..."""

    name: str
    code: int
    size: int
    family: str  # bool, int, uint or float
    weak: bool = False  # of a plain Python number

    @property
    def floating(self) -> bool:
        """Whether it holds fractions."""
        return self.family == "float"

    @property
    def dtype(self) -> Any:
        """What NumPy calls it; that of float32 where it has no such format."""
        return np.dtype(self.name if self.code not in NARROW else "float32")

    def __str__(self) -> str:
        return {"weak int": "int", "weak float": "float"}.get(self.name, self.name)


_ROWS = (
    ("bool", 1, "bool"),
    ("int8", 1, "int"),
    ("int16", 2, "int"),
    ("int32", 4, "int"),
    ("int64", 8, "int"),
    ("uint8", 1, "uint"),
    ("uint16", 2, "uint"),
    ("uint32", 4, "uint"),
    ("uint64", 8, "uint"),
    ("float16", 2, "float"),
    ("bfloat16", 2, "float"),
    ("float32", 4, "float"),
    ("float64", 8, "float"),
    ("float8_e4m3fn", 1, "float"),
    ("float8_e5m2", 1, "float"),
    ("weak int", 4, "int"),
    ("weak float", 8, "float"),
)
FORMS = tuple(
    Form(name, code, size, family, name.startswith("weak"))
    for code, (name, size, family) in enumerate(_ROWS)
)
BY_NAME = {form.name: form for form in FORMS if not form.weak}
BOOL, I8, I16, I32, I64, U8, U16, U32, U64 = range(9)
F16, BF16, F32, F64, E4M3, E5M2, WEAK_INT, WEAK_FLOAT = range(9, 17)
NARROW = (BF16, E4M3, E5M2)  # NumPy has none of these
_RANK = {I32: 0, WEAK_INT: 0, U32: 1, I64: 2, U64: 3}
INT_LIMITS = (-(2**31), 2**31 - 1)


def find(dtype: Any) -> Form:
    """The format of a NumPy dtype, a Python type or a name.

    TypeError or UnknownName for what no kernel can hold.
    """
    if isinstance(dtype, Form):
        return dtype
    if isinstance(dtype, str) and dtype in BY_NAME:
        return BY_NAME[dtype]
    try:
        kind = np.dtype(dtype)
    except TypeError:
        if isinstance(dtype, str):
            return BY_NAME[resolve(dtype, list(BY_NAME), "format")]
        raise
    if kind.name not in BY_NAME:
        raise TypeError(f"{kind}: whole numbers, floats to 8 bytes or bool are needed")
    return BY_NAME[kind.name]


def of_constant(value: Any) -> Form | None:
    """The format of a compile-time number, None for what is no number."""
    if isinstance(value, np.generic):
        return BY_NAME.get(value.dtype.name)
    if isinstance(value, bool):
        return FORMS[BOOL]
    if isinstance(value, int):
        low, high = INT_LIMITS
        if low <= value <= high:
            return FORMS[WEAK_INT]
        return FORMS[I64 if -(2**63) <= value < 2**63 else U64]
    return FORMS[WEAK_FLOAT] if isinstance(value, float) else None


def of_numpy(given: Iterable[Any]) -> bool:
    """Whether a number of one of NumPy's formats is among them."""
    return any(
        of_numpy(one) if isinstance(one, list | tuple) else isinstance(one, np.generic)
        for one in given
    )


def common(one: Form, other: Form) -> Form:
    """The format in which two operands meet."""
    if one.floating or other.floating:
        return _common_float(one, other)
    ranks = [_RANK.get(form.code, 0) for form in (one, other)]
    if ranks[0] != ranks[1]:
        return one if ranks[0] > ranks[1] else other
    both_weak = all(f.weak or f.code == BOOL for f in (one, other))
    if ranks[0]:
        return one
    return FORMS[WEAK_INT if both_weak else I32]


def _common_float(one: Form, other: Form) -> Form:
    strong = [f for f in (one, other) if f.floating and not f.weak]
    if not strong:
        return FORMS[WEAK_FLOAT]
    if len(strong) == 1 or strong[0] == strong[1]:
        return strong[0]
    return (
        max(strong, key=lambda f: f.code == F64)
        if F64
        in (
            strong[0].code,
            strong[1].code,
        )
        else FORMS[F32]
    )


def join(one: Form, other: Form) -> Form:
    """The format of a name that holds either: weak ones take the other's."""
    if one == other:
        return one
    if BOOL in (one.code, other.code):
        return common(one, other)
    if one.weak and not other.weak and other.floating >= one.floating:
        return other
    if other.weak and not one.weak and one.floating >= other.floating:
        return one
    return common(one, other)
