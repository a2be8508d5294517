"""Drawings of section 3.10: a gigabyte to scale, a pile that must all work, a bill."""

from stacklib import cost, hardware
from stacklib.cost.memory import dram_die, sram_area
from stacklib.pages.memory import price as page
from stacklib.plots import drawing as d
from stacklib.plots.live.parts import stand
from stacklib.quantity import Quantity, chosen, one_of

__all__ = ["a_bill_in_parts", "a_gigabyte_to_scale", "all_layers_must_work"]
LOT = 50  # stacks of the lot that is drawn


def a_gigabyte_to_scale() -> d.Drawing:
    """Square millimetres of a gigabyte, a cell for each four of them."""
    unit = chosen(4, "mm2", "area of a cell of the drawing")
    h100 = hardware.get("h100-sxm").die_area.across(1).named("die of an H100")
    dram = dram_die(16)
    gigabyte = (chosen(8, "Gbit") / chosen(16, "Gbit")).named("share of a die of DRAM")
    boxes: list[d.Node] = [
        _area("SRAM, only cells", sram_area(page.NODE, one_of("", "cells")).low, unit),
        _area("SRAM as it is built", sram_area(page.NODE).middle, unit),
        _area("DRAM", (dram.area * gigabyte).named("a gigabyte of DRAM"), unit),
        _area("a die of an H100", h100, unit),
    ]
    title = "A gigabyte of SRAM takes as much silicon as a good part of a GPU."
    scene = d.below(
        d.flow(*boxes, even=True),
        d.Words([("one cell is ", d.Shown(unit, "mm2"))]),
        gap=8,
    )
    return d.draw(scene, name="price-areas", title=title, devices=["h100-sxm"])


def _area(words: str, area: Quantity, unit: Quantity) -> d.Box:
    many = max(1, round((area / unit).si))
    told = [d.line(words, bold=True), (d.Shown(area.named(words), "mm2"),)]
    cells = d.Cells(f"{words}, area", many, 15, side=6.0, gap=1.0, role="layer-1")
    return d.Box(words, told, cells, role="layer-1")


def all_layers_must_work() -> d.Drawing:
    """A lot of stacks, those that work lit, as the pile grows."""
    steps = [
        ("one layer", _lot(1)),
        ("eight", _lot(8)),
        ("twelve", _lot(12)),
        ("sixteen", _lot(16)),
    ]
    title = "A stack works when every layer does, so each layer takes its toll again."
    return d.draw(steps, name="price-stacks", title=title)


def _lot(height: int) -> d.Node:
    layer = page.layer()
    works = page.stands(height).named(f"stacks of {height} that work")
    good = round(LOT * works.si)
    high = stand(page, "height", height).named("layers")
    cells = d.Cells(
        "stacks",
        LOT,
        (25, 10),
        side=(16.0, 22.0),
        gap=3.0,
        role="layer-2",
        lit=frozenset(range(good)),
        dark=frozenset(range(good, LOT)),
        words="stacks that work are lit",
    )
    many, each = ("", "") if height == 1 else ("s", " of each")
    told = high, f" layer{many}, ", layer, f"{each} survive"
    pile = d.Box("pile", [told], role="layer-1")
    lot = d.Box("lot", d.line(chosen(LOT, label="stacks"), " stacks", bold=True), cells)
    sold = d.Box("sold", [("work: ", d.Shown(works, "%", 2))], role="layer-7")
    return d.below(pile, lot, sold, gap=7)


def a_bill_in_parts() -> d.Drawing:
    """What a B200 costs to make, part by part, on one line of dollars."""
    bill = cost.bill("b200-sxm")
    at, rows = chosen(0, "USD", "begin"), []
    for name, part in bill.parts.items():
        end = (at + part).named(f"after {name}")
        told = [(name.replace("_", " ") + ": ", d.Shown(part.named(name), "USD", 2))]
        role = "layer-2" if name == "memory" else "layer-1"
        rows.append(d.Clip(name, at, end, bill.total, told, role=role, grow=0))
        at = end
    whole = bill.total.named("a B200 in all")
    head = d.Words([d.line("a B200: ", d.Shown(whole, "USD", 2), bold=True)])
    title = "Of what a B200 costs to make, memory is the largest part."
    scene = d.below(head, *rows, gap=8)
    return d.draw(scene, name="price-bill", title=title, devices=["b200-sxm"])
