"""Which card stands in which slot, which drive in which socket, and the lanes left.

A board wires lanes to slots; a second card or a drive takes some of them away. Where
the build names no slots, that choice is taken which leaves the most: nothing unknown,
no card over another, no chipset between, then lanes. Seven slots give 35 choices.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

from stacklib.cost.catalogue import UNKNOWN, Component
from stacklib.hardware.accelerator import UnknownSpec
from stacklib.quantity import resolve

from .build import Build, Parts

Risers = tuple[Component | None, ...]  # one a card
Taken = dict[tuple[str, str], int]  # slot and slot or socket -> lanes left to the first


class Slot(NamedTuple):
    """One slot of a board; None where no source tells."""

    name: str
    at: int | None  # its place, 1 next to the processor
    lanes: int | None
    generation: int | None
    root: str | None


class Seat(NamedTuple):
    """One card where it stands."""

    card: Component
    slot: Slot
    lanes: int | None  # that are left to it
    taker: str  # the slot or socket that took lanes; "" where none did
    riser: Component | None

    def told(self, field: str) -> Any:
        """A fact of the slot; raises where no source tells it."""
        value = self.lanes if field == "lanes" else getattr(self.slot, field)
        if value is None:
            words = {"at": "its place on the board is", "lanes": "its lanes are"}
            told = words.get(field, f"its {field} is")
            raise UnknownSpec(f"slot {self.slot.name}: {told} unknown")
        return value


class Placed(NamedTuple):
    """A build's cards and drives on its board."""

    seats: tuple[Seat, ...]  # of the cards that have a slot
    sockets: tuple[tuple[Component, Slot], ...]  # drives in M.2 sockets


def place(build: Build) -> Placed:
    """Where the build's cards and drives stand."""
    drives = tuple(d for d in build.storage if d.get("plug") == "M.2")
    cards, risers = build.gpus, spread(build.risers, len(build.gpus))
    back = build.case.get("slots")
    return _place(build.board, cards, risers, drives, build.slots, back)


def spread(parts: Parts, many: int) -> Risers:
    """One a card: one alone is for all, the cards behind the last have none."""
    return parts * many if len(parts) == 1 else (*parts, *[None] * (many - len(parts)))


@lru_cache(maxsize=4096)
def _place(
    board: Component, cards: Parts, risers: Risers, drives: Parts, named: Any, back: Any
) -> Placed:
    every = [_slot(*row) for row in board["slots"]]
    wide = [slot for slot in every if slot.name not in board["short"]]
    sockets = [_slot(name, None, *row) for name, *row in board.get("m2", ())]
    taken = {(s, other): lanes for s, other, lanes in board["shares"]}
    if named:
        known = {slot.name: slot for slot in every}
        names = [resolve(n, known, f"slot of {board.name}", exact=True) for n in named]
        if len(set(names)) < len(names):
            raise ValueError(f"slots {', '.join(named)}: one card to a slot")
        ways: Sequence[Sequence[Slot]] = [[known[name] for name in names]]
    else:
        ways = list(combinations(wide, min(len(cards), len(wide))))
    best = min(ways, key=lambda way: _lacks(way, cards, risers, taken, back))
    used = [slot.name for slot in best]

    def takes(socket: Slot) -> tuple[int, bool]:
        return sum((u, socket.name) in taken for u in used), socket.root != "cpu"

    filled = tuple(zip(drives, sorted(sockets, key=takes), strict=False))
    busy = [*used, *(socket.name for _, socket in filled)]
    seats = tuple(
        Seat(card, slot, *_left(slot, busy, taken), riser)
        for card, slot, riser in zip(cards, best, risers, strict=False)
    )
    return Placed(seats, filled)


def _slot(name: str, *facts: Any) -> Slot:
    return Slot(name, *(None if told == UNKNOWN else told for told in facts))


def _left(slot: Slot, busy: Sequence[str], taken: Taken) -> tuple[int | None, str]:
    """Lanes left to a slot, and who took the others."""
    lanes, taker = slot.lanes, ""
    for other in busy:
        left = taken.get((slot.name, other))
        if left is not None and lanes is not None and left < lanes:
            lanes, taker = left, other
    return lanes, taker


def _lacks(
    way: Sequence[Slot], cards: Parts, risers: Risers, taken: Taken, back: float | None
) -> tuple[float, ...]:
    """What a choice of slots lacks, the worst first."""
    names = [slot.name for slot in way]
    unknown = over = chipset = lacking = 0.0
    floor = 0.0  # the first place that no card covers
    for slot, card, riser in zip(way, cards, risers, strict=False):
        lanes, _ = _left(slot, names, taken)
        unknown += (lanes is None) + (slot.at is None and riser is None)
        chipset += slot.root != "cpu"
        lacking += max(0, card.get("lanes", 16) - (lanes or 0))
        if slot.at is not None:
            over += max(0.0, floor - slot.at)
            floor = floor if riser else slot.at + card.get("slots", 2)
    if back is not None and floor:
        over += max(0.0, floor - 1 - back)
    return unknown, over, chipset, lacking
