"""A board as a search sees it: who can send to whom, and what the sends share.

In one step a chunk goes from a chip to another over wires that no other chip stands
on. Each direction of a wire carries at most ``slots`` chunks in a step: one a cable.
Switches pass on and do not add. So a mesh's pairs have a wire each, chips behind a
switch share their ports, and boards behind two switches share what joins these.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from stacklib.interconnect.networks.topology import Topology
from stacklib.interconnect.schedules.schedule import Schedule
from stacklib.quantity.bounds import whole

Pair = tuple[int, int]


@dataclass(frozen=True)
class Board:
    """Chips, the ways between them, and the wires' slots in a step."""

    name: str
    ranks: int
    ways: dict[Pair, tuple[int, ...]]  # wires that a chunk takes, by who sends to whom
    slots: tuple[int, ...]  # chunks that a wire carries in a step

    @cached_property
    def far(self) -> list[list[int]]:
        """Steps from each chip to each; -1 where there is no way."""
        after = [[b for a, b in self.ways if a == one] for one in range(self.ranks)]
        return [_steps(start, after) for start in range(self.ranks)]

    @property
    def diameter(self) -> int:
        """Steps between the two chips that are farthest apart."""
        return max(map(max, self.far))

    def most(self, pairs: Iterable[Pair]) -> int:
        """No more chunks than this go over some ways in one step.

        Every way takes its first wire, and its last, and each one that many share: the
        slots of wires that meet all ways are enough for all that can be sent.
        """
        some = [self.ways[pair] for pair in pairs]
        used = Counter(wire for way in some for wire in way)
        sets = [
            {way[0] for way in some},
            {way[-1] for way in some},
            {max(way, key=lambda wire: used[wire]) for way in some},
        ]
        return min(sum(self.slots[wire] for wire in wires) for wires in sets)

    def overfull(self, schedule: Schedule) -> str:
        """The first wire that a schedule asks too much of; empty where it fits."""
        for step, sends in enumerate(schedule.by_step()):
            load: Counter[int] = Counter()
            for send in sends:
                way = self.ways.get((send.source, send.destination))
                if way is None:
                    told = f"rank {send.source} has no way to rank {send.destination}"
                    return f"step {step}: {told} of {self.name}"
                load.update(way)
            for wire, count in sorted(load.items()):
                if count > self.slots[wire]:
                    told = f"wire {wire} carries {count} chunks, {self.slots[wire]} fit"
                    return f"step {step}: {told} on {self.name}"
        return ""


def _steps(start: int, after: Sequence[Sequence[int]]) -> list[int]:
    """Breadth first from a chip."""
    found = [-1] * len(after)
    found[start] = 0
    todo = deque([start])
    while todo:
        one = todo.popleft()
        for other in after[one]:
            if found[other] < 0:
                found[other] = found[one] + 1
                todo.append(other)
    return found


def board_of(topology: Topology, name: str = "", *, slots: int = 1) -> Board:
    """A network as a board: ways without a chip between, one shortest path each.

    - ``name``: the network's own where empty.
    - ``slots``: chunks that each cable carries in a step.
    - raises ``ValueError`` where chips hang together only through others' switches.
    """
    whole(slots=slots)
    wires = {(one.source, one.destination): at for at, one in enumerate(topology.links)}
    ways: dict[Pair, tuple[int, ...]] = {}
    chips = range(topology.ranks)
    for pair in ((a, b) for a in chips for b in chips if a != b):
        path = topology.routes(*pair).path
        if all(node >= topology.ranks for node in path[1:-1]):
            ways[pair] = tuple(wires[one] for one in pairwise(path))
    made = Board(
        name or topology.name,
        topology.ranks,
        ways,
        tuple(one.cables * slots for one in topology.links),
    )
    if any(-1 in row for row in made.far):
        raise ValueError(f"{made.name}: some chips reach each other by no step")
    return made
