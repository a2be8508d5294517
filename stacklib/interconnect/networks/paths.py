"""Shortest paths of a directed graph, counted, and what traffic puts on each link.

A destination is looked at from behind: ``toward`` finds for every node how far it is
and by how many shortest paths it gets there; from these two lists follow one path, the
share of every link where all shortest paths are used alike, and by ``pour`` the bytes
on each link for any traffic. It is the counting of U. Brandes, *A faster algorithm for
betweenness centrality*, 2001, turned round: there from a source, here to a destination.

Length is the number of links: bandwidth and latency do not choose a path, and a pair of
nodes has one link, however many cables it is made of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

Pair = tuple[int, int]
Next = Sequence[Sequence[int]]  # of each node, the nodes that it has a link to


@dataclass(frozen=True, slots=True)
class Toward:
    """All shortest paths to one destination."""

    destination: int
    far: list[int]  # links to go from each node; -1 where there is no way
    count: list[int]  # shortest paths from each node


@dataclass(frozen=True, slots=True)
class Routes:
    """The shortest paths between two nodes: how many, one of them, and their links."""

    source: int
    destination: int
    count: int
    path: tuple[int, ...]  # one of them, the same each time
    share: Mapping[Pair, float]  # of what is sent, if all paths are used alike

    @property
    def hops(self) -> int:
        """Links of each path."""
        return len(self.path) - 1

    def every(self) -> Iterator[tuple[int, ...]]:
        """Each shortest path, in order of its nodes."""
        after: dict[int, list[int]] = {}
        for one, other in sorted(self.share):
            after.setdefault(one, []).append(other)

        def walk(path: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
            if path[-1] == self.destination:
                yield path
                return
            for node in after[path[-1]]:
                yield from walk((*path, node))

        return walk((self.source,))


def islands(nodes: int, pairs: Sequence[Pair]) -> list[list[int]]:
    """Sets of nodes that links hold together, whichever way they point."""
    near: list[list[int]] = [[] for _ in range(nodes)]
    for one, other in pairs:
        near[one].append(other)
        near[other].append(one)
    seen = [False] * nodes
    found = []
    for start in range(nodes):
        if seen[start]:
            continue
        seen[start] = True
        island = [start]
        for node in island:  # grows while it is walked
            for other in near[node]:
                if not seen[other]:
                    seen[other] = True
                    island.append(other)
        found.append(sorted(island))
    return found


def neighbours(nodes: int, pairs: Iterable[Pair]) -> list[list[int]]:
    """Of each node, the nodes that it has a link to, in order."""
    near: list[list[int]] = [[] for _ in range(nodes)]
    for one, other in sorted(pairs):
        near[one].append(other)
    return near


def toward(destination: int, before: Next) -> Toward:
    """Search breadth first from a destination against the links.

    - ``before``: of each node, the nodes that have a link to it.
    """
    far, count = [-1] * len(before), [0] * len(before)
    far[destination], count[destination] = 0, 1
    order = [destination]
    for node in order:
        further = far[node] + 1
        for other in before[node]:
            if far[other] < 0:
                far[other] = further
                order.append(other)
            if far[other] == further:
                count[other] += count[node]
    return Toward(destination, far, count)


def one_path(source: int, to: Toward, after: Next) -> tuple[int, ...]:
    """The path that the destination's number chooses, digit by digit.

    In a fat tree it is the routing by destination modulo the switches of a level,
    under which a shift of all ranks meets no link twice.
    """
    path, digits = [source], to.destination
    while (node := path[-1]) != to.destination:
        choices = [w for w in after[node] if to.far[w] == to.far[node] - 1]
        path.append(choices[digits % len(choices)])
        digits //= len(choices)
    return tuple(path)


def pour(put_in: Mapping[int, float], to: Toward, after: Next) -> dict[Pair, float]:
    """What each link carries when sources send to one destination by all paths.

    Links come in an order in which what flows into a node stands before what flows out.
    """
    levels: dict[int, dict[int, float]] = {}
    for node, amount in put_in.items():
        levels.setdefault(to.far[node], {})[node] = amount
    loads: dict[Pair, float] = {}
    for far in range(max(levels, default=0), 0, -1):
        nearer = levels.setdefault(far - 1, {})
        for node, amount in levels.get(far, {}).items():
            each = amount / to.count[node]
            for other in after[node]:
                if to.far[other] == far - 1:
                    part = each * to.count[other]
                    loads[node, other] = part
                    nearer[other] = nearer.get(other, 0.0) + part
    return loads
