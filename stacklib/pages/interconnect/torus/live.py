"""A torus, live: its shape and twist, the load of its links, and its bisection."""

from __future__ import annotations

from collections import Counter
from functools import cache
from math import prod
from typing import Any

from stacklib.interconnect import Topology
from stacklib.interconnect.networks.paths import neighbours, toward
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import Spec, axis, chart, line
from stacklib.plots.spec import readout

SHAPES = {
    "4 x 4 x 4": (4, 4, 4),
    "4 x 4 x 8": (4, 4, 8),
    "4 x 8 x 8": (4, 8, 8),
    "8 x 8 x 8": (8, 8, 8),
    "4 x 4 x 16": (4, 4, 16),
    "8 x 8 x 16": (8, 8, 16),
}
RATES = (45, 50, 100, 200)
SHIFTS = (0, 2, 4, 8)


def controls() -> list[dict[str, Any]]:
    """Shape, how far the wraps of both short axes move, and a link's rate."""
    return [
        choices.select("shape", "Chips", [[n, n] for n in SHAPES], "4 x 4 x 8"),
        choices.slider("shift", "Wraps of x and y move along z by", SHIFTS, 4),
        choices.slider("rate", "A link, one direction (GB/s)", RATES, 50),
    ]


@cache  # the plain one stands beside every turn
def spread(shape: tuple[int, ...], shift: int) -> tuple[Topology, Counter[int]]:
    """The torus, and how many chips are how far from any one."""
    size = shift % shape[2]
    twist = {"x": {"z": size}, "y": {"z": size}} if size else None
    net = Topology.torus(shape, twist, link=1.0)
    # Links go both ways, so that from a chip and to it are as far.
    return net, Counter(toward(0, neighbours(net.nodes, net.capacity)).far)


def explore(*, shape: str, shift: int, rate: float) -> Spec:
    """Chips by distance, plain and with the wraps moved."""
    size = SHAPES[shape]
    plain, flat = spread(size, 0)
    turned, found = spread(size, shift)
    loads = [max(net.loads(1.0).values()) for net in (plain, turned)]
    chips = prod(size)
    # What each chip can send to the others at once, over the busiest link.
    each = (chips - 1) * rate / loads[1]
    gain = loads[0] / loads[1]
    hops = sum(k * v for k, v in found.items()) / (chips - 1)
    xs = list(range(1, max(*flat, *found) + 1))
    told = [
        ("gain", "All-to-all, over plain", counted(gain, "gain of the twist"), ""),
        ("busiest", "Messages on the busiest link", counted(loads[1], "busiest"), ""),
        ("hops", "Links on the way", counted(hops, "hops"), ""),
        (
            "each",
            "All-to-all, each chip",
            counted(each, "rate of a chip", "GB/s"),
            "GB/s",
        ),
    ]
    better = gain > 1.001
    return chart(
        "The moved wraps bring chips nearer."
        if better
        else "These wraps bring no chip nearer on the busiest axis.",
        x=axis("Links from a chip"),
        y=axis("Chips that far away"),
        marks=[
            line(xs, [flat[x] for x in xs], "plain", "simulated", at="key"),
            line(xs, [found[x] for x in xs], "moved", "simulated", at="key", series=2),
        ],
        readouts=[
            readout(key, words, q, "ratio", unit=unit)
            if not unit
            else readout(key, words, q, "part", unit=unit)
            for key, words, q, unit in told
        ],
    )
