"""Names that lanes set on different paths: each gets a register, its home.

Every line that sets such a name writes there, under the mask. What format a home has,
and which elements of lists need one, is found by compiling a branch or a loop until
nothing new turns up.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from .builder import Home, Value
from .formats import FORMS, join, of_constant
from .frames import Base, Construct, Frame, NeedsUnrolling, Saved, of_form
from .lane_arrays import LaneArray
from .plain import Torn, Unset
from .program import Label


class Homes(Base):
    """Names, elements of lists, and trying again."""

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

    def _own_all(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(self.expr.own(v) for v in value)
        return self.expr.own(value)

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
        return Saved(
            len(self.build.rows),
            len(self.build.inserted),
            names,
            lists,
            dict(self.depths),
        )

    def restore(self, saved: Saved) -> None:
        """Back to what it was."""
        rows, inserted = self.build.rows, self.build.inserted
        for row in inserted[saved.inserted :]:
            rows.remove(row)
            row.dead = True
        for row in rows[saved.rows :]:
            row.dead = True
        del inserted[saved.inserted :], rows[saved.rows :]
        for cell in self.build.cells:
            cell.sure.clear()
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

    def _back_to(self, saved: Saved, depth: tuple[int, int, int]) -> None:
        del self.constructs[depth[0] :]
        del self.frames[depth[1] :]
        del self.regions[depth[2] :]
        del self.plain[depth[2] :]
        del self.build.seen[depth[2] :]
        self.frame = self.frames[-1]
        self.restore(saved)

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

    def _give_home(self, construct: Construct, place: Any, at: Any, key: Any) -> None:
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
        if isinstance(held, Value) and before is not None and before.tracked:
            made.home.tracked, made.home.sure = True, set(before.sure)
            self.build.emit("SET", made.reg, held.reg, imm=1)
        place[at] = made

    def _tear(self, torn: dict[str, Any]) -> None:
        for name, mark in torn.items():
            self.frame.names[name] = mark

    def _local(self, names: set[str]) -> set[str]:
        """Names of this function that hold a number or nothing."""
        return {n for n in names if n in self.frame.names}

    def way_out(self) -> Label | None:
        """Where a warp goes on when no lane is left here."""
        return self.constructs[-2].here if len(self.constructs) > 1 else None
