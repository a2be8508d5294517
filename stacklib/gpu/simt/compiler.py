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
import builtins
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from .builder import Builder, Home, KernelError, Value
from .expressions import Expressions, Torn, Unset, is_plain, source_of
from .formats import FORMS, join, of_constant
from .lane_arrays import LaneArray
from .program import Label

TOGETHER, SHORT = 4, 256  # rounds at once, of a body of at most so many rows
UNROLL = 1024  # instructions of a loop's rounds up to which they stand one by one
MOST_ROWS = 400_000  # of a program
MOST_DEPTH = 64  # of helper functions that call each other


class NeedsUnrolling(Exception):
    """A rolled loop's counter was used where only a plain number can be."""


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
        for place in (self.cells, self.globals, vars(builtins)):
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


@dataclass
class Compiler:
    """Compiles one kernel for one launch."""

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
    site: Any = None
    frames: list[Frame] = field(default_factory=list)
    count: int = 0
    torn: list[dict[str, Any]] = field(default_factory=list)
    # Names that hold a plain number for now, by region, and the home it stands in too.
    plain: list[dict[Any, Any]] = field(default_factory=lambda: [{}])

    def __post_init__(self) -> None:
        self.expr = Expressions(self)
        self.build.constructs = self.constructs
        self.frames.append(self.frame)

    def error(self, what: str) -> KernelError:
        """An error that names the line."""
        return self.build.error(what)

    def array(self, use: Any) -> LaneArray:
        """An array that the kernel may index."""
        self.build.arrays.append(use)
        return LaneArray(self, len(self.build.arrays) - 1, use)

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
        """Note how deep in branches a list was made; setting elements asks."""
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

    # -- statements ----------------------------------------------------------

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

    _Nonlocal = _Global

    def _Assert(self, node: ast.Assert) -> None:
        test = self.expr(node.test)
        if isinstance(test, Value):
            raise self.error("assert cannot stop single lanes; test the result")
        if not test:
            raise self.error("the assertion does not hold")

    def _Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            owner = self.expr(call.func.value)
            if isinstance(owner, list | dict | set):
                self._changed_whole(owner, call)
                return
        self.expr(node.value)

    def _changed_whole(self, owner: Any, call: ast.Call) -> None:
        """``append`` and such, where all lanes do it and once."""
        assert isinstance(call.func, ast.Attribute)
        word = call.func.attr
        args = [self.expr.own(self.expr(a)) for a in call.args]
        if word in ("append", "extend", "insert", "pop", "clear", "update", "reverse"):
            self.may_change(owner, f".{word}()")
        try:
            getattr(owner, word)(*args)
        except (AttributeError, LookupError, TypeError) as wrong:
            raise self.error(f"{type(wrong).__name__}: {wrong}") from None

    def may_change(self, owner: Any, what: str) -> None:
        """Refuse to change a Python container where only some lanes are."""
        depth = self.depths.get(id(owner), 0)
        inside = self.constructs[depth:]
        if any(c.rolled for c in inside):
            raise NeedsUnrolling
        if inside:
            kind = type(owner).__name__
            raise self.error(
                f"{what} changes a Python {kind} where only some lanes are; assign to "
                "its elements, or use t.local"
            )

    def _FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.decorator_list:
            raise self.error(f"{node.name}: a decorator has no meaning in a kernel")
        self.frame.names[node.name] = Closure(
            node, self.frame, self.build.file, node.name
        )

    def _Assign(self, node: ast.Assign) -> None:
        if len(node.targets) > 1:
            raise self.error("one target to an assignment")
        target = node.targets[0]
        value = self.expr(node.value)
        several = isinstance(target, ast.Tuple | ast.List)
        if several or (isinstance(node.value, ast.Name) and isinstance(target, ast.Name)):
            value = self._own_all(value)
        self.bind(target, value)

    def _own_all(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(self.expr.own(v) for v in value)
        return self.expr.own(value)

    def _AugAssign(self, node: ast.AugAssign) -> None:
        """``x += v`` is ``x = x + v``."""
        target = node.target
        product = "right" if isinstance(node.value, ast.BinOp) and isinstance(
            node.value.op, ast.Mult
        ) else ""
        if isinstance(target, ast.Name):
            old = self.expr.read(target.id)
            value = self.expr(node.value)
            new = self.expr.binary(type(node.op), old, value, product)
            self.assign(target.id, new)
        elif isinstance(target, ast.Subscript):
            owner, index = self.expr(target.value), self.expr(target.slice)
            old = self.expr.element(owner, index)
            value = self.expr(node.value)
            new = self.expr.binary(type(node.op), old, value, product)
            self.set_element(owner, index, new)
        else:
            raise self.error("assign to a name or to an element of an array")

    def _AnnAssign(self, node: ast.AnnAssign) -> None:
        """As without the annotation."""
        if node.value is not None:
            self.bind(node.target, self.expr(node.value))

    def bind(self, target: ast.expr, value: Any) -> None:
        """Give a value to a name, an element, or several to several."""
        if isinstance(target, ast.Name):
            self.assign(target.id, value)
        elif isinstance(target, ast.Subscript):
            owner, index = self.expr(target.value), self.expr(target.slice)
            self.set_element(owner, index, value)
        elif isinstance(target, ast.Tuple | ast.List):
            parts = list(self.iterated(value))
            if len(parts) != len(target.elts):
                raise self.error(f"{len(parts)} values for {len(target.elts)} names")
            for one, part in zip(target.elts, parts, strict=True):
                self.bind(one, part)
        else:
            raise self.error("assign to a name or to an element of an array")

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

    # -- names ---------------------------------------------------------------

    def assign(self, name: str, value: Any) -> None:
        """Only the lanes that are here get the new value."""
        if isinstance(value, Unset | Torn):
            raise self.error(f"{name!r} is given nothing")
        key = id(self.frame.names), name
        if any(c.rolled and key in c.objects for c in self.constructs):
            raise NeedsUnrolling
        held = self.home_of(self.frame.names, name)
        if held is not None:
            self._to_home(name, held, held.home, value)
            return
        self.frame.names[name] = value
        if isinstance(value, Value):
            value.bound = True

    def home_of(self, names: Any, name: Any) -> Any:
        """The home of a name, also while it stands for a plain number."""
        held = names.get(name)
        if self.has_home(held):
            return held
        for known in reversed(self.plain):
            if (id(names), name) in known:
                held = known[id(names), name][1]
                return held if self.has_home(held) else None
        return None

    def has_home(self, held: Any) -> bool:
        """Whether what a name holds is set by lanes on several paths now."""
        home = held.home if isinstance(held, Value) else None
        return home is not None and home.owner in self.constructs

    def _to_home(self, name: str, held: Value, home: Home, value: Any) -> None:
        if not isinstance(value, Value) and of_constant(value) is None:
            self.frame.names[name] = value
            for names in self.torn:
                names[name] = Torn(name, self.build.line)
            return
        form = self.build.form_of(value)
        owner: Construct = home.owner
        if owner.forms.get(home.key) is None:
            owner.forms[home.key] = held.form = form
        joined = join(held.form, form)
        if joined != held.form:
            owner.forms[home.key] = joined
            owner.changed = True
        self._into(held, value)
        home.sure.add(self.regions[-1])
        names = self.frame.names
        names[name] = held
        for known in self.plain:
            known.pop((id(names), name), None)
        if not isinstance(value, Value):
            names[name] = value
            self.plain[-1][id(names), name] = names, held

    def _into(self, held: Value, value: Any) -> None:
        """Write a value to a register that has a home."""
        form, build = held.form, self.build
        if held.home is not None:
            held.home.version += 1
        if isinstance(value, Value) and value.form == form and self._retarget(
            held, value
        ):
            pass
        else:
            moved = build.as_form(value, form)
            if moved is not value and isinstance(value, Value):
                build.rows[-1].dst = held.reg
            else:
                kind = "move" if isinstance(value, Value) else ""
                build.emit("MOVE", held.reg, moved.reg, form=form.code, kind=kind)
        if held.home is not None and held.home.tracked:
            build.emit("SET", held.reg)

    def _retarget(self, held: Value, value: Value) -> bool:
        """Let the rows that made a value nobody else holds write to the home."""
        if value.home is not None or value.bound or value.pool is None:
            return False
        rows: list[Any] = []
        for row in reversed(self.build.rows):
            if row.dst != value.reg:
                return False
            rows.append(row)
            if row.op != "PAD":
                break
        if not rows or rows[-1].op in ("SHUFFLE", "MATCH", "MOVE") or not rows[-1].kind:
            return False
        for row in rows:
            row.dst = held.reg
            if row.op == "PAD":
                row.a = held.reg
        return True

    def set_element(self, owner: Any, index: Any, value: Any) -> None:
        """``owner[index] = value`` by the active lanes."""
        if isinstance(owner, LaneArray):
            owner.store(index, value)
            return
        if isinstance(owner, Value):
            raise self.error("a value of each lane has no elements")
        if self.rolled_name(index):
            raise self.needs_unrolling(index)
        if isinstance(owner, list) and isinstance(index, int) and index < 0:
            index += len(owner)
        try:
            held = owner[index]
        except (LookupError, TypeError) as wrong:
            if isinstance(owner, dict) and isinstance(wrong, KeyError):
                held = None
                self.may_change(owner, "a new key")
            else:
                raise self.error(f"{type(wrong).__name__}: {wrong}") from None
        if isinstance(owner, tuple):
            raise self.error("a tuple is not changed; make a list of it")
        self._set_held(owner, index, held, value)

    def _set_held(self, owner: Any, index: Any, held: Any, value: Any) -> None:
        depth = self.depths.get(id(owner), 0)
        if self.has_home(held):
            self._to_home_of_list(held, held.home, value)
            return
        if depth < len(self.constructs):
            if isinstance(value, list) or of_form(value) is None:
                self.may_change(owner, "an assignment")
            outermost = self.constructs[depth]
            if any(c.fixed for c in self.constructs[depth:]):
                raise self.error(
                    "an element is set inside an expression that only some lanes "
                    "compute; call the function on its own line"
                )
            if (id(owner), index) not in outermost.carried:
                outermost.carried[id(owner), index] = owner
                outermost.changed = True
        owner[index] = self.expr.own(value)

    def _to_home_of_list(self, held: Value, home: Home, value: Any) -> None:
        form = of_form(value)
        if form is None:
            raise self.error(f"{value!r} is no number of a lane")
        joined = join(held.form, form)
        owner: Construct = home.owner
        if joined != held.form:
            owner.forms[home.key] = joined
            owner.changed = True
        self._into(held, value)

    # -- trying again --------------------------------------------------------

    def save(self) -> Saved:
        """What compiling from here on may change."""
        names, seen = [], set()
        for frame in self.frames:
            inner: Frame | None = frame
            while inner is not None and id(inner) not in seen:
                seen.add(id(inner))
                names.append((inner.names, dict(inner.names)))
                inner = inner.outer
        lists = [
            (one, one.copy())
            for one in self.kept
            if isinstance(one, list | dict) and id(one) in self.depths
        ]
        return Saved(len(self.build.rows), len(self.build.inserted), names, lists, dict(self.depths))

    def restore(self, saved: Saved) -> None:
        """Back to what it was."""
        rows, inserted = self.build.rows, self.build.inserted
        for row in inserted[saved.inserted :]:
            rows.remove(row)
            row.dead = True
        for row in rows[saved.rows :]:
            row.dead = True
        del inserted[saved.inserted :], rows[saved.rows :]
        for names, before in saved.names:
            names.clear()
            names.update(before)
        for one, before in saved.lists:
            if isinstance(one, list):
                one[:] = before
            else:
                one.clear()
                one.update(before)
        self.depths.clear()
        self.depths.update(saved.depths)

    def settled(self, construct: Construct, compile_it: Callable[[], str]) -> str:
        """Compile a branch or a loop until its homes have their formats."""
        for _ in range(40):
            construct.changed = False
            saved = self.save()
            depth = len(self.constructs), len(self.frames), len(self.regions)
            self.constructs.append(construct)
            try:
                said = compile_it()
            finally:
                del self.constructs[depth[0] :]
                del self.frames[depth[1] :]
                del self.regions[depth[2] :]
                del self.plain[depth[2] :]
                del self.build.seen[depth[2] :]
                self.frame = self.frames[-1]
            if not construct.changed:
                return said
            self.restore(saved)
        raise self.error("the formats of this loop's names do not settle")

    def give_homes(self, construct: Construct, names: set[str]) -> None:
        """Registers for names that are set inside, and for elements of lists."""
        for name in sorted(names):
            held = self.home_of(self.frame.names, name)
            if held is not None:
                self.frame.names[name] = held
            self._give_home(construct, self.frame.names, name, ("name", name))
        for (_, index), owner in list(construct.carried.items()):
            key = ("element", id(owner), index)
            self._give_home(construct, owner, index, key)

    def _give_home(
        self, construct: Construct, place: Any, at: Any, key: Any
    ) -> None:
        held = place.get(at) if isinstance(place, dict) else place[at]
        if self.has_home(held):
            return
        known = construct.forms.get(key)
        form = of_form(held)
        if form is None and not isinstance(held, Unset | Torn):
            # A list, an array, a function: no register holds it.
            construct.objects.add((id(place), at))
            return
        made = self.build.new(known or form or FORMS[-2])
        before = held.home if isinstance(held, Value) else None
        made.home = Home(construct, key, form is None)
        if form is None:
            self.build.emit("UNSET", made.reg)
        else:
            construct.forms.setdefault(key, form)
            source = self.build.as_form(held, made.form)
            self.build.emit("MOVE", made.reg, source.reg, form=made.form.code)
        if before is not None and before.tracked:
            made.home.tracked, made.home.sure = True, set(before.sure)
            self.build.emit("SET", made.reg, held.reg, imm=1)
        place[at] = made

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

    @contextmanager
    def inner_scope(self) -> Iterator[None]:
        """Names of a comprehension are its own."""
        outer = self.frame
        self.frame = Frame({}, outer, outer.globals, outer.cells)
        self.frames.append(self.frame)
        yield
        self.frames.pop()
        self.frame = outer

    # -- branches ------------------------------------------------------------

    def _If(self, node: ast.If) -> str:
        test = self.expr(node.test)
        if not isinstance(test, Value):
            return self.body(node.body if test else node.orelse)
        test = self.expr.condition(test)
        construct = Construct("if", Label(), {}, {})
        names = assigned(node.body + node.orelse)
        return self.settled(
            construct, lambda: self._both_sides(node, construct, test, names)
        )

    def _both_sides(
        self, node: ast.If, construct: Construct, test: Value, names: set[str]
    ) -> str:
        build = self.build
        self.give_homes(construct, self._local(names))
        other, end = Label(), construct.end
        construct.here = other
        build.line = node.lineno
        build.emit("IF", -1, test.reg, target=other, kind="branch")
        torn: dict[str, Any] = {}
        self.torn.append(torn)
        with self.region() as first:
            said = self.body(node.body)
        self._tear(torn)
        build.place(other)
        build.emit("ELSE", target=end)
        construct.here = end
        with self.region() as second:
            also = self.body(node.orelse)
        self._tear(torn)
        self.torn.pop()
        build.place(end)
        build.emit("ENDIF", target=self.way_out())
        self._sure_of_both(first, second, said, also)
        return said if said and said == also else ""

    def _tear(self, torn: dict[str, Any]) -> None:
        for name, mark in torn.items():
            self.frame.names[name] = mark

    def _local(self, names: set[str]) -> set[str]:
        """Names of this function that hold a number or nothing."""
        return {n for n in names if n in self.frame.names}

    def _sure_of_both(self, first: int, second: int, said: str, also: str) -> None:
        for held in self.frame.names.values():
            home = held.home if isinstance(held, Value) else None
            if home is None:
                continue
            if (first in home.sure or said) and (second in home.sure or also):
                home.sure.add(self.regions[-1])

    def way_out(self) -> Label | None:
        """Where a warp goes on when no lane is left here."""
        return self.constructs[-2].here if len(self.constructs) > 1 else None

    @contextmanager
    def on_some_lanes(self, test: Value) -> Iterator[None]:
        """A part of an expression that only some lanes compute."""
        construct = Construct("if", Label(), {}, {}, fixed=True)
        other = construct.here = Label()
        self.build.emit("IF", -1, test.reg, target=other, imm=1)
        self.constructs.append(construct)
        with self.region():
            yield
        self.build.place(other)
        self.build.emit("ELSE", target=construct.end)
        self.build.place(construct.end)
        self.build.emit("ENDIF", target=self.way_out())
        self.constructs.pop()

    def chosen(self, test: Value, yes: ast.expr, no: ast.expr) -> Any:
        """``a if test else b``, each side with the lanes that take it: a select."""
        build = self.build
        with self.on_some_lanes(test):
            one = self.expr.own(self.expr(yes))
        opposite = build.op("NOT", FORMS[0], test, kind="")
        with self.on_some_lanes(opposite):
            other = self.expr.own(self.expr(no))
        form, (a, b) = build.in_common(one, other)
        return build.op("SELECT", form, test, a, b)

    # -- loops ---------------------------------------------------------------

    def _While(self, node: ast.While) -> str:
        if node.orelse:
            raise self.error("while ... else has no meaning in a kernel")
        return self._tried(node, lambda: self._while_plain(node))

    def _For(self, node: ast.For) -> str:
        if node.orelse:
            raise self.error("write for NAME in ..., without else")
        ends = self._range_ends(node)
        if ends is None:
            items = list(self.iterated(self.expr(node.iter)))
            return self._round_by_round(node, node.target, iter(items), None)
        if not isinstance(node.target, ast.Name):
            raise self.error("write for NAME in range(...)")
        ends = self._checked_ends(ends)
        if any(isinstance(end, Value) for end in ends):
            try:
                return self._rolled_for(node, ends)
            except NeedsUnrolling:
                raise self.error(
                    "this loop's rounds differ by lane; what is no number cannot "
                    "change from one to the next, and its counter is no plain number: "
                    "set elements one by one, or use t.local"
                ) from None
        rounds = range(*ends)
        if len(rounds) <= 1:
            return self._round_by_round(node, node.target, iter(rounds), None)
        return self._tried(
            node,
            lambda: self._round_by_round(
                node, node.target, iter(rounds), UNROLL, len(rounds)
            ),
            ends,
        )

    def _range_ends(self, node: ast.For) -> list[Any] | None:
        over = node.iter
        if not isinstance(over, ast.Call) or over.keywords:
            return None
        if not isinstance(over.func, ast.Name) or self.expr(over.func) is not range:
            return None
        given = [self.expr.own(self.expr(a)) for a in over.args]
        if not 1 <= len(given) <= 3:
            raise self.error(f"range takes one to three numbers, {len(given)} given")
        start, stop, step = (0, given[0], 1) if len(given) == 1 else (*given, 1)[:3]
        return [start, stop, step]

    def _checked_ends(self, ends: list[Any]) -> list[Any]:
        for end in ends:
            form = of_form(end)
            if form is None or form.floating:
                raise self.error("the ends of a range are whole numbers")
        if isinstance(ends[2], Value) or ends[2] == 0:
            raise self.error("the step of a range is one number, not zero")
        return ends

    def _tried(
        self, node: Any, one_by_one: Callable[[], str], ends: Any = None
    ) -> str:
        """A loop round by round where that is short, else with a way back."""
        saved = self.save()
        depth = len(self.constructs), len(self.frames), len(self.regions)
        try:
            return one_by_one()
        except TooLong as why:
            together = why.together() if not has_jump(node.body) else 1
            self._back_to(saved, depth)
        try:
            if ends is not None:
                return self._rolled_in_steps(node, ends, together)
            return self._rolled_while(node)
        except NeedsUnrolling:
            if any(c.rolled for c in self.constructs[: depth[0]]):
                raise
            self._back_to(saved, depth)
        if ends is None:
            return self._while_plain(node, MOST_ROWS)
        return self._round_by_round(node, node.target, iter(range(*ends)), MOST_ROWS)

    def _back_to(self, saved: Saved, depth: tuple[int, int, int]) -> None:
        del self.constructs[depth[0] :]
        del self.frames[depth[1] :]
        del self.regions[depth[2] :]
        del self.plain[depth[2] :]
        del self.build.seen[depth[2] :]
        self.frame = self.frames[-1]
        self.restore(saved)

    def _round_by_round(
        self,
        node: Any,
        target: ast.expr,
        items: Iterator[Any],
        limit: int | None,
        rounds: int = 1,
    ) -> str:
        """Rounds one after the other, each with its plain number."""
        listed = list(items)

        def each(begun: Callable[[], None]) -> str:
            before = len(self.build.rows)
            for at, item in enumerate(listed):
                begun()
                self._count(target, item)
                said = self.body(node.body)
                used = len(self.build.rows) - before
                if limit and (used > limit or (at == 0 and used * rounds > limit)):
                    raise TooLong(self.build.rows[before:])
                if said in ("break", "return") and not self.round_goes_on(node):
                    return said
            return ""

        return self._with_jumps(node, each, assigned([node]))

    def _count(self, target: ast.expr, item: Any) -> None:
        """A counter of rounds that stand one by one is plain, whatever lanes do."""
        if not isinstance(target, ast.Name):
            self.bind(target, item)
            return
        names = self.frame.names
        for known in self.plain:
            known.pop((id(names), target.id), None)
        names[target.id] = item
        for torn in self.torn:
            torn[target.id] = Torn(target.id, self.build.line)

    def _with_jumps(
        self, node: Any, each: Callable[[Callable[[], None]], str], names: set[str]
    ) -> str:
        """Run rounds; where lanes may leave early, with masks for it."""
        if not has_jump(node.body):
            said = each(lambda: None)
            return "return" if said == "return" else ""
        construct = Construct("loop", Label(), {}, {})
        return self.settled(construct, lambda: self._masked(construct, each, names))

    def _masked(
        self, construct: Construct, each: Callable[..., str], names: set[str]
    ) -> str:
        build = self.build
        self.give_homes(construct, self._local(names))
        build.emit("LOOP", target=construct.end)

        def begun() -> None:
            if construct.leave is not None:
                build.place(construct.leave)
                build.emit("NEXT", target=construct.end)
            construct.leave = construct.here = Label()
            construct.skips = False

        construct.leave = None
        torn: dict[str, Any] = {}
        self.torn.append(torn)
        with self.region():
            each(begun)
        self.torn.pop()
        self._tear(torn)
        if construct.leave is not None:
            build.place(construct.leave)
        build.place(construct.end)
        build.emit("ENDLOOP", target=self.way_out())
        return ""

    def round_goes_on(self, node: Any) -> bool:
        """Whether lanes that skipped the rest of this round begin another."""
        return has_jump(node.body) and self.constructs[-1].skips

    def _while_plain(self, node: ast.While, limit: int = UNROLL) -> str:
        """``while`` whose test is plain round after round."""

        def each(begun: Callable[[], None]) -> str:
            before, rounds = len(self.build.rows), 0
            while True:
                self.build.line = node.lineno
                begun()
                test = self.expr(node.test)
                if isinstance(test, Value):
                    raise TooLong
                if not test:
                    return ""
                said = self.body(node.body)
                rounds += 1
                if len(self.build.rows) - before > limit or rounds > 100_000:
                    raise TooLong
                if said in ("break", "return") and not self.round_goes_on(node):
                    return said

        return self._with_jumps(node, each, assigned(node.body))

    def _rolled_while(self, node: ast.While) -> str:
        construct = Construct("loop", Label(), {}, {}, rolled=True)
        names = assigned(node.body)

        def once() -> str:
            return self._loop(
                construct, names, node, lambda: self.expr(node.test), lambda: None
            )

        self.settled(construct, once)
        return ""

    def _loop(
        self,
        construct: Construct,
        names: set[str],
        node: Any,
        test: Callable[[], Any],
        after: Callable[[], None],
    ) -> str:
        """A loop with a way back: test, body, what counts."""
        build = self.build
        self.give_homes(construct, self._local(names))
        construct.leave = construct.here = Label()
        head = Label()
        torn: dict[str, Any] = {}
        self.torn.append(torn)
        build.line = node.lineno
        construct.row = build.emit("LOOP", target=construct.end)
        construct.level = len(build.seen)
        build.epoch += 1
        build.place(head)
        with self.region():
            holds = test()
            if isinstance(holds, Value):
                held = self.expr.condition(holds)
                build.emit("WHILE", -1, held.reg, target=construct.end, kind="branch")
            elif not holds:
                build.emit("BREAK", target=construct.leave)
            self.body(node.body)
            build.place(construct.leave)
            build.emit("NEXT", target=construct.end)
            build.line = node.lineno
            after()
            kind = "" if isinstance(holds, Value) else "branch"
            build.emit("JUMP", target=head, kind=kind)
        self.torn.pop()
        self._tear(torn)
        build.epoch += 1
        build.place(construct.end)
        build.emit("ENDLOOP", target=self.way_out())
        return ""

    def _rolled_in_steps(self, node: ast.For, ends: list[Any], together: int) -> str:
        """Plain ends: several rounds to each way back, and what is left behind it."""
        rounds = range(*ends)
        whole = len(rounds) // together * together
        if together == 1 or whole < 2 * together:
            return self._rolled_for(node, ends)
        start, _, step = ends
        self._rolled_for(node, [start, start + whole * step, step], together)
        return self._round_by_round(node, node.target, iter(rounds[whole:]), None)

    def _rolled_for(
        self, node: ast.For, ends: list[Any], together: int = 1
    ) -> str:
        """``range``, whose ends may differ by lane."""
        build = self.build
        start, stop, step = ends
        assert isinstance(node.target, ast.Name)
        name = node.target.id
        construct = Construct("loop", Label(), {}, {}, rolled=True)
        names = assigned(node.body) | {name}
        form, _ = build.in_common(start, stop)
        op = ast.Lt if step > 0 else ast.Gt

        def once() -> str:
            counter = build.new(form)
            counter.home = Home(construct, ("counter",), False)
            first = build.as_form(start, form)
            build.emit("MOVE", counter.reg, first.reg, form=form.code, kind="move")

            def test() -> Any:
                holds = self.expr.compared(op, counter, stop)
                return holds

            def after() -> None:
                by = build.constant(step * together, form)
                counter.home.version += 1
                build.emit(
                    "ADD", counter.reg, counter.reg, by.reg, form=form.code, kind="int"
                )

            alias = name not in assigned(node.body) and not self._read_behind(
                node, name
            )
            told = Told(node, name, counter, [step * n for n in range(together)], alias)
            if alias:
                return self._loop(construct, names - {name}, told, test, after)
            self.frame.names.setdefault(name, Unset(name))
            return self._loop(construct, names, told, test, after)

        self.settled(construct, once)
        return ""

    def _read_behind(self, node: ast.For, name: str) -> bool:
        """Whether a loop's counter is read anywhere outside the loop."""
        inside = {id(n) for n in ast.walk(node)}
        tree = self.frame.tree
        return tree is None or any(
            isinstance(n, ast.Name) and n.id == name and id(n) not in inside
            for n in ast.walk(tree)
        )

    def _Turn(self, turn: Turn) -> str:
        """A round begins: its name gets the counter's value."""
        told = turn.told
        value = told.counter
        if turn.offset:
            value = self.build.offset("ADD", value.form, value, turn.offset)
        if told.alias:
            self.frame.names[told.name] = value
            value.bound = True
        else:
            self.assign(told.name, value)
        return ""

    def _Break(self, node: ast.Break) -> str:
        """The lanes that are here leave the loop."""
        return self._jump("BREAK", "break")

    def _Continue(self, node: ast.Continue) -> str:
        """The lanes that are here wait for the next round."""
        return self._jump("CONTINUE", "continue")

    def _jump(self, op: str, word: str) -> str:
        for inner, construct in enumerate(reversed(self.constructs)):
            if construct.kind != "loop":
                continue
            if op == "CONTINUE" and inner:
                construct.skips = True
            if inner or (op == "BREAK" and (construct.rolled or construct.skips)):
                self.build.emit(op, target=self.constructs[-1].here, imm=inner)
            break
        return word

    def _Return(self, node: ast.Return) -> str:
        """The lanes that are here are finished with this function."""
        frame = self.frame
        if frame is self.frames[0]:
            if node.value is not None and not (
                isinstance(node.value, ast.Constant) and node.value.value is None
            ):
                raise self.error("a kernel returns nothing; store the result")
            if not self.constructs:
                return "return"
            self.build.emit("EXIT", imm=1, target=self.constructs[-1].here, kind="exit")
            return "return"
        value = None if node.value is None else self.expr(node.value)
        return self._returned(frame, value)

    def _returned(self, frame: Frame, value: Any) -> str:
        construct = frame.construct
        if construct is None:
            if len(self.constructs) > frame.depth:
                raise Diverges(frame)
            frame.result = self._own_all(value)
            return "return"
        self._result_home(frame, construct, value)
        inner = len(self.constructs) - 1 - self.constructs.index(construct)
        if inner:
            self.build.emit("BREAK", target=self.constructs[-1].here, imm=inner)
        return "return"

    def _result_home(self, frame: Frame, construct: Construct, value: Any) -> None:
        """What a helper returns from several places, each on its own lanes."""
        parts = value if isinstance(value, tuple) else (value,)
        if frame.result is None:
            frame.result = [None] * len(parts), isinstance(value, tuple)
        homes, several = frame.result
        if several != isinstance(value, tuple) or len(homes) != len(parts):
            raise self.error("a helper returns as many values on every path")
        for at, part in enumerate(parts):
            if part is None:
                continue
            form = of_form(part)
            if form is None:
                raise self.error(
                    f"{part!r} is returned on a path that not all lanes take"
                )
            key = ("result", at)
            if homes[at] is None:
                known = construct.forms.setdefault(key, form)
                homes[at] = self.build.new(known)
                homes[at].home = Home(construct, key, False)
            joined = join(homes[at].form, form)
            if joined != homes[at].form:
                construct.forms[key] = joined
                construct.changed = True
            self._into(homes[at], part)

    # -- helper functions ----------------------------------------------------

    def can_inline(self, function: Any, plain: bool) -> bool:
        """Whether a call is compiled in: a Python function that sees lanes."""
        if isinstance(function, Closure):
            return True
        if inspect.ismethod(function):
            function = function.__func__
        return inspect.isfunction(function) and not plain

    def inlined(self, function: Any, args: list[Any], named: dict[str, Any]) -> Any:
        """Compile a helper function in the place of its call."""
        if len(self.frames) > MOST_DEPTH:
            raise self.error(
                f"helper functions call each other {MOST_DEPTH} deep; a kernel's may "
                "not call themselves without end"
            )
        if inspect.ismethod(function):
            args, function = [function.__self__, *args], function.__func__
        node, frame, file = self._entered(function)
        self._arguments(function, node, frame, args, named)
        return self._ran(node, frame, file)

    def _entered(self, function: Any) -> tuple[ast.FunctionDef, Frame, str]:
        if isinstance(function, Closure):
            outer = function.frame
            frame = Frame({}, outer, outer.globals, outer.cells, function.node)
            return function.node, frame, function.file
        if hasattr(function, "__wrapped__"):
            raise self.error(f"{function.__name__} is behind a decorator")
        node, file = self._parsed(function)
        cells = cells_of(function)
        return node, Frame({}, None, function.__globals__, cells, node), file

    def _parsed(self, function: Any) -> tuple[ast.FunctionDef, str]:
        found = _SOURCES.get(function.__code__)
        if found is None:
            found = _SOURCES[function.__code__] = source_of(function)
        return found

    def _arguments(
        self,
        function: Any,
        node: ast.FunctionDef,
        frame: Frame,
        args: list[Any],
        named: dict[str, Any],
    ) -> None:
        names = [a.arg for a in node.args.posonlyargs + node.args.args]
        if node.args.vararg or node.args.kwarg or node.args.kwonlyargs:
            raise self.error(f"{node.name}: write its parameters without * and **")
        defaults = dict(
            zip(names[::-1], [self.expr(d) for d in node.args.defaults[::-1]], strict=False)
            if isinstance(function, Closure)
            else zip(names[::-1], (function.__defaults__ or ())[::-1], strict=False)
        )
        given = dict(zip(names, args, strict=False)) | named
        wrong = [n for n in named if n not in names]
        missing = [n for n in names if n not in given and n not in defaults]
        if len(args) > len(names) or wrong or missing:
            raise self.error(
                f"TypeError: {node.name}() takes {', '.join(names) or 'nothing'}; "
                f"{len(args) + len(named)} given"
            )
        values = {n: self.expr.own(given.get(n, defaults.get(n))) for n in names}
        local = all_assigned(node) - set(names)
        frame.names.update({n: Unset(n) for n in sorted(local)})
        frame.names.update(values)

    def _ran(self, node: ast.FunctionDef, frame: Frame, file: str) -> Any:
        build = self.build
        line, before = build.line, build.file
        build.file = file
        parameters, saved = dict(frame.names), self.save()
        depth = len(self.constructs), len(self.frames), len(self.regions)
        frame.depth = depth[0]
        try:
            self._call_plain(node, frame)
        except Diverges as where:
            if where.frame is not frame:
                raise
            self._back_to(saved, depth)
            construct = frame.construct = Construct("call", Label(), {}, {})
            self.settled(
                construct, lambda: self._call_masked(node, frame, construct, parameters)
            )
        build.line, build.file = line, before
        if frame.construct is None or frame.result is None:
            return frame.result
        homes, several = frame.result
        return tuple(homes) if several else homes[0]

    def _call_plain(self, node: ast.FunctionDef, frame: Frame) -> None:
        self.frames.append(frame)
        self.frame = frame
        self.body(node.body)
        self.frames.pop()
        self.frame = self.frames[-1]

    def _call_masked(
        self,
        node: ast.FunctionDef,
        frame: Frame,
        construct: Construct,
        parameters: dict[str, Any],
    ) -> str:
        frame.result = None
        frame.names.clear()
        frame.names.update(parameters)
        self.frames.append(frame)
        self.frame = frame
        construct.here = construct.end
        self.build.emit("LOOP", target=construct.end)
        with self.region():
            self.body(node.body)
        self.build.place(construct.end)
        self.build.emit("ENDLOOP", target=self.way_out())
        self.frames.pop()
        self.frame = self.frames[-1]
        return ""


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


class Turn(ast.stmt):
    """A round of a counting loop begins."""

    def __init__(self, told: Told, offset: int) -> None:
        super().__init__()
        self.told, self.offset, self.lineno = told, offset, told.lineno


class Told:
    """The body of a counting loop, each of its rounds with its number."""

    def __init__(
        self, node: ast.For, name: str, counter: Value, offsets: list[int], alias: bool
    ) -> None:
        self.lineno, self.name, self.counter, self.alias = (
            *(node.lineno, name, counter),
            alias,
        )
        self.body = [
            part for offset in offsets for part in (Turn(self, offset), *node.body)
        ]


_SOURCES: dict[Any, tuple[ast.FunctionDef, str]] = {}


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


def has_jump(statements: list[Any], inside: bool = False) -> bool:
    """Whether lanes may leave these rounds early: ``break``, ``continue``."""
    for statement in statements:
        if isinstance(statement, ast.Break | ast.Continue) and not inside:
            return True
        if isinstance(statement, ast.FunctionDef):
            continue
        nested = inside or isinstance(statement, ast.For | ast.While)
        if has_jump(list(ast.iter_child_nodes(statement)), nested):
            return True
    return False


__all__ = ["Compiler", "Frame", "KernelError", "is_plain"]
