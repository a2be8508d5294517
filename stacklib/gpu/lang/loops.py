"""Loops: round by round where that is short, else with a way back.

A loop over plain numbers stands round by round as far as ``UNROLL`` instructions, as a
compiler unrolls it; a longer one goes back, four short rounds at a time. So does one
with a barrier in it that goes on until a number of threads or blocks is reached: only
the launch knows that, and the compiler does not. What only a plain number can do, as
the index of a list, makes it stand round by round again, and no loop around it; where
the index is a remainder, so many rounds that it is the same in the next stand together.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import islice
from math import lcm
from typing import Any

from ..vm.program import Label
from . import uniform
from .builder import Home, Value
from .expressions import Expressions
from .frames import (
    MOST_ROWS,
    Body,
    Construct,
    NeedsUnrolling,
    Rounds,
    TooLong,
    has_barrier,
    has_jump,
    of_form,
    private,
    told_by_launch,
)
from .holders import parts
from .homes import Homes, put
from .next_round import hand_over
from .plain import Unset
from .state import State
from .sums import counted

UNROLL = 1024  # instructions of a loop's rounds up to which they stand one by one
PERIOD = 12  # rounds after which a list of registers is indexed as before
FEW = 32  # rounds before it is asked whether the rest needs any compiling


def too_long() -> str:
    """A loop that is not to stand round by round."""
    raise TooLong


class Turn(ast.stmt):
    """A round of a counting loop begins: its name gets the counter's value."""

    def __init__(self, line: int, name: str, value: Value, offset: int) -> None:
        super().__init__()
        self.lineno, self.name, self.value, self.offset = line, name, value, offset


@dataclass(slots=True)
class Loops:
    """Statements that go round."""

    of: State
    homes: Homes
    expr: Expressions
    body: Body

    def while_true(self, node: ast.While) -> str:
        if told_by_launch(node, self.of.frame.tree) and has_barrier(node):
            return self._tried(node, too_long)
        return self._tried(node, lambda: self._while_plain(node))

    def for_each(self, node: ast.For) -> str:
        ends = self._range_ends(node)
        if ends is None:

            def items() -> Iterator[Any]:
                self.of.build.line = node.lineno
                return self.of.iterated(self.expr(node.iter))

            before = len(self.of.under_way)
            for part in ast.walk(node.iter):
                if isinstance(part, ast.Name):
                    with suppress(NameError):  # a name of a comprehension's own
                        self.of.under_way += parts(self.of.frame.find(part.id))
            try:
                return self._round_by_round(node, node.target, items, None)
            finally:
                del self.of.under_way[before:]
        if not isinstance(node.target, ast.Name):
            raise self.of.error("write for NAME in range(...)")
        ends = self._checked_ends(ends)
        if any(isinstance(end, Value) for end in ends):
            try:
                return self._rolled_for(node, ends)
            except NeedsUnrolling:
                if any(c.rolled for c in self.of.constructs):
                    raise  # an end may be the number of a round around this
                raise self.rounds_differ() from None
        rounds = range(*ends)
        if len(rounds) <= 1:
            return self._round_by_round(node, node.target, rounds.__iter__, None)
        return self._tried(
            node,
            lambda: self._round_by_round(
                node, node.target, rounds.__iter__, UNROLL, len(rounds)
            ),
            ends,
        )

    def rounds_differ(self) -> Exception:
        """A loop that goes back holds numbers only."""
        return self.of.error(
            "this loop's rounds differ by lane; what is no number cannot change from "
            "one to the next, and its counter is no plain number: set elements one by "
            "one, or use t.local"
        )

    def _range_ends(self, node: ast.For) -> list[Any] | None:
        over = node.iter
        if not isinstance(over, ast.Call) or over.keywords:
            return None
        if not isinstance(over.func, ast.Name) or self.expr(over.func) is not range:
            return None
        given = [self.of.own(self.expr(a)) for a in over.args]
        if not 1 <= len(given) <= 3:
            raise self.of.error(f"range takes one to three numbers, {len(given)} given")
        start, stop, step = (0, given[0], 1) if len(given) == 1 else (*given, 1)[:3]
        return [start, stop, step]

    def _checked_ends(self, ends: list[Any]) -> list[Any]:
        for end in ends:
            form = of_form(end)
            if form is None or form.floating:
                raise self.of.error("the ends of a range are whole numbers")
        if isinstance(ends[2], Value) or ends[2] == 0:
            raise self.of.error("the step of a range is one number, not zero")
        return ends

    def _tried(self, node: Any, one_by_one: Callable[[], str], ends: Any = None) -> str:
        """A loop round by round where that is short, else with a way back."""
        saved = self.of.save()
        try:
            return one_by_one()
        except TooLong as why:
            together = why.together() if not has_jump(node.body) else 1
            self.of.restore(saved)
        try:
            if ends is not None:
                return self._rolled_in_steps(node, ends, together)
            return self._rolled_while(node)
        except NeedsUnrolling:
            self.of.restore(saved)
        if ends is not None and not has_jump(node.body):
            together = 1
            while together < (period := lcm(*self.of.moduli)) <= PERIOD:
                together = period
                try:
                    return self._rolled_in_steps(node, ends, together, told=True)
                except NeedsUnrolling:
                    self.of.restore(saved)
        if ends is None:
            try:
                return self._while_plain(node, MOST_ROWS)
            except TooLong:
                raise self.rounds_differ() from None
        return self._round_by_round(node, node.target, range(*ends).__iter__, MOST_ROWS)

    def _round_by_round(
        self,
        node: Any,
        target: ast.expr,
        items: Callable[[], Iterator[Any]],
        limit: int | None,
        rounds: int = 1,
    ) -> str:
        """Rounds one after the other, each with its plain number."""

        def each(begun: Callable[[], None]) -> str:
            before = len(self.of.build.rows)
            for at, item in enumerate(items()):
                begun()
                self._count(target, item)
                said = self.body(node.body)
                used = len(self.of.build.rows) - before
                if limit and (used > limit or (at == 0 and used * rounds > limit)):
                    raise TooLong(self.of.build.rows[before:])
                if said in ("break", "return") and not self.round_goes_on(node):
                    return said
                if at == FEW and self._went_on(
                    node, before, islice(items(), at + 1, None)
                ):
                    return ""
            return ""

        names = self.homes.set_in([node]) if has_jump(node.body) else set()
        return self._with_jumps(node, each, names)

    def _went_on(self, node: Any, rows: int, items: Any = None) -> bool:
        """Whether the rounds that are left needed no compiling; then they are done."""
        if len(self.of.build.rows) > rows or not uniform.is_simple(node):
            return False
        names = self.of.frame.names
        if any(
            self.homes.home_of(names, name) is not None
            for name in self.homes.set_in([node])
        ):
            return False
        found = uniform.after(node, items, self.of.frame.find)
        for name, number in (found or {}).items():
            if name in uniform.counters_of(node):
                self._count(ast.Name(name), number)
            else:
                self.homes.assign(name, number)
        return found is not None

    def _count(self, target: ast.expr, item: Any) -> None:
        """A counter of rounds that stand one by one is plain, whatever lanes do."""
        names = self.of.frame.names
        if isinstance(target, ast.Tuple) and isinstance(item, tuple):
            if len(item) == len(target.elts):
                for one, part in zip(target.elts, item, strict=True):
                    self._count(one, part)
                return
        name = target.id if isinstance(target, ast.Name) else None
        key = id(names), name
        begun = any(c.rolled and key in c.objects for c in self.of.constructs)
        if name is None or begun or self.homes.home_of(names, name) is not None:
            self.expr.bind(target, item)
            return
        for known in self.of.plain:
            known.pop((id(names), name), None)
        names[name] = self.of.own(item)
        self.homes.tear(name)

    def _with_jumps(
        self, node: Any, each: Callable[[Callable[[], None]], str], names: set[str]
    ) -> str:
        """Run rounds; where lanes may leave early, with masks for it."""
        if not has_jump(node.body):
            said = each(lambda: None)
            return "return" if said == "return" else ""
        construct = Construct("loop", Label(), {}, {})
        return self.of.settled(construct, lambda: self._masked(construct, each, names))

    def _masked(
        self, construct: Construct, each: Callable[..., str], names: set[str]
    ) -> str:
        build = self.of.build
        self.homes.give_homes(construct, names)
        build.emit("LOOP", target=construct.end)
        torn: dict[Any, Any] = {}
        self.of.torn.append(torn)
        rounds = ExitStack()

        def begun() -> None:
            if construct.leave is None or construct.skips:
                # Lanes are back that skipped the last round, or part of it.
                rounds.close()
                put(torn)
                rounds.enter_context(self.of.region())
            if construct.leave is not None:
                build.place(construct.leave)
                build.emit("NEXT", target=construct.end)
            construct.leave = construct.here = Label()
            construct.skips = False

        construct.leave = None
        with rounds:
            each(begun)
        self.of.torn.pop()
        put(torn)
        if construct.leave is not None:
            build.place(construct.leave)
        self.of.end(construct, "ENDLOOP")
        return ""

    def round_goes_on(self, node: Any) -> bool:
        """Whether lanes that skipped the rest of this round begin another."""
        return has_jump(node.body) and self.of.constructs[-1].skips

    def _while_plain(self, node: ast.While, limit: int = UNROLL) -> str:
        """``while`` whose test is plain round after round."""

        def each(begun: Callable[[], None]) -> str:
            before, rounds = len(self.of.build.rows), 0
            while True:
                self.of.build.line = node.lineno
                begun()
                test = self.expr.test(node.test)
                if isinstance(test, Value):
                    raise TooLong
                if not test:
                    return ""
                said = self.body(node.body)
                rounds += 1
                if rounds == FEW and self._went_on(node, before):
                    return ""
                if len(self.of.build.rows) - before > limit or rounds > 100_000:
                    raise TooLong
                if said in ("break", "return") and not self.round_goes_on(node):
                    return said

        return self._with_jumps(node, each, self.homes.set_in([node.test, *node.body]))

    def _rolled_while(self, node: ast.While) -> str:
        construct = Construct("loop", Label(), {}, {}, rolled=True)
        names = self.homes.set_in([node.test, *node.body])

        def test() -> Any:
            return self.expr.test(node.test)

        def once() -> str:
            line, body = node.lineno, node.body
            return self._loop(construct, names, line, body, test, lambda: None)

        return self.of.settled(construct, once)

    def _loop(
        self,
        construct: Construct,
        names: set[str],
        line: int,
        body: list[ast.stmt],
        test: Callable[[], Any],
        after: Callable[[], None],
    ) -> str:
        """A loop with a way back: test, body, what counts."""
        build = self.of.build
        self.homes.give_homes(construct, names)
        construct.leave = construct.here = Label()
        head = Label()
        torn: dict[Any, Any] = {}
        self.of.torn.append(torn)
        build.line = line
        construct.row = build.emit("LOOP", target=construct.end)
        construct.level = len(build.seen)
        build.epoch += 1
        build.place(head)
        with self.of.region():
            holds = test()
            if isinstance(holds, Value):
                held = self.of.build.condition(holds)
                build.emit("WHILE", -1, held.reg, target=construct.end, kind="branch")
            elif not holds:
                build.emit("BREAK", target=construct.leave)
            self.body(body)
            hand_over(self.of, construct, self.homes.set_element)
            build.place(construct.leave)
            build.emit("NEXT", target=construct.end)
            build.line = line
            after()
            kind = "" if isinstance(holds, Value) else "branch"
            build.emit("JUMP", target=head, kind=kind)
        self.of.torn.pop()
        put(torn)
        build.epoch += 1
        self.of.end(construct, "ENDLOOP")
        return ""

    def _rolled_in_steps(
        self, node: ast.For, ends: list[Any], together: int, told: bool = False
    ) -> str:
        """Plain ends: several rounds to each way back, and what is left behind it."""
        rounds = range(*ends)
        whole = len(rounds) // together * together
        if together == 1 or whole < 2 * together:
            return self._rolled_for(node, ends)
        start, _, step = ends
        ends = [start, start + whole * step, step]
        self._rolled_for(node, ends, together, told)
        left = rounds[whole:]
        return self._round_by_round(node, node.target, left.__iter__, None)

    def _rolled_for(
        self, node: ast.For, ends: list[Any], together: int = 1, told: bool = False
    ) -> str:
        """``range``, whose ends may differ by lane."""
        build = self.of.build
        start, stop, step = ends
        assert isinstance(node.target, ast.Name)
        name = node.target.id
        construct = Construct("loop", Label(), {}, {}, rolled=True)
        names = self.homes.set_in(node.body) | {name}
        if private(self.of.frame.tree, name):
            names -= {name}
        form, _ = build.in_common(start, stop)
        op = ast.Lt if step > 0 else ast.Gt

        def once(together: int) -> str:
            counter = build.new(form)
            self.of.counters.append(counter)
            home = counter.home = Home(construct, ("counter",), False)
            counter.sum = counted(start, step * together)
            if not isinstance(start, Value):
                ((atom, _), _), *_ = counter.sum.terms
                self.of.rounds[atom] = Rounds(start, step * together, told)
            first = build.as_form(start, form)
            build.emit("MOVE", counter.reg, first.reg, form=form.code, kind="move")

            def test() -> Any:
                return self.expr.operators.compared(op, counter, stop)

            def after() -> None:
                by = build.constant(step * together, form)
                home.version += 1
                build.emit(
                    "ADD", counter.reg, counter.reg, by.reg, form=form.code, kind="int"
                )

            steps = range(0, step * together, step)
            turns = [Turn(node.lineno, name, counter, n) for n in steps]
            body = [part for turn in turns for part in (turn, *node.body)]
            if name in names:
                self.of.frame.names.setdefault(name, Unset(name))
            return self._loop(construct, names, node.lineno, body, test, after)

        if together > 1 and not told:  # a single round tells the formats
            saved = self.of.save()
            self.of.settled(construct, lambda: once(1))
            self.of.restore(saved)
        self.of.settled(construct, lambda: once(together))
        return ""

    def turn(self, turn: Turn) -> str:
        """The name of a loop's rounds gets the value of this one."""
        name, value = turn.name, turn.value
        if turn.offset:
            value = self.of.build.offset("ADD", value.form, value, turn.offset)
        if private(self.of.frame.tree, name):
            self.of.frame.names[name] = value
            value.bound = True
        else:
            self.homes.assign(name, value)
        return ""
