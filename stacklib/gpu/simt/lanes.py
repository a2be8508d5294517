"""Values of many lanes at once: arithmetic that counts itself and obeys the mask.

A ``Lanes`` holds one number for each lane of every running warp, ``(warps, 32)``. It
remembers which lanes ever got a value: using it elsewhere is an error, as a register
that was never written would be.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .machine import Machine

Number = int | float | np.generic


class Lanes:
    """One value a lane.

    ``values``: (warps, 32) values; those of lanes without one mean nothing; ``valid``:
    (warps, 32) lanes that have a value.
    """

    __slots__ = ("load", "machine", "valid", "values", "weak")
    __array_ufunc__ = None  # NumPy scalars leave the arithmetic to us

    def __init__(
        self, machine: Machine, values: Any, valid: Any, load: int, weak: bool = False
    ) -> None:
        self.machine, self.values, self.valid = machine, values, valid
        # Weak: made of plain Python numbers and indices alone, it takes the format of
        # what it meets (NEP 50).
        self.load, self.weak = load, weak

    def __repr__(self) -> str:
        kind, (warps, lanes) = self.values.dtype, self.values.shape
        return f"Lanes of {kind}, {warps} warps x {lanes}"

    def __bool__(self) -> bool:
        raise self.machine.error(
            "a value that differs by lane was asked for yes or no; a kernel's if and "
            "while do that, a function it calls cannot"
        )

    def __index__(self) -> int:
        raise self.machine.error(
            "a value that differs by lane is no Python index; pass what it indexes as "
            "a NumPy array"
        )

    def __int__(self) -> int:
        raise self.machine.error(
            "a value that differs by lane is no Python int; t.to(int, value) converts"
        )

    def __float__(self) -> float:
        raise self.machine.error(
            "a value that differs by lane is no Python float; t.to(float, value) "
            "converts, t.exp, t.log and t.sqrt are functions of it"
        )

    def __iter__(self) -> Any:
        raise self.machine.error("a value that differs by lane cannot be gone through")

    def __hash__(self) -> int:
        return id(self)


def is_weak(operand: Any) -> bool:
    """Whether an operand has no format of its own."""
    return operand.weak if isinstance(operand, Lanes) else not hasattr(operand, "dtype")


def in_common(operands: Any, values: list[Any]) -> list[Any]:
    """Values of weak lanes in the format of the others, where those are floats.

    Whole numbers stay as wide as they are: none of them is cut.
    """
    strong = [v for o, v in zip(operands, values, strict=True) if not is_weak(o)]
    if not strong or len(strong) == len(values):
        return values
    kind = np.result_type(*(v.dtype for v in strong))
    if kind.kind != "f" and kind != np.uint64:
        return values
    return [
        v.astype(np.result_type(kind, 0.0 if v.dtype.kind == "f" else 0))
        if isinstance(o, Lanes) and o.weak and v.dtype.kind in "if"
        else v
        for o, v in zip(operands, values, strict=True)
    ]


def _binary(ufunc: np.ufunc, kind: str, swap: bool = False) -> Callable[..., Any]:
    def operator(self: Lanes, other: Any) -> Any:
        if not isinstance(other, Lanes | int | float | np.generic):
            return NotImplemented
        pair = (other, self) if swap else (self, other)
        return self.machine.compute(ufunc, kind, *pair)

    return operator


def _unary(ufunc: np.ufunc, kind: str) -> Callable[[Lanes], Lanes]:
    def operator(self: Lanes) -> Lanes:
        return self.machine.compute(ufunc, kind, self)

    return operator


OPERATORS = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.true_divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "lshift": np.left_shift,
    "rshift": np.right_shift,
    "pow": np.power,
}
COMPARISONS = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}
# Division is a call of many instructions on a GPU; it is issued to the special unit.
SPECIAL = ("truediv", "floordiv", "mod", "pow")

for _word, _ufunc in OPERATORS.items():
    _kind = "special" if _word in SPECIAL else "arithmetic"
    setattr(Lanes, f"__{_word}__", _binary(_ufunc, _kind))
    setattr(Lanes, f"__r{_word}__", _binary(_ufunc, _kind, swap=True))
for _word, _ufunc in COMPARISONS.items():
    setattr(Lanes, f"__{_word}__", _binary(_ufunc, "compare"))
for _word, _ufunc in {"neg": np.negative, "invert": np.invert, "abs": np.abs}.items():
    setattr(Lanes, f"__{_word}__", _unary(_ufunc, "arithmetic"))
