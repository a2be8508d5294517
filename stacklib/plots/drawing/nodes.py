"""What a drawing is made of: nodes, which know the room that they need.

Nodes are laid out by relation (``relate``), never by coordinates. The same nodes make
the wide layout and the phone's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ..spec import SpecError
from .sheet import Look, Rect, Sheet, Way
from .words import LEADING, SIZE, Line, lines

PAD = 7.0  # points between the edge of a part and what is in it
GAP = 9.0  # between neighbours
QUIET, LIT = 0.13, 0.42  # of a part's colour
MERGED = 96  # cells of an array, at most, that are drawn one by one
ROUND = 24  # cells of an array, at most, whose corners are; more would be heavy
Size = tuple[float, float]
Made = TypeVar("Made", bound="Node")


class Node:
    """A piece of a layout."""

    grow: float = 0.0  # share of the room left over, along the row or column
    stretch: bool = False  # whether it fills the other direction, too

    def size(self, narrow: bool) -> Size:
        """Width and height that it needs, points."""
        raise NotImplementedError

    def put(self, sheet: Sheet, rect: Rect, way: Way) -> None:
        """Draw it in a box at least as large."""
        raise NotImplementedError


def with_(node: Made, **changes: Any) -> Made:
    """The same node, otherwise: ``with_(stack, lit=True)``."""
    return replace(node, **changes)  # type: ignore[type-var]


def room_of(words: tuple[Line, ...], narrow: bool) -> Size:
    """Width and height of lines."""
    size = SIZE[narrow]
    wide = max((one.wide(size) for one in words), default=0.0)
    return wide, len(words) * LEADING * size


def centred(rect: Rect, size: Size) -> Rect:
    """A box of a size in the middle of another."""
    wide, high = size
    x, y = rect.middle
    return Rect(x - wide / 2, y - high / 2, wide, high)


def said(words: Iterable[Line]) -> str:
    """Lines as a sentence of the alternative text."""
    return ", ".join(one.text for one in words)


def look_of(role: str, lit: bool, radius: float = 3.0) -> Look:
    """How a part of a colour looks, quiet or lit."""
    width = 1.6 if lit else 0.9
    return Look(role, LIT if lit else QUIET, role, width, radius=radius)


@dataclass(frozen=True)
class Words(Node):
    """Free lines of text, of nobody's box."""

    label: Any
    align: str = "middle"
    grow: float = 0.0
    stretch: bool = True

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines."""
        return lines(self.label)

    def size(self, narrow: bool) -> Size:
        """As its lines."""
        return room_of(self.lines, narrow)

    def put(self, sheet: Sheet, rect: Rect, way: Way) -> None:
        """Write them."""
        sheet.write(self.lines, rect, way, self.align)


@dataclass(frozen=True)
class Box(Node):
    """A part: a frame, its label, and what is inside it."""

    name: str  # what arrows and the alternative text call it
    label: Any = ""  # a line or a list of them; its name, or None for no words
    inside: Node | None = None  # what an opened part shows
    role: str = "layer-3"  # its colour, of ``theme.ROLES``: a layer of the stack
    lit: bool = False  # whether it is the part in question
    room: Size = (0.0, 0.0)  # least width and height
    grow: float = 1.0
    stretch: bool = True
    align: str = "middle"

    @property
    def lines(self) -> tuple[Line, ...]:
        """Its label; its name where none is given."""
        if self.label is None:
            return ()
        return lines(self.label if self.label != "" else self.name)

    def size(self, narrow: bool) -> Size:
        """Label over inside, and a margin."""
        wide, high = room_of(self.lines, narrow)
        if self.inside is not None:
            inner = self.inside.size(narrow)
            high += inner[1] + (PAD / 2 if self.lines else 0)
            wide = max(wide, inner[0])
        return max(wide + 2 * PAD, self.room[0]), max(high + 2 * PAD, self.room[1])

    def put(self, sheet: Sheet, rect: Rect, way: Way) -> None:
        """The frame, then label and inside."""
        way = (*way, self.name)
        sheet.add_part(way, rect, said(self.lines))
        if len(way) > 1:  # tints do not add up
            sheet.rects(Look("paper", radius=3.0), rect)
        sheet.rects(look_of(self.role, self.lit), rect)
        body = rect.shrunk(PAD)
        if self.inside is None:
            sheet.write(self.lines, body, way, self.align)
            return
        high = room_of(self.lines, sheet.narrow)[1]
        sheet.write(self.lines, Rect(body.x, body.y, body.w, high), way, self.align)
        top = body.y + high + (PAD / 2 if self.lines else 0)
        left = Rect(body.x, top, body.w, body.foot - top)
        self.inside.put(sheet, left, way)


@dataclass(frozen=True)
class Cells(Node):
    """An array of equal cells, counted true.

    ``columns`` is a number, or one for each canvas (wide, phone); ``lit`` the
    indices of cells that are, ``dark`` of those that are off.
    """

    name: str
    count: int
    columns: int | tuple[int, int] = 0  # 0: all in one row
    side: Size | float = 10.0
    gap: float = 2.0
    role: str = "layer-3"
    lit: frozenset[int] = frozenset()
    dark: frozenset[int] = frozenset()
    words: str = ""  # for the alternative text
    grow: float = 0.0
    stretch: bool = False

    def __post_init__(self) -> None:
        if self.count < 1:
            raise SpecError(f"{self.name}: {self.count} cells")

    def across(self, narrow: bool) -> int:
        """Cells in a row."""
        given = self.columns
        return (given[narrow] if isinstance(given, tuple) else given) or self.count

    @property
    def cell(self) -> Size:
        """Width and height of one."""
        side = self.side
        return side if isinstance(side, tuple) else (side, side)

    def size(self, narrow: bool) -> Size:
        """Rows and columns."""
        across = min(self.across(narrow), self.count)
        down = -(-self.count // across)
        wide, high = self.cell
        gap = self.gap
        return across * (wide + gap) - gap, down * (high + gap) - gap

    def boxes(self, rect: Rect, narrow: bool) -> list[Rect]:
        """Where each cell stands."""
        start, across = centred(rect, self.size(narrow)), self.across(narrow)
        wide, high = self.cell
        return [
            Rect(
                start.x + i % across * (wide + self.gap),
                start.y + i // across * (high + self.gap),
                wide,
                high,
            )
            for i in range(self.count)
        ]

    def put(self, sheet: Sheet, rect: Rect, way: Way) -> None:
        """One path a shade."""
        whole = centred(rect, self.size(sheet.narrow))
        boxes = self.boxes(rect, sheet.narrow)
        sheet.cells[sheet.add_part((*way, self.name), whole, self.words)] = boxes
        for alpha, mine in ((0.34, self._plain()), (0.95, self.lit), (0.1, self.dark)):
            look = Look(self.role, alpha, radius=1.0 if self.count <= ROUND else 0.0)
            if mine:
                sheet.rects(look, *self._runs(boxes, mine))
        self._part(sheet, boxes)

    def _runs(self, boxes: list[Rect], mine: frozenset[int]) -> list[Rect]:
        """Boxes of cells; of a large array neighbours in a row share one."""
        runs: list[Rect] = []
        for box in (boxes[i] for i in sorted(mine)):
            last = runs[-1] if runs else box
            near = box.x - last.right < self.gap + 0.1 and box.y == last.y
            if self.count > MERGED and runs and near:
                runs[-1] = Rect(last.x, last.y, box.right - last.x, last.h)
            else:
                runs.append(box)
        return runs

    def _part(self, sheet: Sheet, boxes: list[Rect]) -> None:
        """Lines of paper between the columns of what was drawn in runs."""
        if self.count > MERGED:
            top, foot = boxes[0].y, boxes[-1].foot
            lines_ = sorted({box.x for box in boxes})[1:]
            cuts = (Rect(x - self.gap, top, self.gap, foot - top) for x in lines_)
            sheet.rects(Look("paper"), *cuts)

    def _plain(self) -> frozenset[int]:
        return frozenset(range(self.count)) - self.lit - self.dark


@dataclass(frozen=True)
class Layers(Node):
    """A stack: layers upon each other, the first at the bottom; ``(role, height)``."""

    name: str
    layers: tuple[tuple[str, float], ...]
    wide: float = 60.0
    words: str = ""
    lit: frozenset[int] = frozenset()
    vias: int = 0  # wires that run through all of them
    grow: float = 0.0
    stretch: bool = False

    def size(self, narrow: bool) -> Size:
        """As wide as given, as high as its layers."""
        return self.wide, sum(high + 1 for _, high in self.layers) - 1

    def put(self, sheet: Sheet, rect: Rect, way: Way) -> None:
        """From the bottom."""
        mine = centred(rect, self.size(sheet.narrow))
        sheet.add_part((*way, self.name), mine, self.words)
        foot = mine.foot
        for at, (role, high) in enumerate(self.layers):
            alpha = 0.95 if at in self.lit else 0.55
            sheet.rects(
                Look(role, alpha, radius=1.0), Rect(mine.x, foot - high, mine.w, high)
            )
            foot -= high + 1
        step = mine.w / (self.vias + 1)
        wires = [
            Rect(mine.x + (i + 1) * step, mine.y, 1.2, mine.h - self.layers[0][1])
            for i in range(self.vias)
        ]
        if wires:
            sheet.rects(Look("ink", 0.5), *wires)


@dataclass(frozen=True)
class Nothing(Node):
    """Room left free."""

    room: Size = (0.0, 0.0)
    grow: float = 1.0
    stretch: bool = field(default=False)

    def size(self, narrow: bool) -> Size:
        """As given."""
        return self.room

    def put(self, sheet: Sheet, rect: Rect, way: Way) -> None:
        """Draws nothing."""
