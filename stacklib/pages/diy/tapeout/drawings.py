"""The drawing of section 9.7: one tile, its pins, and an array that is larger."""

from __future__ import annotations

from stacklib.diy.silicon.pins import PINS
from stacklib.pages.diy import tapeout as page
from stacklib.plots import drawing as d
from stacklib.quantity import Quantity, counted, one_of, quoted

__all__ = ["tile_with_pins"]
TILE, PIN = "layer-4", "layer-2"
ACROSS = 10  # hundredths of a tile in a row of the drawing


def tile_with_pins() -> d.Drawing:
    """Pins as wide as what passes in a cycle; the array in hundredths of the tile."""
    share = round(page.share().to("%").value)
    over = frozenset(range(100, share))
    words = "hundredths of a tile that the array takes, those beyond one tile lit"
    area = d.Cells(
        "area", share, ACROSS, side=9.0, gap=1.0, role=TILE, lit=over, words=words
    )
    tile = d.Box(
        "tile",
        [
            d.line("one tile", bold=True),
            d.line(d.Shown(page.made().one, "µm^2", 3), " for cells"),
            d.line(page.lines(), " rows of cells"),
            d.line("the array takes ", d.Shown(page.share(), "%", 3)),
        ],
        area,
        role=TILE,
    )
    each = quoted("tinytapeout.pins", "pins of a side")
    used, shown = counted(len, PINS, label="pins in use"), one_of("", "pin in use")
    left = _pins("ui_in", "in", each, used, f"{', '.join(PINS)}")
    right = _pins("uo_out", "out", each, shown, "show, a bit of a sum")
    both = d.Box(
        "uio",
        [d.line("both ways", bold=True), d.line(each, " pins, none in use")],
        role="muted",
        grow=0,
    )
    edges = [
        d.Edge("ui_in", "tile", rate=used, full=each, arrow="end", role=PIN),
        d.Edge("tile", "uo_out", rate=shown, full=each, arrow="end", role=PIN),
    ]
    scene = d.below(
        d.joined(d.flow(left, tile, right, gap=40), *edges, margin=6), both, gap=12
    )
    title = "A tile has few pins and little room: the lit part of the array has none."
    return d.draw(scene, name="tapeout-tile", title=title)


def _pins(name: str, words: str, each: Quantity, used: Quantity, what: str) -> d.Box:
    told = [d.line(words, bold=True), d.line(each, " pins, ", used, " in use"), (what)]
    return d.Box(name, told, role=PIN, grow=0)
