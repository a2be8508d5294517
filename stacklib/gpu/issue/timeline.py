"""What each warp of a replay does when: stretches of one reason, for drawing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .replay import REASONS, Replayed
from .streams import KINDS


@dataclass(frozen=True, slots=True)
class Stretch:
    """A warp's cycles from ``start`` to before ``end``: it issues, or waits."""

    warp: int
    start: int
    end: int
    reason: str  # one of ``REASONS``; ``selected`` is one cycle
    kind: str  # of the instruction that it issues or waits to issue
    line: int


def timeline(done: Replayed, warps: Iterable[int] | None = None) -> list[Stretch]:
    """Stretches of some warps, or of all, without gaps from a block's begin on."""
    every = range(done.streams.warps) if warps is None else warps
    return [part for warp in every for part in _of(done, warp)]


def _of(done: Replayed, warp: int) -> Iterator[Stretch]:
    """The stretches of one warp.

    A wait for inputs comes first. Cycles in which its port was full, and those in which
    another was picked, may alternate; they are drawn one after the other.
    """
    streams = done.streams
    free, landed = int(done.begin[streams.block[warp]]), 0
    for i in streams.of(warp):
        kind, line = KINDS[streams.kind[i]], int(streams.line[i])
        way, at, full = done.machine.way(kind), int(done.ready_at[i]), int(done.held[i])
        for reason, end in (
            (REASONS[done.why[i]], at),
            (way.full, at + full),
            ("not_selected", int(done.when[i])),
            ("selected", int(done.when[i]) + 1),
        ):
            if end > free:
                yield Stretch(warp, free, end, reason, kind, line)
                free = end
        if way.drains:
            landed = max(landed, int(done.there[i]))
    if landed > free:
        yield Stretch(warp, free, landed, "drain", kind, line)
