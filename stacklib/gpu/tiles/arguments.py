"""Arguments of a program: arrays become pointers, numbers values, constexprs stay."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from stacklib.quantizers.inputs import unmasked

from ..simt.arguments import Empty
from .formats import codes, decoded
from .memory import Array, Memory
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


@dataclass(frozen=True, slots=True)
class View:
    """Where the elements of an argument lie."""

    home: Array
    at: int  # bytes from the start of its memory to the first element
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def values(self) -> Any:
        """Its elements, in its shape."""
        start = self.home.flat[self.at // self.home.dtype.itemsize :]
        return decoded(as_strided(start, self.shape, self.strides), self.home.dtype)


@dataclass(slots=True)
class Arguments:
    """What a program is called with."""

    tiles: dict[str, Any]
    meta: dict[str, Any]  # what the grid's function sees
    views: dict[str, View]

    def results(self) -> dict[str, Any]:
        """Arrays as they are now, by parameter."""
        return {name: view.values() for name, view in self.views.items()}


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
    found = {name: pythonic(own(value)) for name, value in given.arguments.items()}
    made = Arguments({}, dict(given.arguments), _views(found, memory))
    for name, value in found.items():
        fixed = "constexpr" in str(signature.parameters[name].annotation)
        by_word = name in words or name in asked_for
        view = made.views.get(name)
        if view is not None and fixed:
            raise TypeError(f"{name} is a tl.constexpr: an array is none")
        made.tiles[name] = _argument(value, view, fixed, by_word)
    return made


def _argument(value: Any, view: View | None, fixed: bool, by_word: bool) -> Any:
    """One argument as the program sees it."""
    if view is not None:
        start = np.array([view.home.base + view.at])
        return Tile(start, Pointer(view.home.dtype), home=view.home)
    if fixed or value is None or not plain(value):
        return value
    tile = as_tile(value)
    return Tile(tile.data, tile.dtype, known=value if by_word else None)


def _views(given: dict[str, Any], memory: Memory) -> dict[str, View]:
    """Arrays put into memory; those that overlap lie in one another, as they do."""
    seen: dict[int, Any] = {}
    placed: dict[str, tuple[Any, DType, bool]] = {}
    for name, value in given.items():
        found = seen.setdefault(id(value), _placed(value))
        if found is not None:
            placed[name] = found
            _check(name, found[0])
    views: dict[str, View] = {}
    for name in placed:
        if name not in views:
            views |= _together(_overlapping(name, placed), placed, memory)
    return views


def _check(name: str, values: Any) -> None:
    unmasked(values, name)
    if not values.size:
        raise TypeError(f"{name}: an array {values.shape} has no elements")
    if any(stride % values.itemsize for stride in values.strides):
        raise TypeError(
            f"{name}: an array {values.shape} with parts of elements between its own; "
            "give np.ascontiguousarray of it"
        )


def _first(values: Any) -> int:
    address: int = values.__array_interface__["data"][0]
    return address


def _ends(values: Any) -> tuple[int, int]:
    """Addresses of the first byte and behind the last."""
    steps = [(n - 1) * s for n, s in zip(values.shape, values.strides, strict=True)]
    low = _first(values) + sum(min(0, step) for step in steps)
    return low, low + sum(map(abs, steps)) + values.itemsize


def _overlapping(name: str, placed: dict[str, Any]) -> list[str]:
    """Names of arrays that share bytes with this one, or with those that do."""
    together, (low, high) = [name], _ends(placed[name][0])
    while True:
        more = [n for n in placed if n not in together]
        ends = {n: _ends(placed[n][0]) for n in more}
        more = [n for n, (first, last) in ends.items() if first < high and low < last]
        if not more:
            return together
        together += more
        low = min(low, *(ends[n][0] for n in more))
        high = max(high, *(ends[n][1] for n in more))


def _together(names: list[str], placed: Any, memory: Memory) -> dict[str, View]:
    """Arrays that share memory, in a copy of all of it."""
    values, dtype, written = placed[names[0]]
    for name in names[1:]:
        if placed[name][1] is not dtype:
            raise TypeError(
                f"{names[0]} and {name} share memory as {dtype} and "
                f"{placed[name][1]}: give a copy of one"
            )
    ends = [_ends(placed[name][0]) for name in names]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    lowest = next(placed[n][0] for n, e in zip(names, ends, strict=True) if e[0] == low)
    turned = [slice(None, None, -1 if s < 0 else 1) for s in lowest.strides]
    start = lowest[(*turned, np.newaxis)]
    size = values.itemsize
    flat = as_strided(start, ((high - low) // size,), (size,)).copy()
    home = memory.place(names[0], flat, dtype, written, low - _first(_owner(lowest)))
    return {
        name: View(home, _first(x) - low, x.shape, x.strides)
        for name, (x, *_) in ((name, placed[name]) for name in names)
    }


def _owner(values: Any) -> Any:
    """The array whose memory a view looks into."""
    while isinstance(values.base, np.ndarray):
        values = values.base
    return values


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
        return value.astype(dtype.stored, copy=False), dtype, True
    return None
