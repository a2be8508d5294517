"""A kernel's Python, rewritten so that control flow follows the lanes.

``if i < n:`` cannot be decided once for thirty-two lanes. The rewritten kernel asks the
machine at every branch: it runs both sides, each with the lanes that take it, and joins
them where the paths meet again. What is written stays ordinary Python, and every error
points at the line the reader wrote.

Rewritten are ``if``, ``while``, ``for``, ``break``, ``continue``, ``return``,
assignments to names, ``and``, ``or``, ``not``, chained comparisons and
``a if c else b``. ``and`` and ``or`` give yes or no, as ``&&`` and ``||`` do; ``//``
and ``%`` round down, as Python does and CUDA does not.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from types import FunctionType
from typing import Any

MACHINE = "_machine"


class KernelError(Exception):
    """Something a kernel may not do; the message names lane, address and line."""


def rewritten(kernel: Callable[..., None]) -> Callable[..., None]:
    """The kernel as the machine runs it: one more parameter, the machine, in front."""
    parameters(kernel)
    try:
        lines, first = inspect.getsourcelines(kernel)
    except OSError:
        raise TypeError(
            f"{kernel.__name__}: its source is not at hand; define it in a file or cell"
        ) from None
    tree = ast.parse(textwrap.dedent("".join(lines)))
    found = tree.body[0]
    if not isinstance(found, ast.FunctionDef):
        raise TypeError(f"{kernel.__name__}: write the kernel with def")
    ast.increment_lineno(tree, first - 1)
    found.decorator_list = []
    free = inspect.getclosurevars(kernel)
    new = _Rewriter(kernel, found).function()
    module = ast.fix_missing_locations(ast.Module([new], []))
    code = compile(module, inspect.getsourcefile(kernel) or "<kernel>", "exec")
    names: dict[str, Any] = {}
    exec(code, names)
    outer = kernel.__globals__
    if free.nonlocals:
        outer = {**outer, **free.nonlocals}
    return FunctionType(names[found.name].__code__, outer, kernel.__name__)


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


def _name(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _ask(method: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(_name(MACHINE), method, ast.Load()), list(args), [])


def _delayed(value: ast.expr) -> ast.Lambda:
    empty = ast.arguments([], [], None, [], [], None, [])
    return ast.Lambda(empty, value)


class _Rewriter(ast.NodeTransformer):
    """Turns the statements of one kernel into questions to the machine."""

    def __init__(self, kernel: Callable[..., None], found: ast.FunctionDef) -> None:
        self.kernel, self.found = kernel, found
        self.count = 0
        self.loops: list[str] = []

    def function(self) -> ast.FunctionDef:
        """The whole kernel."""
        names = sorted(
            {
                n.id
                for n in ast.walk(self.found)
                if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
            }
            - {a.arg for a in self.found.args.args}
        )
        unset = [
            ast.Assign([ast.Name(name, ast.Store())], _ask("unset", ast.Constant(name)))
            for name in names
        ]
        body = [*unset, *self._body(self.found.body)]
        for node in unset:
            ast.copy_location(node, self.found)
        args = self.found.args
        args.args = [ast.arg(MACHINE), *args.args]
        args.defaults, args.kw_defaults = [], []
        return ast.copy_location(
            ast.FunctionDef(self.found.name, args, body, [], None), self.found
        )

    def _body(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for statement in statements:
            new = self.visit(statement)
            for part in new if isinstance(new, list) else [new]:
                made.append(
                    ast.fix_missing_locations(ast.copy_location(part, statement))
                )
        return made

    def _refuse(self, node: ast.AST, what: str) -> KernelError:
        return KernelError(
            f"{self.kernel.__name__}, line {getattr(node, 'lineno', 0)}: {what}"
        )

    def _fresh(self, word: str) -> str:
        self.count += 1
        return f"_{word}_{self.count}"

    # -- statements ----------------------------------------------------------

    def generic_visit(self, node: ast.AST) -> ast.AST:
        allowed = (
            ast.expr,
            ast.expr_context,
            ast.operator,
            ast.unaryop,
            ast.cmpop,
            ast.boolop,
            ast.keyword,
            ast.comprehension,
            ast.arguments,
            ast.arg,
            ast.Expr,
            ast.Pass,
            ast.Assert,
        )
        if not isinstance(node, allowed):
            raise self._refuse(
                node, f"{type(node).__name__} has no meaning in a kernel"
            )
        return super().generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        raise self._refuse(node, "assert cannot stop single lanes; test the result")

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        """Both sides, each with the lanes that take it."""
        branch = self._fresh("branch")
        test = self.visit(node.test)
        made: list[ast.stmt] = [
            ast.Assign([ast.Name(branch, ast.Store())], _ask("branch", test)),
            ast.If(_ask("then", _name(branch)), self._body(node.body), []),
        ]
        if node.orelse:
            other = self._body(node.orelse)
            made.append(ast.If(_ask("otherwise", _name(branch)), other, []))
        made.append(ast.Expr(_ask("join", _name(branch))))
        return made

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        """Until no lane of any warp goes round again."""
        if node.orelse:
            raise self._refuse(node, "while ... else has no meaning in a kernel")
        loop = self._fresh("loop")
        test = self.visit(node.test)
        self.loops.append(loop)
        leave = ast.If(
            ast.UnaryOp(ast.Not(), _ask("again", _name(loop), test)), [ast.Break()], []
        )
        head: list[ast.stmt] = [ast.Expr(_ask("head", _name(loop))), leave]
        body = head + self._body(node.body)
        self.loops.pop()
        return self._looped(loop, ast.While(ast.Constant(True), body, []))

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        """Over a range whose ends may differ by lane, or over any Python iterable."""
        if node.orelse or not isinstance(node.target, ast.Name):
            raise self._refuse(node, "write for NAME in ..., without else")
        loop = self._fresh("loop")
        over = node.iter
        if isinstance(over, ast.Call) and getattr(over.func, "id", "") == "range":
            over = _ask("range", _name(loop), *map(self.visit, over.args))
        else:
            over = self.visit(over)
        self.loops.append(loop)
        leave = ast.If(
            ast.UnaryOp(ast.Not(), _ask("step", _name(loop))), [ast.Break()], []
        )
        each = self._fresh("each")
        given = self._assigned(node.target, _name(each))
        body = [leave, *given, *self._body(node.body)]
        self.loops.pop()
        target = ast.Name(each, ast.Store())
        return self._looped(loop, ast.For(target, over, body, []))

    @staticmethod
    def _looped(loop: str, statement: ast.stmt) -> list[ast.stmt]:
        begin = ast.Assign([ast.Name(loop, ast.Store())], _ask("loop"))
        return [begin, statement, ast.Expr(_ask("done", _name(loop)))]

    def visit_Break(self, node: ast.Break) -> ast.stmt:
        """The lanes that are here leave the loop."""
        return ast.Expr(_ask("leave", _name(self.loops[-1])))

    def visit_Continue(self, node: ast.Continue) -> ast.stmt:
        """The lanes that are here wait for the next round."""
        return ast.Expr(_ask("skip", _name(self.loops[-1])))

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        """The lanes that are here are finished."""
        if node.value is not None:
            raise self._refuse(node, "a kernel returns nothing; store the result")
        return ast.Expr(_ask("exit"))

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        """Only the lanes that are here get the new value."""
        value = self.visit(node.value)
        if len(node.targets) > 1:
            raise self._refuse(node, "one target to an assignment")
        return self._assigned(node.targets[0], value)

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:
        """``x += v`` is ``x = x + v``."""
        target = node.target
        if isinstance(target, ast.Name):
            old: ast.expr = _name(target.id)
        elif isinstance(target, ast.Subscript):
            old = self.visit(ast.Subscript(target.value, target.slice, ast.Load()))
        else:
            raise self._refuse(node, "assign to a name or to an element of an array")
        return self._assigned(target, ast.BinOp(old, node.op, self.visit(node.value)))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> list[ast.stmt]:
        """As without the annotation."""
        if node.value is None:
            return [ast.Pass()]
        return self._assigned(node.target, self.visit(node.value))

    def _assigned(self, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        if isinstance(target, ast.Name):
            put = _ask("put", _name(target.id), value)
            return [ast.Assign([ast.Name(target.id, ast.Store())], put)]
        if isinstance(target, ast.Subscript):
            place = ast.Subscript(
                self.visit(target.value), self.visit(target.slice), ast.Store()
            )
            return [ast.Assign([place], value)]
        if isinstance(target, ast.Tuple):
            several = self._fresh("values")
            made: list[ast.stmt] = [ast.Assign([ast.Name(several, ast.Store())], value)]
            for at, part in enumerate(target.elts):
                one = ast.Subscript(_name(several), ast.Constant(at), ast.Load())
                made += self._assigned(part, one)
            return made
        raise self._refuse(target, "assign to a name or to an element of an array")

    # -- expressions ---------------------------------------------------------

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """The second is asked only of the lanes the first leaves open."""
        word = "both" if isinstance(node.op, ast.And) else "either"
        values = [_delayed(self.visit(value)) for value in node.values]
        return ast.copy_location(_ask(word, *values), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """``not`` of a condition is lane by lane."""
        if isinstance(node.op, ast.Not):
            return ast.copy_location(_ask("negate", self.visit(node.operand)), node)
        return ast.copy_location(ast.UnaryOp(node.op, self.visit(node.operand)), node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """``a <= b < c`` is ``a <= b and b < c``."""
        left, made = node.left, []
        for op, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(op, ast.In | ast.NotIn | ast.Is | ast.IsNot):
                raise self._refuse(node, "'in' and 'is' cannot be asked lane by lane")
            made.append(ast.Compare(self.visit(left), [op], [self.visit(right)]))
            left = right
        if len(made) == 1:
            return ast.copy_location(made[0], node)
        return ast.copy_location(_ask("both", *map(_delayed, made)), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        """Each side with the lanes that take it."""
        sides = [_delayed(self.visit(side)) for side in (node.body, node.orelse)]
        return ast.copy_location(_ask("choose", self.visit(node.test), *sides), node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        raise self._refuse(node, "lambda has no meaning in a kernel")

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        raise self._refuse(node, "':=' inside an expression; assign on its own line")

    def _never(self, node: ast.expr) -> ast.expr:
        raise self._refuse(node, "a kernel neither yields nor awaits")

    visit_Yield = visit_YieldFrom = visit_Await = _never
