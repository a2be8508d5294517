"""What can be done to a tile by its operators and methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import arithmetic, functions, memory, reductions, shapes
from .tile import Tile

Two = Callable[[Any, Any], Any]


def _turned(how: Two) -> Two:
    return lambda a, b: how(b, a)


def _bits(how: Any, word: str) -> Two:
    return lambda a, b: arithmetic.bitwise(how, word, a, b)


def _compared(how: Any) -> Two:
    return lambda a, b: arithmetic.compare(how, a, b)


_TWO: dict[str, Two] = {
    "add": arithmetic.add,
    "sub": arithmetic.subtract,
    "mul": arithmetic.multiply,
    "truediv": arithmetic.divide,
    "floordiv": arithmetic.floor_divide,
    "mod": arithmetic.remainder,
    "and": _bits(np.bitwise_and, "&"),
    "or": _bits(np.bitwise_or, "|"),
    "xor": _bits(np.bitwise_xor, "^"),
    "lshift": _bits(np.left_shift, "<<"),
    "rshift": _bits(np.right_shift, ">>"),
}
_COMPARE = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}
_METHODS: dict[str, Callable[..., Any]] = {
    "__neg__": arithmetic.negate,
    "__invert__": arithmetic.invert,
    "__abs__": functions.abs_,
    "__getitem__": shapes.item,
    "abs": functions.abs_,
    "max": reductions.max_,
    "min": reductions.min_,
    "sum": reductions.sum_,
    "cast": functions.to,
    "view": shapes.reshape,
}
_SAME = (
    (functions, "to exp exp2 log log2 sqrt rsqrt sin cos floor ceil erf sigmoid cdiv"),
    (shapes, "reshape ravel broadcast_to permute trans expand_dims split flip"),
    (
        reductions,
        "argmax argmin xor_sum cumsum cumprod softmax sort histogram gather reduce "
        "associative_scan",
    ),
    (memory, "store atomic_add atomic_max atomic_min atomic_and atomic_or atomic_xor"),
    (memory, "atomic_xchg atomic_cas"),
    (arithmetic, "logical_and logical_or"),
)


def attach() -> None:
    """Give tiles their operators and methods."""
    for name, how in _TWO.items():
        setattr(Tile, f"__{name}__", how)
        setattr(Tile, f"__r{name}__", _turned(how))
    for name, ufunc in _COMPARE.items():
        setattr(Tile, f"__{name}__", _compared(ufunc))
    for name, method in _METHODS.items():
        setattr(Tile, name, method)
    for module, names in _SAME:
        for name in names.split():
            setattr(Tile, name, getattr(module, name))
    Tile.T = property(shapes.trans)  # type: ignore[attr-defined]


attach()
