"""Drawings of section 1.1: where the weights come from, and where they cannot stay."""

from stacklib import hardware
from stacklib.pages.roofline import decode as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing import scenes
from stacklib.plots.live.parts import stand
from stacklib.quantity import Quantity, chosen

__all__ = ["a_share_in_caches", "two_clocks", "where_weights_come_from"]


def where_weights_come_from() -> d.Drawing:
    """The whole chip, its memory lit: every weight comes through one arrow."""
    return scenes.whole_machine(page.DEVICE, lit="HBM", name="decode-machine")


def share() -> Quantity:
    """Weights of one chip, of the two."""
    read = page.streamed()["streamed"][0]
    return (read / chosen(2, label="chips")).named("weights read by one chip")


def a_share_in_caches() -> d.Drawing:
    """One chip's share of the weights, a cell for what its biggest cache holds."""
    device = hardware.get(page.DEVICE)
    held = device.l2_capacity
    many = (share() / held).to("1").named("caches full of weights")
    cells = d.Cells(
        "weights",
        round(many.si),
        (74, 42),
        side=(6.4, 6.4),
        gap=1.4,
        role="layer-2",
        lit=frozenset({0}),
        words="one cell lit: all that the cache holds",
    )
    told = [
        d.line(
            "weights that one chip reads per token: ", d.Shown(share(), "GB"), bold=True
        ),
        ("one cell is ", held, "; there are ", many),
    ]
    cache = d.Box(
        "L2",
        [d.line("L2, the biggest cache", bold=True), held],
        d.Cells("one cell", 1, side=6.4, role="layer-2", lit=frozenset({0})),
        role="layer-2",
        grow=0.2,
    )
    scene = d.below(d.Box("HBM", told, cells, role="layer-2"), cache, gap=10)
    title = "Nothing on the chip can keep the weights: its biggest cache is one cell."
    return d.draw(scene, name="decode-caches", title=title, devices=[device.key])


def two_clocks() -> d.Drawing:
    """The step on a line of time: bytes above, arithmetic below, to scale."""
    step = page.case()
    begin, whole = chosen(0, "s", "begin"), step.t_memory
    memory = d.Clip(
        "memory bus",
        begin,
        step.t_memory.named("time to move the bytes"),
        whole,
        [("memory bus: ", d.Shown(step.t_memory, "ms"), ", busy all the time")],
        role="layer-2",
        grow=0,
    )
    rows = [memory]
    for batch in (1, 2, 8):
        many = stand(page, "batch", batch).named("sequences at once")
        takes = page.case(batch=batch).t_compute.named(f"arithmetic of {batch} at once")
        rows.append(
            d.Clip(
                f"tensor cores, {batch}",
                begin,
                takes.named(f"time of the arithmetic of {batch}"),
                whole,
                [("tensor cores, ", many, " at once: ", d.Shown(takes, "µs"))],
                role="layer-3",
                grow=0,
            )
        )
    scene = d.below(*rows, gap=14)
    title = "On one line of time the arithmetic of a token is a sliver of its reading."
    return d.draw(scene, name="decode-clocks", title=title, devices=[page.DEVICE])
