"""Drawings of section 2.6: a field and a slit, a wafer with dirt, a bit's way."""

import math
from dataclasses import dataclass

from stacklib import cost, hardware
from stacklib.cost.wafers import WAFER, lay
from stacklib.pages.gpu import silicon as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.nodes import Size, centred
from stacklib.plots.drawing.parts.gpu import CHIP, STORE, sms
from stacklib.plots.drawing.parts.package import Piece, Plan, die_sides
from stacklib.plots.drawing.sheet import Look, Rect, Sheet, Way
from stacklib.quantity import Quantity

__all__ = ["bit_across", "field_and_slit", "wafer_and_dirt"]
H100 = "h100-sxm"
SLIT = 4.0  # mm of a field that are lit at once, drawn; its true width is not printed
ACROSS = 12  # SMs in a row, drawn
STATES = (("no defect", CHIP), ("sold", "layer-4"), ("thrown away", "muted"))


def field_and_slit() -> d.Drawing:
    """A field as the slit of light is swept over it, beside the die of an H100."""
    title = (
        "A scanner sweeps a slit of light over one field; a die has to fit into it, "
        "and that of an H100 nearly fills it."
    )
    steps = [(words, _swept(at)) for words, at in _STEPS]
    return d.draw(steps, name="field-and-slit", title=title, devices=[H100])


_STEPS = (("begins", 0.08), ("half way", 0.5), ("done, and on", 0.92))


def _swept(at: float) -> d.Node:
    width, height = (cost.fact("field", side).low for side in ("width", "height"))
    wide, high = width.to("mm").value, height.to("mm").value
    top = at * high - SLIT / 2
    pieces = (
        Piece("printed", 0.0, 0.0, wide, top, CHIP),
        Piece("slit of light", 0.0, top, wide, SLIT, "layer-6", ["slit"], True),
        Piece("not yet", 0.0, top + SLIT, wide, high - top - SLIT, "muted"),
    )
    field = d.Measured(
        Plan("field", pieces),
        [d.line("one field", bold=True), (width, " × ", height), cost.reticle()],
    )
    long, short = die_sides(hardware.get(H100))
    die = Piece("die", 0.0, 0.0, short.to("mm").value, long.to("mm").value, CHIP)
    own = d.Measured(
        Plan("H100", (die,)),
        [
            d.line("the die of an H100", bold=True),
            page.h100(),
            (
                d.Shown(
                    (page.h100() / cost.reticle()).named("H100's die over a field"), "%"
                ),
                " of a field",
            ),
        ],
    )
    return d.flow(field, own, gap=30)


@dataclass(frozen=True)
class Disc(d.Node):
    """A wafer and its dies, to scale, each die in the colour of its state."""

    states: tuple[int, ...]
    sides: tuple[float, float]  # metres
    scale: tuple[float, float] = (1100.0, 1050.0)  # points a metre, wide and phone
    grow: float = 0.0
    stretch: bool = False

    def size(self, narrow: bool) -> Size:
        """The disc's diameter, both ways."""
        return (WAFER.diameter * self.scale[narrow],) * 2

    def put(self, sheet: Sheet, rect: Rect, way: Way) -> None:
        """The edge, then the dies of each state."""
        scale, mine = self.scale[sheet.narrow], centred(rect, self.size(sheet.narrow))
        sheet.add_part((*way, "wafer"), mine, "a round wafer of dies")
        x, y = mine.middle
        turn = [2 * math.pi * i / 72 for i in range(73)]
        edge = [
            (x + mine.w / 2 * math.cos(a), y + mine.w / 2 * math.sin(a)) for a in turn
        ]
        sheet.path(Look(edge="muted", width=1.0), *edge)
        wide, high = (side * scale for side in self.sides)
        corners = lay(*self.sides)
        for state, (_, role) in enumerate(STATES):
            boxes = [
                Rect(x + a * scale, y + b * scale, wide, high)
                for (a, b), own in zip(corners, self.states, strict=True)
                if own == state
            ]
            if boxes:
                sheet.rects(Look(role, 0.9 if role == "muted" else 0.45), *boxes)


def wafer_and_dirt() -> d.Drawing:
    """A wafer of a B200's dies, with defects; then with spare SMs."""
    title = (
        "Dirt falls on a wafer wherever it likes; spare SMs bring many of the dies "
        "back that it hit."
    )
    told = (("all SMs needed", 0), ("some SMs spare", page.SPARES))
    steps = [(words, _wafer(spare)) for words, spare in told]
    return d.draw(steps, name="wafer-and-dirt", title=title, devices=["b200-sxm"])


def _wafer(spare: int) -> d.Node:
    side = page.b200_die().si ** 0.5
    width = min(side, page.WIDTH)
    disc = Disc(tuple(page.states(spare)), (width, side * side / width))
    words = ("without a defect", "hit, and sold with dead SMs", "hit, and thrown away")
    told = [
        d.Box(
            name, [d.line(page.so_many(i, spare), " dies", bold=True), text], role=role
        )
        for i, ((name, role), text) in enumerate(zip(STATES, words, strict=True))
        if page.so_many(i, spare).si
    ]
    disc_ = d.Measured(disc, [(page.wafer(), " across, ", page.die().gross, " dies")])
    return d.flow(disc_, d.below(*told), gap=20)


def bit_across() -> d.Drawing:
    """The way of a bit from the memory controller to one SM: near, mean, far."""
    ways = (
        ("a near SM", (4, 4, 0), page.nearest()),
        ("on average", (2, 6, 5), page.way()),
        ("the farthest", (0, 10, 11), page.farthest()),
    )
    steps = [(words, _across(along, length)) for words, along, length in ways]
    title = (
        "A bit pays for every millimetre of wire between its controller and the SM "
        "that asked for it."
    )
    return d.draw(steps, name="bit-across", title=title, devices=[H100])


def _across(along: tuple[int, int, int], length: Quantity) -> d.Node:
    """``along``: row where the bit enters, row and column of its SM."""
    device, (first, last, column) = hardware.get(H100), along
    over = {first * ACROSS + i for i in range(column + 1)}
    down = {i * ACROSS + column for i in range(first, last + 1)}
    cells: d.Cells = sms(device, (ACROSS, ACROSS), 15.0, lit=frozenset(over | down))
    die = d.Box("die", d.line("the die; SMs on the way lit", bold=True), cells)
    told = d.Box(
        "way",
        [
            d.line("way of a bit", bold=True),
            d.Shown(length, "mm"),
            ("energy ", d.Shown(page.bit_over(length), "pJ/bit")),
        ],
        role="layer-5",
        grow=0.3,
    )
    rate = device.memory_bandwidth
    stack = d.Box("HBM", ["HBM stacks"], role=STORE, grow=0.2)
    pipe = d.Pipe("HBM", "die", rate, rate)
    return d.flow(stack, pipe, die, told, gap=4)
