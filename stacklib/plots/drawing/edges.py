"""Edges: any two parts joined, straight, bent or as an arc, as wide as a bandwidth.

They are drawn when all parts stand. The label of each goes to the first place along it
where it lies on no line, part or word; where there is none the drawing is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stacklib.quantity import Quantity
from stacklib.quantity.bounds import is_whole

from .. import theme
from ..spec import SpecError
from .geometry import (
    Point,
    Polyline,
    Rect,
    at,
    beside,
    bowed,
    long,
    out_of,
    shortened,
)
from .nodes import Node, Size, room_of, said
from .sheet import Look, Shape, Sheet, Stroke, Way
from .words import lines

WIDEST = 30.0  # points of the widest arrow of a drawing
THINNEST = 1.2  # an arrow is seen however little goes through it
HEAD = 5.0  # of its point, beyond its edges
CABLE = 1.6  # points across where no bandwidth is told
STRAND = 2.6  # between cables that run beside each other
LANE = 14.0  # how far a bent line leaves its part
NEAR = 2.0  # from a line to its label
ARROWS = {"": (False, False), "end": (False, True), "both": (True, True)}
OUT = {"top": (0, -1), "foot": (0, 1), "left": (-1, 0), "right": (1, 0)}
Port = str | tuple[str, float]  # a side, or how far along it


@dataclass(frozen=True)
class Edge:
    """A line from one part to another, or out of the drawing."""

    start: str  # a part: ``GPU``, ``node A/GPU``, a cell of an array ``GPUs[3]``
    end: str = ""  # none: a stub, which ends at its label
    label: Any = None
    rate: Quantity | None = None  # its width, if ``full`` is the widest of the drawing
    full: Quantity | None = None
    arrow: str = ""  # where it points: "end", "both"
    bow: float = 0.0  # an arc: how far it stands out to the left, of its length
    ports: tuple[Port, Port] = ("", "")  # sides where it leaves and arrives: bent
    straight: bool = False  # from middle to middle, or port to port without a corner
    via: tuple[Point, ...] = ()  # corners, as shares of the room of what is joined
    lane: float = 0.0  # points after which a bent line turns
    strands: int = 1  # cables beside each other
    role: str = "layer-2"
    lit: bool = False
    place: float = 0.5  # how far along it the label stands, if there is room
    words: str = ""  # for the alternative text, instead of the label

    def __post_init__(self) -> None:
        sides = [port[0] if isinstance(port, tuple) else port for port in self.ports]
        for what, value, fine in (
            ("arrow", self.arrow, self.arrow in ARROWS),
            ("ports", self.ports, all(side in ("", *OUT) for side in sides)),
            ("ports", self.ports, bool(self.end or sides[0])),
            ("strands", self.strands, is_whole(self.strands) and self.strands > 0),
            ("place", self.place, 0 <= self.place <= 1),
            ("role", self.role, self.role in theme.ROLES),
            ("full", self.full, self.rate is None or self.full is not None),
        ):
            if not fine:
                raise SpecError(f"{self.start} to {self.end}: {what} = {value!r}")

    @property
    def thick(self) -> float:
        """Points across a strand."""
        if self.rate is None or self.full is None:
            return CABLE
        return thickness(self.rate, self.full, f"{self.start} to {self.end}")


@dataclass(frozen=True)
class Joined(Node):
    """A scene and the edges between its parts."""

    node: Node
    edges: tuple[Edge, ...]
    crossings: int = 0  # of its lines, as many as cannot be avoided
    margin: Size = (0.0, 0.0)  # at its sides, and over and under it, for lines
    grow: float = 1.0
    stretch: bool = True

    def size(self, narrow: bool) -> Size:
        """The scene's, and the margin."""
        wide, high = self.node.size(narrow)
        return wide + 2 * self.margin[0], high + 2 * self.margin[1]

    def put(self, sheet: Sheet, rect: Rect, way: Way) -> None:
        """The scene; its edges when all parts stand."""
        across, down = self.margin
        inside = Rect(
            rect.x + across, rect.y + down, rect.w - 2 * across, rect.h - 2 * down
        )
        self.node.put(sheet, inside, way)
        sheet.nets.append((self, way, rect))


def joined(
    node: Node, *edges: Edge, crossings: int = 0, margin: Size | float = 0.0
) -> Joined:
    """Join parts of a scene; ``crossings`` is how many lines may cross."""
    room = margin if isinstance(margin, tuple) else (margin, margin)
    return Joined(node, edges, crossings, room)


def thickness(rate: Quantity, full: Quantity, between: str) -> float:
    """Points across, in proportion to what goes through."""
    share = (rate / full).to("1").si
    if not 0 < share <= 1 + 1e-9:
        raise SpecError(
            f"{between}: {rate.text()}, and the widest carries {full.text()}"
        )
    return max(THINNEST, WIDEST * share)


def band(line: Polyline, thick: float, arrow: str) -> Polyline:
    """The corners of a line so wide, with its points."""
    t = thick / 2
    head = min(t + HEAD, long(line) / 2 - 1e-6)  # some of it is left between two
    first, last = ARROWS[arrow]
    body = shortened(line, head) if last else line
    if first:
        body = shortened(body[::-1], head)[::-1]
    left, right = beside(body, -t), beside(body, t)
    tip = _tip(line, t, head) if last else ()
    tail = _tip(line[::-1], t, head) if first else ()
    return (left[-1], *tip, *right[::-1], *tail, *left[:-1])


def _tip(line: Polyline, t: float, head: float) -> Polyline:
    """The three corners that a line points with."""
    (x, y), (dx, dy) = at(line, long(line) - head)
    wide = t + HEAD / 2
    end = line[-1]
    return (x + dy * wide, y - dx * wide), end, (x - dy * wide, y + dx * wide)


def route(a: Rect, b: Rect, edge: Edge, field: Rect) -> Polyline:
    """The points through which an edge runs from one part to the other."""
    sides = [port if isinstance(port, tuple) else (port, 0.5) for port in edge.ports]
    middles = (a.middle, b.middle) if edge.straight else _facing(a, b)
    p, q = (
        box.side(*side) if side[0] else middle
        for box, side, middle in zip((a, b), sides, middles, strict=True)
    )
    line: Polyline
    if edge.via:
        corners = ((field.x + x * field.w, field.y + y * field.h) for x, y in edge.via)
        line = (p, *corners, q)
    elif edge.bow:
        line = bowed(p, q, edge.bow)
    elif sides[0][0] and sides[1][0] and not edge.straight:
        line = _bent(p, q, OUT[sides[0][0]], OUT[sides[1][0]], edge.lane)
    else:
        line = (p, q)
    return out_of(out_of(line, a)[::-1], b)[::-1]


def _facing(a: Rect, b: Rect) -> tuple[Point, Point]:
    """The middles of two boxes, level or upright where one faces the other wholly."""
    (x, y), (u, v) = a.middle, b.middle
    if (a.x <= b.x and b.right <= a.right) or (b.x <= a.x and a.right <= b.right):
        x = u = u if b.w < a.w else x
    elif (a.y <= b.y and b.foot <= a.foot) or (b.y <= a.y and a.foot <= b.foot):
        y = v = v if b.h < a.h else y
    return (x, y), (u, v)


def _bent(p: Point, q: Point, out: Point, into: Point, lane: float) -> Polyline:
    """With right angles, from one side to another."""
    (x, y), (u, v) = p, q
    upright = out[0] == 0
    if out == into:  # round a corner and back
        far = max(x * out[0] + y * out[1], u * out[0] + v * out[1]) + (lane or LANE)
        far *= out[0] + out[1]
    elif out[0] + into[0] == out[1] + into[1] == 0:
        half = (v - y) / 2 if upright else (u - x) / 2
        far = (y if upright else x) + (lane * (out[0] + out[1]) if lane else half)
    else:
        return p, ((x, v) if upright else (u, y)), q
    return (
        p,
        ((x, far) if upright else (far, y)),
        ((u, far) if upright else (far, v)),
        q,
    )


def draw_edges(sheet: Sheet, wide: float) -> None:
    """All lines first, then each label where it has room."""
    laid: list[tuple[Edge, Stroke, Way]] = []
    for net, (joined_, way, field) in enumerate(sheet.nets):
        shapes: dict[Look, list[Polyline]] = {}
        for edge in joined_.edges:
            stroke = _stroke(sheet, edge, field, net)
            laid.append((edge, stroke, way))
            sheet.strokes.append(stroke)
            words = edge.words or said(lines(edge.label))
            sheet.arrows.append((edge.start, edge.end, words))
            look = Look(edge.role, 0.95 if edge.lit else 0.6)
            step = edge.thick + STRAND
            for i in range(edge.strands):
                one = beside(stroke.line, (i - (edge.strands - 1) / 2) * step)
                shapes.setdefault(look, []).append(band(one, edge.thick, edge.arrow))
        sheet.shapes += [Shape(look, lines=tuple(ls)) for look, ls in shapes.items()]
    for edge, stroke, way in laid:
        if edge.label is not None:
            _write(sheet, edge, stroke, way, wide)


def _stroke(sheet: Sheet, edge: Edge, field: Rect, net: int) -> Stroke:
    way, a = sheet.find(edge.start)
    thick = edge.strands * edge.thick + (edge.strands - 1) * STRAND
    if not edge.end:
        port = edge.ports[0]
        side, share = port if isinstance(port, tuple) else (port, 0.5)
        (x, y), (dx, dy), far = a.side(side, share), OUT[side], edge.lane or LANE
        return Stroke(((x, y), (x + far * dx, y + far * dy)), thick, (way,), net)
    other, b = sheet.find(edge.end)
    line = route(a, b, edge, field)
    if long(line) < CABLE:
        raise SpecError(f"{edge.start} to {edge.end}: no room for a line between them")
    return Stroke(line, thick, (way, other), net)


def _write(sheet: Sheet, edge: Edge, stroke: Stroke, way: Way, wide: float) -> None:
    """A label, at the first place that is free."""
    words = lines(edge.label)
    size = room_of(words, sheet.narrow)
    taken = [text.box for text in sheet.texts]
    taken += [r for w, r in sheet.obstacles() if way[: len(w)] != w]
    room = [r for w, r in sheet.parts.items() if way[: len(w)] == w]
    room.append(Rect(0.0, 0.0, wide, float("inf")))
    for box in _places(edge, stroke, size):
        air = box.shrunk(-NEAR)
        if any(air.meets(one) for one in taken) or not all(r.holds(box) for r in room):
            continue
        if not any(one.enters(box) for one in sheet.strokes):
            return sheet.write(words, box, way)
    raise SpecError(
        f"{edge.start} to {edge.end}: no free place for {said(words)!r}; "
        "a wider gap or a margin makes one"
    )


def _places(edge: Edge, stroke: Stroke, size: Size) -> Iterator[Rect]:
    """Boxes beside a line, the nearest and most central first; a stub's at its end."""
    wide, high = size
    full = long(stroke.line)
    if not edge.end:
        (x, y), (dx, dy) = at(stroke.line, full)
        x += dx * (NEAR + wide / 2)
        y += dy * (NEAR + high / 2)
        yield Rect(x - wide / 2, y - high / 2, wide, high)
        return
    shares = sorted((i / 20 for i in range(2, 19)), key=lambda s: abs(s - edge.place))
    head = HEAD / 2 if edge.arrow else 0.0
    for off in (NEAR, 3 * NEAR):
        for share in shares:
            (x, y), (dx, dy) = at(stroke.line, share * full)
            for side in (1, -1) if dx >= 0 else (-1, 1):  # over or right of it first
                nx, ny = dy * side, -dx * side
                by = stroke.thick / 2 + head + off
                by += abs(nx) * wide / 2 + abs(ny) * high / 2
                mid = (x + nx * by, y + ny * by)
                yield Rect(mid[0] - wide / 2, mid[1] - high / 2, wide, high)
