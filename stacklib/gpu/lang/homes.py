"""Names that lanes set on different paths: each gets a register, its home.

Every line that sets such a name writes there, under the mask. What format a home has,
and which elements of lists need one, is found by compiling a branch or a loop until
nothing new turns up.
"""

from __future__ import annotations

import ast
from typing import Any

from ..vm.formats import FORMS, join, of_constant
from .builder import Home, Value
from .frames import Construct, NeedsUnrolling, assigned, of_form, private
from .holders import alike, holders, parts
from .lane_arrays import LaneArray
from .next_round import anew, reshaped
from .plain import Torn, Unset
from .state import State


def numbers(values: tuple[Any, ...]) -> bool:
    """Whether a tuple holds numbers, and tuples of numbers."""
    return bool(values) and all(
        numbers(one) if isinstance(one, tuple) else of_form(one) is not None
        for one in values
    )


def put(torn: dict[Any, Any]) -> None:
    """Leave marks where names lost their objects."""
    for (_, name), (names, mark) in torn.items():
        names[name] = mark


class Homes:
    """Names and elements of lists, as lanes set them."""

    def __init__(self, of: State) -> None:
        self.of, self.build = of, of.build

    def may_change(self, owner: Any, what: str) -> None:
        """Refuse to change a Python container where only some lanes are."""
        depth = self.of.depths.get(id(owner), 0)
        inside = self.of.constructs[depth:]
        if inside and reshaped(self.of, owner):
            return
        if any(c.rolled for c in inside):
            raise NeedsUnrolling
        if inside:
            kind = type(owner).__name__
            raise self.of.error(
                f"{what} changes a Python {kind} where only some lanes are; assign to "
                "its elements, or use t.local"
            )

    def tear(self, name: str) -> None:
        """Behind the branches and loops that are open, no lane has this object."""
        names = self.of.frame.names
        for torn in self.of.torn:
            torn[id(names), name] = names, Torn(name, self.build.line)

    def assign(self, name: str, value: Any) -> None:
        """Only the lanes that are here get the new value."""
        if isinstance(value, Unset | Torn):
            raise self.of.error(f"{name!r} is given nothing")
        key = id(self.of.frame.names), name
        if self._to_row(self.of.frame.names.get(name), value):
            return
        around = [c for c in self.of.constructs if key in c.objects]
        if around and self.took_on(self.of.frame.names.get(name), value):
            return
        if around and anew(self.of, key):
            names, inner = self.of.frame.names, self.of.constructs[-1]
            inner.bound.setdefault(key, (names, name, names[name]))
            names[name] = value
            return
        if any(c.rolled for c in around):
            raise NeedsUnrolling
        if around:
            raise self._of_some(name)
        value = self.of.own(value) if isinstance(value, tuple) else value
        held = self.home_of(self.of.frame.names, name)
        if held is not None:
            self._name_to_home(name, held, held.home, value)
            return
        self.of.frame.names[name] = value
        if isinstance(value, Value):
            value.bound = True

    def took_on(self, held: Any, value: Any) -> bool:
        """Set a container's elements to those of another that nobody else holds."""
        if not isinstance(held, list | dict) or not alike(held, value):
            return False
        before, after = parts(held), parts(value)
        if any(
            one is other for one in before for other in [*after, *self.of.under_way]
        ):
            return False
        made = all(id(one) in self.of.depths for one in before)
        frames = self.of.frames
        if not made or any(holders(frames, one) != 1 for one in before):
            return False
        outer = holders(frames, value)
        if outer or any(holders([*frames], one) for one in after):
            return False
        self._take_on(held, value)
        return True

    def _take_on(self, held: Any, value: Any) -> None:
        keys = held if isinstance(held, dict) else range(len(held))
        for key in list(keys):
            if isinstance(held[key], list | dict):
                self._take_on(held[key], value[key])
            else:
                self.set_element(held, key, value[key])

    def _to_row(self, held: Any, value: Any) -> bool:
        """Give a tuple whose numbers have homes other numbers, if as many."""
        if not isinstance(held, tuple) or not any(map(self.in_row, held)):
            return False
        if not isinstance(value, tuple) or not alike(held, value):
            return False
        for place, one in zip(held, self.of.own(value), strict=True):
            if not self._to_row(place, one):
                self.to_home(place, one)
        return True

    def in_row(self, held: Any) -> bool:
        """Whether it has a home, or is a tuple of what has."""
        if isinstance(held, tuple):
            return any(map(self.in_row, held))
        return self.has_home(held)

    def _of_some(self, name: str) -> Exception:
        held = self.of.frame.names.get(name)
        kind = "function" if callable(held) else type(held).__name__
        return self.of.error(
            f"{name!r} holds a Python {kind} and is given another value where only "
            "some lanes are; set its elements one by one, give it numbers, or use "
            "t.local"
        )

    def home_of(self, names: Any, name: Any) -> Any:
        """The home of a name, also while it stands for a plain number."""
        held = names.get(name)
        if self.has_home(held):
            return held
        for known in reversed(self.of.plain):
            if (id(names), name) in known:
                held = known[id(names), name][1]
                return held if self.has_home(held) else None
        return None

    def has_home(self, held: Any) -> bool:
        """Whether what a name holds is set by lanes on several paths now."""
        home = held.home if isinstance(held, Value) else None
        return home is not None and home.owner in self.of.constructs

    def _name_to_home(self, name: str, held: Value, home: Home, value: Any) -> None:
        if not isinstance(value, Value) and of_constant(value) is None:
            self.of.frame.names[name] = value
            self.tear(name)
            return
        if home.owner.forms.get(home.key) is None:
            home.owner.forms[home.key] = held.form = self.build.form_of(value)
        self.to_home(held, value)
        home.sure.add(self.of.regions[-1])
        names = self.of.frame.names
        names[name] = held
        for known in self.of.plain:
            known.pop((id(names), name), None)
        if not isinstance(value, Value):
            names[name] = value
            self.of.plain[-1][id(names), name] = names, held

    def _into(self, held: Value, value: Any) -> None:
        """Write a value to a register that has a home."""
        form, build = held.form, self.build
        if held.home is not None:
            held.home.version += 1
        if (
            isinstance(value, Value)
            and value.form == form
            and self._retarget(held, value)
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
            raise self.of.error("a value of each lane has no elements")
        self.of.plain_index(index)
        if isinstance(owner, list) and isinstance(index, int) and index < 0:
            index += len(owner)
        if isinstance(owner, list) and isinstance(index, slice):
            self._set_slice(owner, index, value)
            return
        try:
            held = owner[index]
        except (LookupError, TypeError) as wrong:
            if isinstance(owner, dict) and isinstance(wrong, KeyError):
                held = None
                self.may_change(owner, "a new key")
            else:
                raise self.of.error(f"{type(wrong).__name__}: {wrong}") from None
        if isinstance(owner, tuple):
            raise self.of.error("a tuple is not changed; make a list of it")
        self._set_held(owner, index, held, value)

    def _set_slice(self, owner: list[Any], index: slice, value: Any) -> None:
        """As many elements as before are set one by one."""
        places = range(len(owner))[index]
        values = [self.of.own(one) for one in self.of.iterated(value)]
        if len(places) == len(values):
            for place, one in zip(places, values, strict=True):
                self.set_element(owner, place, one)
            return
        self.may_change(owner, "a slice of another length")
        try:
            owner[index] = values
        except ValueError as wrong:
            raise self.of.error(f"ValueError: {wrong}") from None

    def _set_held(self, owner: Any, index: Any, held: Any, value: Any) -> None:
        depth = self.of.depths.get(id(owner), 0)
        if self._to_row(held, value):
            return
        if self.has_home(held):
            self.to_home(held, value)
            return
        if depth < len(self.of.constructs):
            if isinstance(value, tuple) and isinstance(held, tuple):
                if numbers(held) and alike(held, value):
                    self._carried(owner, index, depth)
                    owner[index] = self.of.own(value)
                    return
            if self.took_on(held, value):
                return
            if of_form(value) is None:
                self.may_change(owner, "an assignment")
            if self.of.depths.get(id(owner), 0) == depth:
                self._carried(owner, index, depth)
        owner[index] = self.of.own(value)

    def _carried(self, owner: Any, index: Any, depth: int) -> None:
        """An element needs a home from the outermost branch or loop on."""
        outermost = self.of.constructs[depth]
        if any(c.fixed for c in self.of.constructs[depth:]):
            raise self.of.error(
                "an element is set inside an expression that only some lanes "
                "compute; call the function on its own line"
            )
        if (id(owner), index) not in outermost.carried:
            outermost.carried[id(owner), index] = owner
            outermost.changed = True

    def to_home(self, held: Value, value: Any) -> None:
        """Write a number to a register that lanes set on several paths."""
        form = of_form(value)
        if form is None:
            raise self.of.error(f"{value!r} is no number of a lane")
        joined = join(held.form, form)
        if joined != held.form:
            home: Any = held.home
            home.owner.forms[home.key], home.owner.changed = joined, True
        self._into(held, value)

    def give_homes(self, construct: Construct, names: set[str]) -> None:
        """Registers for names that are set inside, and for elements of lists."""
        for name in sorted(names & set(self.of.frame.names)):
            held = self.home_of(self.of.frame.names, name)
            if held is not None:
                self.of.frame.names[name] = held
            self._give_home(construct, self.of.frame.names, name, ("name", name))
        for (_, index), owner in list(construct.carried.items()):
            key = ("element", id(owner), index)
            self._give_home(construct, owner, index, key)

    def _give_home(self, construct: Construct, place: Any, at: Any, key: Any) -> None:
        held = place.get(at) if isinstance(place, dict) else place[at]
        if isinstance(held, tuple) and numbers(held):
            parts = list(held)
            for n in range(len(parts)):
                self._give_home(construct, parts, n, (*key, n))
            place[at] = tuple(parts)
            return
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
        if isinstance(held, Value) and before is not None and before.tracked:
            made.home.tracked, made.home.sure = True, set(before.sure)
            self.build.emit("SET", made.reg, held.reg, imm=1)
        place[at] = made

    def set_in(self, statements: list[Any]) -> set[str]:
        """Names that statements set: counters, too, that others read."""
        counters = {
            loop.target.id
            for statement in statements
            for loop in ast.walk(statement)
            if isinstance(loop, ast.For) and isinstance(loop.target, ast.Name)
        }
        tree = self.of.frame.tree
        return assigned(statements) | {n for n in counters if not private(tree, n)}
