"""Arrows, dimension lines, brackets, callouts and clips of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib.quantity import Quantity, chosen

from ..spec import SpecError
from .edges import HEAD, THINNEST, WIDEST, band, thickness
from .geometry import Polyline, Rect, around
from .nodes import PAD, Node, Size, centred, room_of, said
from .sheet import Look, Sheet, Way
from .words import Line, lines


@dataclass(frozen=True)
class Pipe(Node):
    """An arrow between neighbours, as wide as its bandwidth.

    It stands between the two in a row or column, so that its ends lie at theirs.
    """

    start: str  # the parts that it joins
    end: str
    rate: Quantity
    full: Quantity  # what the widest arrow of the drawing carries
    label: Any = None  # the rate where not given
    both: bool = False  # whether it points both ways
    down: tuple[bool, bool] = (False, True)  # whether it runs down: wide, phone
    role: str = "layer-2"
    least: float = 26.0
    grow: float = 0.3
    stretch: bool = True

    @property
    def lines(self) -> tuple[Line, ...]:
        """Its label."""
        return lines(self.rate if self.label is None else self.label)

    @property
    def arrow(self) -> str:
        """Where it points, as an edge's does."""
        return "both" if self.both else "end"

    @property
    def thick(self) -> float:
        """Points across, in proportion to what goes through."""
        return thickness(self.rate, self.full, f"{self.start} to {self.end}")

    def size(self, narrow: bool) -> Size:
        """Along: its words or a stub; across: its width and the words beside it."""
        wide, high = room_of(self.lines, narrow)
        across = self.thick + 2 * HEAD
        if self.down[narrow]:
            return 2 * wide + across + 2 * PAD, max(self.least, high + PAD)
        return max(wide + PAD, self.least), across + 2 * high

    def put(self, sheet: Sheet, rect: Rect, way: Way) -> None:
        """The arrow, and its words over it or at its right."""
        words = said(self.lines)
        sheet.arrows.append((self.start, self.end, words))
        upright = self.down[sheet.narrow]
        outline = self._outline(rect, upright)
        sheet.path(Look(self.role, 0.55), *outline)
        sheet.parts[*way, f"{self.start} to {self.end}"] = around(outline)
        wide, high = room_of(self.lines, sheet.narrow)
        x, y = rect.middle
        half = self.thick / 2 + HEAD * 0.4
        beside = Rect(x + half + PAD, y - high / 2, wide, high)
        over = Rect(rect.x, y - half - high, rect.w, high)
        sheet.write(
            self.lines,
            beside if upright else over,
            way,
            "start" if upright else "middle",
        )

    def _outline(self, rect: Rect, upright: bool) -> Polyline:
        """Corners of the arrow, along x, turned where it runs down."""
        x, y = rect.middle
        far = (rect.h if upright else rect.w) / 2 - 1
        flat = band(((-far, 0.0), (far, 0.0)), self.thick, self.arrow)
        return tuple((x + b, y + a) if upright else (x + a, y + b) for a, b in flat)


def then(start: str, end: str, *, down: tuple[bool, bool] = (False, True)) -> Pipe:
    """A thin arrow that says what comes next, and no bandwidth."""
    one, full = (chosen(n, label="points across") for n in (3, WIDEST))
    return Pipe(start, end, one, full, [], down=down, role="muted", least=16.0, grow=0)


@dataclass(frozen=True)
class Measured(Node):
    """A node with a dimension line along its foot or left, and what it measures."""

    node: Node
    label: Any
    side: str = "foot"  # foot, left
    bracket: bool = False  # a bracket instead, which gathers what is over it
    grow: float = 0.0
    stretch: bool = False

    @property
    def lines(self) -> tuple[Line, ...]:
        """What it measures."""
        return lines(self.label)

    def size(self, narrow: bool) -> Size:
        """The node's, and room for line and words."""
        (wide, high), (w, h) = self.node.size(narrow), room_of(self.lines, narrow)
        if self.side == "foot":
            return max(wide, w), high + h + PAD + 2
        return wide + w + PAD + 4, max(high, h)

    def put(self, sheet: Sheet, rect: Rect, way: Way) -> None:
        """The node, the line, the words."""
        wide, high = room_of(self.lines, sheet.narrow)
        own = self.node.size(sheet.narrow)
        if self.side == "foot":
            room = Rect(rect.x, rect.y, rect.w, rect.h - high - PAD - 2)
            mine = room if self.node.stretch else centred(room, own)
            ends = ((mine.x, mine.foot + PAD - 2), (mine.right, mine.foot + PAD - 2))
            sheet.write(
                self.lines, Rect(rect.x, mine.foot + PAD, rect.w, high + 2), way
            )
        else:
            left = rect.x + wide + PAD + 4
            room = Rect(left, rect.y, rect.right - left, rect.h)
            mine = room if self.node.stretch else centred(room, own)
            ends = ((mine.x - PAD + 2, mine.y), (mine.x - PAD + 2, mine.foot))
            words = Rect(rect.x, mine.y, mine.x - PAD - 2 - rect.x, mine.h)
            sheet.write(self.lines, words, way, "end")
        self.node.put(sheet, mine, way)
        self._rule(sheet, *ends)

    def _rule(
        self, sheet: Sheet, a: tuple[float, float], b: tuple[float, float]
    ) -> None:
        """A line with ticks at its ends; of a bracket they point to the node only."""
        look = Look(edge="muted", width=0.9)
        flat = a[1] == b[1]
        far = 0.0 if self.bracket else 3.0
        sheet.path(look, a, b)
        for x, y in (a, b):
            ends = ((x, y - 3), (x, y + far)) if flat else ((x - far, y), (x + 3, y))
            sheet.path(look, *ends)


@dataclass(frozen=True)
class Note(Node):
    """A callout: words, and a thin line to the part that they speak of."""

    target: str
    label: Any
    align: str = "start"
    grow: float = 0.0
    stretch: bool = True

    @property
    def lines(self) -> tuple[Line, ...]:
        """Its words."""
        return lines(self.label)

    def size(self, narrow: bool) -> Size:
        """As its words."""
        return room_of(self.lines, narrow)

    def put(self, sheet: Sheet, rect: Rect, way: Way) -> None:
        """The words; the line when all parts stand."""
        wide, high = self.size(sheet.narrow)
        left = {"start": rect.x, "end": rect.right - wide}.get(
            self.align, rect.middle[0] - wide / 2
        )
        sheet.write(self.lines, rect, way, self.align)
        sheet.told.append((f"note on {self.target}", said(self.lines)))
        own = Rect(left, rect.middle[1] - high / 2, wide, high)
        sheet.leaders.append((own, self.target))


@dataclass(frozen=True)
class Opened(Node):
    """What is shown opened: two thin lines from a part to the box with its inside.

    It stands between the two in a row or column, as the room between them. A part of
    several cells is named by its first and its last.
    """

    part: str | tuple[str, str]
    into: str
    room: Size = (16.0, 12.0)
    grow: float = 0.0
    stretch: bool = True

    def size(self, narrow: bool) -> Size:
        """The room that is left."""
        return self.room

    def put(self, sheet: Sheet, rect: Rect, way: Way) -> None:
        """The lines, when both parts stand."""
        ends = (self.part, self.part) if isinstance(self.part, str) else self.part
        sheet.openings.append((*ends, self.into))


def draw_leaders(sheet: Sheet) -> None:
    """Lines between parts: they are drawn when all parts stand."""
    look = Look(edge="muted", width=0.8, dash=True)
    for first, last, into in sheet.openings:
        a, z, b = sheet.rect_of(first), sheet.rect_of(last), sheet.rect_of(into)
        if z.right <= b.x:
            sheet.join(look, (z.right, a.y), (b.x, b.y))
            sheet.join(look, (z.right, z.foot), (b.x, b.foot))
        else:
            sheet.join(look, (a.x, a.foot), (b.x, b.y))
            sheet.join(look, (z.right, z.foot), (b.right, b.y))
    _draw_notes(sheet)


def _draw_notes(sheet: Sheet) -> None:
    """The line of each callout, from its box to the nearest point of its part."""
    for own, target in sheet.leaders:
        part = sheet.rect_of(target)
        near = _nearest(own.shrunk(-2), part.middle)
        end = _nearest(part, near)
        sheet.join(Look(edge="muted", width=0.8), _nearest(own.shrunk(-2), end), end)


def _nearest(rect: Rect, to: tuple[float, float]) -> tuple[float, float]:
    x = min(max(to[0], rect.x), rect.right)
    return x, min(max(to[1], rect.y), rect.foot)


@dataclass(frozen=True)
class Clip(Node):
    """A clip of time under a part: when of the whole it is busy, and for how long."""

    name: str
    begin: Quantity
    end: Quantity
    whole: Quantity
    label: Any
    role: str = "layer-3"
    high: float = 12.0
    grow: float = 1.0
    stretch: bool = True

    @property
    def lines(self) -> tuple[Line, ...]:
        """Its words."""
        return lines(self.label)

    def size(self, narrow: bool) -> Size:
        """A bar, its words under it."""
        wide, high = room_of(self.lines, narrow)
        return wide, self.high + high + 3

    def put(self, sheet: Sheet, rect: Rect, way: Way) -> None:
        """The whole as a trace, the clip upon it."""
        if not 0 <= self.begin.si <= self.end.si <= self.whole.si * (1 + 1e-9):
            raise SpecError(f"{self.name}: a clip outside of its {self.whole.text()}")
        bar = Rect(rect.x, rect.y, rect.w, self.high)
        first, last = (rect.w * q.si / self.whole.si for q in (self.begin, self.end))
        sheet.add_part((*way, self.name), bar, said(self.lines))
        sheet.rects(Look("muted", 0.15), bar)
        busy = Rect(bar.x + first, bar.y, max(last - first, THINNEST), bar.h)
        sheet.rects(Look(self.role, 0.8), busy)
        wide, high = room_of(self.lines, sheet.narrow)
        left = min(max(busy.x, rect.x), rect.right - wide)
        sheet.write(self.lines, Rect(left, bar.foot + 3, wide, high), way, "start")


@dataclass(frozen=True)
class Bar(Node):
    """Times one after the other on one scale, those in question lit.

    ``parts``: what each is called, how long it takes, its colour, whether it is lit.
    """

    name: str
    parts: tuple[tuple[str, Quantity, str, bool], ...]
    whole: Quantity  # what the full width stands for
    label: Any
    high: float = 12.0
    grow: float = 0.0
    stretch: bool = True

    @property
    def lines(self) -> tuple[Line, ...]:
        """Its words."""
        return lines(self.label)

    def size(self, narrow: bool) -> Size:
        """Its words, the bar under them."""
        wide, high = room_of(self.lines, narrow)
        return wide, high + self.high + 3

    def put(self, sheet: Sheet, rect: Rect, way: Way) -> None:
        """The parts along the scale: each is seen, however short."""
        total = sum(time.si for _, time, _, _ in self.parts)
        if not 0 < total <= self.whole.si * (1 + 1e-9):
            raise SpecError(f"{self.name}: longer than its scale, {self.whole.text()}")
        _, high = room_of(self.lines, sheet.narrow)
        sheet.write(self.lines, Rect(rect.x, rect.y, rect.w, high), way, "start")
        bar = Rect(rect.x, rect.y + high + 3, rect.w, self.high)
        told = ", ".join(f"{name} {t.text()}" for name, t, _, _ in self.parts)
        sheet.add_part((*way, self.name), bar, told)
        room = bar.w - THINNEST * len(self.parts)
        x = bar.x
        for _, time, role, lit in self.parts:
            wide = THINNEST + room * time.si / self.whole.si
            look = Look(role, 0.85 if lit else 0.3, "paper", 0.5)
            sheet.rects(look, Rect(x, bar.y, wide, bar.h))
            x += wide
