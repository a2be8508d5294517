"""What can be done to a tile by its operators and methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .arithmetic import (
    add,
    bitwise,
    compare,
    divide,
    floor_divide,
    invert,
    logical_and,
    logical_or,
    multiply,
    negate,
    remainder,
    subtract,
)
from .functions import abs_
from .shapes import item
from .tile import Tile

Two = Callable[[Any, Any], Any]


def _turned(how: Two) -> Two:
    return lambda a, b: how(b, a)


def _bits(how: Any, word: str) -> Two:
    return lambda a, b: bitwise(how, word, a, b)


def _compared(how: Any) -> Two:
    return lambda a, b: compare(how, a, b)


_TWO: dict[str, Two] = {
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "truediv": divide,
    "floordiv": floor_divide,
    "mod": remainder,
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
    "__neg__": negate,
    "__invert__": invert,
    "__abs__": abs_,
    "__getitem__": item,
    "logical_and": logical_and,
    "logical_or": logical_or,
}
# Methods whose function has another name.
_OTHERWISE = {"to": "cast", "view": "reshape"}
_SAME = (
    "abs exp exp2 log log2 sqrt rsqrt sin cos floor ceil erf sigmoid cdiv cast "
    "reshape ravel broadcast_to permute trans expand_dims split flip "
    "max min sum argmax argmin xor_sum reduce_or sqrt_rn cumsum cumprod softmax "
    "sort histogram gather reduce associative_scan store atomic_add atomic_max "
    "atomic_min atomic_and atomic_or atomic_xor atomic_xchg atomic_cas"
)


def attach(names: dict[str, Any]) -> None:
    """Give tiles their operators, and as methods the functions of these names."""
    for name, how in _TWO.items():
        setattr(Tile, f"__{name}__", how)
        setattr(Tile, f"__r{name}__", _turned(how))
    for name, ufunc in _COMPARE.items():
        setattr(Tile, f"__{name}__", _compared(ufunc))
    methods = _METHODS | {name: names[name] for name in _SAME.split()}
    methods |= {name: names[other] for name, other in _OTHERWISE.items()}
    for name, method in methods.items():
        setattr(Tile, name, method)
    Tile.T = property(names["trans"])  # type: ignore[attr-defined]
