"""A kernel that is launched again is not compiled again.

A program depends on the kernel, the launch, the shapes, the numbers, and on every name
from around the kernel that it has read. A program is used again where all of those are
what they were, and are of kinds that nobody can change in place.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from ..lang import frames
from ..vm.program import ArrayUse, Program
from .compile_kernel import compiled

MOST = 64  # programs that are kept
FIXED = (int, float, str, bytes, type(None), FunctionType, BuiltinFunctionType)
LIBRARIES = ("builtins", "math", "ml_dtypes", "numpy")  # whose names do not change
_kept: OrderedDict[Any, Made] = OrderedDict()


@dataclass(frozen=True, slots=True)
class Made:
    """A program, its arrays among the arguments, and what it has read."""

    program: Program
    given: tuple[ArrayUse | None, ...]
    read: tuple[tuple[Any, str, Any, Any], ...]

    def holds(self) -> bool:
        """Whether every name still stands for what it did."""
        for place, name, value, code in self.read:
            now = place.get(name) if isinstance(place, dict) else contents(place)
            if now is not value or getattr(now, "__code__", None) is not code:
                return False
        return True

    def with_arrays(self, args: Sequence[Any]) -> Program:
        """The program on other arrays of the same shapes."""
        mine = {id(old): new for old, new in zip(self.given, args, strict=True)}
        arrays = []
        for old in self.program.arrays:
            new = mine.get(id(old))
            if new is None:
                arrays.append(replace(old))
            else:
                arrays.append(replace(old, values=new.values, home=new.home))
        return replace(self.program, arrays=arrays)


def contents(cell: Any) -> Any:
    """What a cell of a closure holds; None for nothing."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def fixed(value: Any) -> bool:
    """Whether a value cannot be changed in place."""
    if isinstance(value, tuple | frozenset):
        return all(map(fixed, value))
    if isinstance(value, ModuleType | type):
        home = value.__name__ if isinstance(value, ModuleType) else value.__module__
        return home.partition(".")[0] in LIBRARIES
    number = hasattr(value, "dtype") and getattr(value, "shape", None) == ()
    return isinstance(value, FIXED) or number


def told(value: Any) -> Any:
    """What of an argument a program depends on."""
    if isinstance(value, ArrayUse):
        given = value.values is None, value.home is None
        return value.name, value.space, value.form.code, value.shape, *given
    return type(value), repr(value)


def compiled_once(
    kernel: Callable[..., None], grid: Any, block: Any, args: Sequence[Any], *rest: Any
) -> Program:
    """As `compiled`, or the program that it gave before."""
    if not isinstance(kernel, FunctionType):
        return compiled(kernel, grid, block, args, *rest)
    given, code = tuple(map(told, args)), kernel.__code__
    key = (code, kernel, repr(grid), repr(block), given, repr(rest))
    made = _kept.get(key)
    if made is not None and made.holds():
        with suppress(KeyError):  # another thread may have put it out
            _kept.move_to_end(key)
        return made.with_arrays(args)
    with frames.watched() as read:
        program = compiled(kernel, grid, block, args, *rest)
    uses = tuple(a if isinstance(a, ArrayUse) else None for a in args)
    if all(fixed(value) for _, _, value in read):
        noted = tuple((*one, getattr(one[2], "__code__", None)) for one in read)
        empty = [replace(use, values=None, home=None) for use in program.arrays]
        places = {id(old): new for old, new in zip(program.arrays, empty, strict=True)}
        bare = tuple(places.get(id(use)) if use is not None else None for use in uses)
        _kept[key] = Made(replace(program, arrays=empty), bare, noted)
        if len(_kept) > MOST:
            _kept.popitem(last=False)
    return program
