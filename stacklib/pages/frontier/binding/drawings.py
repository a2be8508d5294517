"""The drawing of section 10.1: the stack, each layer as thick as what it is worth."""

from __future__ import annotations

from stacklib import hardware
from stacklib.frontier.binding import RATES
from stacklib.pages.frontier import binding as page
from stacklib.plots import drawing as d
from stacklib.plots.live.parts import stand

__all__ = ["stacks"]
TALL, WIDE, LEGEND = 168.0, 34.0, 2.0  # points
# From the top of the stack down, each in the colour of its layer of the book.
COLOURS = {
    "engine": "layer-6",
    "exchanges": "layer-5",
    "launches": "layer-4",
    "arithmetic": "layer-3",
    "memory bandwidth": "layer-2",
}
assert COLOURS.keys() == RATES.keys()


def stacks() -> d.Drawing:
    """Your token; the same on the next chip; and with many others on it."""
    points = [page.POINTS[0], *page.POINTS[2:]]
    scene = d.grid([_stack(*point) for point in points], (3, 1), gap=10)
    title = "The layer that binds moves with the chip, and with who else is there."
    return d.draw(scene, name="binding-stacks", title=title)


def _stack(on: str, batch: int) -> d.Node:
    found = {name: page.elasticity(name, on, batch) for name in COLOURS}
    most = max(found, key=lambda name: found[name].si)
    chip = d.Name(hardware.get(on).short)
    where = f"{chip}, batch {batch}"
    plates = d.Layers(
        f"plates, {where}",
        tuple((COLOURS[n], TALL * found[n].si) for n in reversed(COLOURS)),
        wide=WIDE,
        lit=frozenset([list(reversed(COLOURS)).index(most)]),
    )
    legend = [
        d.Box(
            f"{name}, {where}",
            [d.line(f"{name} ", d.Shown(found[name], digits=2), bold=name == most)],
            role=COLOURS[name],
            lit=name == most,
            grow=0.0,
        )
        for name in COLOURS
    ]
    many = stand(page, "batch", batch).named("answers at once")
    head = [
        d.line(chip, ", batch ", many, bold=True),
        d.line("a token ", d.Shown(page.token(on, batch), "ms")),
    ]
    both = d.right_of(plates, d.below(*legend, gap=LEGEND), gap=10)
    return d.below(d.Words(head), both, gap=6)
