"""From a kernel and its launch to a program."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ..lang.builder import Builder
from ..lang.compiler import Compiler
from ..lang.frames import Frame, all_assigned, cells_of
from ..lang.own_arrays import Spilled
from ..lang.plain import Unset, source_of
from ..lang.state import State
from ..lang.thread import Dim
from ..vm.program import ArrayUse, Place, Program
from .context import MEMBERS, KernelThread
from .intrinsics import intrinsics


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
    place: Place,
) -> Program:
    """The program of a kernel for these sizes, arguments and device.

    ``args``: numbers as they are, arrays as ``ArrayUse``.
    """
    parsed = source_of(kernel)
    spilled: set[Any] = set()
    while True:
        try:
            return _attempt(kernel, parsed, grid, block, args, place, spilled)
        except Spilled as found:
            spilled.add(found.key)


def _attempt(
    kernel: Callable[..., None],
    parsed: tuple[ast.FunctionDef, str],
    grid: Dim,
    block: Dim,
    args: Sequence[Any],
    place: Place,
    spilled: set[Any],
) -> Program:
    """The program, if no other array of a thread turns out to need memory."""
    names, (node, file) = parameters(kernel), parsed
    frame = Frame({}, None, kernel.__globals__, cells_of(kernel), node)
    of = State(Builder(kernel.__name__, file), frame, place, spilled, MEMBERS)
    of.build.line = node.lineno
    compiler = Compiler(of)
    compiler.expr.intrinsics = intrinsics(of, compiler.expr.operators)
    thread = KernelThread(of, grid, block, place)
    given = [of.array(a) if isinstance(a, ArrayUse) else a for a in args]
    local = all_assigned(node) - set(names)
    frame.names.update({n: Unset(n) for n in sorted(local)})
    frame.names.update(zip(names, [thread, *given], strict=True))
    compiler.body(node.body)
    made = of.build.program()
    made.names, made.cluster = of.names, place.cluster
    return made
