"""Section 9.7: Can you make the chip?"""

from __future__ import annotations

import random
from functools import cache
from typing import Any

from stacklib import diy
from stacklib.accelerators.rtl.netlist import read
from stacklib.cost.spans import Span
from stacklib.diy.silicon import cells, pins
from stacklib.diy.silicon.checklist import RULES
from stacklib.diy.silicon.realism import Timeline, own_chip, quoted_span
from stacklib.diy.silicon.tapeout import Tapeout
from stacklib.pages.figures_of import rows
from stacklib.quantity import Quantity, counted, counting, quoted
from stacklib.quantity.files import held

ASKED, WIDE, NARROW, ONE = "2x2-8-20", "2x2-8-32", "2x2-4-16", "1x1-8-20"
SHOWN = (ONE, "1x1-8-32", "2x2-2-8", "2x2-4-12", NARROW, "2x2-6-16", ASKED, WIDE)
DEPTH = 4  # products of each sum that is sent through the pins
TRIED = 12  # products of a reader's run
KEPT = "stacklib/diy/silicon/data/tile_1x1.netlist"


@cache
def stored(name: str) -> dict[str, Any]:
    """What synthesis counted of a design: its cells, and products that were right."""
    return next(row for row in rows("silicon") if row["id"] == f"tile-{name}")


@cache
def made(name: str = ASKED) -> Tapeout:
    """A design of so many MAC units a side, bits, and bits of a sum, on tiles."""
    return diy.tapeout(stored(name)["cells"])


def share(name: str = ASKED) -> Quantity:
    """Of one tile, once placed."""
    found = made(name)
    return (found.placed / found.one).to("%").named(f"placed over one tile, {name}")


@counting("cells of {name}")
def count(name: str = ASKED) -> int:
    """As synthesis counts them."""
    return sum(stored(name)["cells"].values())


def sizes(name: str) -> tuple[int, int, int]:
    """Units of a side, bits of an operand, bits of a sum."""
    side, bits, accumulator = name.split("-")
    return int(side[0]), int(bits), int(accumulator)


def row(name: str) -> dict[str, Any]:
    """A design of the table."""
    return {
        "array": "{0} x {0}".format(*sizes(name)),
        "bits": counted(sizes, name, take="[1]", label="bits of an operand"),
        "sum": counted(sizes, name, take="[2]", label="bits of a sum"),
        "cells": count(name),
        "area": made(name).cells,
        "of one tile": share(name),
        "tiles": made(name).tiles,
    }


def side(which: str) -> Quantity:
    """Of a tile, less its margins: ``width`` or ``height`` that cells may have."""
    across = which == "width"
    margin, unit = ("sites", "site") if across else ("rows", "row")
    off = 2 * quoted(f"tinytapeout.{margin}") * quoted(f"sky130.{unit}")
    return (quoted(f"tinytapeout.{which}") - off).to("µm").named(f"{which} for cells")


@counting("cycles of a product through five pins", unit="cycle")
def through(name: str, depth: int = DEPTH) -> int:
    """In closed form."""
    n, bits, accumulator = sizes(name)
    return pins.cycles(n, depth, n, bits, accumulator)


@counting("products through the kept gates that are right")
def by_gates() -> int:
    """Of those that are drawn, on the tile with one MAC unit."""
    tile = read((held(KEPT) / KEPT).read_text("utf-8"))
    pick, right = random.Random(1), 0
    for _ in range(TRIED):
        a = [[pick.randint(-128, 127) for _ in range(DEPTH)]]
        b = [[pick.randint(-128, 127)] for _ in range(DEPTH)]
        script = pins.script(a, b)
        told = script.sums(pins.by_gates(tile, script.ui_in))
        right += told == [[sum(x * y for x, (y,) in zip(a[0], b, strict=True))]]
    return right


@counting("products that were right, {by}")
def agreed(by: str) -> int:
    """In the stored run, of both sizes."""
    return sum(stored(name)["equal"][by] for name in (ONE, ASKED))


@counting("rules of the checklist")
def rules() -> int:
    """Of a submission."""
    return len(RULES)


@counting("rows of cells in a tile")
def lines() -> int:
    """In its height, less the margins."""
    return round(side("height").si / quoted("sky130.row").si)


def over_published() -> Quantity:
    """A published array of 2 x 2 with its control, over ours."""
    ours = cells.total(stored(WIDE)["cells"])
    return (quoted("tinytpu.area") / ours).named("TinyTPU over ours")


@cache
def chip() -> dict[str, Span]:
    """What a leading chip costs before the first one is sold."""
    return own_chip()


def bill() -> list[dict[str, Any]]:
    """Rows of it, with a tile of one's own first."""
    said = {
        "design": "its design",
        "masks": "a set of masks",
        "wafers": "a first lot of wafers",
        "wafer": "one wafer",
    }
    spans = {"a tile of a shared chip": quoted_span("tinytapeout.price")}
    spans |= {words: chip()[key] for key, words in said.items()}
    return [{"what": w, "least": s.low, "most": s.high} for w, s in spans.items()]


@cache
def path() -> Timeline:
    """All phases of this chapter, in weeks."""
    return diy.timeline()


def phases() -> list[dict[str, Any]]:
    """Rows of the path."""
    return [
        {
            "phase": one.name,
            "least": one.weeks.low,
            "most": one.weeks.high,
            "ends by": one.ends.high,
        }
        for one in path().phases
    ]
