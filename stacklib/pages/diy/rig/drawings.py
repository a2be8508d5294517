"""The drawing of section 9.3: lanes of four cards, and the root that they share."""

from __future__ import annotations

from stacklib import hardware
from stacklib.pages.diy import rig as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts import gpu, machine
from stacklib.plots.live.parts import stand

__all__ = ["lanes_of_a_machine"]


def lanes_of_a_machine() -> d.Drawing:
    """Processor, host memory, four slots; the one with few lanes is lit."""
    wide = page.lane_rate()
    lanes = [16] * (page.MANY - 1) + [page.FEW]
    cards = [
        d.Box(
            f"card {at}",
            [
                d.line(d.Name(f"card {at}"), bold=True),
                (stand(page, "lanes", few).named(f"lanes of card {at}"), " lanes"),
                (d.Shown(page.lane_rate(few), "GB/s"),),
            ],
            role=gpu.CHIP,
            lit=few < 16,
        )
        for at, few in enumerate(lanes)
    ]
    rates = dict(zip((card.name for card in cards), lanes, strict=True))

    def slot(root: str, card: str) -> d.Edge:
        few = rates[card]
        return d.Edge(
            root,
            card,
            rate=page.lane_rate(few),
            full=wide,
            arrow="both",
            lit=few < 16,
            role=machine.LINKS,
            words=f"{few} lanes",
        )

    told = [
        d.line("root complex", bold=True),
        ("two cards (PHB): ", d.Shown(page.way(), "GB/s")),
        "through host memory",
    ]
    root = d.Box("root complex", told, role=machine.NODE)
    edges = [slot(root.name, card.name) for card in cards]
    wide_ = d.below(root, d.right_of(*cards, even=True), gap=76)
    phone = d.right_of(root, d.below(*cards, gap=8), gap=60)
    scene = d.Either(d.joined(wide_, *edges), d.joined(phone, *edges))
    name = hardware.get(page.CARD).short
    title = f"Four {name} in four long slots: one of them has four lanes."
    return d.draw(scene, name="rig-lanes", title=title, devices=[page.CARD])
