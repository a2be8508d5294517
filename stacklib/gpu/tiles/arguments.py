"""Arguments of a program: arrays become pointers, numbers values, constexprs stay."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..simt.arguments import Empty
from .formats import codes
from .memory import Array, Memory, in_one_piece
from .rewrite import own
from .tile import Tile, as_tile, plain, pythonic
from .types import DType, Pointer, of_form, of_numpy


@dataclass(frozen=True, slots=True)
class Formatted:
    """An array of a format that NumPy lacks: its codes."""

    codes: Any
    dtype: DType


def array(values: Any, dtype: DType) -> Formatted:
    """Numbers rounded to a format, as an argument of `launch_tiles`.

    What comes back among the results are numbers again, in float32.
    """
    numbers = np.asarray(values)
    if numbers.dtype.kind not in "iuf":
        raise TypeError(f"an array of {numbers.dtype} in {dtype}: numbers are needed")
    wide = numbers.astype(np.float32) if dtype.form else numbers
    return Formatted(np.ascontiguousarray(codes(wide, dtype)), dtype)


def empty(shape: Any, dtype: DType) -> Empty:
    """An array of a type under Triton's names for programs to fill."""
    sizes = tuple(shape) if isinstance(shape, list | tuple) else (shape,)
    return Empty(tuple(int(n) for n in sizes), dtype)


@dataclass(slots=True)
class Arguments:
    """What a program is called with."""

    tiles: dict[str, Any]
    meta: dict[str, Any]  # what the grid's function sees
    arrays: dict[str, Array]

    def results(self) -> dict[str, Any]:
        """Arrays as they are now, by parameter."""
        return {name: array.result() for name, array in self.arrays.items()}


def bound(
    function: Any,
    args: tuple[Any, ...],
    words: dict[str, Any],
    options: dict[str, Any],
    memory: Memory,
) -> Arguments:
    """Give every parameter its argument."""
    signature = inspect.signature(function)
    later = list(signature.parameters)[len(args) :]
    asked_for = {n: v for n, v in options.items() if n in later}
    try:
        given = signature.bind(*args, **{**asked_for, **words})
    except TypeError as wrong:
        asked = ", ".join(signature.parameters)
        raise TypeError(f"{function.__name__}({asked}): {wrong}") from None
    given.apply_defaults()
    made = Arguments({}, dict(given.arguments), {})
    for name, value in given.arguments.items():
        note = str(signature.parameters[name].annotation)
        fixed = "constexpr" in note
        by_word = name in words or name in asked_for
        made.tiles[name] = _argument(name, value, fixed, by_word, made, memory)
    return made


def _argument(
    name: str, value: Any, fixed: bool, by_word: bool, made: Arguments, memory: Memory
) -> Any:
    """One argument as the program sees it."""
    value = pythonic(own(value))
    placed = _placed(value)
    if placed is not None:
        if fixed:
            raise TypeError(f"{name} is a tl.constexpr: an array is none")
        values, dtype, written = placed
        if not values.size:
            raise TypeError(f"{name}: an array {values.shape} has no elements")
        if not in_one_piece(values):
            raise TypeError(
                f"{name}: an array {values.shape} with gaps between its elements; give "
                "np.ascontiguousarray of it"
            )
        kept = memory.place(name, values, dtype, written)
        made.arrays[name] = kept
        return Tile(np.array([kept.base]), Pointer(dtype), home=kept)
    if fixed or value is None or not plain(value):
        return value
    tile = as_tile(value)
    return Tile(tile.data, tile.dtype, known=value if by_word else None)


def _placed(value: Any) -> tuple[Any, DType, bool] | None:
    """Values as stored, their type, and whether they are written; None for no array."""
    if isinstance(value, Empty):
        own = isinstance(value.dtype, DType)
        dtype = value.dtype if own else of_form(value.dtype.name)
        return np.zeros(value.shape, dtype.stored), dtype, False
    if isinstance(value, Formatted):
        return value.codes.copy(), value.dtype, True
    if isinstance(value, np.ndarray):
        dtype = of_numpy(value.dtype)
        if not in_one_piece(value):
            return value, dtype, True
        return np.array(value, dtype.stored, order="K"), dtype, True
    return None
