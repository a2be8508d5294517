"""Packing: a bound, a list packer, and the fewest packets by exhaustive search."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from .needs import Needs, heights, needs, starts
from .slots import Given, Row, Slots, out_of_reach, rows_of, slots_of

Packet = dict[int, int]  # slot -> row of the program
SMALL = 14  # rows, at most, that are searched exhaustively


@dataclass(frozen=True, slots=True)
class Packing:
    """A program in packets, and the bound that no packing can pass."""

    program: tuple[Row, ...]
    slots: Slots
    packets: tuple[Packet, ...]
    bound: int

    @property
    def cycles(self) -> int:
        """Packets issued, one a cycle; those that hold nothing included."""
        return len(self.packets)

    @property
    def filled(self) -> float:
        """Share of the slots that hold an instruction."""
        return len(self.program) / (self.cycles * len(self.slots.units))


def pack(
    program: Iterable[Sequence[Any]],
    slots: Given = "hexagon",
) -> Packing:
    """Put rows into packets, those first that most packets must follow.

    Parameters
    ----------
    program : iterable of rows
        ``(op, unit, reads, writes)``, in an order that is right one by one.
    slots : str, int, Slots, mapping or sequence
        A machine by name, a number of slots that take anything, how many slots each
        unit has, or for every slot from 0 up the units that it feeds.

    Returns
    -------
    Packing
        ``.packets`` (slot to row), ``.cycles``, ``.bound``.

    Raises
    ------
    ValueError
        For a row without a slot, or an operand that its unit does not reach.
    UnknownName
        For a machine that there is not.

    Examples
    --------
    >>> rows = [("load", "load", ["tcm:x"], ["r0"]), ("add", "vector", ["r0"], ["r1"]),
    ...         ("add", "scalar", ["p"], ["p"])]
    >>> pack(rows).packets
    ({0: 2, 1: 0}, {0: 1})
    """
    machine = slots_of(slots)
    rows = rows_of(program, machine)
    for at, row in enumerate(rows):
        if (name := out_of_reach(row, machine)) is not None:
            raise ValueError(
                f"row {at}, {row.op!r}: {row.unit} does not reach {name!r}"
            )
    before, height = needs(rows, machine), heights(rows, machine)
    order = sorted(range(len(rows)), key=lambda at: (-height[at], at))
    placed: dict[int, int] = {}
    packets: list[Packet] = []
    while len(placed) < len(rows):
        now, chosen = len(packets), list[int]()
        again = True
        while again:  # a row may follow another into one packet
            again = False
            for at in order:
                if at in placed or not _ready(at, now, before, placed):
                    continue
                if seated([*chosen, at], rows, machine) is not None:
                    chosen.append(at)
                    placed[at] = now
                    again = True
        packets.append(seated(chosen, rows, machine) or {})
    return Packing(rows, machine, tuple(packets), bound(rows, machine))


def _ready(at: int, now: int, before: Needs, placed: Mapping[int, int]) -> bool:
    return all(b in placed and now >= placed[b] + d for b, d in before[at].items())


def seated(chosen: Sequence[int], rows: Sequence[Row], slots: Slots) -> Packet | None:
    """A slot for each row of a packet; None where they do not go together."""
    units = [rows[at].unit for at in chosen]
    if any(units.count(unit) > slots.limit(unit) for unit in units):
        return None
    taken: Packet = {}

    def seat(at: int, tried: set[int]) -> bool:
        for slot in range(len(slots.units)):
            if slot in tried or not slots.takes(slot, rows[at].unit):
                continue
            tried.add(slot)
            if slot not in taken or seat(taken[slot], tried):
                taken[slot] = at
                return True
        return False

    if not all(seat(at, set()) for at in chosen):
        return None
    return dict(sorted(taken.items()))


def bound(rows: Sequence[Row], slots: Slots) -> int:
    """Packets that any packing needs.

    The rows that come late and must be followed by many are too many for the slots
    that feed them, or for what a packet may hold: for every unit, for every set of
    slots, and for every first packet and height.
    """
    first, height = starts(rows, slots), heights(rows, slots)
    found = max(a + b for a, b in zip(first, height, strict=True)) + 1
    for members, room in _groups(rows, slots):
        tails = list[int]()  # of those that start here or later, lowest first
        for at in sorted(members, key=lambda m: -first[m]):
            insort(tails, height[at])
            for lower, tail in enumerate(tails):
                many = len(tails) - lower
                found = max(found, first[at] - (-many // room) + tail)
    return found


def _groups(rows: Sequence[Row], slots: Slots) -> Iterator[tuple[list[int], int]]:
    """Rows that share slots or a limit, and how many of them a packet holds.

    Units without a limit of their own that the same slots feed are one, and a group
    whose slots fall in two says no more than both.
    """
    alike: dict[Any, list[int]] = {}
    for at, row in enumerate(rows):
        fed = frozenset(n for n in range(len(slots.units)) if slots.takes(n, row.unit))
        free = slots.limit(row.unit) == len(fed)
        alike.setdefault((fed, "" if free else row.unit), []).append(at)
    grown = waiting = {frozenset({kind}) for kind in alike}
    while waiting:
        waiting = {
            group | {kind}
            for group in waiting
            for kind in alike
            if any(kind[0] & one[0] for one in group)
        } - grown
        grown = grown | waiting
    for group in grown:
        members = sorted(at for kind in group for at in alike[kind])
        room = sum(slots.limit(rows[alike[kind][0]].unit) for kind in group)
        yield members, min(room, len(frozenset().union(*(fed for fed, _ in group))))


def fewest(packing: Packing) -> int:
    """The fewest packets of all packings, by trying every packet, cycle by cycle.

    Nothing of the packer is used but ``seated``. A state is left when what must follow
    its waiting rows is too long for it to become shorter than what was given.
    """
    rows, slots = packing.program, packing.slots
    if len(rows) > SMALL:
        raise ValueError(f"{len(rows)} rows: an exhaustive search takes {SMALL}")
    before, height = needs(rows, slots), heights(rows, slots)
    longest = max((far for mine in before for far in mine.values()), default=1)
    states = {(-1,) * len(rows)}  # packets since each row's; -1: not yet
    for cycle in range(1, packing.cycles):
        reached = set()
        for state in states:
            aged = [min(age + 1, longest) if age >= 0 else -1 for age in state]
            for chosen in _packets(aged, before, rows, slots):
                now = [0 if at in chosen else age for at, age in enumerate(aged)]
                left = [height[at] for at, age in enumerate(now) if age < 0]
                if not left:
                    return cycle
                if cycle + max(left) + 1 < packing.cycles:
                    reached.add(tuple(now))
        states = reached
    return packing.cycles


def _packets(
    ages: Sequence[int], before: Needs, rows: Sequence[Row], slots: Slots
) -> Iterator[tuple[int, ...]]:
    """Every packet that may be issued now, the empty one included."""
    waiting = [at for at, age in enumerate(ages) if age < 0]
    for many in range(min(len(waiting), len(slots.units)) + 1):
        for chosen in combinations(waiting, many):
            now = [0 if at in chosen else age for at, age in enumerate(ages)]
            if all(
                now[b] >= far for at in chosen for b, far in before[at].items()
            ) and (not chosen or seated(chosen, rows, slots) is not None):
                yield chosen
