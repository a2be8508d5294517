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
    tree = ast.parse(textwrap.dedent("".join(lines)))
    found = tree.body[0]
    if not isinstance(found, ast.FunctionDef):
        raise TypeError(f"{function.__name__}: write the {what} with def")
    ast.increment_lineno(tree, first - 1)
    return found, inspect.getsourcefile(function) or "<kernel>"
