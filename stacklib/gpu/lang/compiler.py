"""A kernel's Python, compiled so that control flow follows the lanes.

What is plain Python (numbers, lists, helper functions, the number of rounds of a loop)
is worked out while compiling, as a template of C++ is; what differs by lane becomes
instructions. ``if i < n:`` runs both sides, each with the lanes that take it, and they
meet again behind it. A name that lanes set on different paths gets a register of its
own, its *home*; every line that sets it writes there, under the mask.

``and`` and ``or`` give one of their sides, ``//`` and ``%`` round down: as Python does
and CUDA does not.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from .branches import Branches
from .builder import Value
from .calls import Calls
from .expressions import Expressions
from .frames import MOST_ROWS
from .homes import Homes
from .loops import Loops, Turn
from .state import State


class Compiler:
    """Compiles one kernel for one launch: each statement by the part that knows it."""

    def __init__(self, of: State) -> None:
        self.of, self.homes = of, Homes(of)
        self.expr = expr = Expressions(of, self.homes)
        branches = Branches(of, self.homes, expr, self.body)
        loops = Loops(of, self.homes, expr, self.body)
        expr.calls = Calls(of, self.homes, expr, self.body)
        self.parts: dict[type, Callable[[Any], str | None]] = {
            ast.If: branches.parted,
            ast.Break: branches.leave,
            ast.Continue: branches.skip,
            ast.While: loops.while_true,
            ast.For: loops.for_each,
            Turn: loops.turn,
            ast.Return: expr.calls.returned,
            ast.Assign: self._assign,
            ast.AugAssign: self._change,
            ast.AnnAssign: self._annotated,
            ast.Expr: self._expression,
            ast.FunctionDef: self._function,
            ast.Assert: self._sure,
            ast.Global: self._outside,
            ast.Pass: lambda _: None,
        }

    def body(self, statements: list[ast.stmt]) -> str:
        """Compile statements; ``break``, ... where the rest is never reached."""
        build = self.of.build
        for statement in statements:
            build.line = statement.lineno
            if len(build.rows) > MOST_ROWS:
                raise build.error(
                    f"more than {MOST_ROWS:,} instructions; lists of registers force "
                    "a loop to stand round by round, use t.local or fewer rounds"
                )
            kind = type(statement)
            if kind not in self.parts:
                raise build.error(f"{kind.__name__} has no meaning in a kernel")
            if said := self.parts[kind](statement):
                return said
        return ""

    def _outside(self, node: ast.stmt) -> None:
        raise self.of.error("a kernel sets no name outside itself")

    def _sure(self, node: ast.Assert) -> None:
        test = self.expr.test(node.test)
        if isinstance(test, Value):
            raise self.of.error("assert cannot stop single lanes; test the result")
        if not test:
            raise self.of.error("the assertion does not hold")

    def _expression(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.expr(node.value)

    def _function(self, node: ast.FunctionDef) -> None:
        if node.decorator_list:
            raise self.of.error(f"{node.name}: a decorator has no meaning in a kernel")
        self.homes.assign(node.name, self.expr.function(node))

    def _assign(self, node: ast.Assign) -> None:
        value = self.expr(node.value)
        if len(node.targets) > 1:
            value = self.of.own(value)
        for one in node.targets:
            self.expr.bind(one, value)

    def _change(self, node: ast.AugAssign) -> None:
        """``x += v`` is ``x = x + v``."""
        target, op = node.target, type(node.op)
        multiplied = isinstance(node.value, ast.BinOp) and isinstance(
            node.value.op, ast.Mult
        )
        product = "right" if multiplied else ""
        if isinstance(target, ast.Name):
            old = self.expr.read(target.id)
            value = self.expr(node.value)
            if isinstance(old, list) and op is ast.Add:
                self.homes.may_change(old, "+=")
                old += [self.of.own(one) for one in self.of.iterated(value)]
                return
            new = self.expr.operators.binary(op, old, value, product)
            self.homes.assign(target.id, new)
        elif isinstance(target, ast.Subscript):
            owner = self.expr(target.value)
            index = self.expr.place(target.slice, node.value)
            old = self.expr.kept(self.expr.element(owner, index), node.value)
            value = self.expr(node.value)
            new = self.expr.operators.binary(op, old, value, product)
            self.homes.set_element(owner, index, new)
        else:
            raise self.of.error("assign to a name or to an element of an array")

    def _annotated(self, node: ast.AnnAssign) -> None:
        """As without the annotation."""
        if node.value is not None:
            self.expr.bind(node.target, self.expr(node.value))
