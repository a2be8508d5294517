"""Every interleaving of producers and a port on one queue, and what can go wrong.

A producer's post is a program of small steps; at each moment any producer, or the port,
takes its next one. All states that can be reached are visited once, and the paths
through them counted. A plan leaves out one thing that makes the protocol right, and the
search shows the shortest way to its fault.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from stacklib.quantity.bounds import whole

from . import ring as r


@dataclass(frozen=True, slots=True)
class Plan:
    """How a producer posts; each False leaves out one thing that it takes."""

    atomic: bool = True  # reading and raising the reservation cannot be torn apart
    room: bool = True  # it waits until the slots' last owners were sent
    written_first: bool = True  # the doorbell rings after the elements are written
    in_turn: bool = True  # it waits until the places before its own are ready
    forward: bool = True  # it rings only where that raises the doorbell


class Producer(NamedTuple):
    """Where a producer stands: its post, the step in it, and its first place."""

    post: int = 0
    step: int = 0
    base: int = 0


State = tuple[r.Ring, tuple[Producer, ...]]


@dataclass(frozen=True, slots=True)
class Explored:
    """What was found: states, ways from start to end, each kind of fault's way."""

    states: int
    interleavings: int  # ways from the start to an end without fault
    ends: int
    faults: dict[str, tuple[str, ...]]  # by fault, the shortest way there


def explore(
    producers: int = 2,
    posts: int = 2,
    batch: int = 2,
    slots: int = 2,
    plan: Plan | None = None,
) -> Explored:
    """Visit every state of ``producers`` that post ``posts`` times ``batch`` elements.

    - ``slots``: of the ring; fewer than all elements, so that it wraps round.
    - raises ``ValueError`` for a ring that cannot hold one batch.
    """
    whole(producers=producers, posts=posts, batch=batch, slots=slots)
    if slots < batch:
        raise ValueError(f"slots = {slots} hold no batch of {batch}")
    how = plan or Plan()
    names = program(batch, how)
    start: State = (r.empty(slots), (Producer(),) * producers)
    ways: dict[State, tuple[str, ...]] = {start: ()}
    edges: dict[State, list[State]] = {}
    faults: dict[str, tuple[str, ...]] = {}
    line = deque([start])
    ends: set[State] = set()
    while line:  # breadth first: the first way to a fault is the shortest
        state = line.popleft()
        edges[state] = []
        moves = _moves(state, names, posts, batch, how)
        if not moves:
            fault = _judge(state, producers * posts * batch, posts)
            if fault:
                faults.setdefault(fault, ways[state])
            else:
                ends.add(state)
        for who, after, fault in moves:
            way = (*ways[state], who)
            if fault:
                faults.setdefault(fault, way)
                continue
            edges[state].append(after)
            if after not in ways:
                ways[after] = way
                line.append(after)
    return Explored(len(ways), _count(start, edges, ends), len(ends), faults)


class Move(NamedTuple):
    """One step of an interleaving that somebody chose."""

    who: str
    name: str  # "waits" where it cannot go on
    ring: r.Ring  # as it is afterwards
    fault: str


def replay(
    order: Iterable[str],
    producers: int = 2,
    posts: int = 1,
    batch: int = 2,
    slots: int = 4,
    plan: Plan | None = None,
) -> list[Move]:
    """Go one way through the states, up to its first fault.

    - ``order``: who steps next, "0", "1", ... or "port"; done ones are passed over.
    - raises ``ValueError`` for somebody who is not there.
    """
    how = plan or Plan()
    names = program(batch, how)
    state: State = (r.empty(slots), (Producer(),) * producers)
    made: list[Move] = []
    for who in order:
        if who != "port" and who not in map(str, range(producers)):
            raise ValueError(f"{who!r} steps: port, or a producer below {producers}")
        moves = _moves(state, names, posts, batch, how)
        mine = [move for move in moves if move[0].split(":")[0] == who]
        if mine:
            (name, state, fault), *_ = mine
            made.append(Move(who, name.split(": ")[1], state[0], fault))
            if fault:
                break
        elif who == "port" or state[1][int(who)].post < posts:
            made.append(Move(who, "waits", state[0], ""))
    return made


def program(batch: int, plan: Plan) -> tuple[str, ...]:
    """The steps of a post, in order."""
    first = ("reserve",) if plan.atomic else ("look", "raise")
    room = ("room",) if plan.room else ()
    writes = tuple(f"write {k}" for k in range(batch))
    told = ("publish", "ring")
    return first + room + (writes + told if plan.written_first else told + writes)


def _moves(
    state: State, names: tuple[str, ...], posts: int, batch: int, plan: Plan
) -> list[tuple[str, State, str]]:
    """Who can step, to which state, with which fault."""
    ring, people = state
    found: list[tuple[str, State, str]] = []
    for who, producer in enumerate(people):
        if producer.post == posts:
            continue
        name = names[producer.step]
        made = _step(ring, producer, name, batch, plan)
        if made is None:
            continue
        after, moved, fault = made
        last = moved.step + 1 == len(names)
        moved = moved._replace(
            post=moved.post + last, step=0 if last else moved.step + 1
        )
        others = (*people[:who], moved, *people[who + 1 :])
        found.append((f"{who}: {name}", (after, others), fault))
    if ring.sent < ring.rung:
        after, fault = r.send(ring)
        found.append(("port: send", (after, people), fault))
    return found


def _step(
    ring: r.Ring, producer: Producer, name: str, batch: int, plan: Plan
) -> tuple[r.Ring, Producer, str] | None:
    """One step of a post, or None where it has to wait."""
    base, head = producer.base, producer.base + batch
    if name == "reserve":
        return r.reserve(ring, batch), producer._replace(base=ring.reserved), ""
    if name == "look":
        return ring, producer._replace(base=ring.reserved), ""
    if name == "raise":  # what was read may be old by now
        return ring._replace(reserved=head), producer, ""
    if name == "room":
        return (ring, producer, "") if ring.has_room(base, batch) else None
    if name.startswith("write"):
        after, fault = r.fill(ring, base + int(name.split()[1]))
        return after, producer, fault
    if name == "publish":
        if plan.in_turn and ring.ready != base:
            return None
        # What passes another over is no fault until the doorbell tells of it.
        return r.publish(ring, base, batch)[0], producer, ""
    if plan.forward and head <= ring.rung:
        return ring, producer, ""
    after, fault = r.bell(ring, head)
    return after, producer, fault


def _judge(state: State, total: int, posts: int) -> str:
    """What is wrong where nobody can move."""
    ring, people = state
    if any(producer.post < posts for producer in people):
        return "nobody can move"
    if ring.sent < total:
        return f"{total - ring.sent} entries of {total} are never sent"
    return ""


def _count(start: State, edges: dict[State, list[State]], ends: set[State]) -> int:
    """Paths from the start to an end: each step moves on, so there are no circles."""
    paths: dict[State, int] = {}
    line = [start]
    while line:
        state = line[-1]
        open_ = [after for after in edges[state] if after not in paths]
        if open_:
            line += open_
            continue
        line.pop()
        on = sum(paths[after] for after in edges[state])
        paths[state] = on + (state in ends)
    return paths[start]
