"""Helper functions: compiled in the place of their call."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass
from typing import Any

from ..vm.program import Label
from .builder import Home
from .expressions import Expressions
from .frames import (
    Body,
    Closure,
    Construct,
    Diverges,
    Frame,
    all_assigned,
    cells_of,
    of_form,
)
from .homes import Homes
from .next_round import nothing_is_pending
from .plain import Unset, source_of
from .state import State

MOST_DEPTH = 64  # of helper functions that call each other
_SOURCES: dict[Any, tuple[ast.FunctionDef, str]] = {}


@dataclass(slots=True)
class Calls:
    """Functions that a kernel calls."""

    of: State
    homes: Homes
    expr: Expressions
    body: Body

    def returned(self, node: ast.Return) -> str:
        """The lanes that are here are finished with this function."""
        frame, build, constructs = self.of.frame, self.of.build, self.of.constructs
        if frame is self.of.frames[0]:
            if node.value is not None and not (
                isinstance(node.value, ast.Constant) and node.value.value is None
            ):
                raise self.of.error("a kernel returns nothing; store the result")
            if constructs:
                build.emit("EXIT", imm=1, target=constructs[-1].here, kind="exit")
            return "return"
        value = None if node.value is None else self.expr(node.value)
        construct = frame.construct
        if construct is None:
            if len(constructs) > frame.depth:
                raise Diverges(frame)
            frame.result = self.of.own(value)
            return "return"
        self._result_home(frame, construct, value)
        inner = len(constructs) - 1 - constructs.index(construct)
        nothing_is_pending(constructs[len(constructs) - inner :])
        if inner:
            build.emit("BREAK", target=constructs[-1].here, imm=inner)
        return "return"

    def _result_home(self, frame: Frame, construct: Construct, value: Any) -> None:
        """What a helper returns from several places, each on its own lanes."""
        parts = value if isinstance(value, tuple) else (value,)
        if frame.result is None:
            frame.result = [None] * len(parts), isinstance(value, tuple)
        homes, several = frame.result
        if several != isinstance(value, tuple) or len(homes) != len(parts):
            raise self.of.error("a helper returns as many values on every path")
        for at, part in enumerate(parts):
            if part is None:
                continue
            form = of_form(part)
            if form is None:
                raise self.of.error(
                    f"{part!r} is returned on a path that not all lanes take"
                )
            key = ("result", at)
            if homes[at] is None:
                known = construct.forms.setdefault(key, form)
                homes[at] = self.of.build.new(known)
                homes[at].home = Home(construct, key, False)
            self.homes.to_home(homes[at], part)

    def can_inline(self, function: Any, plain: bool) -> bool:
        """Whether a call is compiled in: a Python function that sees lanes."""
        if isinstance(function, Closure):
            return True
        if inspect.ismethod(function):  # whose object may hold lanes' values
            return inspect.isfunction(function.__func__)
        return inspect.isfunction(function) and not plain

    def inlined(self, function: Any, args: list[Any], named: dict[str, Any]) -> Any:
        """Compile a helper function in the place of its call."""
        if len(self.of.frames) > MOST_DEPTH:
            raise self.of.error(
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
            raise self.of.error(f"{function.__name__} is behind a decorator")
        code, cells = function.__code__, cells_of(function)
        if code not in _SOURCES:
            _SOURCES[code] = source_of(function)
        node, file = _SOURCES[code]
        return node, Frame({}, None, function.__globals__, cells, node), file

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
            raise self.of.error(f"{node.name}: write its parameters without * and **")
        own = isinstance(function, Closure)
        late = function.defaults if own else function.__defaults__ or ()
        defaults = dict(zip(names[::-1], late[::-1], strict=False))
        given = dict(zip(names, args, strict=False)) | named
        wrong = [n for n in named if n not in names]
        missing = [n for n in names if n not in given and n not in defaults]
        if len(args) > len(names) or wrong or missing:
            raise self.of.error(
                f"TypeError: {node.name}() takes {', '.join(names) or 'nothing'}; "
                f"{len(args) + len(named)} given"
            )
        values = {n: self.of.own(given.get(n, defaults.get(n))) for n in names}
        local = all_assigned(node) - set(names)
        frame.names.update({n: Unset(n) for n in sorted(local)})
        frame.names.update(values)

    def _ran(self, node: ast.FunctionDef, frame: Frame, file: str) -> Any:
        build = self.of.build
        line, before = build.line, build.file
        build.file = file
        parameters, saved = dict(frame.names), self.of.save()
        frame.depth = len(self.of.constructs)
        try:
            self.of.enter(frame)
            self.body(node.body)
            self.of.leave()
        except Diverges as where:
            if where.frame is not frame:
                raise
            self.of.restore(saved)
            construct = frame.construct = Construct("call", Label(), {}, {})
            self.of.settled(
                construct, lambda: self._call_masked(node, frame, construct, parameters)
            )
        build.line, build.file = line, before
        if frame.construct is None or frame.result is None:
            return frame.result
        homes, several = frame.result
        return tuple(homes) if several else homes[0]

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
        self.of.enter(frame)
        construct.here = construct.end
        self.homes.give_homes(construct, set())
        self.of.build.emit("LOOP", target=construct.end)
        with self.of.region():
            self.body(node.body)
        self.of.end(construct, "ENDLOOP")
        self.of.leave()
        return ""
