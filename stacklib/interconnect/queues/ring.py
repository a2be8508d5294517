"""The state of a send queue, and the five things that can happen to it.

``reserved`` places have been given out, ``ready`` of them are written without a gap,
``rung`` are made known to the port by its doorbell, ``sent`` have been read by it:

    sent <= rung <= ready <= min(reserved, sent + slots)

A reservation may run ahead of the room; writing may not. Each function gives the next
state and a fault, which is empty where all is well. The queue that one runs and the
search through all interleavings use the same functions.
"""

from __future__ import annotations

from typing import NamedTuple


class Ring(NamedTuple):
    """Counters that only grow, and which entry each slot holds (-1: none yet)."""

    slots: tuple[int, ...]
    reserved: int = 0
    ready: int = 0
    rung: int = 0
    sent: int = 0

    def place(self, index: int) -> int:
        """Slot of an entry."""
        return index % len(self.slots)

    def has_room(self, base: int, count: int) -> bool:
        """Whether all earlier owners of these slots have been sent."""
        return base + count <= self.sent + len(self.slots)


def empty(slots: int, start: int = 0) -> Ring:
    """A ring of which nothing is in use, its counters at ``start``."""
    return Ring((-1,) * slots, start, start, start, start)


def reserve(ring: Ring, count: int) -> Ring:
    """Give out ``count`` places; the first is the old ``reserved``."""
    return ring._replace(reserved=ring.reserved + count)


def fill(ring: Ring, index: int) -> tuple[Ring, str]:
    """Write an entry into its slot."""
    place, fault = ring.place(index), ""
    held = ring.slots[place]
    if held == index:
        fault = f"entry {index} is written twice"
    elif held >= ring.sent:
        fault = f"entry {held} is overwritten by entry {index} before it was sent"
    elif index >= ring.reserved:
        fault = f"entry {index} is written and was not reserved"
    slots = (*ring.slots[:place], index, *ring.slots[place + 1 :])
    return ring._replace(slots=slots), fault


def publish(ring: Ring, base: int, count: int) -> tuple[Ring, str]:
    """Say that entries are written; the one before them must have been said."""
    fault = ""
    if base > ring.ready:
        fault = f"entry {ring.ready} is passed over: {base} is said to be ready"
    return ring._replace(ready=max(ring.ready, base + count)), fault


def bell(ring: Ring, head: int) -> tuple[Ring, str]:
    """Tell the port that entries before ``head`` can be read."""
    fault = ""
    if head < ring.rung:
        fault = f"the doorbell goes back from {ring.rung} to {head}"
    for index in range(ring.rung, head):
        if ring.slots[ring.place(index)] != index:
            fault = fault or f"entry {index} is rung before it is written"
    return ring._replace(rung=head), fault


def send(ring: Ring) -> tuple[Ring, str]:
    """Let the port read the next entry."""
    index, fault = ring.sent, ""
    if index >= ring.rung:
        fault = f"entry {index} is read before the doorbell rang for it"
    elif ring.slots[ring.place(index)] != index:
        fault = f"entry {index} is read before it is written"
    return ring._replace(sent=index + 1), fault
