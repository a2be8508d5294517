"""One small program in five organisations of instructions, each executed.

Who decides what runs together? A scheduler that waits for operands (NVIDIA), wait
instructions in one stream whose prefixes name units (AMD), bundles whose compiler
counts the cycles (TPU), a stream an engine with semaphores between (Trainium), packets
whose operands the hardware waits for (Hexagon). Units take the same cycles in all five,
so that what differs is the organisation; no chip's clock is meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from stacklib.quantity.bounds import whole
from stacklib.quantity.names import resolve

from .execute import Tile, in_packets
from .needs import needs
from .pack import Packing, pack
from .slots import MACHINES, Row, rows_of

# y = max(x w + b, 0) for one tile, then the next
TILE = (
    Row("load", "load", ("l2:x",), ("tcm:x",)),
    Row("load", "load", ("l2:w",), ("tcm:w",)),
    Row("product", "tensor", ("tcm:x", "tcm:w"), ("s",)),
    Row("load", "load", ("l2:b",), ("b",)),
    Row("add", "vector", ("s", "b"), ("t",)),
    Row("largest", "vector", ("t", "zero"), ("u",)),
    Row("store", "store", ("u",), ("l2:y",)),
    Row("next", "scalar", ("p",), ("p",)),
    Row("branch", "branch", ("p",), ()),
)
STATE: dict[str, Tile] = {
    "l2:x": ((1, 2), (3, -4)),
    "l2:w": ((2, 0), (-1, 3)),
    "l2:b": ((1, -9), (0, 1)),
    "zero": 0,
    "p": 0,
}
SHARED = ("zero", "p", "l2:w", "l2:b")  # of all tiles
Streams = list[list[list[int]]]  # of each stream: groups of rows that issue together


@dataclass(frozen=True, slots=True)
class Organisation:
    """How a family of chips is told what runs together."""

    maker: str
    streams: str  # of instructions
    together: str  # who decides it
    waits: str  # who keeps a result from being read too early


ORGANISATIONS = {
    "nvidia": Organisation("NVIDIA", "one ISA", "the scheduler", "a scoreboard"),
    "amd": Organisation(
        "AMD", "one, with prefixes", "the scheduler", "wait instructions"
    ),
    "tpu": Organisation("TPU", "one of bundles", "the compiler", "counted cycles"),
    "trainium": Organisation("Trainium", "one an engine", "the engines", "semaphores"),
    "hexagon": Organisation("Hexagon", "one of packets", "the compiler", "interlocks"),
}


def unrolled(tiles: int) -> tuple[Row, ...]:
    """So many tiles in a row, each with registers of its own; one branch at the end."""
    whole(tiles=tiles)

    def own(names: tuple[str, ...], tile: int) -> tuple[str, ...]:
        return tuple(n if n in SHARED else f"{n}{tile}" for n in names)

    rows = [
        row._replace(reads=own(row.reads, t), writes=own(row.writes, t))
        for t in range(tiles)
        for row in TILE[:-2]
    ]
    return (*rows, *TILE[-2:])


@dataclass(frozen=True, slots=True)
class Ran:
    """A program as one organisation ran it."""

    organisation: Organisation
    issued: int  # instructions, bundles or packets fetched; waits and empty ones too
    cycles: int  # until the last result is there
    state: dict[str, Tile]
    starts: tuple[int, ...]  # of each row


def organise(
    name: str,
    program: Sequence[Row] = TILE,
    state: Mapping[str, Tile] | None = None,
) -> Ran:
    """Run a program as a family of chips would.

    Parameters
    ----------
    name : str
        ``nvidia``, ``amd``, ``tpu``, ``trainium`` or ``hexagon``.
    program : sequence of Row
        In an order that is right one by one; the book's tile where none is given.
    state : mapping, optional
        Values of memories and registers before.

    Returns
    -------
    Ran
        ``.issued``, ``.cycles``, ``.starts`` and the values after.

    Raises
    ------
    UnknownName
        For another organisation.

    Examples
    --------
    >>> organise("nvidia").state["l2:y"] == organise("trainium").state["l2:y"]
    True
    """
    name = resolve(name, ORGANISATIONS, "organisation")
    if name == "hexagon":
        packed = pack(program, name)
        groups = [list(p.values()) for p in packed.packets]
        starts, issued = _start(packed.program, [groups]), packed.cycles
    elif name == "tpu":
        packed = pack(program, name)
        cycle = {at: c for c, p in enumerate(packed.packets) for at in p.values()}
        starts, issued = [cycle[at] for at in range(len(cycle))], packed.cycles
    else:
        rows = rows_of(program, MACHINES["one"])
        order = range(len(rows))
        streams: Streams = [[[at] for at in order]]
        waits: set[int] = set()
        if name == "trainium":
            units = dict.fromkeys(row.unit for row in rows)
            streams = [[[a] for a in order if rows[a].unit == u] for u in units]
        if name == "amd":
            waits = _waits(rows)
        starts, issued = _start(rows, streams, waits), len(rows) + len(waits)
    return _run(name, program, starts, issued, STATE if state is None else state)


def _start(
    rows: Sequence[Row], streams: Streams, waits: set[int] | None = None
) -> list[int]:
    """When each row issues: next in its stream, and all that it needs is there.

    A wait instruction before a row takes a cycle of its own.
    """
    before = needs(rows, MACHINES["one"])
    found: dict[int, int] = {}
    free, left = [0] * len(streams), [list(stream) for stream in streams]
    while any(left):
        for at, stream in enumerate(left):
            while stream and all(
                b in found or b in stream[0] for m in stream[0] for b in before[m]
            ):
                group = stream.pop(0)
                now = free[at] + any(m in (waits or ()) for m in group)
                for m in group:
                    there = (found[b] + d for b, d in before[m].items() if b in found)
                    now = max(now, *there, 0)
                found |= dict.fromkeys(group, now)
                free[at] = now + 1
    return [found[at] for at in range(len(rows))]


def _waits(rows: Sequence[Row]) -> set[int]:
    """Rows that read or overwrite what a unit with a latency has under way."""
    late, waits = MACHINES["one"].after, set()
    under_way: set[str] = set()
    for at, row in enumerate(rows):
        if under_way & {*row.reads, *row.writes}:
            waits.add(at)
            under_way = set()  # a counter at zero: all of them are there
        if row.unit in late:
            under_way |= set(row.writes)
    return waits


def _run(
    name: str,
    program: Sequence[Row],
    starts: Sequence[int],
    issued: int,
    state: Mapping[str, Tile],
) -> Ran:
    """Execute at those cycles on units that check nothing."""
    machine = replace(MACHINES["one"], name=name)
    rows = rows_of(program, machine)
    packets: list[dict[int, int]] = [{} for _ in range(max(starts) + 1)]
    for at, cycle in enumerate(starts):
        packets[cycle][len(packets[cycle])] = at
    done = in_packets(Packing(rows, machine, tuple(packets), 0), state)
    end = max(s + machine.wait(r.unit) for s, r in zip(starts, rows, strict=True))
    return Ran(ORGANISATIONS[name], issued, end, done, tuple(starts))
