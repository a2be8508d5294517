"""What a compilation knows where it is: names, lanes, places; and trying again.

Every part of the compiler works on this one state, and so do the arrays and the members
of a thread that a kernel names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..vm.program import Label, Place
from .builder import Builder, KernelError, Value
from .frames import Construct, Frame, NeedsUnrolling, Rounds
from .lane_arrays import LaneArray


@dataclass(slots=True)
class Saved:
    """What compiling changes, to try again."""

    depth: tuple[int, int, int]
    rows: int
    inserted: int
    names: list[tuple[dict[str, Any], dict[str, Any]]]
    lists: list[tuple[Any, Any]]
    depths: dict[int, int]
    plain: list[dict[Any, Any]]


@dataclass
class State:
    """One compilation of a kernel for a launch."""

    build: Builder
    frame: Frame
    place: Place
    spilled: set[Any]  # own arrays that are in memory
    members: frozenset[str]  # of a thread's context
    constructs: list[Construct] = field(default_factory=list)
    regions: list[int] = field(default_factory=lambda: [0])
    turns: list[int] = field(default_factory=list)
    depths: dict[int, int] = field(default_factory=dict)  # of lists, where made
    lists: list[Any] = field(default_factory=list)  # so that ids stay theirs
    counters: list[Value] = field(default_factory=list)  # their registers stay theirs
    names: list[str] = field(default_factory=list)
    site: Any = None
    frames: list[Frame] = field(default_factory=list)
    count: int = 0
    under_way: list[Any] = field(default_factory=list)  # what loops go through
    # Names that hold a Python object on some lanes, by construct: where, what to say.
    torn: list[dict[Any, Any]] = field(default_factory=list)
    # Names that hold a plain number for now, by region, and the home it stands in too.
    plain: list[dict[Any, Any]] = field(default_factory=lambda: [{}])

    rounds: dict[Any, Rounds] = field(default_factory=dict)  # by a counter's atom
    moduli: set[int] = field(default_factory=set)  # whose remainders were asked of one

    def __post_init__(self) -> None:
        self.build.constructs = self.constructs
        self.frames.append(self.frame)

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

    # -- arrays, names and values --------------------------------------------

    def array(self, use: Any) -> LaneArray:
        """An array that the kernel may index."""
        return LaneArray(self, self.numbered(use), use)

    def numbered(self, use: Any) -> int:
        """Number of an array of the program."""
        self.build.arrays.append(use)
        return len(self.build.arrays) - 1

    def name_number(self, name: str) -> int:
        """Number of a name, for an instruction that may have to say it."""
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name)

    def own(self, value: Any) -> Any:
        """The value as it is now, whatever its name holds later."""
        if isinstance(value, tuple):
            return tuple(map(self.own, value))
        if isinstance(value, Value):
            if value.home is not None:
                value = self.build.op("MOVE", value.form, value)
            value.bound = True
        return value

    def made(self, value: Any) -> Any:
        """Note how deep in branches a list was made; setting elements asks.

        It holds values as they are now, whatever names set later.
        """
        if isinstance(value, list):
            value[:] = map(self.own, value)
        elif isinstance(value, dict):
            value.update({key: self.own(one) for key, one in value.items()})
        self.depths[id(value)] = len(self.constructs)
        self.lists.append(value)
        return value

    def plain_index(self, index: Any) -> None:
        """Refuse an index of a list that is, or holds, a value of each lane."""
        parts = index if isinstance(index, tuple) else (index,)
        if not any(isinstance(part, Value) for part in parts):
            return
        if any(c.rolled for c in self.constructs):
            raise NeedsUnrolling
        if isinstance(index, Value):
            index.__index__()  # says why
        raise self.error("an index that differs by lane")

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

    # -- functions and lanes -------------------------------------------------

    def enter(self, frame: Frame) -> None:
        """Names are those of this function now."""
        self.frames.append(frame)
        self.frame = frame

    def leave(self) -> None:
        """Back to the function around it."""
        self.frames.pop()
        self.frame = self.frames[-1]

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
        self.end(construct, "ENDIF")
        self.constructs.pop()

    def end(self, construct: Construct, op: str) -> None:
        """Lanes meet again; a warp goes on outside when none is left here."""
        self.build.place(construct.end)
        around = self.constructs[-2].here if len(self.constructs) > 1 else None
        self.build.emit(op, target=around)

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
        return Saved(
            (len(self.constructs), len(self.frames), len(self.regions)),
            len(self.build.rows),
            len(self.build.inserted),
            names,
            [(one, one.copy()) for one in self.lists if id(one) in self.depths],
            dict(self.depths),
            [dict(known) for known in self.plain],
        )

    def back_out(self, saved: Saved) -> None:
        """Out of the functions and branches that were entered since."""
        constructs, frames, regions = saved.depth
        del self.constructs[constructs:], self.frames[frames:]
        for by_region in (self.regions, self.plain, self.build.seen):
            del by_region[regions:]
        self.frame = self.frames[-1]

    def restore(self, saved: Saved) -> None:
        """Back to what it was."""
        self.back_out(saved)
        rows, inserted = self.build.rows, self.build.inserted
        for row in inserted[saved.inserted :]:
            rows.remove(row)
            row.dead = True
        for row in rows[saved.rows :]:
            row.dead = True
        del inserted[saved.inserted :], rows[saved.rows :]
        for cell in self.build.cells:
            cell.sure.clear()
        old = [*saved.names, *zip(self.plain, saved.plain, strict=True)]
        for now, before in [*old, *saved.lists, (self.depths, saved.depths)]:
            now.clear()
            now.extend(before) if isinstance(now, list) else now.update(before)

    def settled(self, construct: Construct, compile_it: Callable[[], str]) -> str:
        """Compile a branch or a loop until its homes have their formats."""
        for _ in range(40):
            construct.changed, construct.row = False, None
            construct.bound.clear()
            construct.shapes.clear()
            saved = self.save()
            self.constructs.append(construct)
            try:
                said = compile_it()
            finally:
                self.back_out(saved)
            if not construct.changed:
                return said
            self.restore(saved)
        raise self.error("the formats of this loop's names do not settle")
