"""Rounds of a loop over plain numbers alone, as Python runs them.

Nothing in them differs by lane, so nothing of them is left in the program: compiled
one after the other, three million take half a minute.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

NUMBERS = (int, float, bool)
WORST = 4_000_000  # rounds of a loop, before it is taken to hang
_SIMPLE = (
    *(ast.Assign, ast.AugAssign, ast.If, ast.For, ast.Pass, ast.Name, ast.Constant),
    *(ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Call),
    *(ast.operator, ast.unaryop, ast.cmpop, ast.expr_context),
)
_ROUNDS, _OVER = ".rounds", ".over"  # names that no kernel has


def is_simple(node: Any) -> bool:
    """Whether a loop does nothing but arithmetic on names."""
    parts = [part for one in node.body for part in ast.walk(one)]
    parts += ast.walk(node.test) if isinstance(node, ast.While) else [node.target]
    of_ranges = [p.iter for p in parts if isinstance(p, ast.For)]
    return all(
        isinstance(part, _SIMPLE)
        and not (isinstance(part, ast.For) and part.orelse)
        and (not isinstance(part, ast.Call) or _is_range(part, of_ranges))
        for part in parts
    )


def _is_range(call: ast.Call, of_loops: list[ast.expr]) -> bool:
    named = isinstance(call.func, ast.Name) and call.func.id == "range"
    return named and call in of_loops and not call.keywords


def counters_of(node: Any) -> set[str]:
    """Names that count rounds, of a loop and of those within it."""
    loops = [part for part in ast.walk(node) if isinstance(part, ast.For)]
    return {p.target.id for p in loops if isinstance(p.target, ast.Name)}


def after(
    node: Any, items: Iterable[Any] | None, find: Callable[[str], Any]
) -> dict[str, Any] | None:
    """Names and what they hold behind the rounds; None where not all are numbers.

    ``items``: what the counter is in each; None for ``while``.
    """
    named = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
    space = {}
    for name in {part.id for part in named}:
        with suppress(NameError):
            space[name] = find(name)
    if space.pop("range", range) is not range:
        return None
    space = {name: held for name, held in space.items() if type(held) in NUMBERS}
    sets = {part.id for part in named if isinstance(part.ctx, ast.Store)}
    body: list[ast.stmt] = list(node.body)
    ends: list[ast.stmt] = []
    target: Any = ast.Name(_OVER, ast.Store()) if items is None else node.target
    if items is None:
        body, items = [ast.If(node.test, body, [ast.Break()])], range(WORST)
        ends = [ast.Raise(ast.Name(_ROUNDS, ast.Load()))]  # not over: a TypeError
    rounds = ast.For(target, ast.Name(_ROUNDS, ast.Load()), body, ends)
    module = ast.fix_missing_locations(ast.Module([rounds], []))
    space[_ROUNDS] = items
    try:
        known = {"__builtins__": {"range": range}}
        exec(compile(module, "<rounds>", "exec"), known, space)
    except (ArithmeticError, NameError, TypeError, ValueError):
        return None  # the compiler says at which line
    left = {name: space[name] for name in sets if name in space}
    if any(type(held) not in NUMBERS for held in left.values()):
        return None
    return left
