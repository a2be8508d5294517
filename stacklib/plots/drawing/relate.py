"""Where parts stand: beside, below, in a grid of one another.

``flow`` is a row on the wide canvas and a column on a phone. Room left over goes to the
parts that grow; those that stretch fill the other direction, the rest stand in its
middle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest

from .marks import then
from .nodes import GAP, Box, Node, Nothing, Size, centred
from .sheet import Rect, Sheet, Way


@dataclass(frozen=True)
class Line(Node):
    """Nodes in a row or in a column; ``down`` says which on (wide, phone)."""

    nodes: tuple[Node, ...]
    down: tuple[bool, bool]
    gap: float = GAP
    grow: float = 1.0
    stretch: bool = True
    even: bool = False  # whether all get the same room

    def size(self, narrow: bool) -> Size:
        """The sum along, the most across."""
        along, across = zip(
            *(self._turn(n.size(narrow), narrow) for n in self.nodes), strict=True
        )
        total = max(along) * len(along) if self.even else sum(along)
        return self._turn((total + self.gap * (len(along) - 1), max(across)), narrow)

    def _turn(self, pair: Size, narrow: bool) -> Size:
        return (pair[1], pair[0]) if self.down[narrow] else pair

    def put(self, sheet: Sheet, rect: Rect, way: Way) -> None:
        """Share the room out, then each in its own."""
        narrow = sheet.narrow
        long, _ = self._turn((rect.w, rect.h), narrow)
        shares = self._shares(long, narrow)
        at = (long - sum(shares) - self.gap * (len(shares) - 1)) / 2  # none grows
        for node, along in zip(self.nodes, shares, strict=True):
            node.put(sheet, self._place(node, rect, at, along, narrow), way)
            at += along + self.gap

    def _shares(self, long: float, narrow: bool) -> list[float]:
        own = [self._turn(node.size(narrow), narrow)[0] for node in self.nodes]
        free = long - self.gap * (len(own) - 1)
        if self.even:
            return [free / len(own)] * len(own)
        grow = [node.grow for node in self.nodes]
        spare, total = free - sum(own), sum(grow)
        return [
            a + (spare * g / total if total else 0.0)
            for a, g in zip(own, grow, strict=True)
        ]

    def _place(
        self, node: Node, rect: Rect, at: float, along: float, narrow: bool
    ) -> Rect:
        if self.down[narrow]:
            found = Rect(rect.x, rect.y + at, rect.w, along)
        else:
            found = Rect(rect.x + at, rect.y, along, rect.h)
        if node.stretch:
            return found
        wide, high = node.size(narrow)
        keep = (wide, found.h) if self.down[narrow] else (found.w, high)
        return centred(found, keep)


def right_of(
    *nodes: Node, gap: float = GAP, grow: float = 1.0, even: bool = False
) -> Line:
    """Each right of the one before."""
    return Line(nodes, (False, False), gap, grow, even=even)


def below(
    *nodes: Node, gap: float = GAP, grow: float = 1.0, even: bool = False
) -> Line:
    """Each below the one before."""
    return Line(nodes, (True, True), gap, grow, even=even)


def flow(*nodes: Node, gap: float = GAP, grow: float = 1.0, even: bool = False) -> Line:
    """A row where there is room, a column on a phone."""
    return Line(nodes, (False, True), gap, grow, even=even)


def turned(*nodes: Node, gap: float = GAP, even: bool = False) -> Line:
    """A column where there is room, a row on a phone."""
    return Line(nodes, (True, False), gap, even=even)


def chain(*boxes: Box, down: tuple[bool, bool] = (False, True)) -> Line:
    """In the order that one follows another, a thin arrow from each to the next."""
    nodes: list[Node] = [*boxes[:1]]
    for before, box in pairwise(boxes):
        nodes += [then(before.name, box.name, down=down), box]
    return Line(tuple(nodes), down, gap=2.0)


@dataclass(frozen=True)
class Either(Node):
    """One arrangement on the wide canvas, another on a phone; of the same parts."""

    wide: Node
    phone: Node
    grow: float = 1.0
    stretch: bool = True

    def size(self, narrow: bool) -> Size:
        """As the one that is shown."""
        return (self.phone if narrow else self.wide).size(narrow)

    def put(self, sheet: Sheet, rect: Rect, way: Way) -> None:
        """The one that is shown."""
        (self.phone if sheet.narrow else self.wide).put(sheet, rect, way)


def grid(nodes: Sequence[Node], columns: tuple[int, int], gap: float = GAP) -> Either:
    """Rows of equal columns: so many wide, so many on a phone."""
    wide, phone = (_grid(nodes, across, gap) for across in columns)
    return Either(wide, phone)


def _grid(nodes: Sequence[Node], across: int, gap: float) -> Line:
    rows = zip_longest(*[iter(nodes)] * across, fillvalue=Nothing())
    return below(*(right_of(*row, gap=gap, even=True) for row in rows), gap=gap)
