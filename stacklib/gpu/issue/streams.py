"""What the warps of one multiprocessor issued, instruction by instruction.

Whoever runs a kernel writes it down here: kind, the earlier instructions whose results
it needs, the line it stands on, what it asks of memory, whom it waits for. ``replay``
reads it and says how long it takes. Columns are sequences: NumPy arrays where a million
instructions were recorded, lists where a page's figure has twenty.

=========   ==============================================================
request     columns of a row of ``requests``
=========   ==============================================================
passes      wavefronts over the shared memory or the L1; of an ``mma``, cycles
            of the tensor port of its sub-core
l1, l2      sectors of 32 bytes that the L1, the L2 answers
memory      sectors that come from memory or go to it
turns       most lanes that meet at one word, for atomics
=========   ==============================================================

``bar.sync`` is one instruction whose ``arrive`` and ``wait`` are the same event: it
arrives, and the next instruction of the warp waits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from stacklib.quantity import resolve
from stacklib.quantity.bounds import whole

KINDS = (
    *("fp32", "fp16", "fp64", "int", "special", "convert", "move", "branch"),
    *("vote", "shuffle", "load_global", "store_global", "atomic_global"),
    *("load_shared", "store_shared", "atomic_shared", "load_local", "store_local"),
    *("load_constant", "async_copy", "bulk_copy", "mma", "barrier", "arrive"),
    *("wait", "fence", "exit"),
)
KIND = {name: number for number, name in enumerate(KINDS)}
NEEDS = 4  # results an instruction can name
REQUEST = ("passes", "l1", "l2", "memory", "turns")
NONE = -1


@dataclass(frozen=True, slots=True)
class Streams:
    """The instructions of every warp, one after the other; see the module."""

    first: Sequence[int]  # (warps + 1,) where each warp's instructions begin
    block: Sequence[int]  # (warps,) block of each warp, in order of start
    kind: Sequence[int]  # (n,) index into ``KINDS``
    needs: Sequence[Sequence[int]]  # (n, 4) places in the same warp, -1 for none
    line: Sequence[int]  # (n,) source line
    lanes: Sequence[int]  # (n,) active lanes
    request: Sequence[int]  # (n,) row of ``requests``, -1 for none
    arrive: Sequence[int]  # (n,) event it arrives at when it is done, -1
    wait: Sequence[int]  # (n,) event that must be complete before it issues, -1
    requests: Sequence[Sequence[int]]  # (r, 5) as ``REQUEST`` names them
    events: Sequence[int]  # (e,) arrivals that complete each event

    @property
    def warps(self) -> int:
        """Warps of all blocks together."""
        return len(self.block)

    @property
    def blocks(self) -> int:
        """Blocks that were recorded."""
        return int(self.block[-1]) + 1 if len(self.block) else 0

    def __len__(self) -> int:
        """Instructions of all warps together."""
        return len(self.kind)

    def of(self, warp: int) -> range:
        """Where the instructions of a warp stand."""
        return range(int(self.first[warp]), int(self.first[warp + 1]))


@dataclass(slots=True)
class Recorder:
    """Writes streams down, one warp after the other."""

    first: list[int] = field(default_factory=list)
    block: list[int] = field(default_factory=list)
    rows: list[tuple[int, ...]] = field(default_factory=list)
    needs: list[tuple[int, ...]] = field(default_factory=list)
    requests: list[tuple[int, ...]] = field(default_factory=list)
    events: list[int] = field(default_factory=list)
    _rows_of: dict[tuple[int, ...], int] = field(default_factory=dict)

    def warp(self, block: int = 0) -> None:
        """Begin the next warp; blocks come in the order in which they start."""
        whole(0, block=block)
        last = self.block[-1] if self.block else 0
        if not last <= block <= last + bool(self.block):
            raise ValueError(f"block = {block} after {last}: write blocks in order")
        self.first.append(len(self.rows))
        self.block.append(block)

    def ask(
        self, passes: int = 0, l1: int = 0, l2: int = 0, memory: int = 0, turns: int = 0
    ) -> int:
        """Row of what an instruction asks of memory; equal rows are kept once."""
        row = (passes, l1, l2, memory, turns)
        if row not in self._rows_of:
            self._rows_of[row] = len(self.requests)
            self.requests.append(row)
        return self._rows_of[row]

    def event(self, arrivals: int) -> int:
        """Number of a new event that so many arrivals complete."""
        whole(arrivals=arrivals)
        self.events.append(arrivals)
        return len(self.events) - 1

    def add(
        self,
        kind: str,
        needs: Iterable[int] = (),
        line: int = 0,
        lanes: int = 32,
        request: int = NONE,
        arrive: int = NONE,
        wait: int = NONE,
    ) -> int:
        """Write down an instruction of the warp; its place, for others to need."""
        named = tuple(needs)
        if len(named) > NEEDS:
            raise ValueError(f"needs = {named}: at most {NEEDS} results")
        if not self.block:
            raise ValueError("no warp: call warp() first")
        number = KIND.get(kind)
        if number is None:
            number = KIND[resolve(kind, KINDS, "kind of instruction")]
        self.rows.append((number, line, lanes, request, arrive, wait))
        self.needs.append(named + (NONE,) * (NEEDS - len(named)))
        return len(self.rows) - 1 - self.first[-1]

    def streams(self) -> Streams:
        """All that was written down, checked."""
        columns = [list(column) for column in zip(*self.rows, strict=True)]
        kind, line, lanes, request, arrive, wait = columns or [[] for _ in range(6)]
        return checked(
            Streams(
                [*self.first, len(self.rows)],
                list(self.block),
                kind,
                list(self.needs),
                line,
                lanes,
                request,
                arrive,
                wait,
                list(self.requests),
                list(self.events),
            )
        )


def checked(found: Streams) -> Streams:
    """The streams, if a replay can be made of them."""
    n = len(found)
    if not found.warps or not n:
        raise ValueError("no instructions: record at least one warp")
    for name in ("needs", "line", "lanes", "request", "arrive", "wait"):
        if len(getattr(found, name)) != n:
            raise ValueError(f"{name}: {len(getattr(found, name))} rows of {n}")
    if len(found.first) != found.warps + 1 or int(found.first[-1]) != n:
        raise ValueError(f"first: {len(found.first)} starts up to {found.first[-1]}")
    _in_range("kind", found.kind, 0, len(KINDS))
    _in_range("request", found.request, NONE, len(found.requests))
    _in_range("arrive", found.arrive, NONE, len(found.events))
    _in_range("wait", found.wait, NONE, len(found.events))
    _arrivals(found)
    _starts(found)
    _earlier(found)
    return found


def _in_range(name: str, values: Sequence[int], low: int, end: int) -> None:
    least, most = min(values), max(values)
    if least < low or most >= end:
        wrong = least if least < low else most
        raise ValueError(f"{name} = {wrong}: from {low} to {end - 1}")


def _arrivals(found: Streams) -> None:
    """No event is arrived at more often than completes it."""
    column: Any = found.arrive
    listed = column.tolist() if hasattr(column, "tolist") else column
    for event, count in Counter(listed).items():
        if event != NONE and count > found.events[event]:
            raise ValueError(
                f"event {event}: {count} arrivals, complete with {found.events[event]}"
            )


def _starts(found: Streams) -> None:
    """Warps have instructions; blocks are 0, 1, 2, ... in order."""
    before = 0
    for warp in range(found.warps):
        if not found.of(warp):
            raise ValueError(f"warp {warp} has no instructions")
        block = int(found.block[warp])
        if not before <= block <= before + (warp > 0):
            raise ValueError(f"warp {warp} is of block {block}, after {before}")
        before = block


def _earlier(found: Streams) -> None:
    """Every need is an earlier place of its warp."""
    numbers: Any = found.needs
    if hasattr(numbers, "shape"):
        import numpy as np

        first = np.asarray(found.first)
        place = np.arange(len(found)) - np.repeat(first[:-1], np.diff(first))
        wrong = np.flatnonzero(((numbers >= place[:, None]) | (numbers < NONE)).any(1))
        if len(wrong):
            _refuse(found, int(np.searchsorted(first, wrong[0], "right")) - 1)
        return
    for warp in range(found.warps):
        _refuse(found, warp)


def _refuse(found: Streams, warp: int) -> None:
    for place, at in enumerate(found.of(warp)):
        needs = [int(need) for need in found.needs[at]]
        if not all(NONE <= need < place for need in needs):
            raise ValueError(
                f"warp {warp}, instruction {place} needs {needs}: earlier ones only"
            )
