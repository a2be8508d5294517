"""The drawing of section 9.4: watts from a breaker to the room they end in."""

from __future__ import annotations

from itertools import pairwise

from stacklib.pages.diy import watts as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.words import Label

__all__ = ["breaker_to_room"]
POWER, CHIP, AIR = "layer-6", "layer-4", "layer-2"


def breaker_to_room() -> d.Drawing:
    """The machine of six cards: what each link hands on, and how warm each part is."""
    cards, wall = page.ALL, page.part("wall", "W", page.ALL)
    delivered = page.part("delivered", "W", cards)
    drawn, lost = page.drawn(), (wall - delivered).named("what the supplies lose")
    host = (delivered - drawn).named("host")

    def part(name: str, role: str, *told: Label) -> d.Box:
        lines = [d.line(name, bold=True), *told]
        return d.Box(name, lines, role=role, lit=name == "six boards")

    def warm(name: str, at: str, *told: Label) -> d.Box:
        degrees = d.Shown(page.part(at, "", cards))
        return part(name, AIR, *told, (degrees, " °C"))

    power = [
        part("breaker", POWER, (d.Shown(page.circuit(), "W", 4), " for hours")),
        part(
            "two supplies",
            POWER,
            ("lose ", d.Shown(lost, "W"), " to the room"),
            ("give the host ", d.Shown(host, "W", 2)),
        ),
        part("six boards", CHIP, (d.Shown(page.part("limit", "W", cards)), " each")),
    ]
    heat = [
        warm("dies", "die"),
        warm("sinks", "sink"),
        warm("case", "case", "with the host"),
        warm("room", "room", "door closed"),
    ]
    passed = (wall, drawn, drawn, drawn, drawn, delivered)
    edges = [
        d.Edge(
            one.name,
            other.name,
            label=d.Shown(watts, "W", 4),
            rate=watts,
            full=wall,
            arrow="end",
            role=POWER if other in power else AIR,
        )
        for (one, other), watts in zip(pairwise(power + heat), passed, strict=True)
    ]
    rows = [d.flow(*row, gap=74, even=True) for row in (power, heat[::-1])]
    scene = d.Either(d.below(*rows, gap=46), d.below(*power, *heat, gap=46))
    title = "What the breaker gives becomes heat in the room, and that warms the dies."
    return d.draw(d.joined(scene, *edges), name="breaker-to-room", title=title)
