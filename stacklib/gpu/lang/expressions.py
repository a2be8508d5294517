"""Expressions of a kernel: computed now where they are plain, else by instructions."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np

from .builder import Home, KernelError, Value, of_home
from .lane_arrays import LaneArray
from .mbarriers import chosen
from .operators import Operators
from .plain import Torn, Unset, is_plain

# What a list, a dict or a set is asked without being changed.
LOOKS = ("copy", "index", "count", "get", "items", "keys", "values")


class Expressions(Operators):
    """Computes the expressions of one frame after the other."""

    # -- names and constants -------------------------------------------------

    def _Constant(self, node: ast.Constant) -> Any:
        return node.value

    def _Name(self, node: ast.Name) -> Any:
        return self.read(node.id)

    def read(self, name: str) -> Any:
        """What a name holds; KernelError where it holds nothing yet."""
        try:
            found = self.frame.find(name)
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
                found.append(self.own(self(node)))
        return found

    def own(self, value: Any) -> Any:
        """The value as it is now, whatever its name holds later."""
        if isinstance(value, tuple):
            return tuple(map(self.own, value))
        if isinstance(value, Value):
            if value.home is not None:
                value = self.of.build.op("MOVE", value.form, value)
            value.bound = True
        return value

    def kept(self, value: Any, *later: ast.expr) -> Any:
        """A value as it is now, if what is computed later may set its home."""
        if not of_home(value):
            return value
        calls = any(isinstance(part, ast.Call) for e in later for part in ast.walk(e))
        return self.own(value) if calls else value

    def _Dict(self, node: ast.Dict) -> Any:
        if any(key is None for key in node.keys):
            raise self.of.error("** in a dict has no meaning in a kernel")
        keys = [self(key) for key in node.keys if key is not None]
        values = [self.own(self(value)) for value in node.values]
        return self.of.made(dict(zip(keys, values, strict=True)))

    def _Slice(self, node: ast.Slice) -> Any:
        parts = [node.lower, node.upper, node.step]
        return slice(*(None if part is None else self(part) for part in parts))

    def _JoinedStr(self, node: ast.JoinedStr) -> Any:
        raise self.of.error("a text with values has no meaning in a kernel")

    def _Lambda(self, node: ast.Lambda) -> Any:
        raise self.of.error("lambda has no meaning in a kernel")

    def _NamedExpr(self, node: ast.NamedExpr) -> Any:
        raise self.of.error("':=' inside an expression; assign on its own line")

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
        with self.of.inner_scope():
            self._turn(loops, what, found)
        return found

    def _turn(
        self, loops: list[ast.comprehension], what: ast.expr, found: list[Any]
    ) -> None:
        if not loops:
            found.append(self.own(self(what)))
            return
        first, *rest = loops
        for at, item in enumerate(self.of.iterated(self(first.iter))):
            self.of.turns.append(at)
            self.of.bind(first.target, item)
            tests = [self.test(test) for test in first.ifs]
            if any(isinstance(test, Value) for test in tests):
                raise self.of.error("a list whose length differs by lane")
            if all(tests):
                self._turn(rest, what, found)
            self.of.turns.pop()

    # -- elements ------------------------------------------------------------

    def _Subscript(self, node: ast.Subscript) -> Any:
        owner, index = self(node.value), self(node.slice)
        return self.element(owner, index)

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
        if self.of.rolled_name(index):
            raise self.of.needs_unrolling(index)
        try:
            found = owner[index]
        except KernelError:
            raise
        except (LookupError, TypeError) as wrong:
            raise self.of.error(f"{type(wrong).__name__}: {wrong}") from None
        copied = isinstance(index, slice) and isinstance(found, list)
        return self.of.made(found) if copied else found

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
        own = self.of.intrinsics.get(function) if _hashable(function) else None
        plain = all(map(is_plain, [*args, *named.values()]))
        if own is not None and not plain:
            return own(*args, **named)
        if self.of.can_inline(function, plain):
            return self.of.inlined(function, args, named)
        if function is builtins.print:
            raise self.of.error("a kernel prints nothing; store the values")
        if not plain:
            self._no_function_of_lanes(function, args)
        return self._called_plainly(function, args, named)

    def _called_plainly(self, function: Any, args: list[Any], named: Any) -> Any:
        owner = getattr(function, "__self__", None)
        if isinstance(owner, list | dict | set) and function.__name__ not in LOOKS:
            self.of.may_change(owner, f".{function.__name__}()")
            args = [self.own(one) for one in args]
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
            return self.of.inlined(function, args, named)
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
