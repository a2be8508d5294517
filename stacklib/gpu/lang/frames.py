"""Functions, branches and loops of a kernel, and what their text tells of names."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ..vm.formats import of_constant
from ..vm.program import Label
from .builder import Value

TOGETHER, SHORT = 4, 256  # rounds at once, of a body of at most so many rows
MOST_ROWS = 400_000  # of a program
Body = Callable[[list[ast.stmt]], str]  # compiles statements; says what ended them


class NeedsUnrolling(Exception):
    """A rolled loop's counter was used where only a plain number can be."""


class Diverges(Exception):
    """A helper function returns where only some lanes are."""

    def __init__(self, frame: Frame) -> None:
        super().__init__()
        self.frame = frame


class TooLong(Exception):
    """A loop that would take too many instructions round by round."""

    def __init__(self, rows: list[Any] | None = None) -> None:
        super().__init__()
        self.rows = rows or []

    def together(self) -> int:
        """Rounds that stand in the loop one after the other, as a compiler has them."""
        waits = any(row.op in ("BARRIER", "GRID_BARRIER", "EXIT") for row in self.rows)
        return 1 if waits or len(self.rows) > SHORT else TOGETHER


Noted = list[tuple[Any, str, Any]]  # names from around a kernel: where, what
_read: ContextVar[Noted] = ContextVar("read")  # each thread's own


@contextmanager
def watched() -> Iterator[Noted]:
    """What a compilation reads from around its kernel."""
    found: Noted = []
    token = _read.set(found)
    try:
        yield found
    finally:
        _read.reset(token)


@dataclass(slots=True)
class Frame:
    """A function that is being compiled: its names, and those around it."""

    names: dict[str, Any]
    outer: Frame | None  # of a definition inside the kernel
    globals: dict[str, Any]
    cells: dict[str, Any]
    tree: Any = None  # its definition
    depth: int = 0  # branches and loops around it
    result: Any = None  # what a helper returns, set by its first return
    construct: Construct | None = None  # of a helper that returns on some lanes

    def find(self, name: str) -> Any:
        """What a name stands for."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.names:
                return frame.names[name]
            frame = frame.outer
        if name in self.cells:
            return self.cells[name]
        for place in (self.globals, vars(builtins)):
            _read.get([]).append((place, name, place.get(name)))
            if name in place:
                return place[name]
        raise NameError(name)


@dataclass(eq=False, slots=True)
class Construct:
    """A branch or a loop: the homes that are set inside, found by compiling it."""

    kind: str  # if, loop or call
    end: Label
    forms: dict[Any, Any]  # of homes, as far as known
    carried: dict[Any, Any]  # elements of lists that need homes
    changed: bool = False
    rolled: bool = False
    leave: Label | None = None  # where lanes that skip a round wait
    here: Label | None = None  # where a warp goes on when no lane is left
    fixed: bool = False  # compiled once: nothing outside may be set in it
    skips: bool = False  # whether lanes wait for the next round
    row: Any = None  # the first of a rolled loop
    # Names that held something else than a number when the loop began.
    objects: set[Any] = field(default_factory=set)
    level: int = 0  # of the region of its body
    # Of a rolled loop: what the round that is compiled bound anew or reshaped so far.
    bound: dict[Any, tuple[Any, str, Any]] = field(default_factory=dict)
    shapes: dict[int, tuple[Any, Any, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rounds:
    """What a counter is in the rounds of a loop with plain ends."""

    start: int
    step: int
    told: bool  # whether a remainder of it is a plain number


@dataclass(slots=True)
class Closure:
    """A function defined inside the kernel."""

    node: ast.FunctionDef
    frame: Frame
    file: str
    defaults: tuple[Any, ...]  # as they were where it was defined
    run: Callable[..., Any]  # compiles it in
    __name__: str = ""

    def __call__(self, *args: Any, **named: Any) -> Any:
        """As ``map`` and ``sorted`` call what is handed to them."""
        return self.run(self, list(args), named)


def of_form(value: Any) -> Any:
    """The format of a number or a value of lanes; None for anything else."""
    return value.form if isinstance(value, Value) else of_constant(value)


def cells_of(function: Any) -> dict[str, Any]:
    """Names that a function holds from around it."""
    names = function.__code__.co_freevars
    found = {}
    for name, cell in zip(names, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
            _read.get([]).append((cell, name, cell.cell_contents))
        except ValueError:
            continue
    return found


def assigned(statements: list[Any]) -> set[str]:
    """Names that statements set, those of functions defined inside left out."""
    found: set[str] = set()
    for statement in statements:
        if isinstance(statement, ast.FunctionDef):
            found.add(statement.name)
            continue
        if isinstance(statement, ast.Name) and isinstance(statement.ctx, ast.Store):
            found.add(statement.id)
        if isinstance(statement, ast.For):  # its counter is plain where it can be
            plain = isinstance(statement.target, ast.Name)
            found |= assigned([] if plain else [statement.target])
            found |= assigned(statement.body)
        elif not isinstance(statement, ast.ListComp | ast.GeneratorExp | ast.Lambda):
            found |= assigned(list(ast.iter_child_nodes(statement)))
    return found


@lru_cache(1 << 12)  # asked in every round that is compiled
def may_set(expression: ast.expr) -> bool:
    """Whether what it computes may give a name another value."""
    sets = ast.Call | ast.NamedExpr
    return any(isinstance(part, sets) for part in ast.walk(expression))


@lru_cache(1 << 12)
def private(function: ast.FunctionDef | None, name: str) -> bool:
    """Whether a loop's counter is read only in the rounds of loops that count it.

    Such a name is set before every read of it, whatever it held before.
    """
    if function is None:
        return False
    loops = [
        loop
        for loop in ast.walk(function)
        if isinstance(loop, ast.For)
        and isinstance(loop.target, ast.Name)
        and loop.target.id == name
    ]
    targets = {id(loop.target) for loop in loops}
    bodies = [n for loop in loops for part in loop.body for n in ast.walk(part)]
    inside = {id(n) for n in bodies}
    return not (targets & inside) and all(
        id(n) in (inside if isinstance(n.ctx, ast.Load) else targets)
        for n in ast.walk(function)
        if isinstance(n, ast.Name) and n.id == name
    )


def all_assigned(function: ast.FunctionDef) -> set[str]:
    """Local names of a function: all that it sets, counters of loops too."""
    counters = {
        n.id
        for loop in ast.walk(function)
        if isinstance(loop, ast.For)
        for n in ast.walk(loop.target)
        if isinstance(n, ast.Name)
    }
    return assigned(function.body) | counters


def has_jump(parts: Iterable[Any]) -> bool:
    """Whether lanes may leave these rounds early: ``break``, ``continue``."""
    return any(
        isinstance(part, ast.Break | ast.Continue)
        or (
            not isinstance(part, ast.expr | ast.FunctionDef | ast.For | ast.While)
            and has_jump(ast.iter_child_nodes(part))
        )
        for part in parts
    )


def has_barrier(statement: ast.stmt) -> bool:
    """Whether threads of a block meet in it: ``t.sync()``."""
    return any(
        isinstance(part, ast.Attribute) and part.attr == "sync"
        for part in ast.walk(statement)
    )


def told_by_launch(loop: ast.While, function: ast.FunctionDef | None) -> bool:
    """Whether its test reads the size of a block or of the grid, or what is of it."""
    sizes = ("block_dim", "grid_dim")
    names: set[str] = set()

    def told(expression: ast.expr) -> bool:
        return any(
            (isinstance(part, ast.Attribute) and part.attr in sizes)
            or (isinstance(part, ast.Name) and part.id in names)
            for part in ast.walk(expression)
        )

    found = -1
    while len(names) != found:
        found = len(names)
        for part in ast.walk(function) if function else ():
            if isinstance(part, ast.Assign) and told(part.value):
                names |= {x.id for x in part.targets if isinstance(x, ast.Name)}
    return told(loop.test)
