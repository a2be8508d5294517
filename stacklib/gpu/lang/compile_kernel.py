"""From a kernel and its launch to a program."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from .builder import Builder
from .compiler import Compiler
from .context import MEMBERS, Dim, KernelThread, intrinsics
from .expressions import Unset, source_of
from .frames import Frame, all_assigned, cells_of
from .program import ArrayUse, Program


def parameters(kernel: Callable[..., None]) -> list[str]:
    """Names of a kernel's parameters; the first is the thread's context."""
    if not inspect.isfunction(kernel):
        raise TypeError(f"kernel = {kernel!r}: a Python function is needed")
    # The source found would be that of the function inside.
    if hasattr(kernel, "__wrapped__"):
        raise TypeError(f"{kernel.__name__} is behind a decorator: launch it without")
    found = inspect.signature(kernel).parameters
    for name, one in found.items():
        if one.kind is not one.POSITIONAL_OR_KEYWORD:
            raise TypeError(f"{kernel.__name__}: write {name!r} without *, ** or /")
    if not found:
        raise TypeError(f"{kernel.__name__}() needs a parameter for its thread")
    return list(found)


def compiled(
    kernel: Callable[..., None],
    grid: Dim,
    block: Dim,
    args: Sequence[Any],
    limit: int,
    dynamic: int,
) -> Program:
    """The program of a kernel for these sizes and arguments.

    ``args``: numbers as they are, arrays as ``ArrayUse``. ``limit``: bytes of shared
    memory that a block may have. ``dynamic``: those that the launch gives.
    """
    names = parameters(kernel)
    node, file = source_of(kernel)
    frame = Frame({}, None, kernel.__globals__, cells_of(kernel), node)
    of = Compiler(Builder(kernel.__name__, file), frame)
    of.build.line = node.lineno
    of.members, of.intrinsics = MEMBERS, intrinsics(of)
    thread = KernelThread(of, grid, block, limit, dynamic)
    given = [of.array(a) if isinstance(a, ArrayUse) else a for a in args]
    local = all_assigned(node) - set(names)
    frame.names.update({n: Unset(n) for n in sorted(local)})
    frame.names.update(zip(names, [thread, *given], strict=True))
    of.body(node.body)
    made = of.build.program()
    made.names = of.names
    return made
