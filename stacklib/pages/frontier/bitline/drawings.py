"""The drawing of section 10.6: a bitline as a sum, and the range of its converter."""

from __future__ import annotations

from stacklib.frontier import analog
from stacklib.pages.frontier import bitline as page
from stacklib.plots import drawing as d
from stacklib.plots.live.parts import stand
from stacklib.quantity import Quantity

__all__ = ["bit_line"]
CELLS, ADC, SUM = "layer-1", "layer-2", "layer-4"


def bit_line() -> d.Drawing:
    """What 256 cells are given and what leaves them, and three ranges over one sum."""
    put = page.bits_in()
    bits = stand(page, "adc", page.CONVERTER, "bit").named("bits out")
    rows = page.given(page.ROWS, "cells on a bitline")
    wide = stand(page, "bits", analog.INPUT_BITS, "bit").named("bits of an input")
    parts = [
        d.Box("inputs", ["inputs of", (d.Shown(wide), " each")], role=SUM),
        d.Box(
            "bitline",
            [
                d.line("bitline", bold=True),
                (d.Shown(rows), " currents add up"),
            ],
            d.Cells("cells", page.ROWS, 16, side=4.0, gap=1.5, role=CELLS),
            role=CELLS,
        ),
        d.Box(
            "ADC",
            [
                d.line("ADC", bold=True),
                "a conversion",
                (d.Shown(page.conversion(), "pJ"),),
            ],
            role=ADC,
            lit=True,
        ),
        d.Box("sum", ["digital sum", "over bitlines"], role=SUM),
    ]
    edges = [
        d.Edge("inputs", "bitline", d.Shown(put, "bit", 4), put, put, "end"),
        d.Edge("bitline", "ADC", "current", arrow="end", role=CELLS),
        d.Edge("ADC", "sum", d.Shown(bits), bits, put, "end", role=ADC),
    ]
    inside = page.deviations() * 2
    ranges = [_range(reach, inside) for reach in (page.NARROW, page.WIDE, page.WHOLE)]
    line = d.Either(d.flow(*parts, gap=80), d.below(*parts, gap=46))
    scene = d.joined(d.below(line, *ranges, gap=16), *edges)
    title = "What a bitline adds up must lie in its converter's range."
    return d.draw(scene, name="bitline-sum", title=title)


def _range(reach: int, whole: Quantity) -> d.Bar:
    """How much of what a sum can be lies in a range, and how many sums do not."""
    half = stand(page, "reach", reach).named("deviations read, each way")
    read = (half * 2).named("read")
    beyond = ((whole - read) / 2).named("cut")
    cut = (("too low", beyond, "muted", False), ("too high", beyond, "muted", False))
    middle = ("read", read, ADC, True)
    parts = (cut[0], middle, cut[1]) if beyond.si else (middle,)
    told: list[d.Shown | str] = ["range of ", d.Shown(half), " deviations: cuts "]
    if beyond.si:
        share = page.beyond(reach)
        told += [d.Shown(share, "%", 2), " of sums"]
    else:
        told.append("none")
    return d.Bar(f"range of {reach} deviations", parts, whole, [tuple(told)])
