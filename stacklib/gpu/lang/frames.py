"""What a compiler of kernels knows at each place: functions, branches, loops, names."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from ..vm.formats import of_constant
from ..vm.program import Label, Place
from .builder import Builder, KernelError, Value
from .expressions import Expressions
from .lane_arrays import LaneArray

if TYPE_CHECKING:
    from .compiler import Compiler

TOGETHER, SHORT = 4, 256  # rounds at once, of a body of at most so many rows
MOST_ROWS = 400_000  # of a program


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


_read: list[tuple[Any, str, Any]] = []  # names from around a kernel: where, what


@contextmanager
def watched() -> Iterator[list[tuple[Any, str, Any]]]:
    """What a compilation reads from around its kernel."""
    _read.clear()
    yield _read


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
            _read.append((place, name, place.get(name)))
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


@dataclass(slots=True)
class Closure:
    """A function defined inside the kernel."""

    node: ast.FunctionDef
    frame: Frame
    file: str
    __name__: str = ""


@dataclass(slots=True)
class Saved:
    """What compiling changes, to try again."""

    rows: int
    inserted: int
    names: list[tuple[dict[str, Any], dict[str, Any]]]
    lists: list[tuple[Any, Any]]
    depths: dict[int, int]
    plain: list[dict[Any, Any]]


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
            _read.append((cell, name, cell.cell_contents))
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


@dataclass
class Base:
    """What every part of the compiler shares."""

    build: Builder
    frame: Frame
    intrinsics: dict[Any, Callable[..., Any]] = field(default_factory=dict)
    members: frozenset[str] = frozenset()
    constructs: list[Construct] = field(default_factory=list)
    regions: list[int] = field(default_factory=lambda: [0])
    turns: list[int] = field(default_factory=list)
    calls: list[Any] = field(default_factory=list)
    depths: dict[int, int] = field(default_factory=dict)  # of lists, where made
    kept: list[Any] = field(default_factory=list)  # lists, so that ids stay theirs
    names: list[str] = field(default_factory=list)
    spilled: set[Any] = field(default_factory=set)  # own arrays that are in memory
    place: Place = field(default_factory=lambda: Place(1 << 20))
    site: Any = None
    frames: list[Frame] = field(default_factory=list)
    count: int = 0
    under_way: list[Any] = field(default_factory=list)  # what loops go through
    # Names that hold a Python object on some lanes, by construct: where, what to say.
    torn: list[dict[Any, Any]] = field(default_factory=list)
    # Names that hold a plain number for now, by region, and the home it stands in too.
    plain: list[dict[Any, Any]] = field(default_factory=lambda: [{}])

    def __post_init__(self) -> None:
        self.expr = Expressions(cast("Compiler", self))
        self.build.constructs = self.constructs
        self.frames.append(self.frame)

    def body(self, statements: list[ast.stmt]) -> str:
        """Compile statements; the compiler does."""
        raise NotImplementedError

    def error(self, what: str) -> KernelError:
        """An error that names the line."""
        return self.build.error(what)

    def needs(self, capability: str, what: str) -> None:
        """Refuse what the device is too old for."""
        if self.place.older_than(capability):
            raise self.error(
                f"{what} needs compute capability {capability}; {self.place.device} "
                f"has {self.place.capability}"
            )

    def array(self, use: Any) -> LaneArray:
        """An array that the kernel may index."""
        return LaneArray(cast("Compiler", self), self.numbered(use), use)

    def numbered(self, use: Any) -> int:
        """Number of an array of the program."""
        self.build.arrays.append(use)
        return len(self.build.arrays) - 1

    def lesser(self, op: str, first: Any, other: Any) -> Any:
        """``MIN`` or ``MAX`` of two."""
        if not isinstance(first, Value) and not isinstance(other, Value):
            return min(first, other) if op == "MIN" else max(first, other)
        form, given = self.build.in_common(first, other)
        return self.build.op("F" + op if form.floating else op, form, *given)

    def converted(self, form: Any, value: Any) -> Value:
        """A number in a format that no longer bends."""
        build = self.build
        given = build.value(value)
        if given.form == form:
            return given
        kind = "convert" if form.floating or given.form.floating else "int"
        return build.op("CONVERT", form, given, imm=given.form.code, kind=kind)

    def name_number(self, name: str) -> int:
        """Number of a name, for an instruction that may have to say it."""
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name)

    def made(self, value: Any) -> Any:
        """Note how deep in branches a list was made; setting elements asks.

        It holds values as they are now, whatever names set later.
        """
        if isinstance(value, list):
            value[:] = map(self.expr.own, value)
        elif isinstance(value, dict):
            value.update({key: self.expr.own(one) for key, one in value.items()})
        self.depths[id(value)] = len(self.constructs)
        self.kept.append(value)
        return value

    def rolled_name(self, index: Any) -> bool:
        """Whether an index is, or holds, a value of each lane."""
        parts = index if isinstance(index, tuple) else (index,)
        return any(isinstance(part, Value) for part in parts)

    def needs_unrolling(self, index: Any) -> Exception:
        """A lane's value as the index of a list: only plain numbers are."""
        if any(c.rolled for c in self.constructs):
            return NeedsUnrolling()
        try:
            index.__index__()
        except KernelError as wrong:
            return wrong
        return self.error("an index that differs by lane")

    def iterated(self, value: Any) -> Iterator[Any]:
        """Items of what Python can go through."""
        if isinstance(value, Value):
            raise self.error("a value that differs by lane cannot be gone through")
        if isinstance(value, LaneArray):
            raise self.error(f"TypeError: {value!r} is not iterable; index it")
        try:
            return iter(value)
        except TypeError as wrong:
            raise self.error(f"TypeError: {wrong}") from None

    @contextmanager
    def inner_scope(self) -> Iterator[None]:
        """Names of a comprehension are its own."""
        outer = self.frame
        self.frame = Frame({}, outer, outer.globals, outer.cells)
        self.frames.append(self.frame)
        yield
        self.frames.pop()
        self.frame = outer

    @contextmanager
    def region(self) -> Iterator[int]:
        """Statements that the same lanes reach one after the other."""
        self.count += 1
        self.regions.append(self.count)
        self.plain.append({})
        self.build.seen.append({})
        yield self.count
        self.build.seen.pop()
        self.regions.pop()
        for (_, name), (names, held) in self.plain.pop().items():
            names[name] = held
