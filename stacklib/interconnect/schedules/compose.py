"""Parts of schedules put together: one after the other, or backwards.

Turned backwards, a spreading in which every rank gets a chunk once becomes a gathering
in which every rank's contribution comes in once: a broadcast becomes a reduction, an
all-gather a reduce-scatter, with as many steps and bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter

from stacklib.interconnect.schedules.schedule import Schedule, Send

Row = tuple[int, int, int, int, bool]  # a send that is not yet one
Rows = list[Row]


@dataclass(frozen=True, slots=True)
class Ask:
    """What a builder is asked for."""

    ranks: int
    chunks: int | None = None  # pieces that follow one another through a pipeline
    group: int | None = None  # ranks of a node
    root: int = 0


@dataclass(frozen=True, slots=True)
class Built:
    """What a builder gives: chunks of an array, sends, and switches if any."""

    chunks: int
    rows: Rows
    switches: int = 0


Builder = Callable[[Ask], Built]


def length(rows: Iterable[Row]) -> int:
    """Steps that some sends take."""
    return max((row[0] + 1 for row in rows), default=0)


def then(*parts: Rows) -> Rows:
    """Parts one after the other."""
    made: Rows = []
    start = 0
    for part in parts:
        made += part if not start else [(row[0] + start, *row[1:]) for row in part]
        start += length(part)
    return made


def beside(parts: Iterable[Rows]) -> Rows:
    """Parts at the same time."""
    return list(chain.from_iterable(parts))


def mirror(rows: Rows) -> Rows:
    """Backwards, every copy a reduction."""
    last = length(rows) - 1
    return [(last - step, to, at, c, True) for step, at, to, c, _ in reversed(rows)]


def turned(rows: Rows, root: int, ranks: int) -> Rows:
    """The same with ``root`` in the place of rank 0."""
    return [
        (s, (at + root) % ranks, (to + root) % ranks, c, r) for s, at, to, c, r in rows
    ]


def schedule_of(collective: str, algorithm: str, ask: Ask, built: Built) -> Schedule:
    """A schedule of what a builder gave."""
    rows = sorted(built.rows, key=itemgetter(0))  # stable within a step
    sends = tuple(map(Send._make, rows))
    return Schedule(
        collective,
        algorithm,
        ask.ranks,
        built.chunks,
        sends,
        built.switches,
        ask.root,
    )
