"""The drawing of section 9.2: boards with their slots, links as wide as they carry."""

from __future__ import annotations

from stacklib.pages.diy import parts as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts import gpu, machine

__all__ = ["board_and_lanes"]
CARDS = range(1, 5)
# The board that the box asks about stands behind a button.
FRAMES = {"server": "a server board", "desktop": "a desktop board"}


def board_and_lanes() -> d.Drawing:
    """Four cards on two boards; lit, the fourth and its way."""
    steps = [(words, _frame(name)) for name, words in FRAMES.items()]
    title = "Four long slots: the plastic is alike, the links behind it are not."
    return d.draw(steps, name="parts-lanes", title=title, devices=["rtx_3090"])


def _frame(name: str) -> d.Node:
    """Processor and chipset over the cards that hang on them."""
    made, seats = page.build(name), page.seats(name)
    full = (2 * page.link(1, "server")).named("widest band")
    told = {"processor": made.cpu.name, "chipset": "drives, network, USB"}
    edges, groups = [], []
    for root, words in told.items():
        cards = [
            card
            for card, seat in zip(CARDS, seats, strict=True)
            if (seat.told("root") == "chipset") == (root == "chipset")
        ]
        if not cards:
            continue
        lit = CARDS[-1] in cards
        role = machine.LINKS if root == "chipset" else "layer-6"
        boxes = [
            d.Box(
                f"card {card}", _card(card, name), role=gpu.CHIP, lit=card == CARDS[-1]
            )
            for card in cards
        ]
        edges += [
            d.Edge(
                root,
                box.name,
                rate=page.link(card, name),
                full=full,
                arrow="both",
                lit=box.lit,
                words=f"link of {box.name}",
            )
            for card, box in zip(cards, boxes, strict=True)
        ]
        head = d.Box(root, [d.line(root, bold=True), d.Name(words)], role=role, lit=lit)
        groups.append(d.turned(head, d.flow(*boxes, even=True), gap=30))
    if len(groups) > 1:
        rate = page.uplink()
        words = [d.Shown(rate, "GB/s")]
        edges.append(
            d.Edge("processor", "chipset", words, rate, full, arrow="both", lit=True)
        )
    return d.joined(d.flow(*groups, gap=70, even=True), *edges)


def _card(card: int, name: str) -> list[object]:
    rate, lanes = d.Shown(page.link(card, name), "GB/s"), page.lanes(card, name)
    return [
        d.line(d.Name(f"card {card}"), bold=True),
        (lanes, " lanes, PCIe ", page.generation(card, name)),
        (rate,),
    ]
