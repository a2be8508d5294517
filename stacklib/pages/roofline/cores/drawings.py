"""Drawings of section 1.5: bytes on the road, and two kinds of core."""

from stacklib.hardware import get
from stacklib.pages.roofline import cores as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts import gpu
from stacklib.quantity import Quantity, bytes_per_element, chosen

__all__ = ["bytes_on_the_road", "two_kinds_of_core"]
ACROSS, DOWN = 30, 6  # of the road, as it is drawn


def bytes_on_the_road() -> d.Drawing:
    """Little's law as a pipe: as long as the latency, as wide as the bandwidth."""
    one, four = (chosen(n, label="loads") * bytes_per_element("fp32") for n in (1, 4))
    steps = [
        ("one load per thread", _road(one)),
        ("four loads per thread", _road(four)),
    ]
    title = "A pipe holds its length times its width; what is not in it never arrives."
    return d.draw(steps, name="cores-pipe", title=title, devices=[page.DEVICE])


def _road(each: Quantity) -> d.Node:
    found = page.flying(each)
    cells = ACROSS * DOWN
    full = round(cells * found.reached.si)
    pipe = d.Cells(
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
    long = d.Measured(pipe, [(d.Shown(found.latency, "ns"), ": its length")])
    asked = found.asked.named("bytes that all threads have asked for")
    reached = found.reached.named("share of the bandwidth")
    return d.below(
        d.Box(
            "memory", [d.line("memory", bold=True), (rate, ", the width of the pipe")]
        ),
        long,
        d.right_of(
            d.Box(
                "threads",
                [(found.resident, " threads"), ("ask for ", d.Shown(asked, "MB"))],
                role="layer-3",
            ),
            d.Box(
                "reached",
                [
                    ("the pipe holds ", d.Shown(found.needed, "MB")),
                    ("reached: ", d.Shown(reached, "%")),
                ],
                role="layer-4",
            ),
        ),
        gap=10,
    )


def two_kinds_of_core() -> d.Drawing:
    """What a core is made of that refuses to wait, beside one that waits with many."""
    device = get(page.DEVICE)
    held = page.warps_each()
    cache = d.Cells("cache", 96, 16, side=8.0, gap=1.5, role="layer-2")
    left = d.Box(
        "latency core",
        d.line("a latency core", bold=True),
        d.below(
            d.Box("guesses", "guesses branches", role="layer-6"),
            d.Box("window", "a window of instructions, out of order", role="layer-6"),
            d.Box(
                "a few lanes", None, d.Cells("its lanes", 4, side=9.0), role="layer-3"
            ),
            d.Box("its cache", "a large cache: it avoids the wait", cache),
            gap=6,
        ),
        role="muted",
    )
    warps = d.Cells("warps held", gpu.count(held), 8, side=(16.0, 9.0), role="layer-4")
    right = d.Box(
        "throughput core",
        d.line("a throughput core", bold=True),
        d.below(
            d.Box("scheduler", "picks a warp that is not waiting", role="layer-6"),
            d.Box("registers", [(held, " warps are kept here")], warps, role="layer-4"),
            d.Box("many lanes", None, gpu.lanes(device, "FP lanes"), role="layer-3"),
            d.Words("next to no cache: it waits, with company"),
            gap=6,
        ),
        role="muted",
    )
    title = "One core spends its area on not waiting, the other on having more to do."
    scene = d.flow(left, right, even=True)
    return d.draw(scene, name="cores-two", title=title, devices=[page.DEVICE])
