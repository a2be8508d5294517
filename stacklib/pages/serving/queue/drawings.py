"""The drawing of section 8.8: arrivals, a line, the slots, and the step they share."""

from __future__ import annotations

from itertools import pairwise

from stacklib.pages.serving import queue as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.marks import then
from stacklib.plots.live.parts import stand
from stacklib.quantity import chosen

__all__ = ["line_before_slots"]


def line_before_slots() -> d.Drawing:
    """Who comes, who waits, who is in a slot, and how long a step takes."""
    held = page.inside()
    slots = d.Cells(
        "slots",
        page.SLOTS,
        (16, 16),
        (6.5, 9.0),
        2.0,
        "layer-6",
        lit=frozenset(range(round(held.si))),
        words="those in use on average lit",
    )
    boxes = [
        d.Box(
            "arrivals",
            [
                d.line("arrivals", bold=True),
                (page.per_second(page.rate()), " a second"),
            ],
            None,
        ),
        d.Box(
            "line",
            [
                d.line("the line", bold=True),
                ("wait ", d.Shown(page.waited(), "ms")),
                "for room in a step",
            ],
            role="layer-5",
            lit=True,
        ),
        d.Box(
            "slots in use",
            [
                d.line("slots", bold=True),
                (held, " of ", chosen(page.SLOTS, label="slots"), " in use"),
            ],
            slots,
            role="layer-6",
        ),
        d.Box(
            "step",
            [
                d.line("a step", bold=True),
                (stand(page, "chunk", page.CHUNK).named("tokens of a step"), " tokens"),
                (d.Shown(page.full_step(), "ms"), " when full"),
            ],
            role="layer-4",
        ),
        d.Box("leave", ["done"], role="muted"),
    ]
    nodes: list[d.Node] = [boxes[0]]
    for before, after in pairwise(boxes):
        nodes += [then(before.name, after.name), after]
    return d.draw(
        d.flow(*nodes, gap=2),
        name="queue-line",
        title="Requests come when they like; a line forms before the slots of a step.",
        devices=[page.DEVICE],
    )
