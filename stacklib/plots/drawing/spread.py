"""Parts placed anywhere: on a board, in a ring, as a tree, as a mesh with its wraps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from ..spec import SpecError
from .edges import Edge, Joined, joined
from .geometry import Point, Rect
from .nodes import Box, Cells, Node, Nothing, Size, centred, with_
from .relate import below, right_of
from .sheet import Sheet, Way

ROOM = 26.0  # points between parts that lines run between
Spots = Sequence[Point]  # middles of parts, as shares of the room


@dataclass(frozen=True)
class Board(Node):
    """Nodes with their middles at given places, on (wide, phone)."""

    nodes: tuple[Node, ...]
    spots: tuple[Spots, Spots]
    gap: float = ROOM
    grow: float = 1.0
    stretch: bool = True

    def size(self, narrow: bool) -> Size:
        """As large as keeps each pair apart, beside or over each other."""
        sizes = [node.size(narrow) for node in self.nodes]
        need = [0.0, 0.0]
        placed = zip(sizes, self.spots[narrow], strict=True)
        for (one, a), (two, b) in combinations(placed, 2):
            apart = [abs(x - y) for x, y in zip(a, b, strict=True)]
            axis = apart[1] > apart[0]
            room = (one[axis] + two[axis]) / 2 + self.gap
            need[axis] = max(need[axis], room / max(apart[axis], 1e-6))
        most = (max(wide for wide, _ in sizes), max(high for _, high in sizes))
        return need[0] + most[0], need[1] + most[1]

    def put(self, sheet: Sheet, rect: Rect, way: Way) -> None:
        """Each about its spot."""
        sizes = [node.size(sheet.narrow) for node in self.nodes]
        wide, high = (max(size[axis] for size in sizes) for axis in (0, 1))
        rows = zip(self.nodes, sizes, self.spots[sheet.narrow], strict=True)
        for node, size, (x, y) in rows:
            left = rect.x + wide / 2 + x * (rect.w - wide)
            top = rect.y + high / 2 + y * (rect.h - high)
            node.put(sheet, centred(Rect(left, top, 0.0, 0.0), size), way)


def board(
    *placed: tuple[Node, Point], phone: Spots | None = None, gap: float = ROOM
) -> Board:
    """Nodes at shares of the room, from its upper left; ``phone``: on a phone."""
    spots = [spot for _, spot in placed]
    return Board(tuple(node for node, _ in placed), (spots, phone or spots), gap)


def ring(*nodes: Node, gap: float = ROOM) -> Board:
    """Nodes around a circle, the first at the top, clockwise."""
    if not nodes:
        raise SpecError("a ring of no parts")
    turns = (2 * math.pi * i / len(nodes) for i in range(len(nodes)))
    spots = [(0.5 + math.sin(t) / 2, 0.5 - math.cos(t) / 2) for t in turns]
    return Board(nodes, (spots, spots), gap)


def around_ring(names: Sequence[str], **look: Any) -> tuple[Edge, ...]:
    """An edge from each to the next, and from the last to the first."""
    after = (*names[1:], names[0])
    return tuple(Edge(a, b, **look) for a, b in zip(names, after, strict=True))


def tree(
    root: Box,
    *branches: Box | Joined,
    edge: Callable[[str, str], Edge] = Edge,
    gap: float = ROOM,
) -> Joined:
    """A root over its branches, parts or trees; ``edge`` joins the root to each."""
    if not branches:
        raise SpecError(f"{root.name}: a tree without branches is its root")
    edges = (edge(root.name, _top(branch)) for branch in branches)
    hung = (
        below(with_(branch, stretch=False, grow=0.0), Nothing(), gap=0.0)
        for branch in branches
    )
    own = with_(root, stretch=False, grow=0.0)
    return joined(below(own, right_of(*hung, even=True), gap=gap), *edges)


def _top(branch: Node) -> str:
    """The part that a tree is joined by."""
    while not isinstance(branch, Box):
        branch = branch.node if isinstance(branch, Joined) else branch.nodes[0]  # type: ignore[attr-defined]
    return branch.name


def mesh(
    cells: Cells,
    links: Iterable[tuple[int, int]],
    lit: Iterable[tuple[int, int]] = (),
    **look: Any,
) -> Joined:
    """Cells and the links between them, neighbours joined.

    A link to a cell further off leaves at the border and comes in again opposite; where
    the two do not face each other, both have its letter. ``lit`` are links in use.
    """
    across, used = cells.across(False), {frozenset(pair) for pair in lit}
    letters = iter(ascii_lowercase + ascii_uppercase)
    edges: list[Edge] = []
    for a, b in sorted({(min(pair), max(pair)) for pair in links}):
        on = frozenset((a, b)) in used
        level = a // across == b // across
        one, two = f"{cells.name}[{a}]", f"{cells.name}[{b}]"
        if b - a == (1 if level else across):
            edges.append(Edge(one, two, lit=on, **look))
            continue
        sides = ("left", "right") if level else ("top", "foot")
        faces = level or a % across == b % across
        letter = None if faces else next(letters)
        edges += [
            Edge(end, "", letter, ports=(side, ""), lit=on, lane=8.0, **look)
            for end, side in zip((one, two), sides, strict=True)
        ]
    return joined(cells, *edges, margin=ROOM)
