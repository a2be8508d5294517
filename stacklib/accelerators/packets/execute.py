"""Programs that run: one row after the other, or packet by packet.

Values are numbers or tiles, tuples of rows. A packet reads everything before it writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from stacklib.quantity.names import resolve

from .pack import Packing
from .slots import Row

Tile = Any  # a number, or a tuple of tuples of numbers


def _each(do: Callable[[Any, Any], Any], a: Tile, b: Tile) -> Tile:
    """Element by element; a number goes with every element of a tile."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return tuple(_each(do, x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, tuple):
        return tuple(_each(do, x, b) for x in a)
    return tuple(_each(do, a, y) for y in b) if isinstance(b, tuple) else do(a, b)


def _product(a: Tile, b: Tile) -> Tile:
    columns = tuple(zip(*b, strict=True))
    return tuple(
        tuple(sum(x * y for x, y in zip(row, c, strict=True)) for c in columns)
        for row in a
    )


OPERATIONS: dict[str, Callable[..., Tile]] = {
    "load": lambda x: x,
    "store": lambda x: x,
    "next": lambda x: x + 1,
    "branch": lambda *_: None,
    "add": lambda a, b: _each(lambda x, y: x + y, a, b),
    "times": lambda a, b: _each(lambda x, y: x * y, a, b),
    "largest": lambda a, b: _each(max, a, b),
    "product": _product,
}


def result(row: Row, state: Mapping[str, Tile]) -> dict[str, Tile]:
    """What a row writes, from what there is."""
    missing = [name for name in row.reads if name not in state]
    if missing:
        raise ValueError(f"{row.op!r} reads {missing[0]!r}, which nothing has written")
    do = OPERATIONS[resolve(row.op, OPERATIONS, "operation", exact=True)]
    try:
        made = do(*(state[name] for name in row.reads))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{row.op!r} of {', '.join(row.reads)}: {error}") from error
    return dict.fromkeys(row.writes, made)


def in_order(rows: Iterable[Row], state: Mapping[str, Tile]) -> dict[str, Tile]:
    """Each row after the one before: what every organisation has to give."""
    now = dict(state)
    for row in rows:
        now |= result(row, now)
    return now


def in_packets(
    packing: Packing,
    state: Mapping[str, Tile],
    packets: Sequence[Mapping[int, int]] | None = None,
) -> dict[str, Tile]:
    """Packet by packet, as the machine does: nothing is checked and nothing waits.

    A result appears ``slots.wait`` packets after its row's, so that a row which comes
    too early reads what was there before. ``packets`` stand in for the packing's own.
    """
    now, coming = dict(state), list[tuple[int, dict[str, Tile]]]()
    cycle = -1
    for cycle, packet in enumerate(packing.packets if packets is None else packets):
        for when, made in coming:
            if when == cycle:
                now |= made
        rows = [packing.program[at] for at in packet.values()]
        coming += [(cycle + packing.slots.wait(r.unit), result(r, now)) for r in rows]
    for when, made in sorted(coming, key=lambda one: one[0]):
        if when > cycle:
            now |= made
    return now
