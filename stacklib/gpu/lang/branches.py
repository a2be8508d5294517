"""Branches: both sides, each with the lanes that take it; ways out of loops."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..vm.formats import FORMS
from ..vm.program import Label
from .builder import Value
from .frames import Construct
from .homes import Homes


class Branches(Homes):
    """Statements that part the lanes."""

    def _If(self, node: ast.If) -> str:
        test = self.expr.test(node.test)
        if not isinstance(test, Value):
            return self.body(node.body if test else node.orelse)
        test = self.expr.condition(test)
        construct = Construct("if", Label(), {}, {})
        names = self.set_in(node.body + node.orelse)
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
        torn: dict[Any, Any] = {}
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

    def _sure_of_both(self, first: int, second: int, said: str, also: str) -> None:
        for held in self.frame.names.values():
            home = held.home if isinstance(held, Value) else None
            if home is None:
                continue
            if (first in home.sure or said) and (second in home.sure or also):
                home.sure.add(self.regions[-1])

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
        build, test = self.build, self.expr.own(test)
        with self.on_some_lanes(test):
            one = self.expr.own(self.expr(yes))
        opposite = build.op("NOT", FORMS[0], test, kind="")
        with self.on_some_lanes(opposite):
            other = self.expr.own(self.expr(no))
        form, (a, b) = build.in_common(one, other)
        return build.op("SELECT", form, test, a, b)

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
