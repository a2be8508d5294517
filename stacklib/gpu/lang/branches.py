"""Branches: both sides, each with the lanes that take it; ways out of loops."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from ..vm.program import Label
from .builder import Value
from .expressions import Expressions
from .frames import Body, Construct
from .homes import Homes, put
from .next_round import nothing_is_pending
from .state import State


@dataclass(slots=True)
class Branches:
    """Statements that part the lanes."""

    of: State
    homes: Homes
    expr: Expressions
    body: Body

    def parted(self, node: ast.If) -> str:
        test = self.expr.test(node.test)
        if not isinstance(test, Value):
            return self.body(node.body if test else node.orelse)
        test = self.of.build.condition(test)
        construct = Construct("if", Label(), {}, {})
        names = self.homes.set_in(node.body + node.orelse)
        return self.of.settled(
            construct, lambda: self._both_sides(node, construct, test, names)
        )

    def _both_sides(
        self, node: ast.If, construct: Construct, test: Value, names: set[str]
    ) -> str:
        build = self.of.build
        self.homes.give_homes(construct, names)
        other = construct.here = Label()
        build.line = node.lineno
        build.emit("IF", -1, test.reg, target=other, kind="branch")
        torn: dict[Any, Any] = {}
        self.of.torn.append(torn)
        with self.of.region() as first:
            said = self.body(node.body)
        put(torn)
        build.place(other)
        build.emit("ELSE", target=construct.end)
        construct.here = construct.end
        with self.of.region() as second:
            also = self.body(node.orelse)
        put(torn)
        self.of.torn.pop()
        self.of.end(construct, "ENDIF")
        self._sure_of_both(first, second, said, also)
        return said if said and said == also else ""

    def _sure_of_both(self, first: int, second: int, said: str, also: str) -> None:
        for held in self.of.frame.names.values():
            home = held.home if isinstance(held, Value) else None
            if home is None:
                continue
            if (first in home.sure or said) and (second in home.sure or also):
                home.sure.add(self.of.regions[-1])

    def leave(self, node: ast.Break) -> str:
        """The lanes that are here leave the loop."""
        return self._jump("BREAK", "break")

    def skip(self, node: ast.Continue) -> str:
        """The lanes that are here wait for the next round."""
        return self._jump("CONTINUE", "continue")

    def _jump(self, op: str, word: str) -> str:
        for inner, construct in enumerate(reversed(self.of.constructs)):
            if construct.kind != "loop":
                continue
            nothing_is_pending(self.of.constructs[-1 - inner :])
            if op == "CONTINUE" and inner:
                construct.skips = True
            if inner or (op == "BREAK" and (construct.rolled or construct.skips)):
                self.of.build.emit(op, target=self.of.constructs[-1].here, imm=inner)
            break
        return word
