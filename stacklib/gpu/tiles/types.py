"""Element types under Triton's names, and which type two operands meet at.

The rules are those of Triton's ``language/semantic.py`` (3.7.1): a plain Python number
is weak, it joins the other side's type unless its kind (bool < whole < float) is
higher; two tiles meet at the wider type; half-width floats are divided in float32.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

KINDS = {"bool": 0, "uint": 1, "int": 1, "float": 2, "pointer": 3}


@dataclass(frozen=True, slots=True, eq=False)
class DType:
    """A type of elements: how it is held in a tile, and stored in memory."""

    name: str  # Triton's, such as ``fp32``
    bits: int
    kind: str  # bool, uint, int or float
    held: Any  # NumPy's type of the values in a tile
    stored: Any  # of the element in memory
    form: str = ""  # the format's name, where NumPy has no type of it

    def __repr__(self) -> str:
        return self.name

    @property
    def primitive_bitwidth(self) -> int:
        """Bits of an element."""
        return self.bits

    @property
    def itemsize(self) -> int:
        """Bytes of an element in memory."""
        return max(1, self.bits // 8)

    @property
    def scalar(self) -> DType:
        """The type itself: programs ask a tile's type for it."""
        return self

    def is_ptr(self) -> bool:
        """Whether it is a pointer."""
        return False

    def is_floating(self) -> bool:
        """Whether it is a float."""
        return self.kind == "float"

    def is_int(self) -> bool:
        """Whether it is a whole number; int1 is one."""
        return self.kind in ("bool", "uint", "int")

    def is_int_signed(self) -> bool:
        """Whether it is a whole number with a sign."""
        return self.kind == "int"

    def is_int_unsigned(self) -> bool:
        """Whether it is a whole number without a sign."""
        return self.kind in ("bool", "uint")

    def is_fp8(self) -> bool:
        """Whether it is a float of eight bits."""
        return self.kind == "float" and self.bits == 8

    def least(self) -> int:
        """The smallest whole number."""
        return -(1 << (self.bits - 1)) if self.kind == "int" else 0

    def most(self) -> int:
        """The largest whole number."""
        return (1 << (self.bits - (self.kind == "int"))) - 1


def _whole(name: str, bits: int) -> DType:
    kind = "uint" if name[0] == "u" else "int"
    return DType(name, bits, kind, np.dtype(name), np.dtype(name))


int1 = DType("int1", 1, "bool", np.dtype(bool), np.dtype(np.int8))
int8, int16, int32, int64 = (_whole(f"int{n}", n) for n in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (_whole(f"uint{n}", n) for n in (8, 16, 32, 64))
float16 = DType("fp16", 16, "float", np.dtype(np.float16), np.dtype(np.float16))
float32 = DType("fp32", 32, "float", np.dtype(np.float32), np.dtype(np.float32))
float64 = DType("fp64", 64, "float", np.dtype(np.float64), np.dtype(np.float64))
# NumPy has no such types: tiles hold their values in float32, memory their codes.
bfloat16 = DType("bf16", 16, "float", np.dtype(np.float32), np.dtype(np.uint16), "bf16")
float8e4nv = DType(
    "fp8e4nv", 8, "float", np.dtype(np.float32), np.dtype(np.uint8), "e4m3fn"
)
float8e5 = DType("fp8e5", 8, "float", np.dtype(np.float32), np.dtype(np.uint8), "e5m2")

ALL = (
    *(int1, int8, int16, int32, int64, uint8, uint16, uint32, uint64),
    *(float16, bfloat16, float32, float64, float8e4nv, float8e5),
)
BY_NAME = {d.name: d for d in ALL}
_OF_NUMPY = {d.held: d for d in ALL if not d.form}


@dataclass(frozen=True, slots=True, eq=False)
class Pointer:
    """The type of an address of elements."""

    element_ty: DType
    kind = "pointer"
    bits = 64
    held = np.dtype(np.int64)
    form = ""

    @property
    def name(self) -> str:
        """As Triton prints it."""
        return f"pointer<{self.element_ty.name}>"

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pointer) and other.element_ty is self.element_ty

    def __hash__(self) -> int:
        return hash(("pointer", self.element_ty.name))

    @property
    def scalar(self) -> Pointer:
        """The type itself."""
        return self

    def is_ptr(self) -> bool:
        """Whether it is a pointer."""
        return True

    def is_floating(self) -> bool:
        """Whether it is a float."""
        return False

    def is_int(self) -> bool:
        """Whether it is a whole number."""
        return False


Type = DType | Pointer


@dataclass(frozen=True, slots=True)
class Block:
    """The type of a tile: what its elements are, and its shape."""

    element_ty: Type
    shape: tuple[int, ...]

    @property
    def scalar(self) -> Type:
        """The type of an element."""
        return self.element_ty


def of_numpy(dtype: Any) -> DType:
    """The type of a NumPy array's elements."""
    found = _OF_NUMPY.get(np.dtype(dtype).newbyteorder("="))
    if found is None:
        known = ", ".join(str(d) for d in _OF_NUMPY)
        raise TypeError(f"an array of {np.dtype(dtype)}: tiles have {known}")
    return found


def of_form(name: str) -> DType:
    """The type that a kernel of `gpu.launch` knows by another name."""
    own = {"bfloat16": bfloat16, "float8_e4m3fn": float8e4nv, "float8_e5m2": float8e5}
    return own.get(name) or of_numpy(name)


def of_number(number: Any) -> DType:
    """The type of a plain Python number."""
    if isinstance(number, bool):
        return int1
    if isinstance(number, int):
        for fits in (int32, uint32, int64, uint64):
            if fits.least() <= number <= fits.most():
                return fits
        raise ValueError(f"{number}: no whole number of 64 bits")
    size = abs(number)
    whole = size == 0 or size != size or size == float("inf")
    return float32 if whole or 2**-126 <= size <= (2 - 2**-23) * 2**127 else float64


def _wider(a: DType, b: DType) -> DType:
    """C's usual conversions of whole numbers."""
    if a.is_int_signed() == b.is_int_signed():
        return a if a.bits > b.bits else b
    unsigned, signed = (a, b) if a.is_int_unsigned() else (b, a)
    return unsigned if unsigned.bits >= signed.bits else signed


def meet(a: DType, b: DType, weak: DType | None = None, divides: bool = False) -> DType:
    """The type two operands are calculated in.

    ``weak``: which of them is a plain number's; ``divides``: whether for / or %.
    """
    if weak is not None:
        strong = b if weak is a else a
        if KINDS[weak.kind] <= KINDS[strong.kind]:
            half = strong in (float16, bfloat16)
            return float32 if divides and half else strong
    for wide in (float64, float32):
        if wide in (a, b):
            return wide
    if float16 in (a, b):
        return float32 if divides else float16
    if bfloat16 in (a, b):
        return bfloat16 if a is b and not divides else float32
    if a.is_floating() and b.is_floating():
        return a if a is b else float16
    if not (a.is_int() and b.is_int()):
        raise TypeError(f"{a} and {b} meet at no type: convert one with .to()")
    if divides and a.is_int_signed() != b.is_int_signed():
        raise TypeError(
            f"/, // and % of {a} and {b}, one signed and one not: convert one by .to()"
        )
    return _wider(a, b)
