"""The map of chapter 10: the stack that a token passes, and what may change in it."""

from __future__ import annotations

from stacklib.plots import drawing as d
from stacklib.plots.drawing.marks import then

from .sections import DEVICE, DOWN, cells, group, section


def frontier_map() -> d.Drawing:
    """Chapter 10: what binds, what may change, who can make it, and where all went."""
    binds = section("10.1", "which layer binds", "layer-6", cells("layers", 7, {1}))
    following = section("10.2", "the next machine", "layer-5")
    together = section("10.3", "do gains multiply?", "layer-4", cells("joint", 8, {3}))
    machine = group("the machine that comes", "layer-5", d.flow(following, together))
    placed = section("10.4", "a circuit laid out", "layer-1", cells("tiles", 8, {1, 2}))
    made = section("10.5", "how many can be made", "layer-1")
    line = section(
        "10.6", "memory that multiplies", "layer-2", cells("bit line", 6, {0, 2, 3, 5})
    )
    chip = group("the chip that comes", "layer-1", d.flow(placed, line), made)
    bets = section("10.7", "bets that can lose", "layer-7")
    token = section("10.8", "a token in time, joules and dollars", "layer-7")
    scene = d.below(
        binds,
        then("section 10.1", "the machine that comes", down=DOWN),
        machine,
        then("the machine that comes", "the chip that comes", down=DOWN),
        chip,
        then("the chip that comes", "section 10.7", down=DOWN),
        bets,
        then("section 10.7", "section 10.8", down=DOWN),
        token,
        gap=3,
    )
    title = "Chapter ten: what may change between a transistor and a token."
    return d.draw(scene, name="map-frontier", title=title, devices=[DEVICE])
