"""What is plain Python in a kernel: no lane has a value of its own there."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from .lane_arrays import LaneArray
from .mbarriers import Mbarrier
from .thread import Thread
from .values import Value


class Unset:
    """What a local name holds before anything is assigned to it."""

    def __init__(self, name: str) -> None:
        self.name = name


class Torn:
    """A name that holds a Python object on some path only."""

    def __init__(self, name: str, line: int) -> None:
        self.name, self.line = name, line


def is_plain(value: Any) -> bool:
    """Whether nothing in it differs by lane."""
    if isinstance(value, Value | LaneArray | Thread | Mbarrier | Unset | Torn):
        return False
    if isinstance(value, list | tuple):
        return all(is_plain(part) for part in value)
    return not (isinstance(value, dict) and not all(map(is_plain, value.values())))


_HARMLESS = (
    ast.Name,
    ast.Constant,
    ast.Compare,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Attribute,
    ast.expr_context,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
)
_HARMLESS_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)


def is_harmless(node: ast.expr) -> bool:
    """Whether lanes that do not need it may compute it as well."""
    for part in ast.walk(node):
        if isinstance(part, ast.BinOp):
            if not isinstance(part.op, _HARMLESS_OPERATORS):
                return False
        elif not isinstance(part, (*_HARMLESS, ast.operator)):
            return False
    return True


class Elses(ast.NodeTransformer):
    """A loop's ``else`` is an ``if`` behind it: no ``break`` of the loop was taken."""

    def _loop(self, node: Any) -> Any:
        self.generic_visit(node)
        if not node.orelse:
            return node
        name = f"the else of line {node.lineno}"
        node.body, after = _noted(node.body, name), node.orelse
        node.orelse = []
        test = ast.If(ast.Name(name, ast.Load()), after, [])
        found = [_told(name, True, node), node, ast.copy_location(test, node)]
        return [ast.fix_missing_locations(one) for one in found]

    visit_For = visit_While = _loop


def _told(name: str, value: bool, at: ast.stmt) -> ast.stmt:
    made = ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value))
    return ast.copy_location(made, at)


def _noted(statements: list[ast.stmt], name: str) -> list[ast.stmt]:
    """With a note before each ``break`` of the loop whose body it is."""
    found: list[ast.stmt] = []
    for one in statements:
        if isinstance(one, ast.If):
            one.body, one.orelse = _noted(one.body, name), _noted(one.orelse, name)
        found += [_told(name, False, one)] * isinstance(one, ast.Break) + [one]
    return found


def source_of(function: Any, what: str = "kernel") -> tuple[ast.FunctionDef, str]:
    """The definition of a Python function, lines numbered as in its file."""
    import textwrap

    try:
        lines, first = inspect.getsourcelines(function)
    except OSError:
        raise TypeError(
            f"{function.__name__}: its source is not at hand; define it in a file or "
            "cell"
        ) from None
    tree = Elses().visit(ast.parse(textwrap.dedent("".join(lines))))
    found = tree.body[0]
    if not isinstance(found, ast.FunctionDef):
        raise TypeError(f"{function.__name__}: write the {what} with def")
    ast.increment_lineno(tree, first - 1)
    return found, inspect.getsourcefile(function) or "<kernel>"
