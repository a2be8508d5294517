"""Expressions of a kernel: computed now where they are plain, else by instructions."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Callable, Iterator, MappingView
from typing import TYPE_CHECKING, Any

import numpy as np

from ..vm.formats import BOOL, FORMS, of_numpy
from .builder import Home, KernelError, Value, of_home
from .frames import Closure, Frame, may_set, of_form
from .homes import Homes
from .lane_arrays import LaneArray
from .mbarriers import chosen
from .operators import Operators
from .plain import Torn, Unset, is_harmless, is_plain
from .state import State

if TYPE_CHECKING:
    from .calls import Calls

# What a list, a dict or a set is asked without being changed.
LOOKS = ("copy", "index", "count", "get", "items", "keys", "values")


class Expressions:
    """Computes the expressions of one frame after the other."""

    calls: Calls  # what calls mean: the compiler tells

    def __init__(self, of: State, homes: Homes) -> None:
        self.of, self.homes, self.operators = of, homes, Operators(of)
        self.intrinsics: dict[Any, Callable[..., Any]] = {}
        self.tests: set[ast.expr] = set()  # those of which the truth alone is asked

    def __call__(self, node: ast.expr) -> Any:
        """The value of an expression."""
        method = getattr(self, f"_{type(node).__name__}", None)
        if method is None:
            raise self.of.error(f"{type(node).__name__} has no meaning in a kernel")
        return method(node)

    # -- names and constants -------------------------------------------------

    def _Constant(self, node: ast.Constant) -> Any:
        return node.value

    def _Name(self, node: ast.Name) -> Any:
        return self.read(node.id)

    def read(self, name: str) -> Any:
        """What a name holds; KernelError where it holds nothing yet."""
        try:
            found = self.of.frame.find(name)
        except NameError:
            raise self.of.error(f"NameError: name {name!r} is not defined") from None
        if isinstance(found, Unset):
            raise self.of.error(f"{name!r} is read before anything is assigned")
        if isinstance(found, Torn):
            raise self.of.error(
                f"{name!r} was given a Python object in line {found.line}, on a path "
                "that not all lanes take; give it numbers there"
            )
        if isinstance(found, Value) and found.home is not None:
            self._check(found, found.home, name)
        return found

    def _check(self, value: Value, home: Home, name: str) -> None:
        """A lane that reads must have set it, on whatever path it came."""
        if home.tracked and not home.sure & set(self.of.regions):
            self.of.build.emit("CHECK", -1, value.reg, imm=self.of.name_number(name))

    def _Attribute(self, node: ast.Attribute) -> Any:
        owner = self(node.value)
        try:
            return getattr(owner, node.attr)
        except AttributeError as wrong:
            raise self.of.error(f"AttributeError: {wrong}") from None

    def _Tuple(self, node: ast.Tuple) -> Any:
        return tuple(self._items(node.elts))

    def _List(self, node: ast.List) -> Any:
        return self.of.made(list(self._items(node.elts)))

    def _items(self, nodes: list[ast.expr]) -> list[Any]:
        found: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                found += list(self(node.value))
            else:
                found.append(self.of.own(self(node)))
        return found

    def kept(self, value: Any, *later: ast.expr) -> Any:
        """A value as it is now, if what is computed later may set its home."""
        if not of_home(value):
            return value
        return self.of.own(value) if any(map(may_set, later)) else value

    def _Dict(self, node: ast.Dict) -> Any:
        if any(key is None for key in node.keys):
            raise self.of.error("** in a dict has no meaning in a kernel")
        keys = [self(key) for key in node.keys if key is not None]
        values = [self.of.own(self(value)) for value in node.values]
        return self.of.made(dict(zip(keys, values, strict=True)))

    def _Slice(self, node: ast.Slice) -> Any:
        parts = [node.lower, node.upper, node.step]
        return slice(*(None if part is None else self(part) for part in parts))

    def _JoinedStr(self, node: ast.JoinedStr) -> Any:
        raise self.of.error("a text with values has no meaning in a kernel")

    def _Lambda(self, node: ast.Lambda) -> Any:
        body: ast.stmt = ast.copy_location(ast.Return(node.body), node)
        return self.function(ast.FunctionDef("<lambda>", node.args, [body], []))

    def function(self, node: ast.FunctionDef) -> Closure:
        """A function defined in the kernel; its defaults are what they are now."""
        of, defaults = self.of, tuple(self._items(node.args.defaults))
        run = self.calls.inlined
        return Closure(node, of.frame, of.build.file, defaults, run, node.name)

    def _NamedExpr(self, node: ast.NamedExpr) -> Any:
        frame, name = self.of.frame, node.target.id
        around = self.of.constructs[frame.depth :]
        if frame.tree is None or any(c.fixed for c in around):
            raise self.of.error(
                f"{name!r} := in a comprehension, or in a part of an expression that "
                "only some lanes compute; assign on its own line"
            )
        self.bind(node.target, self(node.value))
        return self.read(name)

    def _never(self, node: ast.expr) -> Any:
        raise self.of.error("a kernel neither yields nor awaits")

    _Yield = _YieldFrom = _Await = _never

    def _ListComp(self, node: ast.ListComp) -> Any:
        return self.of.made(list(self._comprehended(node.generators, node.elt)))

    def _GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        return self._comprehended(node.generators, node.elt)

    def _comprehended(
        self, loops: list[ast.comprehension], what: ast.expr
    ) -> list[Any]:
        found: list[Any] = []
        around = self.of.frame  # names of a comprehension are its own
        self.of.enter(Frame({}, around, around.globals, around.cells))
        self._turn(loops, what, found)
        self.of.leave()
        return found

    def _turn(
        self, loops: list[ast.comprehension], what: ast.expr, found: list[Any]
    ) -> None:
        if not loops:
            found.append(self.of.own(self(what)))
            return
        first, *rest = loops
        for at, item in enumerate(self.of.iterated(self(first.iter))):
            self.of.turns.append(at)
            self.bind(first.target, item)
            tests = [self.test(test) for test in first.ifs]
            if any(isinstance(test, Value) for test in tests):
                raise self.of.error("a list whose length differs by lane")
            if all(tests):
                self._turn(rest, what, found)
            self.of.turns.pop()

    # -- operators -------------------------------------------------------------

    def _BinOp(self, node: ast.BinOp) -> Any:
        product = self._product(node)
        return self.operators.binary(type(node.op), *self._two(node), product)

    def _two(self, node: ast.BinOp) -> tuple[Any, Any]:
        left = self.kept(self(node.left), node.right)
        return left, self(node.right)

    @staticmethod
    def _product(node: ast.BinOp) -> str:
        """Which side is a product that nothing else uses: it joins the sum."""
        if not isinstance(node.op, ast.Add | ast.Sub):
            return ""
        for side in ("left", "right"):
            inner = getattr(node, side)
            if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Mult):
                return side
        return ""

    def _UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            return self.operators.negated(self.test(node.operand))
        return self.operators.unary(type(node.op), self(node.operand))

    def _Compare(self, node: ast.Compare) -> Any:
        left = self(node.left)
        result: Any = None
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            left = self.kept(left, right_node)
            right = self(right_node)
            one = self.operators.compared(type(op), left, right)
            first = result is None
            result = one if first else self.operators.both_hold(result, one)
            left = right
        return result

    def test(self, node: ast.expr) -> Any:
        """An expression of which nobody asks more than whether it holds."""
        if isinstance(node, ast.BoolOp):
            self.tests.add(node)
        return self(node)

    def _BoolOp(self, node: ast.BoolOp) -> Any:
        """The second is asked only of the lanes the first leaves open."""
        wanted, holds = isinstance(node.op, ast.And), node in self.tests
        first, *rest = node.values
        value = self.test(first) if holds else self(first)
        after = rest[0] if not rest[1:] else ast.BoolOp(node.op, rest)
        if holds and isinstance(after, ast.BoolOp):
            self.tests.add(after)
        if not isinstance(value, Value):
            return self(after) if bool(value) is wanted else value
        return self._asked(value, after, wanted, holds)

    def _asked(self, first: Value, node: ast.expr, wanted: bool, holds: bool) -> Value:
        """Which of two it is, or whether they hold where that says as much."""
        build = self.of.build
        test = build.condition(first)
        if is_harmless(node):
            other = self(node)
            if not (holds or (_of_truth(first) and _of_truth(other))):
                return build.chosen(test, first, other, not wanted)
            if not isinstance(other, Value):
                # ``or`` with what is true, ``and`` with what is not: no lane matters.
                return test if bool(other) is wanted else build.constant(not wanted)
            name = "AND" if wanted else "OR"
            return build.op(name, FORMS[BOOL], test, build.condition(other), kind="")
        if not (holds or (_of_truth(first) and _asks(node))):
            first, test = self.of.own(first), self.of.own(test)
            left = test if wanted else build.op("NOT", FORMS[BOOL], test, kind="")
            with self.of.on_some_lanes(left):
                other = self.of.own(self(node))
            return build.chosen(test, first, other, not wanted)
        result = build.new(FORMS[BOOL])
        build.emit("MOVE", result.reg, test.reg, form=BOOL)
        left = test if wanted else build.op("NOT", FORMS[BOOL], test, kind="")
        with self.of.on_some_lanes(left):
            other = self(node)
            held = (
                build.constant(bool(other))
                if not isinstance(other, Value)
                else build.condition(other)
            )
            build.emit("MOVE", result.reg, held.reg, form=BOOL)
        return result

    def _IfExp(self, node: ast.IfExp) -> Any:
        test = self.test(node.test)
        if not isinstance(test, Value):
            return self(node.body if test else node.orelse)
        build = self.of.build
        test = build.condition(test)
        if is_harmless(node.body) and is_harmless(node.orelse):
            return self._chosen(test, self(node.body), self(node.orelse))
        test = self.of.own(test)
        with self.of.on_some_lanes(test):
            one = self.of.own(self(node.body))
        opposite = build.op("NOT", FORMS[BOOL], test, kind="")
        with self.of.on_some_lanes(opposite):
            other = self.of.own(self(node.orelse))
        return self._chosen(test, one, other)

    def _chosen(self, test: Value, one: Any, other: Any) -> Any:
        """One or the other; of tuples as long, number by number."""
        tuples = isinstance(one, tuple) and isinstance(other, tuple)
        if tuples and len(one) == len(other):
            pairs = zip(one, other, strict=True)
            return tuple(self._chosen(test, a, b) for a, b in pairs)
        for side in (one, other):
            if of_form(side) is None:
                raise self.of.error(
                    f"a conditional expression gives {side!r} where lanes part; it "
                    "gives numbers, or tuples of as many: write an if"
                )
        return self.of.build.chosen(test, one, other)

    # -- elements ------------------------------------------------------------

    def _Subscript(self, node: ast.Subscript) -> Any:
        return self.element(self(node.value), self.place(node.slice))

    def place(self, node: ast.expr, *later: ast.expr) -> Any:
        """An index; names in it are read where they stand, without a copy of them."""
        parts = node.elts if isinstance(node, ast.Tuple) else []
        if not parts or any(isinstance(part, ast.Starred) for part in parts):
            return self(node)
        return tuple(
            self.kept(self(part), *parts[at + 1 :], *later)
            for at, part in enumerate(parts)
        )

    def element(self, owner: Any, index: Any) -> Any:
        """An element of an array, a list, a tuple."""
        if isinstance(owner, LaneArray):
            return owner.load(index)
        if isinstance(owner, Value):
            raise self.of.error("a value of each lane has no elements")
        if isinstance(index, Value):
            bar = chosen(self.of, owner, index)
            if bar is not None:
                return bar
        self.of.plain_index(index)
        try:
            found = owner[index]
        except KernelError:
            raise
        except (LookupError, TypeError) as wrong:
            raise self.of.error(f"{type(wrong).__name__}: {wrong}") from None
        copied = isinstance(index, slice) and isinstance(found, list)
        return self.of.made(found) if copied else found

    def bind(self, target: ast.expr, value: Any) -> None:
        """Give a value to a name, an element, or several to several."""
        if isinstance(value, Iterator):  # a round that is compiled again finds it empty
            raise self.of.error("an iterator is used up once; keep list(...) of it")
        if isinstance(target, ast.Subscript):
            value = self.kept(value, target)
        elif isinstance(value, tuple) or of_home(value):
            value = self.of.own(value)
        if isinstance(target, ast.Name):
            self.homes.assign(target.id, value)
        elif isinstance(target, ast.Subscript):
            owner, index = self(target.value), self.place(target.slice)
            self.homes.set_element(owner, index, value)
        elif isinstance(target, ast.Tuple | ast.List):
            parts, names = list(self.of.iterated(value)), list(target.elts)
            for at, one in enumerate(names):
                if isinstance(one, ast.Starred) and len(parts) >= len(names) - 1:
                    rest = slice(at, len(parts) - len(names) + at + 1)
                    parts[rest], names[at] = [self.of.made(parts[rest])], one.value
            if len(parts) != len(names):
                raise self.of.error(f"{len(parts)} values for {len(names)} names")
            for one, part in zip(names, parts, strict=True):
                self.bind(one, part)
        else:
            raise self.of.error("assign to a name or to an element of an array")

    # -- calls ---------------------------------------------------------------

    def _Call(self, node: ast.Call) -> Any:
        function = self(node.func)
        args = self._items_called(node.args)
        named = {k.arg: self(k.value) for k in node.keywords if k.arg is not None}
        if len(named) < len(node.keywords):
            raise self.of.error("** in a call has no meaning in a kernel")
        return self.called(function, args, named, node)

    def _items_called(self, nodes: list[ast.expr]) -> list[Any]:
        found: list[Any] = []
        for at, node in enumerate(nodes):
            if isinstance(node, ast.Starred):
                found += list(self.of.iterated(self(node.value)))
            else:
                found.append(self.kept(self(node), *nodes[at + 1 :]))
        return found

    def called(self, function: Any, args: list[Any], named: Any, node: ast.Call) -> Any:
        """A call: of a thread's member, a function to compile in, or plain Python."""
        if getattr(function, "of_kernel", False):
            self.of.site = node
            return function(*args, **named)
        own = self.intrinsics.get(function) if _hashable(function) else None
        if own is not None:
            through = Iterator | MappingView
            args = [
                self._called_plainly(list, [a], {}) if isinstance(a, through) else a
                for a in args
            ]
        given = [*args, *named.values()]
        # Of NumPy's numbers its own functions would make what no lane does.
        plain = all(map(is_plain, given)) and (_numpys(function) or not of_numpy(given))
        if own is not None and not plain:
            return self._called_plainly(own, args, named)
        if self.calls.can_inline(function, plain):
            return self.calls.inlined(function, args, named)
        if function is builtins.next:
            raise self.of.error("next() uses an iterator up; index a list")
        if function is builtins.print:
            raise self.of.error("a kernel prints nothing; store the values")
        if not all(map(is_plain, given)):
            self._no_function_of_lanes(function, args)
        return self._called_plainly(function, args, named)

    def _called_plainly(self, function: Any, args: list[Any], named: Any) -> Any:
        owner = getattr(function, "__self__", None)
        if isinstance(owner, dict) and function.__name__ == "update":
            given = dict(*args, **named).items()
            for key, value in [(key, self.of.own(value)) for key, value in given]:
                self.homes.set_element(owner, key, value)
            return None
        if isinstance(owner, list | dict | set) and function.__name__ not in LOOKS:
            self.homes.may_change(owner, f".{function.__name__}()")
            args = [self.of.own(one) for one in args]
        held = list(containers([*args, *named.values()]))
        before = [one.copy() for one in held]
        try:
            found = function(*args, **named)
        except KernelError:
            raise
        except Exception as wrong:
            raise self.of.error(f"{type(wrong).__name__}: {wrong}") from None
        if inspect.isfunction(function) and held != before:
            for one, old in zip(held, before, strict=True):
                one.clear()
                one.extend(old) if isinstance(one, list) else one.update(old)
            return self.calls.inlined(function, args, named)
        fresh = isinstance(found, list | dict) and id(found) not in self.of.depths
        return self.of.made(found) if fresh else found

    def _no_function_of_lanes(self, function: Any, args: list[Any]) -> None:
        """Functions of NumPy and of the standard library take no value of lanes."""
        module = getattr(function, "__module__", "") or ""
        name = getattr(function, "__name__", "")
        numeric = isinstance(function, np.ufunc) or module in ("math", "numpy", "cmath")
        if not numeric or not any(isinstance(a, Value) for a in args):
            return
        own = {"maximum": "max", "minimum": "min", "power": "**"}.get(name, name)
        known = own in self.of.members
        there = (
            f"t.{own}"
            if known
            else "a thread has t.exp, t.log, t.sqrt, t.min and t.max"
        )
        word = "np" if module != "math" else "math"
        raise self.of.error(
            f"{word}.{name} takes no value that differs by lane; "
            f"{'use ' * known}{there}"
        )


def containers(values: Any) -> Iterator[Any]:
    """Lists, dicts and sets among values, and what lies in them."""
    for one in values:
        if isinstance(one, list | dict | set):
            yield one
        if isinstance(one, list | tuple | dict):
            yield from containers(one.values() if isinstance(one, dict) else one)


def _hashable(function: Any) -> bool:
    try:
        hash(function)
    except TypeError:
        return False
    return True


def _numpys(function: Any) -> bool:
    """Whether it is of NumPy, as the formats that make a number are."""
    return (getattr(function, "__module__", "") or "").startswith("numpy")


def _of_truth(value: Any) -> bool:
    """Whether it is a truth value."""
    if isinstance(value, Value):
        return value.form.code == BOOL
    return isinstance(value, bool | np.bool_)


def _asks(node: ast.expr) -> bool:
    """Whether an expression gives a truth value whatever its parts are."""
    if isinstance(node, ast.BoolOp):
        return all(map(_asks, node.values))
    negated = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return negated or isinstance(node, ast.Compare)
