"""The map of chapter 9: from the wall to the token, and what cannot be bought."""

from __future__ import annotations

from stacklib.plots import drawing as d
from stacklib.plots.drawing.marks import then

from .sections import DEVICE, DOWN, cells, group, section


def diy_map() -> d.Drawing:
    """Chapter 9: a machine of one's own, what feeds it, and other roads to a token."""
    money = section("9.1", "what your money runs", "layer-7")
    wall = section("9.4", "watts: breaker to die", "layer-1")
    parts = section("9.2", "parts that fit", "layer-5", cells("slots", 4, {0, 1}))
    rig = section(
        "9.3", "the one that stands there", "layer-5", cells("lanes", 16, {3})
    )
    machine = group("a machine of your own", "layer-5", d.flow(parts, rig))
    hand = section("9.5", "one memory in a hand", "layer-2")
    fpga = section("9.6", "gates that you wire", "layer-3", cells("blocks", 8, {1, 2}))
    tile = section("9.7", "gates that you order", "layer-1", cells("tile", 8, {6, 7}))
    others = group("smaller, slower, yours", "muted", d.flow(hand, fpga, tile))
    home = section("9.8", "the token at home, in joules and money", "layer-7")
    scene = d.below(
        money,
        then("section 9.1", "a machine of your own", down=DOWN),
        machine,
        then("a machine of your own", "section 9.4", down=DOWN),
        wall,
        then("section 9.4", "smaller, slower, yours", down=DOWN),
        others,
        then("smaller, slower, yours", "section 9.8", down=DOWN),
        home,
        gap=3,
    )
    title = "Chapter nine: a machine of your own, from the wall to the token."
    return d.draw(scene, name="map-diy", title=title, devices=[DEVICE])
