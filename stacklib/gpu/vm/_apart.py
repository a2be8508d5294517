"""Functions that numba compiles once, into the loop that calls them.

The machine's loop calls dozens of functions. Copied into it, they would make one whose
compiling takes two minutes; each made ready to be called by itself, as numba does, all
would be optimised again at every level above. Here they are translated, linked below
the loop, and turned into machine code with it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

from stacklib.memory.warp._fast import compiled, once, slowly

__all__ = ["apart", "entry", "inner"]

HERE = Path(__file__).parent
# No part keeps an array: counting references to them would take half the time.
OPTIONS = {"error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False}
_parts: dict[Any, str] = {}  # what numba makes of a part


def inner(function: Callable[..., Any]) -> Any:
    """A part of a loop, copied to where it is called."""
    _parts[function] = "Inner"
    return function


def apart(function: Callable[..., Any]) -> Any:
    """A part of a loop that stays a function of its own."""
    _parts[function] = "Apart"
    return function


@cache
def entry(function: Callable[..., Any]) -> Any:
    """A loop that Python calls, with its parts; kept for other processes.

    Numba is imported here and not with the parts: few steps are done before it is.
    """
    if not compiled():
        return slowly(function)
    made = once(_linked(function), **OPTIONS)
    if hasattr(made._cache, "_cache_file"):
        # Kept as long as nothing that it calls has changed, in whatever file.
        made._cache._cache_file._source_stamp = _sources()
    return made


def _linked(function: Callable[..., Any]) -> Any:
    """A function that calls what numba makes of parts, where it calls parts."""
    space = dict(function.__globals__)
    for name in function.__code__.co_names:
        if isinstance(space.get(name), FunctionType) and space[name] in _parts:
            space[name] = _part(space[name])
    return FunctionType(function.__code__, space, function.__name__)


@cache
def _part(function: Callable[..., Any]) -> Any:
    return getattr(_numba(), _parts[function])(_linked(function), OPTIONS)


@cache
def _sources() -> tuple[tuple[str, int, float], ...]:
    files = HERE.glob("*.py")
    stats = ((path.name, path.stat()) for path in sorted(files))
    return tuple((name, s.st_size, s.st_mtime) for name, s in stats)


@cache
def _numba() -> Any:
    from . import _numba_parts

    return _numba_parts
