"""A sheet of paper: shapes and texts with their boxes, and what is wrong with them.

Lengths are points, from the upper left corner down. Every part is known by the path of
the parts around it, so that one part on another, a text that leaves its part and a
text on a part that is not its own are found by comparing boxes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from ..spec import SpecError
from .words import DOWN, LEADING, SIZE, UP, Line

SLACK = 0.6  # points that boxes may share: lines have a width
Point = tuple[float, float]
Way = tuple[str, ...]  # a part's name after those of the parts around it


class Rect(NamedTuple):
    """A box: its upper left corner, its width and height."""

    x: float
    y: float
    w: float
    h: float

    @property
    def right(self) -> float:
        """Its right edge."""
        return self.x + self.w

    @property
    def foot(self) -> float:
        """Its lower edge."""
        return self.y + self.h

    @property
    def middle(self) -> tuple[float, float]:
        """Its centre."""
        return self.x + self.w / 2, self.y + self.h / 2

    def shrunk(self, by: float) -> Rect:
        """The box without a margin on every side."""
        return Rect(self.x + by, self.y + by, self.w - 2 * by, self.h - 2 * by)

    def holds(self, other: Rect) -> bool:
        """Whether another box lies in it."""
        across = other.x >= self.x - SLACK and other.right <= self.right + SLACK
        return across and other.y >= self.y - SLACK and other.foot <= self.foot + SLACK

    def meets(self, other: Rect) -> bool:
        """Whether two boxes share more than an edge."""
        wide = min(self.right, other.right) - max(self.x, other.x)
        high = min(self.foot, other.foot) - max(self.y, other.y)
        return min(wide, high) > SLACK


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
    """Boxes of one look, or a line through points (closed where it is filled)."""

    look: Look
    rects: tuple[Rect, ...] = ()
    points: tuple[tuple[float, float], ...] = ()


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
    lines: list[tuple[Point, Point]] = field(default_factory=list)  # between parts
    openings: list[tuple[str, str]] = field(default_factory=list)

    @property
    def size(self) -> float:
        """Points of its text."""
        return SIZE[self.narrow]

    def rects(self, look: Look, *rects: Rect) -> None:
        """Draw boxes of one look."""
        self.shapes.append(Shape(look, rects=rects))

    def path(self, look: Look, *points: tuple[float, float]) -> None:
        """Draw a line through points."""
        self.shapes.append(Shape(look, points=points))

    def join(self, look: Look, start: Point, end: Point) -> None:
        """A line between parts, which runs through no text."""
        self.lines.append((start, end))
        self.path(look, start, end)

    def add_part(self, way: Way, rect: Rect, words: str = "") -> None:
        """Record a part; of those with one name beside each other each is kept."""
        self.told.append((way[-1], words))
        while way in self.parts:
            way = (*way[:-1], way[-1] + "'")
        self.parts[way] = rect

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

    def rect_of(self, name: str) -> Rect:
        """Where a part stands; SpecError for one that the drawing has not."""
        for way, rect in self.parts.items():
            if way[-1] == name:
                return rect
        known = ", ".join(way[-1] for way in self.parts)
        raise SpecError(f"no part {name!r}; there are {known}")

    def faults(self, frame: Rect) -> list[str]:
        """A sentence for everything that is cut or lies on what it should not."""
        cut = [t.line.text for t in self.texts if not frame.holds(t.box)]
        cut += [way[-1] for way, r in self.parts.items() if not frame.holds(r)]
        faults = [f"{name!r} is cut by the frame" for name in cut]
        faults += [*self._crowded_texts(), *self._strayed()]
        return [*faults, *self._crowded_parts(), *self._crossed()]

    def _crowded_texts(self) -> Iterator[str]:
        for a, b in itertools.combinations(self.texts, 2):
            if a.box.meets(b.box):
                yield f"{a.line.text!r} lies on {b.line.text!r}"

    def _crossed(self) -> Iterator[str]:
        """Texts that a line between parts runs through."""
        for (a, b), text in itertools.product(self.lines, self.texts):
            box, steps = text.box, range(1, 60)
            at = (
                (a[0] + (b[0] - a[0]) * i / 60, a[1] + (b[1] - a[1]) * i / 60)
                for i in steps
            )
            if any(box.x < x < box.right and box.y < y < box.foot for x, y in at):
                yield f"a line runs through {text.line.text!r}"

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
