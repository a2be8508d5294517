"""Packages from above and in section, to scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib.cost.making import fact
from stacklib.hardware import Accelerator, stack_generation
from stacklib.memory.ladder.energy import die_area
from stacklib.memory.stack.shoreline import packed
from stacklib.quantity import Quantity

from ..nodes import Node, Size, centred, look_of, said
from ..sheet import Rect, Sheet, Way
from ..words import lines
from .memory import dies_high

SILICON = "layer-1"
STORE = "layer-2"


@dataclass(frozen=True)
class Piece:
    """A thing in a plan: where it is, in millimetres, and what it is called."""

    name: str
    x: float
    y: float
    w: float
    h: float
    role: str = SILICON
    label: Any = None
    lit: bool = False


@dataclass(frozen=True)
class Plan(Node):
    """Things in their own lengths: so many points a millimetre on (wide, phone).

    ``tall`` is by how much heights are drawn larger than widths.
    """

    name: str
    pieces: tuple[Piece, ...]
    scale: tuple[float, float] = (5.0, 3.6)
    tall: tuple[float, float] = (1.0, 1.0)
    grow: float = 0.0
    stretch: bool = False

    def size(self, narrow: bool) -> Size:
        """What its pieces span."""
        scale = self.scale[narrow]
        wide = max(p.x + p.w for p in self.pieces) - min(p.x for p in self.pieces)
        high = max(p.y + p.h for p in self.pieces) - min(p.y for p in self.pieces)
        return wide * scale, high * scale * self.tall[narrow]

    def put(self, sheet: Sheet, rect: Rect, way: Way) -> None:
        """Each piece in the box that its millimetres make."""
        mine = centred(rect, self.size(sheet.narrow))
        sheet.add_part((*way, self.name), mine)
        for piece in self.pieces:
            box = self._box(piece, mine, sheet.narrow)
            words = lines(piece.label)
            sheet.add_part((*way, self.name, piece.name), box, said(words))
            sheet.rects(look_of(piece.role, piece.lit, radius=1.0), box)
            sheet.write(words, box, (*way, self.name, piece.name))

    def _box(self, piece: Piece, mine: Rect, narrow: bool) -> Rect:
        left = min(p.x for p in self.pieces)
        top = min(p.y for p in self.pieces)
        scale = self.scale[narrow]
        high = scale * self.tall[narrow]
        return Rect(
            mine.x + (piece.x - left) * scale,
            mine.y + (piece.y - top) * high,
            piece.w * scale,
            piece.h * high,
        )


def die_sides(device: Accelerator) -> tuple[Quantity, Quantity]:
    """Long and short side of a die: sheets print areas, we take a field's shape."""
    area = die_area(device)
    long, short = fact("field", "height").low, fact("field", "width").low
    side = (area * (long / short)) ** 0.5
    made = side.to("mm").named(f"long side of a die of {device.short}")
    return made, (area / made).to("mm").named(f"short side of a die of {device.short}")


def stack_sides(device: Accelerator) -> tuple[Quantity, Quantity]:
    """Width and depth of a stack."""
    made = stack_generation(device.memory_type)
    return made.width, made.depth


def field() -> Plan:
    """What a scanner exposes at once."""
    long, short = fact("field", "height").low, fact("field", "width").low
    label = [(long, " ×"), short]
    piece = Piece(
        "field", 0.0, 0.0, short.to("mm").value, long.to("mm").value, "layer-6", label
    )
    return Plan("scanner's field", (piece,))


def from_above(device: Accelerator, label: Any = None) -> Plan:
    """The dies and the stacks at their long edges, each in its own size."""
    long, short = (q.to("mm").value for q in die_sides(device))
    dies = round(device.dies.si)
    pieces = [
        Piece(f"die {n}", i * long, 0.0, long, short, "layer-3", label)
        for i, n in enumerate("ABCD"[:dies])
    ]
    pieces += [
        Piece(f"stack {n}", *at, STORE, ["HBM"])
        for n, at in zip(
            "ABCDEFGH", _places(device, (dies * long, short)), strict=False
        )
    ]
    return Plan("from above", tuple(pieces), (5.6 / dies**0.5, 4.7 / dies**0.5))


def _places(device: Accelerator, edge: Size) -> list[tuple[float, float, float, float]]:
    """As many as there are, the narrow side at the edge, half of them at each."""
    width, depth = (q.to("mm").value for q in stack_sides(device))
    total = round(device.memory_stacks.si)
    near = packed(edge, (depth, width), sides=2, gap=0.2)
    sides = [[r for r in near if (r.y > 0) == far] for far in (False, True)]
    first = -(-total // 2)
    chosen_ = sides[0][:first] + sides[1][: total - first]
    return [(r.x, r.y + (1 if r.y > 0 else -1), depth, width) for r in chosen_]


def in_section(device: Accelerator, tall: float = 8.0) -> Plan:
    """The package cut across: widths to scale, heights ``tall`` times as large.

    How thick interposer and substrate are is not printed; they are drawn as bands.
    """
    _, short = (q.to("mm").value for q in die_sides(device))
    _, depth = (q.to("mm").value for q in stack_sides(device))
    high = stack_generation(device.memory_type).module_height.to("mm").value
    dies, gap = round(dies_high(device).si), 1.0
    wide = short + 2 * (depth + gap)
    layer = high / (dies + 1)
    pieces = [Piece("die", depth + gap, 0.0, short, high, "layer-3", ["compute die"])]
    for left in (0.0, wide - depth):
        pieces += [
            Piece(
                "base die" if i == dies else "DRAM die",
                left,
                i * layer,
                depth,
                layer * 0.9,
                SILICON if i == dies else STORE,
            )
            for i in range(dies + 1)
        ]
    pieces += [
        Piece("interposer", -1.0, high, wide + 2, 0.42, SILICON, ["interposer"]),
        Piece("substrate", -3.0, high + 0.42, wide + 6, 0.55, "layer-5", ["substrate"]),
    ]
    return Plan("section", tuple(pieces), (9.0, 5.7), (tall, tall * 9.0 / 5.7))
