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

from stacklib.memory.warp._fast import compiled, is_cold, once, slowly

__all__ = ["apart", "entry", "inner", "is_cold", "plainly"]

HERE = Path(__file__).parent
# No part keeps an array: counting references to them would take half the time.
OPTIONS = {"error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False}


def entry(function: Callable[..., Any]) -> Any:
    """A loop that Python calls; what it is compiled to is kept for other processes."""
    if not compiled():
        return slowly(function)
    import numba

    made = once(numba.njit(cache=True, **OPTIONS)(function))
    # Kept as long as nothing that it calls has changed, in whatever file.
    made._cache._cache_file._source_stamp = _sources()
    return made


def inner(function: Callable[..., Any]) -> Any:
    """A part of a loop, copied to where it is called."""
    return _numba().Inner(function, OPTIONS) if compiled() else function


def apart(function: Callable[..., Any]) -> Any:
    """A part of a loop that stays a function of its own."""
    return _numba().Apart(function, OPTIONS) if compiled() else function


def plainly(loop: Any) -> Callable[..., Any]:
    """A loop and all that it calls as Python runs them."""
    return _plain(loop) if compiled() else loop


@cache
def _plain(part: Any) -> Callable[..., Any]:
    source = part.py_func
    space = dict(source.__globals__)
    for name in source.__code__.co_names:
        if hasattr(space.get(name), "py_func"):
            space[name] = _plain(space[name])
    return FunctionType(source.__code__, space, source.__name__)


@cache
def _sources() -> tuple[tuple[str, int, float], ...]:
    files = HERE.glob("*.py")
    stats = ((path.name, path.stat()) for path in sorted(files))
    return tuple((name, s.st_size, s.st_mtime) for name, s in stats)


@cache
def _numba() -> Any:
    from . import _numba_parts

    return _numba_parts
