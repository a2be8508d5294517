"""Drawings of section 1.5: bytes on the road, and two kinds of core."""

from __future__ import annotations

from stacklib.hardware import get
from stacklib.pages.roofline import cores as page
from stacklib.plots.drawing import (
    Box,
    Cells,
    Drawing,
    Measured,
    Node,
    Shown,
    Words,
    below,
    draw,
    flow,
    line,
    right_of,
)
from stacklib.plots.drawing.parts import gpu
from stacklib.quantity import Quantity, bytes_per_element, chosen

__all__ = ["bytes_on_the_road", "two_kinds_of_core"]
ACROSS, DOWN = 30, 6  # of the road, as it is drawn


def bytes_on_the_road() -> Drawing:
    """Little's law as a pipe: as long as the latency, as wide as the bandwidth."""
    one, four = (chosen(n, label="loads") * bytes_per_element("fp32") for n in (1, 4))
    steps = [
        ("one load per thread", _road(one)),
        ("four loads per thread", _road(four)),
    ]
    title = "A pipe holds its length times its width; what is not in it never arrives."
    return draw(steps, name="cores-pipe", title=title, devices=[page.DEVICE])


def _road(each: Quantity) -> Node:
    found = page.flying(each)
    cells = ACROSS * DOWN
    full = round(cells * found.reached.si)
    pipe = Cells(
        "the road",
        cells,
        ACROSS,
        side=(8.0, 11.0),
        gap=1.4,
        role="layer-2",
        lit=frozenset(range(full)),
        dark=frozenset(range(full, cells)),
        words="cells with bytes on their way are lit",
    )
    rate = get(page.DEVICE).memory_bandwidth
    long = Measured(pipe, [(Shown(found.latency, "ns"), ": its length")])
    asked = found.asked.named("bytes that all threads have asked for")
    reached = found.reached.named("share of the bandwidth")
    return below(
        Box("memory", [line("memory", bold=True), (rate, ", the width of the pipe")]),
        long,
        right_of(
            Box(
                "threads",
                [(found.resident, " threads"), ("ask for ", Shown(asked, "MB"))],
                role="layer-3",
            ),
            Box(
                "reached",
                [
                    ("the pipe holds ", Shown(found.needed, "MB")),
                    ("reached: ", Shown(reached, "%")),
                ],
                role="layer-4",
            ),
        ),
        gap=10,
    )


def two_kinds_of_core() -> Drawing:
    """What a core is made of that refuses to wait, beside one that waits with many."""
    device = get(page.DEVICE)
    held = page.warps_each()
    cache = Cells("cache", 96, 16, side=8.0, gap=1.5, role="layer-2")
    left = Box(
        "latency core",
        line("a latency core", bold=True),
        below(
            Box("guesses", "guesses branches", role="layer-6"),
            Box("window", "a window of instructions, out of order", role="layer-6"),
            Box("a few lanes", None, Cells("its lanes", 4, side=9.0), role="layer-3"),
            Box("its cache", "a large cache: it avoids the wait", cache),
            gap=6,
        ),
        role="muted",
    )
    warps = Cells("warps held", gpu.count(held), 8, side=(16.0, 9.0), role="layer-4")
    right = Box(
        "throughput core",
        line("a throughput core", bold=True),
        below(
            Box("scheduler", "picks a warp that is not waiting", role="layer-6"),
            Box("registers", [(held, " warps are kept here")], warps, role="layer-4"),
            Box("many lanes", None, gpu.lanes(device, "FP lanes"), role="layer-3"),
            Words("next to no cache: it waits, with company"),
            gap=6,
        ),
        role="muted",
    )
    title = "One core spends its area on not waiting, the other on having more to do."
    scene = flow(left, right, even=True)
    return draw(scene, name="cores-two", title=title, devices=[page.DEVICE])
