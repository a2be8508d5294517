"""The network of a machine's GPUs, made from what ``nvidia-smi topo -m`` says.

NVLinks join pairs, or go through switches: they must where equal links to all others
add up to more than a GPU has. What NVLinks do not join goes over PCI Express, by two
trees with the same rates as ``topo_tree``: one on whose switches boards reach each
other, and one up to the host's memory, where alone a way can turn round.

Left out: a cable's load from both trees at once. Between sockets stands one stream's
rate, as much as a ring needs; processors carry many at once badly.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, permutations
from math import inf

from .links import Link, Wire, both, number, wire
from .pcie import ACROSS, COUNTED, HOST, ROOT, WORDS, farthest
from .topo_reading import TopoReading
from .topo_tree import Boards, Group
from .topology import Topology


def topo_network(
    reading: TopoReading,
    *,
    nvlink: str = "nvlink4",
    pcie: Wire = "pcie4_x16",
    peer: bool = True,
    level: str | None = None,
    socket: float = inf,
) -> Topology:
    """Chips, NVLinks, and the PCIe trees that join what NVLinks do not.

    - ``nvlink``: a key of ``hardware.link``, for its bandwidth and how many a GPU has.
    - ``pcie``: each slot, as its data sheet has it.
    - ``peer``, ``level``, ``socket``: as in ``topo_tree.Boards``.
    - raises ``ValueError`` for a reading with fewer than two GPUs.
    """
    gpus = reading.gpus
    count = len(gpus)
    if count < 2:
        raise ValueError(f"{count} GPU: a network needs two")
    pairs = {
        (a, b): reading.nvlinks(gpus[a], gpus[b])
        for a, b in combinations(range(count), 2)
    }
    name = f"machine of {count} GPUs"
    links: list[Link] = []
    if _switched(set(pairs.values()), count, nvlink):
        cable = wire(nvlink, None, hops=2)
        for gpu in range(count):
            links += both(gpu, count, cable, pairs[0, 1])
        why = "half of the chips can send with all their links"
        return Topology(
            name, count, count + 1, tuple(links), (tuple(range(count // 2)),), why
        )
    if any(pairs.values()):
        cable = wire(nvlink, None)
        for (a, b), some in pairs.items():
            links += both(a, b, cable, some) if some else ()
    if all(pairs.values()):
        return Topology(name, count, count, tuple(links))
    slot = wire(pcie, None).bandwidth
    trees = _Trees(Boards(reading, [slot] * count, peer, level, 0.0, socket))
    links += trees.links
    return Topology(name, count, trees.free, tuple(links))


def _switched(some: set[int], count: int, nvlink: str) -> bool:
    """Whether NVLinks to all others are more than a GPU has."""
    from stacklib import hardware

    if len(some) > 1 or 0 in some:
        return False
    return some.pop() * (count - 1) > hardware.link(nvlink).links.si


class _Trees:
    """Links of both trees, and the first number that is no node of theirs."""

    def __init__(self, boards: Boards) -> None:
        self.of = boards
        self.links: list[Link] = []
        self.free = len(boards.slots)
        chips = range(self.free)
        self.ways = {pair: boards.way(*pair) for pair in permutations(chips, 2)}
        self.switches = sorted(boards.groups(), key=len)
        by_switch = self._peers()
        left = [
            pair
            for pair, way in self.ways.items()
            if way.word in WORDS and pair not in by_switch
        ]
        if any(not self.ways[pair].peer for pair in left):
            self._host()
        for pair in left:
            if self.ways[pair].peer:  # a pair that its neighbours do not reach
                self.links.append(Link(*pair, self.ways[pair].rate))

    def _node(self) -> int:
        self.free += 1
        return self.free - 1

    def _slot(self, board: int) -> float:
        return number(self.of.slots[board]) * COUNTED

    def _up(self, group: Group) -> float:
        """What leads up from a board, or from the switch over some."""
        return self._slot(group[0]) if len(group) == 1 else self.of.uplink(group)

    def _peers(self) -> set[tuple[int, int]]:
        """Switches and ports over boards that all reach each other; their pairs."""
        heads: dict[Group, int] = {(board,): board for board in range(self.free)}
        joined: set[tuple[int, int]] = set()
        level = self.of.level or farthest(self.free)
        for place, word in enumerate(WORDS[: WORDS.index(level) + 1], 1):
            share = ROOT if WORDS.index(word) >= WORDS.index("PHB") else 1.0
            for island in self.of.islands(*WORDS[:place]):
                under = [group for group in heads if set(group) <= set(island)]
                if len(under) < 2 or not self._reach(island):
                    continue
                top = self._node()
                for group in under:
                    rate = share * self._up(group)
                    if word == "SYS":
                        rate = min(rate * ACROSS, self.of.socket)
                    self.links += both(heads.pop(group), top, Link(0, 0, rate))
                heads[island] = top
                joined |= set(permutations(island, 2))
        return joined

    def _reach(self, boards: Iterable[int]) -> bool:
        return all(self.ways[pair].peer for pair in permutations(boards, 2))

    def _host(self) -> None:
        """Cables to the memory of each NUMA node, and what leads from one to another.

        Up and down are nodes of their own, so that no way turns at a switch.
        """
        nodes = self.of.islands(*WORDS[:-1])
        root = self._node() if len(nodes) > 1 else -1
        for island in nodes:
            if not island:
                continue
            write, read = self._node(), self._node()
            total = sum(map(self._slot, island))
            self.links.append(Link(write, read, total))
            if root >= 0:
                far = max(map(self._slot, island)) * HOST * ACROSS
                far = min(far, self.of.socket)
                self.links += (Link(write, root, far), Link(root, read, far))
            tops = dict.fromkeys(island, (write, read))
            for group in reversed(self.switches):  # from large to small
                if set(group) <= set(island):
                    ends = self._node(), self._node()
                    self._both_ways(ends, tops[group[0]], self.of.uplink(group))
                    tops.update(dict.fromkeys(group, ends))
            for board in island:
                rate = self._slot(board) * HOST
                self._both_ways((board, board), tops[board], rate)

    def _both_ways(
        self, ends: tuple[int, int], over: tuple[int, int], rate: float
    ) -> None:
        """A cable up from the first of two nodes, and down to the second."""
        up, down = Link(ends[0], over[0], rate), Link(over[1], ends[1], rate)
        self.links += (up, down)
