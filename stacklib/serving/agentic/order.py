"""What waits for what: an order of steps, the longest way through, and a run of it.

With as many machines as are asked for, a graph takes as long as its longest path:

    end(step) = seconds(step) + max over what it waits for of end(before)

With fewer, steps that are ready wait for a free place, the first to be ready first.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import count
from math import inf
from typing import Any

from stacklib.quantity.names import resolve

Before = dict[str, tuple[str, ...]]  # of each step, what it waits for; in order


def ordered(known: Iterable[str], waits: Iterable[tuple[str, str]]) -> Before:
    """Steps so that each comes after all that it waits for, and in the order given.

    - ``known``: names; ``waits``: pairs, from and to
    - raises ``ValueError`` for a circle, naming it, or a pair given twice;
      ``UnknownName`` for a name that is not there
    """
    before: dict[str, list[str]] = {name: [] for name in known}
    if not before:
        raise ValueError("no steps: a graph has at least one")
    for source, target in waits:
        ends = [resolve(end, before, "node", exact=True) for end in (source, target)]
        if ends[0] in before[ends[1]]:
            raise ValueError(f"{ends[0]} to {ends[1]} is given twice")
        before[ends[1]].append(ends[0])
    try:
        order = [*TopologicalSorter(before).static_order()]
    except CycleError as error:
        circle = " waits for ".join(reversed(error.args[1]))
        raise ValueError(f"a circle never ends: {circle}") from None
    return {name: tuple(before[name]) for name in order}


def longest(before: Before, seconds: Mapping[str, Any]) -> tuple[Any, tuple[str, ...]]:
    """Seconds of the longest path, as a sum of its own, and the steps on it."""
    ends: dict[str, Any] = {}
    last: dict[str, str | None] = {}
    for name, earlier in before.items():
        last[name] = max(earlier, key=lambda each: si(ends[each]), default=None)
        came = last[name]
        ends[name] = seconds[name] if came is None else ends[came] + seconds[name]
    at: str | None = max(ends, key=lambda each: si(ends[each]))
    total, path = ends[at or ""], []
    while at is not None:
        path.append(at)
        at = last[at]
    return total, tuple(reversed(path))


def run(
    before: Before,
    seconds: Callable[[str], float],
    whose: Mapping[str, str],
    places: Mapping[str, int],
    *,
    sessions: int = 1,
    rounds: int = 1,
) -> tuple[float, dict[str, float]]:
    """The same graph event by event: seconds until all is done, and each kind's work.

    - ``seconds``: of a step, asked each time it begins
    - ``whose``: the kind of machine of each step; ``places``: how many there are of a
      kind, which otherwise never runs out
    - ``sessions``: that go through the graph at the same time, ``rounds`` times each
    """
    following: dict[str, list[str]] = {name: [] for name in before}
    for name, earlier in before.items():
        for each in earlier:
            following[each].append(name)
    work = dict.fromkeys(whose.values(), 0.0)
    free = {kind: places.get(kind, inf) for kind in work}
    lines: dict[str, deque[tuple[str, int]]] = {kind: deque() for kind in work}
    events: list[tuple[float, int, str, int]] = []
    tickets, now = count(), 0.0

    def serve(kind: str) -> None:
        while free[kind] and lines[kind]:
            name, session = lines[kind].popleft()
            took = seconds(name)
            free[kind] -= 1
            work[kind] += took
            heapq.heappush(events, (now + took, next(tickets), name, session))

    def ready(session: int, names: Iterable[str]) -> None:
        for name in names:
            lines[whose[name]].append((name, session))
            serve(whose[name])

    first = [name for name, earlier in before.items() if not earlier]
    waits = {name: len(earlier) for name, earlier in before.items()}
    left = [dict(waits) for _ in range(sessions)]
    again = [rounds - 1] * sessions
    for session in range(sessions):
        ready(session, first)
    while events:
        now, _, name, session = heapq.heappop(events)
        free[whose[name]] += 1
        serve(whose[name])
        todo = left[session]
        del todo[name]
        for each in following[name]:
            todo[each] -= 1
        ready(session, [each for each in following[name] if not todo[each]])
        if not todo and again[session]:
            again[session] -= 1
            left[session] = dict(waits)
            ready(session, first)
    return now, work


def si(value: Any) -> float:
    """A number's own size, in SI units where it has one."""
    return float(getattr(value, "si", value))
