"""A sheet of paper: shapes and texts with their boxes, and what is wrong with them.

Lengths are points, from the upper left corner down. Every part is known by the path of
the parts around it, so that one part on another, a text that leaves its part and a
text on a part that is not its own are found by comparing boxes.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..spec import SpecError
from .geometry import (
    SLACK,
    Point,
    Polyline,
    Rect,
    around,
    covers,
    crosses,
    runs_along,
    ways,
)
from .words import DOWN, LEADING, SIZE, UP, Line

_CELL = re.compile(r"(.*?)(?:\[(\d+)\])?")
Way = tuple[str, ...]  # a part's name after those of the parts around it


@dataclass(frozen=True, slots=True)
class Look:
    """How a shape is inked: roles of its fill and edge, see ``theme``."""

    fill: str = ""
    alpha: float = 1.0
    edge: str = ""
    width: float = 1.0
    dash: bool = False
    radius: float = 0.0  # of the corners of boxes


@dataclass(frozen=True, slots=True)
class Shape:
    """Boxes of one look, or lines through points (closed where they are filled)."""

    look: Look
    rects: tuple[Rect, ...] = ()
    lines: tuple[Polyline, ...] = ()


@dataclass(frozen=True)
class Stroke:
    """A line between parts: it runs through no text, an edge through no part."""

    line: Polyline
    thick: float = 0.0
    ends: tuple[Way, ...] = ()  # the parts that an edge joins; none of a leader
    net: int = 0  # the edges that may cross one another

    @cached_property
    def box(self) -> Rect:
        """What it spans."""
        return around(self.line).shrunk(-self.thick / 2)

    def enters(self, box: Rect) -> bool:
        """Whether it runs through a box."""
        near = self.box.shrunk(-1).meets(box)
        return near and any(covers(a, b, self.thick, box) for a, b in ways(self.line))

    def own(self, way: Way) -> bool:
        """Whether a part is one that it joins, around one or inside one."""
        return any(all(map(str.__eq__, end, way)) for end in self.ends)


@dataclass(frozen=True)
class Text:
    """A line where it stands; ``at`` is the left end of its base line."""

    line: Line
    size: float
    at: tuple[float, float]
    way: Way
    align: str = "start"

    @cached_property  # faults asks each text for it beside each other
    def box(self) -> Rect:
        """What it covers."""
        wide = self.line.wide(self.size)
        left = self.at[0] - wide * {"start": 0.0, "middle": 0.5, "end": 1.0}[self.align]
        top = self.at[1] - UP * self.size
        return Rect(left, top, wide, (UP + DOWN) * self.size)


def _in_order(tail: Way, way: Way) -> bool:
    """Whether a part stands in those that are named, from the outermost."""
    left = iter(way)
    return all(name in left for name in tail)


@dataclass
class Sheet:
    """What has been drawn so far."""

    narrow: bool
    shapes: list[Shape] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)
    parts: dict[Way, Rect] = field(default_factory=dict)
    told: list[tuple[str, str]] = field(default_factory=list)  # part, its words
    arrows: list[tuple[str, str, str]] = field(default_factory=list)
    leaders: list[tuple[Rect, str]] = field(default_factory=list)
    strokes: list[Stroke] = field(default_factory=list)
    cells: dict[Way, list[Rect]] = field(default_factory=dict)  # of arrays
    nets: list[tuple[Any, Way, Rect]] = field(default_factory=list)  # see ``edges``
    openings: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def size(self) -> float:
        """Points of its text."""
        return SIZE[self.narrow]

    def rects(self, look: Look, *rects: Rect) -> None:
        """Draw boxes of one look."""
        self.shapes.append(Shape(look, rects=rects))

    def path(self, look: Look, *points: Point) -> None:
        """Draw a line through points."""
        self.shapes.append(Shape(look, lines=(points,)))

    def join(self, look: Look, start: Point, end: Point) -> None:
        """A line between parts, which runs through no text."""
        self.strokes.append(Stroke((start, end)))
        self.path(look, start, end)

    def add_part(self, way: Way, rect: Rect, words: str = "") -> Way:
        """Record a part; of those with one name beside each other each is kept."""
        self.told.append((way[-1], words))
        while way in self.parts:
            way = (*way[:-1], way[-1] + "'")
        self.parts[way] = rect
        return way

    def write(
        self, words: tuple[Line, ...], rect: Rect, way: Way, align: str = "middle"
    ) -> None:
        """Lines in the middle of a box's height, at its left, middle or right."""
        x = {"start": rect.x, "middle": rect.middle[0], "end": rect.right}[align]
        step = LEADING * self.size
        y = (
            rect.middle[1]
            - step * len(words) / 2
            + (LEADING + UP - DOWN) / 2 * self.size
        )
        for at, one in enumerate(words):
            self.texts.append(Text(one, self.size, (x, y + at * step), way, align))

    def find(self, name: str) -> tuple[Way, Rect]:
        """A part by its name: ``GPU``, ``node A/GPU``, or a cell, ``GPUs[3]``."""
        bare, cell = _CELL.fullmatch(name).groups()  # type: ignore[union-attr]
        tail = tuple(bare.split("/"))
        found = {w: r for w, r in self.parts.items() if w[-1] == tail[-1]}
        found = {way: rect for way, rect in found.items() if _in_order(tail, way)}
        if len(found) > 1:
            every = " or ".join("/".join(way) for way in found)
            raise SpecError(f"{len(found)} parts are called {name!r}: {every}")
        for way, rect in found.items():
            if cell is None:
                return way, rect
            if int(cell) < len(self.cells.get(way, ())):
                return (*way, cell), self.cells[way][int(cell)]
        known = ", ".join(way[-1] for way in self.parts)
        raise SpecError(f"no part {name!r}; there are {known}")

    def rect_of(self, name: str) -> Rect:
        """Where a part stands; SpecError for one that the drawing has not."""
        return self.find(name)[1]

    def faults(self, frame: Rect) -> list[str]:
        """A sentence for everything that is cut or lies on what it should not."""
        cut = [t.line.text for t in self.texts if not frame.holds(t.box)]
        cut += [way[-1] for way, r in self.parts.items() if not frame.holds(r)]
        for stroke in self.strokes:
            cut += [
                f"line of {e[-1]}" for e in stroke.ends if not frame.holds(stroke.box)
            ]
        faults = [f"{name!r} is cut by the frame" for name in cut]
        faults += [*self._crowded_texts(), *self._strayed(), *self._crowded_parts()]
        return [*faults, *self._run_through(), *self._crossed()]

    def _crowded_texts(self) -> Iterator[str]:
        for a, b in itertools.combinations(self.texts, 2):
            if a.box.meets(b.box):
                yield f"{a.line.text!r} lies on {b.line.text!r}"

    def obstacles(self) -> list[tuple[Way, Rect]]:
        """What an edge runs through only where it ends: parts, cells of arrays."""
        cells = (
            ((*way, str(i)), box)
            for way, boxes in self.cells.items()
            for i, box in enumerate(boxes)
        )
        return [*self.parts.items(), *cells]

    def _run_through(self) -> Iterator[str]:
        """Texts and parts that a line runs through."""
        obstacles = self.obstacles()
        for stroke in self.strokes:
            for text in self.texts:
                if stroke.enters(text.box):
                    yield f"a line runs through {text.line.text!r}"
            for way, rect in obstacles if stroke.ends else ():
                if not stroke.own(way) and stroke.enters(rect):
                    yield f"a line runs through the part {way[-1]!r}"

    def _crossed(self) -> Iterator[str]:
        """Edges upon one another, and more crossings than a net is allowed."""
        found = Counter[int]()
        edges = [stroke for stroke in self.strokes if stroke.ends]
        for one, two in itertools.combinations(edges, 2):
            if not one.box.shrunk(-1).meets(two.box.shrunk(-1)):
                continue
            near = max((one.thick + two.thick) / 2 - SLACK, SLACK)
            for (a, b), (c, d) in itertools.product(ways(one.line), ways(two.line)):
                found[max(one.net, two.net)] += crosses(a, b, c, d)
                if runs_along(a, b, c, d, near):
                    names = (end[-1] for end in (*one.ends, *two.ends))
                    yield f"lines lie on one another: {', '.join(names)}"
                    break
        for net, many in found.items():
            if many > self.nets[net][0].crossings:
                yield f"{many} crossings of lines; {self.nets[net][0].crossings} told"

    def _strayed(self) -> Iterator[str]:
        """Texts that leave their part, or lie on one that is not around them."""
        for text in self.texts:
            for way, rect in self.parts.items():
                around = text.way[: len(way)] == way
                if around and not rect.holds(text.box):
                    yield f"{text.line.text!r} is cut by {way[-1]!r}"
                if not around and rect.meets(text.box):
                    yield f"{text.line.text!r} lies on {way[-1]!r}"

    def _crowded_parts(self) -> Iterator[str]:
        for (a, p), (b, q) in itertools.combinations(self.parts.items(), 2):
            short, long = sorted((a, b), key=len)
            if long[: len(short)] != short:
                if p.meets(q):
                    yield f"{a[-1]!r} lies on {b[-1]!r}"
            elif not self.parts[short].holds(self.parts[long]):
                yield f"{long[-1]!r} leaves {short[-1]!r}"
