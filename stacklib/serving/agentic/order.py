"""What waits for what: an order of steps, the longest way through, and a run of it.

With as many machines as are asked for, a graph takes as long as its longest path:

    end(step) = seconds(step) + max over what it waits for of end(before)

With fewer, steps that are ready wait for a free place, the first to be ready first.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
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
    free = dict(places)
    lines: dict[str, list[tuple[float, int, str, int]]] = {kind: [] for kind in places}
    left: dict[int, dict[str, int]] = {}
    after: dict[str, list[str]] = {name: [] for name in before}
    for name, earlier in before.items():
        for each in earlier:
            after[each].append(name)
    work = dict.fromkeys(whose.values(), 0.0)
    events: list[tuple[float, int, str, int]] = []
    again = [rounds] * sessions
    asked, now = 0, 0.0

    def start(name: str, session: int) -> None:
        nonlocal asked
        took, asked = seconds(name), asked + 1
        work[whose[name]] += took
        heapq.heappush(events, (now + took, asked, name, session))

    def ready(name: str, session: int) -> None:
        nonlocal asked
        kind = whose[name]
        if free.get(kind, 1) > 0:
            if kind in free:
                free[kind] -= 1
            start(name, session)
        else:
            asked += 1
            heapq.heappush(lines[kind], (now, asked, name, session))

    def begin(session: int) -> None:
        again[session] -= 1
        left[session] = {name: len(earlier) for name, earlier in before.items()}
        for name, earlier in before.items():
            if not earlier:
                ready(name, session)

    for session in range(sessions):
        begin(session)
    while events:
        now, _, name, session = heapq.heappop(events)
        kind = whose[name]
        if kind in free:
            free[kind] += 1
            if lines[kind]:
                _, _, waited, other = heapq.heappop(lines[kind])
                free[kind] -= 1
                start(waited, other)
        todo = left[session]
        del todo[name]
        for each in after[name]:
            todo[each] -= 1
            if not todo[each]:
                ready(each, session)
        if not todo and again[session]:
            begin(session)
    return now, work


def si(value: Any) -> float:
    """A number's own size, in SI units where it has one."""
    return float(getattr(value, "si", value))
