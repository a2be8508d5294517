"""The ring through a machine's boards, and what the tree of PCI Express leaves of it.

Boards that are near in the tree stand next to each other in the ring, so that it enters
and leaves each switch once. A switch has one cable to the processor. Between boards
that reach each other it is not used; where all goes through the host's memory, each
board under the switch sends up that one cable and receives from it.

Left out: boards that send on several rings at once in different orders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf

from stacklib.quantity.bounds import above_zero, at_least

from .links import number
from .paths import islands
from .pcie import COUNTED, WORDS, BoardPath, board_path, farthest
from .topo_reading import WAYS, TopoReading

Group = tuple[int, ...]
SWITCHES = ("PIX", "PXB")  # words of boards that share a cable to the processor


@dataclass(frozen=True, slots=True)
class Ring:
    """Boards in their order, the way of each to the next, and the rate of all."""

    order: Group
    ways: tuple[BoardPath, ...]
    rate: float  # bytes a second that each board sends to the next
    limit: str  # what sets it


@dataclass(frozen=True)
class Boards:
    """A reading with the slots of its boards, and who reaches whom.

    - ``slots``: bytes a second of each board's slot, one way.
    - ``peer``: whether boards of this kind reach each other's memory over PCIe, where
      the reading does not say it of a pair.
    - ``level``: the last word on whose ways they do; by ``farthest`` where it is None.
    - ``nvlink``: bytes a second of one NVLink, one way; ``socket``: between sockets.
    """

    reading: TopoReading
    slots: Sequence[float]
    peer: bool = True
    level: str | None = None
    nvlink: float = 0.0
    socket: float = inf

    def __post_init__(self) -> None:
        count = len(self.reading.gpus)
        if len(self.slots) != count:
            raise ValueError(f"{len(self.slots)} slots for {count} GPUs: one each")
        for place, rate in enumerate(self.slots):
            above_zero(**{f"slots[{place}]": rate})
        at_least(0, nvlink=self.nvlink)

    def islands(self, *words: str) -> list[Group]:
        """Boards that some words join, over others or over network cards too."""
        of = self.reading
        names = (*of.gpus, *of.nics)
        near = [
            (a, b)
            for a, b in combinations(range(len(names)), 2)
            if of.between(names[a], names[b]) in words
        ]
        found = islands(len(names), near)
        return [tuple(i for i in one if i < len(of.gpus)) for one in found]

    def groups(self) -> list[Group]:
        """Boards that share a switch's cable, of each level of switches."""
        found: dict[Group, None] = {}
        for last in range(1, len(SWITCHES) + 1):
            for group in self.islands(*SWITCHES[:last]):
                if len(group) > 1:
                    found[group] = None
        return list(found)

    def way(self, one: int, other: int) -> BoardPath:
        """How a board sends to another."""
        of = self.reading
        names = of.gpus[one], of.gpus[other]
        word = of.between(*names)
        if word == "NV":
            return BoardPath("NV", True, self.nvlink * of.nvlinks(*names))
        told = of.reach(*names)
        return board_path(
            word,
            min(number(self.slots[one]), number(self.slots[other])),
            peer=self.peer if told is None else told,
            level=self.level or farthest(len(of.gpus)),
            socket=self.socket,
        )

    def order(self) -> Group:
        """Boards with near ones next to each other."""
        keys: dict[int, list[int]] = {i: [] for i in range(len(self.reading.gpus))}
        for last in range(len(WAYS), 0, -1):  # from far to near
            for group in self.islands(*list(WAYS)[:last]):
                for board in group:
                    keys[board].append(min(group))
        return tuple(sorted(keys, key=lambda board: (keys[board], board)))

    def uplink(self, group: Group) -> float:
        """Bytes a second of a switch's cable, one way: as wide as its widest slot."""
        return max(number(self.slots[board]) for board in group) * COUNTED

    def ring(self) -> Ring:
        """The ring through all boards.

        - raises ``ValueError`` for fewer than two.
        """
        order = self.order()
        if len(order) < 2:
            raise ValueError(f"{len(order)} GPU: a ring needs two")
        hops = list(zip(order, (*order[1:], order[0]), strict=True))
        ways = tuple(self.way(*hop) for hop in hops)
        rate, at = min((way.rate, i) for i, way in enumerate(ways))
        limit = f"{ways[at].word} {ways[at].told}"
        for group in self.groups():
            inside = set(group)
            through = sum(
                one in inside
                and way.word in WORDS
                and not (other in inside and way.peer)
                for (one, other), way in zip(hops, ways, strict=True)
            )
            if through and self.uplink(group) / through < rate:
                rate = self.uplink(group) / through
                limit = f"one cable to the processor for {through} boards"
        return Ring(order, ways, rate, limit)

    def classes(self) -> Mapping[tuple[str, bool], tuple[float, float, int]]:
        """Lowest and highest rate and number of pairs, by word and whether to peers."""
        found: dict[tuple[str, bool], tuple[float, float, int]] = {}
        for pair in combinations(range(len(self.reading.gpus)), 2):
            way = self.way(*pair)
            low, high, many = found.get((way.word, way.peer), (inf, 0.0, 0))
            rates = min(low, way.rate), max(high, way.rate)
            found[way.word, way.peer] = *rates, many + 1
        place = list(WAYS).index
        return dict(sorted(found.items(), key=lambda item: place(item[0][0])))
