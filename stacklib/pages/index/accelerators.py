"""The map of chapter 5: a chip of another kind, and who decides to rent it."""

from __future__ import annotations

from stacklib.plots import drawing as d
from stacklib.plots.drawing.marks import then

from .sections import DEVICE, DOWN, cells, group, section


def accelerators_map() -> d.Drawing:
    """Chapter 5: what a machine does, opened down to gates, and what leaving costs."""
    rent = section("5.1", "eight machines, three questions", "layer-7")
    array = section(
        "5.2", "an array, cycle by cycle", "layer-3", cells("array", 16, {5}, 4)
    )
    gates = section(
        "5.3", "a multiplier in gates", "layer-1", cells("gates", 8, {2, 3})
    )
    byte = section(
        "5.7", "wide numbers, byte by byte", "layer-3", cells("bytes", 2, {0})
    )
    wires = section("5.8", "weights as wires", "layer-1", cells("wires", 16, {9}))
    sums = group("arithmetic", "layer-3", d.flow(array, gates), d.flow(byte, wires))
    sram = section(
        "5.4", "all weights in SRAM", "layer-2", cells("chips", 24, {6, 7}, 12)
    )
    store = section(
        "5.5", "a store that you fill", "layer-2", cells("store", 8, {0, 1})
    )
    memory = group("memory on the chip", "layer-2", d.flow(sram, store))
    packs = section(
        "5.6", "who decides what runs together", "layer-4", cells("slots", 4, {0, 2})
    )
    chip = group("a chip that is no GPU", "muted", sums, memory, packs)
    leave = section("5.9", "when leaving pays", "layer-7")
    token = section("5.10", "the token on each bet", "layer-7")
    scene = d.below(
        rent,
        then("section 5.1", "a chip that is no GPU", down=DOWN),
        chip,
        then("a chip that is no GPU", "section 5.9", down=DOWN),
        d.flow(leave, token),
        gap=3,
    )
    title = "Chapter five: the same products on other machines, down to gates."
    return d.draw(scene, name="map-accelerators", title=title, devices=[DEVICE])
