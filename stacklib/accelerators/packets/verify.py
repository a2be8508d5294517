"""What is wrong with a program in packets: the rule, the cycle, the slot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from stacklib.quantity.bounds import is_whole

from .needs import needs
from .slots import Given, Row, Slots, out_of_reach, rows_of, slots_of

RULES = (
    "a slot that there is",
    "a row of the program",
    "each row once",
    "a unit that the slot feeds",
    "no more of a unit than a packet holds",
    "memory in reach",
    "what it needs is there",
)


class WrongPacket(ValueError):
    """A packet that breaks a rule: which rule, in which cycle, and in which slot."""

    def __init__(self, rule: str, cycle: int, slot: int | None, what: str) -> None:
        where = f"cycle {cycle}" if slot is None else f"cycle {cycle}, slot {slot}"
        super().__init__(f"{where}: {what}\nrule: {rule}")
        self.rule, self.cycle, self.slot = rule, cycle, slot


def verify(
    program: Iterable[Sequence[Any]],
    packets: Sequence[Mapping[int, int]],
    slots: Given = "hexagon",
) -> None:
    """Judge packets by the rules of a machine, from what they hold alone.

    Parameters
    ----------
    program : iterable of rows
        As ``pack`` takes it.
    packets : sequence of mappings
        Of each cycle: slot to the number of a row.
    slots : str, int, Slots, mapping or sequence
        As ``pack`` takes it.

    Raises
    ------
    WrongPacket
        With ``.rule``, ``.cycle`` and ``.slot``, for the first that is broken.

    Examples
    --------
    >>> rows = [("load", "load", ["tcm:x"], ["r"]), ("add", "vector", ["r"], ["s"])]
    >>> verify(rows, [{0: 0}, {2: 1}])
    """
    machine = slots_of(slots)
    rows = rows_of(program, machine)
    for fault in _faults(rows, packets, machine):
        raise fault


def _faults(
    rows: Sequence[Row], packets: Sequence[Mapping[int, int]], machine: Slots
) -> Iterator[WrongPacket]:
    placed: dict[int, tuple[int, int]] = {}
    for cycle, packet in enumerate(packets):
        if not isinstance(packet, Mapping):
            raise TypeError(f"packet {cycle}, {packet!r}: slot to number of a row")
        held: dict[str, int] = {}
        for slot, at in packet.items():
            yield from _alone(rows, machine, cycle, slot, at)
            row = rows[at]
            if at in placed:
                told = f"row {at}, {row.op!r}, was issued in cycle {placed[at][0]}"
                yield WrongPacket(RULES[2], cycle, slot, told)
            placed[at] = cycle, slot
            held[row.unit] = held.get(row.unit, 0) + 1
            if held[row.unit] > machine.limit(row.unit):
                told = f"{row.op!r} is one {row.unit} more than the packet holds"
                yield WrongPacket(RULES[4], cycle, slot, told)
    for at, mine in enumerate(needs(rows, machine)):
        for before, far in mine.items():
            if at not in placed or before not in placed:
                continue  # it is missing, which is told last
            (cycle, slot), issued = placed[at], placed[before][0]
            if cycle < issued + far:
                yield _early(rows, at, before, far, cycle, slot, issued)
    for at, row in enumerate(rows):
        if at not in placed:
            told = f"row {at}, {row.op!r}, is in no packet"
            yield WrongPacket(RULES[2], len(packets), None, told)


def _alone(
    rows: Sequence[Row], machine: Slots, cycle: int, slot: Any, at: Any
) -> Iterator[WrongPacket]:
    """What a row breaks in a slot whatever else there is."""
    many = len(machine.units)
    if not (is_whole(slot) and 0 <= slot < many):
        told = f"{machine.name} has slots 0 to {many - 1}, and none {slot!r}"
        yield WrongPacket(RULES[0], cycle, slot, told)
    if not (is_whole(at) and 0 <= at < len(rows)):
        told = f"{at!r} is no row of a program of {len(rows)}"
        yield WrongPacket(RULES[1], cycle, slot, told)
    row = rows[at]
    if not machine.takes(slot, row.unit):
        fed = ", ".join(sorted(machine.units[slot]))
        told = f"row {at}, {row.op!r}, needs {row.unit}, and the slot feeds {fed}"
        yield WrongPacket(RULES[3], cycle, slot, told)
    if (name := out_of_reach(row, machine)) is not None:
        reached = ", ".join(sorted(machine.reach[row.unit]))
        told = f"row {at}, {row.op!r}: {row.unit} reaches {reached}, not {name!r}"
        yield WrongPacket(RULES[5], cycle, slot, told)


def _early(
    rows: Sequence[Row],
    at: int,
    before: int,
    far: int,
    cycle: int,
    slot: int,
    issued: int,
) -> WrongPacket:
    row, other = rows[at], rows[before]
    shared = sorted(
        set(other.writes) & {*row.reads, *row.writes}
        or set(other.reads) & set(row.writes)
    )
    # A branch leaves with its packet, whatever they share.
    what = f"{', '.join(shared)} of row" if shared else "the branch beside row"
    told = (
        f"row {at}, {row.op!r}, comes too early for {what} {before}, {other.op!r}: "
        f"that was issued in cycle {issued}, and this may be from cycle {issued + far} "
        "on"
    )
    return WrongPacket(RULES[6], cycle, slot, told)
