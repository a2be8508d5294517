"""What must come after what: dependences between the rows of a program.

A packet reads everything before it writes anything. So a row may stand in the packet
of a row that reads what it writes, but not in that of one that writes what it reads.
"""

from __future__ import annotations

from collections.abc import Sequence

from .slots import Row, Slots

BRANCH = "branch"  # the unit
Needs = tuple[dict[int, int], ...]  # of a row: rows before it, and packets between


def needs(rows: Sequence[Row], slots: Slots) -> Needs:
    """Of each row the earlier ones that it waits for, and for how many packets.

    A result may be read ``slots.wait`` packets later, written again one packet later
    than it is there, and overwritten in the packet that reads it last. A branch leaves
    with its packet: what stands before it is in that packet at the latest, and what
    stands after it in none before the next.
    """
    found: list[dict[int, int]] = []
    for at, row in enumerate(rows):
        mine: dict[int, int] = {}
        for before, other in enumerate(rows[:at]):
            least = -1
            if set(other.writes) & set(row.reads):
                least = slots.wait(other.unit)
            if set(other.writes) & set(row.writes):
                later = slots.wait(other.unit) - slots.wait(row.unit) + 1
                least = max(least, later, 1)
            if row.unit == BRANCH or set(other.reads) & set(row.writes):
                least = max(least, 0)
            if other.unit == BRANCH:
                least = max(least, 1)
            if least >= 0:
                mine[before] = least
        found.append(mine)
    return tuple(found)


def starts(rows: Sequence[Row], slots: Slots) -> list[int]:
    """The first packet that dependences alone leave to each row."""
    found: list[int] = []
    for mine in needs(rows, slots):
        found.append(max((found[b] + far for b, far in mine.items()), default=0))
    return found


def heights(rows: Sequence[Row], slots: Slots) -> list[int]:
    """Packets that must follow each row's, by dependences alone."""
    found, all_needs = [0] * len(rows), needs(rows, slots)
    for at in reversed(range(len(rows))):
        for before, far in all_needs[at].items():
            found[before] = max(found[before], found[at] + far)
    return found
