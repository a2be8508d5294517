"""A program's Python, rewritten where Triton reads it differently.

A number given to a name becomes a value of the program (``n = 5`` is an int32, not a
weak number; ``n: tl.constexpr = 5`` stays one); ``and``, ``or`` and ``not`` work by
element; ``min``, ``max`` and ``range`` take tiles. Everything else is Python, and every
error points at the line the reader wrote. A program may be the function itself, or one
behind Triton's ``jit``: names that mean ``triton.language`` mean this module then.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Callable
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

from ..lang.plain import source_of as definition_of
from .arithmetic import logical_and, logical_or, truth
from .functions import maximum, minimum
from .machine import error
from .shapes import wrap
from .tile import Tile, as_tile, known, plain, pythonic
from .types import BY_NAME, int1, int32

WORDS = "_tiles"  # the name under which a program finds what it was rewritten to
OWN = ("stacklib", "numpy", "triton")


class Jit:
    """A function that programs may call; ``jit`` makes one."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.fn = function
        self.built: Callable[..., Any] | None = None  # for as long as a launch
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.built = self.built or built(self.fn)
        return self.built(*args, **kwargs)


def jit(function: Callable[..., Any]) -> Jit:
    """Mark a program or a function that programs call, as ``triton.jit`` does.

    Plain functions work too; the decorator lets one text serve both.
    """
    return Jit(function)


def source_of(program: Any) -> FunctionType:
    """The Python function of a program, whatever it stands behind."""
    inner = program
    while not inspect.isfunction(inner) and hasattr(inner, "fn"):
        inner = inner.fn  # Triton's jit and autotune keep it there
    if not inspect.isfunction(inner):
        raise TypeError(f"program = {program!r}: a Python function is needed")
    return inner


def built(function: Any) -> Callable[..., Any]:
    """The function as it runs here, its names as they are now."""
    plain_function = source_of(function)
    code = _code(plain_function)
    outer = plain_function.__globals__
    outer = outer | dict(inspect.getclosurevars(plain_function).nonlocals)
    ours = {WORDS: WORD_LIST, "range": turns, "min": least, "max": most}
    outer = ours | {name: own(value) for name, value in outer.items()}
    made = FunctionType(code, outer, plain_function.__name__)
    made.__defaults__ = tuple(map(own, plain_function.__defaults__ or ()))
    words = plain_function.__kwdefaults__ or {}
    made.__kwdefaults__ = {name: own(value) for name, value in words.items()}
    return made


def own(value: Any) -> Any:
    """What a name, or a default, of a program means here."""
    kind = type(value)
    if kind.__module__ == "triton.language.core" and hasattr(value, "value"):
        return own(value.value)  # a constexpr of Triton's
    if isinstance(value, ModuleType):
        return _library(value.__name__) or value
    if kind.__module__ == "triton.language.core" and kind.__name__ == "dtype":
        return BY_NAME.get(value.name, value)
    library = _library(getattr(value, "__module__", None) or "")
    if library is not None and callable(value):
        return getattr(library, getattr(value, "__name__", ""), value)
    helper = inspect.isfunction(value) and value.__module__.split(".")[0] not in OWN
    behind = type(value).__module__.split(".")[0] == "triton" and hasattr(value, "fn")
    found = helper or behind or isinstance(value, Jit)
    return Jit(source_of(value)) if found else value


def _library(module: str) -> Any:
    """What stands here for a module of Triton's language."""
    if not module.startswith("triton.language"):
        return None
    if module.endswith("libdevice"):
        from .device_functions.libdevice import libdevice

        return libdevice
    import importlib

    tiles = importlib.import_module(__package__)
    return tiles.extra if module.endswith("extra") else tiles


@cache
def _code(function: FunctionType) -> CodeType:
    found, _ = definition_of(function, "program")
    found.decorator_list = []
    # Theirs are put in when the function is built.
    found.args.defaults = [ast.Constant(None) for _ in found.args.defaults]
    found.args.kw_defaults = [d and ast.Constant(None) for d in found.args.kw_defaults]
    for arg in (*found.args.args, *found.args.kwonlyargs, *found.args.posonlyargs):
        arg.annotation = None
    found.returns = None
    _Rewriter(function.__name__).visit(found)
    module = ast.fix_missing_locations(ast.Module([found], []))
    names: dict[str, Any] = {}
    exec(compile(module, function.__code__.co_filename, "exec"), names)
    code: CodeType = names[found.name].__code__
    return code


def _ask(word: str, *args: ast.expr) -> ast.Call:
    name = ast.Name(WORDS, ast.Load())
    return ast.Call(ast.Attribute(name, word, ast.Load()), list(args), [])


def _later(value: ast.expr) -> ast.Lambda:
    none = ast.arguments([], [], None, [], [], None, [])
    return ast.Lambda(none, value)


class _Rewriter(ast.NodeTransformer):
    """What a program says, in the words of `Words`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        node.value = _ask("value", node.value)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        fixed = "constexpr" in ast.unparse(node.annotation)
        value = _ask("fixed" if fixed else "value", node.value)
        return ast.copy_location(ast.Assign([node.target], value), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name):
            return node
        now = ast.Name(node.target.id, ast.Load())
        value = _ask("value", ast.BinOp(now, node.op, node.value))
        return ast.copy_location(ast.Assign([node.target], value), node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        word = "both" if isinstance(node.op, ast.And) else "either"
        found = node.values[0]
        for value in node.values[1:]:
            found = _ask(word, found, _later(value))
        return ast.copy_location(found, node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            return ast.copy_location(_ask("no", node.operand), node)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) > 1:
            raise TypeError(
                f"{self.name}, line {node.lineno}: `{ast.unparse(node)}` compares "
                "twice; Triton wants (a < b) & (b < c)"
            )
        return node


class Words:
    """What rewritten programs call."""

    @staticmethod
    def value(x: Any) -> Any:
        """What an assignment gives: plain numbers become values of the program."""
        if isinstance(x, tuple):
            return tuple(map(Words.value, x))
        x = pythonic(x)
        return as_tile(x) if plain(x) else x

    @staticmethod
    def fixed(x: Any) -> Any:
        """What an assignment to a constexpr gives."""
        return x.known if isinstance(x, Tile) and x.known is not None else x

    @staticmethod
    def both(a: Any, b: Callable[[], Any]) -> Any:
        """``a and b``."""
        return logical_and(a, b()) if isinstance(a, Tile) else a and b()

    @staticmethod
    def either(a: Any, b: Callable[[], Any]) -> Any:
        """``a or b``."""
        return logical_or(a, b()) if isinstance(a, Tile) else a or b()

    @staticmethod
    def no(a: Any) -> Any:
        """``not a``."""
        if not isinstance(a, Tile):
            return not a
        yes = truth(a)
        return Tile(~yes.data, int1, yes.op)


WORD_LIST = Words()


def turns(*bounds: Any, **words: Any) -> Any:
    """``range`` and ``tl.range`` of a program: each turn's number is an int32."""
    ends = [_end(b) for b in bounds]
    if not 1 <= len(ends) <= 3:
        raise error(f"range of {len(ends)} numbers: one to three")
    for n in builtins.range(*ends):
        yield wrap(n, (), int32)
    del words  # num_stages and its like are hints


def _end(x: Any) -> int:
    x = pythonic(x)
    if not isinstance(x, Tile | int):
        raise error(f"range up to {x!r}: whole numbers are needed")
    return x.__index__()


def static_range(*bounds: Any) -> Any:
    """Turns whose number is known before the program runs."""
    return builtins.range(*(known(b, "an end of tl.static_range") for b in bounds))


def least(*values: Any) -> Any:
    """``min`` of a program."""
    return _folded(builtins.min, minimum, values)


def most(*values: Any) -> Any:
    """``max`` of a program."""
    return _folded(builtins.max, maximum, values)


def _folded(plainly: Any, by_element: Any, values: tuple[Any, ...]) -> Any:
    if not any(isinstance(v, Tile) for v in values):
        return plainly(*values)
    found = values[0]
    for value in values[1:]:
        found = by_element(found, value)
    return found
