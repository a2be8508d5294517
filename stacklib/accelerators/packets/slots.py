"""Rows of a program, and the slots of a machine that issues several of them at once.

A program is rows: what is done, on which unit, what is read, what is written. A name
with a colon is memory, and what stands before the colon says which: ``tcm:x``. A
machine is slots: which units each of them feeds, how many instructions of a unit one
packet may hold, how many packets later a result may be read, which memories a unit
reaches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from stacklib.quantity.bounds import whole
from stacklib.quantity.names import resolve

MEMORIES = ("ddr", "l2", "tcm")
WIDEST = 64  # slots of a packet
Given: TypeAlias = (
    "str | int | Slots | Mapping[str, int] | Sequence[str | Iterable[str]]"
)


class Row(NamedTuple):
    """An instruction: its operation, its unit, what it reads and what it writes."""

    op: str
    unit: str
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Slots:
    """What a packet of a machine can hold."""

    name: str
    units: tuple[frozenset[str], ...]  # that each slot feeds
    most: Mapping[str, int] = field(default_factory=dict)  # of a unit, in a packet
    after: Mapping[str, int] = field(default_factory=dict)  # packets to its result
    reach: Mapping[str, frozenset[str]] = field(default_factory=dict)  # memories

    def __post_init__(self) -> None:
        whole(**{f"packets after {unit!r}": n for unit, n in self.after.items()})
        if len(self.units) > WIDEST:
            raise ValueError(f"{len(self.units)} slots: a packet has {WIDEST} at most")

    def takes(self, slot: int, unit: str) -> bool:
        """Whether a slot feeds a unit."""
        return unit in self.units[slot] or "any" in self.units[slot]

    def limit(self, unit: str) -> int:
        """Instructions of a unit that a packet may hold."""
        fed = sum(self.takes(slot, unit) for slot in range(len(self.units)))
        return min(fed, self.most.get(unit, fed))

    def wait(self, unit: str) -> int:
        """Packets from an instruction to the first that may read its result."""
        return self.after.get(unit, 1)


def _of(name: str, slots: str, **rest: Any) -> Slots:
    return Slots(name, tuple(frozenset(s.split()) for s in slots.split("|")), **rest)


_ANY, _NEAR, _TCM = (frozenset(MEMORIES[at:]) for at in range(3))
_LATE = {"load": 4, "tensor": 6, "vector": 2}  # packets; round, of nobody's data sheet
MACHINES = {
    # Slots as the V60/V61 quick reference has them; one load and one store of vectors
    # (Mahurin, Hot Chips 2023). HMX reaches the TCM alone (Hao et al., EuroSys 2026).
    "hexagon": _of(
        "hexagon",
        "load store scalar vector|load store scalar vector"
        "|scalar vector branch|scalar vector tensor branch",
        most={"load": 1, "store": 1, "branch": 1},
        reach={"tensor": _TCM, "vector": _NEAR, "load": _NEAR, "store": _NEAR},
    ),
    # Norrie and Patil, Hot Chips 2020: two scalar, four vector (two of them load and
    # store), two matrix slots (push, pop) that a product here takes at once, one other.
    "tpu": _of(
        "tpu",
        "scalar branch|scalar branch|vector|vector|load|store|tensor|other",
        after=_LATE,
    ),
    "one": _of("one", "any", after=_LATE),
}


def slots_of(slots: Given) -> Slots:
    """A machine by name, or by its slots.

    A number of slots that take anything, how many slots each unit has, or for every
    slot the units that it feeds, a string of names or several.
    """
    if isinstance(slots, Slots):
        return slots
    if isinstance(slots, str):
        return MACHINES[resolve(slots, MACHINES, "slots")]
    if isinstance(slots, Mapping):
        for unit, count in slots.items():
            if not isinstance(unit, str):
                raise ValueError(f"slots, {unit!r}: the name of a unit is needed")
            whole(**{f"slots[{unit!r}]": count})
        slots = [unit for unit, n in slots.items() for _ in range(min(n, WIDEST + 1))]
    if isinstance(slots, Sequence) and not isinstance(slots, bytes):
        each = [one.split() if isinstance(one, str) else one for one in slots]
        if not each or not all(map(_names, each)) or not all(each):
            raise ValueError(f"slots = {slots!r}: each has to feed a unit")
        return Slots("given", tuple(map(frozenset, each)))
    whole(slots=slots)
    return Slots(f"{slots} general", (frozenset({"any"}),) * min(slots, WIDEST + 1))


def _names(given: Any) -> bool:
    """Whether this is names, and not one name."""
    return (
        isinstance(given, Iterable)
        and not isinstance(given, str)
        and all(isinstance(one, str) for one in given)
    )


def rows_of(program: Iterable[Sequence[Any]], slots: Slots) -> tuple[Row, ...]:
    """A program's rows, each with a unit that some slot feeds and memory in reach."""
    rows = []
    for at, given in enumerate(program):
        if (
            not isinstance(given, Sequence)
            or not 2 <= len(given) <= 4
            or not _names(given[:2])
        ):
            raise ValueError(f"row {at}, {given!r}: op, unit, reads, writes are needed")
        op, unit, *names = given
        for one in names:
            if not _names(one):
                raise ValueError(f"row {at}, {one!r}: a list of names is needed")
        row = Row(op, unit, *(tuple(one) for one in names))
        if not slots.limit(unit):
            fed = sorted(frozenset().union(*slots.units))
            raise ValueError(
                f"row {at}, {op!r}: no slot of {slots.name} feeds {unit!r}\n"
                f"units: {', '.join(fed)}"
            )
        rows.append(row)
    if not rows:
        raise ValueError("a program of no rows")
    return tuple(rows)


def memory_of(name: str) -> str | None:
    """Which memory an operand lies in; None for a register."""
    before, colon, _ = name.partition(":")
    if colon and before not in MEMORIES:
        raise ValueError(f"{name!r}: memories are {', '.join(MEMORIES)}")
    return before if colon else None


def out_of_reach(row: Row, slots: Slots) -> str | None:
    """An operand in a memory that the row's unit does not reach."""
    reached = slots.reach.get(row.unit, _ANY)
    for name in (*row.reads, *row.writes):
        memory = memory_of(name)
        if memory is not None and memory not in reached:
            return name
    return None
