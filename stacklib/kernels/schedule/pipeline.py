"""Tiles that flow through stages on units, with slots of shared memory between them.

One model for every overlap of this chapter: a producer that loads ahead, an epilogue
beside the next tile's products, two warp groups in turns, engines of an accelerator. A
stage runs on a unit for so long a tile; it needs its inputs, the unit, and a free slot
for what it makes. A slot is taken when its producer starts and free when the last
consumer has ended.

``pipeline`` simulates events; ``steady_state`` is the closed form of its pace: the
largest of each unit's work a tile, and of each cycle of needs and slots over the tiles
it spans (the maximum cycle mean of an event graph; F. Baccelli et al., *Synchronization
and Linearity*, 1992, section 2.5). ``verify`` judges any schedule from its times alone.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from stacklib.quantity.bounds import whole

NEAR = 1e-9  # of the time: rounding


@dataclass(frozen=True, slots=True)
class Stage:
    """What is done to every tile, on which unit, for how long.

    ``needs``: stages of the same tile, or ``(stage, back)`` for that of ``back`` tiles
    before. Where it is None, the stage before it in the list.
    """

    name: str
    time: float  # for which a tile keeps the unit busy
    unit: str
    needs: tuple[str | tuple[str, int], ...] | None = None
    latency: float = 0.0  # from then until what it made is there


@dataclass(frozen=True, slots=True)
class Event:
    """One stage of one tile."""

    stage: str
    tile: int
    unit: str
    start: float
    end: float  # when the unit is free again
    there: float  # when the result is there
    waited_for: str = ""  # ``input``, ``unit``, ``slot``, or nothing: what came last
    who: str = ""  # the stage and tile that it waited for


@dataclass(frozen=True, slots=True)
class Timeline:
    """A schedule: what was to be done, and when it was."""

    stages: tuple[Stage, ...]
    tiles: int
    buffers: tuple[tuple[str, int], ...]  # producer and its slots
    events: tuple[Event, ...]

    @property
    def time(self) -> float:
        """When the last result is there."""
        return max(event.there for event in self.events)

    def busy(self, unit: str) -> float:
        """Share of the time in which a unit works."""
        return sum(e.end - e.start for e in self.events if e.unit == unit) / self.time

    def of(self, stage: str) -> tuple[Event, ...]:
        """Events of one stage, tile by tile."""
        return tuple(
            sorted((e for e in self.events if e.stage == stage), key=lambda e: e.tile)
        )

    @property
    def units(self) -> tuple[str, ...]:
        """Units in the order of their first stage."""
        return tuple(dict.fromkeys(stage.unit for stage in self.stages))


Needs = dict[str, tuple[tuple[str, int], ...]]
Buffers = int | Mapping[str, int] | None


def _read(stages: Iterable[Stage | Sequence[object]]) -> tuple[Stage, ...]:
    """Stages as given, or as (name, time) and (name, time, unit)."""
    found = tuple(s if isinstance(s, Stage) else _of_row(tuple(s)) for s in stages)
    if not found:
        raise ValueError("stages is empty: at least one stage is needed")
    names = [stage.name for stage in found]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"stage {name!r} is given {names.count(name)} times")
    for stage in found:
        for what, value in (("time", stage.time), ("latency", stage.latency)):
            if not 0 <= value < float("inf"):
                raise ValueError(
                    f"stage {stage.name!r}: {what} = {value!r}: a number from 0 on"
                )
    return found


def _of_row(row: tuple[object, ...]) -> Stage:
    if len(row) not in (2, 3):
        raise ValueError(f"stage {row!r}: (name, time) or (name, time, unit)")
    name, time = str(row[0]), row[1]
    if not isinstance(time, int | float):
        raise ValueError(f"stage {row!r}: its time {time!r} is no number")
    return Stage(name, float(time), str(row[2] if len(row) == 3 else name))


def needs_of(stages: Sequence[Stage]) -> Needs:
    """What each stage needs, as (stage, tiles back).

    - raises ``ValueError`` for a stage that is not there, tiles ahead, or needs that go
      in a circle.
    """
    names, found = {stage.name for stage in stages}, {}
    for at, stage in enumerate(stages):
        given = stage.needs
        if given is None:
            given = (stages[at - 1].name,) if at else ()
        pairs = tuple((n, 0) if isinstance(n, str) else (n[0], n[1]) for n in given)
        for name, back in pairs:
            if name not in names:
                raise ValueError(
                    f"stage {stage.name!r} needs {name!r}: stages are "
                    f"{', '.join(s.name for s in stages)}"
                )
            if back < 0:
                raise ValueError(f"stage {stage.name!r} needs {name!r} of a later tile")
        found[stage.name] = pairs
    _sorted(found)
    return found


def _sorted(needs: Needs) -> list[str]:
    """Stages so that each comes behind what it needs of the same tile."""
    order: list[str] = []
    left = {name: {n for n, back in pairs if not back} for name, pairs in needs.items()}
    while left:
        ready = [name for name, waits in left.items() if not waits - set(order)]
        if not ready:
            raise ValueError(f"{', '.join(left)} need each other: none can begin")
        order += ready
        for name in ready:
            del left[name]
    return order


def _slots(buffers: Buffers, needs: Needs) -> dict[str, int]:
    """Slots by producer; one number is for every stage that another one needs."""
    used = {n for pairs in needs.values() for n, back in pairs if not back}
    if buffers is None:
        return {}
    if isinstance(buffers, int):
        found = dict.fromkeys((n for n in needs if n in used), buffers)
    else:
        found = dict(buffers)
    for name, count in found.items():
        if name not in needs:
            raise ValueError(f"buffers of {name!r}: stages are {', '.join(needs)}")
        if name not in used:
            raise ValueError(f"buffers of {name!r}: no stage needs what it makes")
        whole(**{f"buffers of {name}": count})
    return found


def _consumers(needs: Needs) -> dict[str, list[tuple[str, int]]]:
    """Who needs what a stage makes, as (stage, tiles ahead)."""
    found: dict[str, list[tuple[str, int]]] = {name: [] for name in needs}
    for name, pairs in needs.items():
        for other, back in pairs:
            found[other].append((name, back))
    return found


def pipeline(
    stages: Iterable[Stage | Sequence[object]], tiles: int, buffers: Buffers = None
) -> Timeline:
    """Run ``tiles`` tiles through ``stages`` and record who waited for what.

    Parameters
    ----------
    stages : sequence of Stage, or of (name, time) or (name, time, unit)
        In the order in which a unit prefers them; a name alone has its own unit.
    tiles : int
        Tiles that flow through, one after the other in each stage.
    buffers : int or mapping, optional
        Slots for what a stage makes: one number for every stage whose result another
        needs, or by producer; None where nothing limits it.

    Returns
    -------
    Timeline
        Events in the order of their start; times in the unit of the stages.

    Raises
    ------
    ValueError
        For no stage, a name twice, a time below zero, needs that form a circle, or
        slots that can never come free.

    Examples
    --------
    >>> pipeline([("load", 2), ("multiply", 3)], 4, 1).time
    20.0
    >>> pipeline([("load", 2), ("multiply", 3)], 4, 2).time
    14.0
    """
    made = _read(stages)
    whole(tiles=tiles)
    needs = needs_of(made)
    slots = _slots(buffers, needs)
    events = _Run(made, tiles, needs, slots).run()
    return Timeline(made, tiles, tuple(slots.items()), tuple(events))


class _Run:
    """The state of a simulation: what is ready, what is done, which unit is free."""

    def __init__(
        self, stages: Sequence[Stage], tiles: int, needs: Needs, slots: dict[str, int]
    ) -> None:
        self.stages, self.tiles, self.needs, self.slots = stages, tiles, needs, slots
        self.users = _consumers(needs)
        self.done: dict[tuple[str, int], Event] = {}
        self.next = {stage.name: 0 for stage in stages}
        self.free: dict[str, Event | None] = {stage.unit: None for stage in stages}

    def run(self) -> list[Event]:
        """Start, at each moment at which something ends, whatever can start."""
        now, later, events = 0.0, [], []  # type: ignore[var-annotated]
        total = len(self.stages) * self.tiles
        while len(events) < total:
            if (event := self._start(now)) is not None:
                events.append(event)
                heapq.heappush(later, event.end)
                heapq.heappush(later, event.there)
                continue
            while later and later[0] <= now:
                heapq.heappop(later)
            if not later:
                raise ValueError(f"nothing can begin: {self._stuck()}")
            now = heapq.heappop(later)
        return events

    def _start(self, now: float) -> Event | None:
        """Start the stage that has been ready longest, if any is."""
        best: tuple[float, int, int, Stage, list[tuple[float, str, str]]] | None = None
        for place, stage in enumerate(self.stages):
            tile = self.next[stage.name]
            last = self.free[stage.unit]
            if tile >= self.tiles or (last is not None and last.end > now):
                continue
            waits = self._waits(stage, tile)
            if waits is None or any(at > now for at, _, _ in waits):
                continue
            ready = max((at for at, _, _ in waits), default=0.0)
            if best is None or (ready, tile, place) < best[:3]:
                best = (ready, tile, place, stage, waits)
        return None if best is None else self._begin(now, best[1], best[3], best[4])

    def _begin(
        self, now: float, tile: int, stage: Stage, waits: list[tuple[float, str, str]]
    ) -> Event:
        last = self.free[stage.unit]
        if last is not None:
            waits = [*waits, (last.end, "unit", f"{last.stage} of tile {last.tile}")]
        at, why, who = max(waits, default=(0.0, "", ""), key=lambda wait: wait[0])
        if at <= 0:
            why = who = ""
        end = now + stage.time
        event = Event(
            stage.name, tile, stage.unit, now, end, end + stage.latency, why, who
        )
        self.done[stage.name, tile] = self.free[stage.unit] = event
        self.next[stage.name] += 1
        return event

    def _waits(self, stage: Stage, tile: int) -> list[tuple[float, str, str]] | None:
        """When each thing that a stage needs is there; None if one is not yet known."""
        asked = [(n, tile - back, "input") for n, back in self.needs[stage.name]]
        if (room := self.slots.get(stage.name)) is not None:
            asked += [
                (user, tile - room + ahead, "slot")
                for user, ahead in self.users[stage.name]
            ]
        found = []
        for name, at, why in asked:
            if at < 0 or (why == "slot" and at >= self.tiles):
                continue
            event = self.done.get((name, at))
            if event is None:
                return None
            when = event.there if why == "input" else event.end
            found.append((when, why, f"{name} of tile {at}"))
        return found

    def _stuck(self) -> str:
        held = [f"{n} of tile {t}" for n, t in self.next.items() if t < self.tiles]
        return f"{', '.join(held)} wait for slots or inputs that never come"


def verify(timeline: Timeline) -> list[str]:
    """What is wrong with a schedule, read from its times alone; empty if nothing.

    Every stage of every tile once and for its full time; no unit at two things; no
    tile before its input; no slot taken again before its last reader has ended.
    """
    needs = needs_of(timeline.stages)
    stages = {stage.name: stage for stage in timeline.stages}
    faults: list[str] = []
    found: dict[tuple[str, int], Event] = {}
    for event in timeline.events:
        place = (event.stage, event.tile)
        if event.stage not in stages or not 0 <= event.tile < timeline.tiles:
            faults.append(f"{_name(event)} is not in the plan")
        elif place in found:
            faults.append(f"{_name(event)} is done twice")
        else:
            found[place] = event
    near = NEAR * max([1.0, *(abs(e.there) for e in timeline.events)])
    for name in stages:
        for tile in range(timeline.tiles):
            if (name, tile) not in found:
                faults.append(f"{name} of tile {tile} is never done")
    for event in found.values():
        faults += _own_faults(event, stages[event.stage], near)
        faults += _input_faults(event, needs, found, near)
    faults += _unit_faults(found.values(), near)
    return faults + _slot_faults(timeline, needs, found, near)


def _name(event: Event) -> str:
    return f"{event.stage} of tile {event.tile}"


def _own_faults(event: Event, stage: Stage, near: float) -> list[str]:
    faults = []
    if not event.start >= -near:
        faults.append(f"{_name(event)} begins at {event.start:g}")
    if event.unit != stage.unit:
        faults.append(f"{_name(event)} runs on {event.unit}, not on {stage.unit}")
    if not event.end - event.start >= stage.time - near:
        took = event.end - event.start
        faults.append(f"{_name(event)} takes {took:g}, less than {stage.time:g}")
    if not event.there >= event.end + stage.latency - near:
        faults.append(f"{_name(event)} is there before its latency is over")
    return faults


def _input_faults(
    event: Event, needs: Needs, found: dict[tuple[str, int], Event], near: float
) -> list[str]:
    faults = []
    for name, back in needs[event.stage]:
        source = found.get((name, event.tile - back))
        if source is not None and event.start < source.there - near:
            faults.append(f"{_name(event)} begins before {_name(source)} is there")
    return faults


def _unit_faults(events: Iterable[Event], near: float) -> list[str]:
    by_unit: dict[str, list[Event]] = {}
    for event in sorted(events, key=lambda e: (e.start, e.end)):
        by_unit.setdefault(event.unit, []).append(event)
    faults = []
    for unit, listed in by_unit.items():
        latest = listed[0]
        for event in listed[1:]:
            if event.start < latest.end - near and event.end > event.start:
                faults.append(
                    f"{unit} does {_name(event)} while it does {_name(latest)}"
                )
            latest = max(latest, event, key=lambda e: e.end)
    return faults


def _slot_faults(
    timeline: Timeline, needs: Needs, found: dict[tuple[str, int], Event], near: float
) -> list[str]:
    users, faults = _consumers(needs), []
    for name, room in timeline.buffers:
        for tile in range(room, timeline.tiles):
            taker = found.get((name, tile))
            for user, ahead in users[name]:
                reader = found.get((user, tile - room + ahead))
                if taker and reader and taker.start < reader.end - near:
                    faults.append(
                        f"{_name(taker)} overwrites the slot that {_name(reader)} "
                        "still reads"
                    )
    return faults


def steady_state(
    stages: Iterable[Stage | Sequence[object]], buffers: Buffers = None
) -> float:
    """Time between tiles once the pipeline is full: no schedule has a shorter one.

    The largest of what a unit has to do for a tile, and of the mean time a tile of
    every cycle of needs and slots. For a producer and a consumer with ``s`` slots that
    is ``max(load, mma, (load + latency + mma) / s)``.
    """
    made = _read(stages)
    needs = needs_of(made)
    slots = _slots(buffers, needs)
    work: dict[str, float] = {}
    for stage in made:
        work[stage.unit] = work.get(stage.unit, 0.0) + stage.time
    return max(*work.values(), _cycle_mean(made, needs, slots), 0.0)


def _edges(
    stages: Sequence[Stage], needs: Needs, slots: Mapping[str, int]
) -> list[tuple[str, str, float, int]]:
    """From, to, least time between their starts, tiles back."""
    timed = {stage.name: stage for stage in stages}
    edges = [
        (other, name, timed[other].time + timed[other].latency, back)
        for name, pairs in needs.items()
        for other, back in pairs
    ]
    users = _consumers(needs)
    for name, room in slots.items():
        for user, ahead in users[name]:
            edges.append((user, name, timed[user].time, room - ahead))
    return edges


def _cycle_mean(
    stages: Sequence[Stage], needs: Needs, slots: Mapping[str, int]
) -> float:
    """The largest mean of a cycle, by Bellman and Ford's test and bisection."""
    edges = _edges(stages, needs, slots)
    low, high = 0.0, sum(s.time + s.latency for s in stages) * 2 + 1e-300
    for _ in range(60):
        pace = (low + high) / 2
        if _gains(stages, edges, pace):
            low = pace
        else:
            high = pace
    return high if low > 0 else 0.0


def _gains(
    stages: Sequence[Stage], edges: Sequence[tuple[str, str, float, int]], pace: float
) -> bool:
    """Whether some cycle takes longer than its tiles at this pace."""
    start = {stage.name: 0.0 for stage in stages}
    for _ in range(len(start) + 1):
        changed = False
        for source, target, time, back in edges:
            least = start[source] + time - pace * back
            if least > start[target] + 1e-12 * (1 + abs(least)):
                start[target], changed = least, True
        if not changed:
            return False
    return True
