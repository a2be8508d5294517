"""Who waits for whom, where nothing moves: a circle of ports is a deadlock."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from .fabric import Port


def find_circle(queues: Mapping[Port, deque[Any]]) -> tuple[Port, ...]:
    """Ports of which each waits for a buffer that the next one would empty.

    - ``queues``: frames that wait at each port, when nothing can move any more.

    The port u -> v waits for the input of v that u fills. It holds frames that wait at
    outputs of v; so u -> v waits for those.
    """
    after: dict[Port, list[Port]] = {port: [] for port in queues}
    for port, queue in queues.items():
        for before in {frame.came for frame in queue if frame.at}:
            after[before].append(port)
    seen: set[Port] = set()
    for start in sorted(after):
        found = _walk(start, [], after, seen)
        if found:
            return tuple(found)
    return ()


def _walk(
    port: Port, way: list[Port], after: dict[Port, list[Port]], seen: set[Port]
) -> list[Port]:
    """The circle that a way from a port on runs into, if it does."""
    if port in way:
        return way[way.index(port) :]
    if port in seen:
        return []
    seen.add(port)
    for following in sorted(after[port]):
        found = _walk(following, [*way, port], after, seen)
        if found:
            return found
    return []
