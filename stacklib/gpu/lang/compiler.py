"""A kernel's Python, compiled so that control flow follows the lanes.

What is plain Python (numbers, lists, helper functions, the number of rounds of a loop)
is worked out while compiling, as a template of C++ is; what differs by lane becomes
instructions. ``if i < n:`` runs both sides, each with the lanes that take it, and they
meet again behind it. A name that lanes set on different paths gets a register of its
own, its *home*; every line that sets it writes there, under the mask.

``and`` and ``or`` give yes or no, as ``&&`` and ``||`` do; ``//`` and ``%`` round down,
as Python does and CUDA does not.
"""

from __future__ import annotations

import ast

from .builder import KernelError, Value
from .calls import Calls
from .frames import MOST_ROWS, Closure, Frame


class Compiler(Calls):
    """Compiles one kernel for one launch."""

    def body(self, statements: list[ast.stmt]) -> str:
        """Compile statements; ``break``, ... where the rest is never reached."""
        for statement in statements:
            self.build.line = statement.lineno
            if len(self.build.rows) > MOST_ROWS:
                raise self.error(
                    f"more than {MOST_ROWS:,} instructions; lists of registers force "
                    "a loop to stand round by round, use t.local or fewer rounds"
                )
            method = getattr(self, f"_{type(statement).__name__}", None)
            if method is None:
                word = type(statement).__name__
                raise self.error(f"{word} has no meaning in a kernel")
            said = method(statement)
            if said:
                return str(said)
        return ""

    def _Pass(self, node: ast.Pass) -> None:
        """Nothing."""

    def _Global(self, node: ast.stmt) -> None:
        raise self.error("a kernel sets no name outside itself")

    def _Assert(self, node: ast.Assert) -> None:
        test = self.expr.test(node.test)
        if isinstance(test, Value):
            raise self.error("assert cannot stop single lanes; test the result")
        if not test:
            raise self.error("the assertion does not hold")

    def _Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        self.expr(node.value)

    def _FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.decorator_list:
            raise self.error(f"{node.name}: a decorator has no meaning in a kernel")
        made = Closure(node, self.frame, self.build.file, node.name)
        self.assign(node.name, made)

    def _Assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        value = self.expr(node.value)
        if len(node.targets) > 1:
            value = self.expr.own(value)
            for one in node.targets:
                self.bind(one, value)
            return
        self.bind(target, value)

    def _AugAssign(self, node: ast.AugAssign) -> None:
        """``x += v`` is ``x = x + v``."""
        target = node.target
        product = (
            "right"
            if isinstance(node.value, ast.BinOp) and isinstance(node.value.op, ast.Mult)
            else ""
        )
        if isinstance(target, ast.Name):
            old = self.expr.read(target.id)
            value = self.expr(node.value)
            if isinstance(old, list) and isinstance(node.op, ast.Add):
                self.may_change(old, "+=")
                old += [self.expr.own(one) for one in self.iterated(value)]
                return
            new = self.expr.binary(type(node.op), old, value, product)
            self.assign(target.id, new)
        elif isinstance(target, ast.Subscript):
            owner, index = self.expr(target.value), self.expr(target.slice)
            old = self.expr.kept(self.expr.element(owner, index), node.value)
            value = self.expr(node.value)
            new = self.expr.binary(type(node.op), old, value, product)
            self.set_element(owner, index, new)
        else:
            raise self.error("assign to a name or to an element of an array")

    def _AnnAssign(self, node: ast.AnnAssign) -> None:
        """As without the annotation."""
        if node.value is not None:
            self.bind(node.target, self.expr(node.value))


__all__ = ["Compiler", "Frame", "KernelError"]
