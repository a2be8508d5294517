"""Drawing of section 8.9: the same four machines as one pool and as two."""

from stacklib import hardware
from stacklib.pages.serving import pools as page
from stacklib.plots import drawing as d
from stacklib.quantity import Quantity

__all__ = ["one_pool_and_two"]


def one_pool_and_two() -> d.Drawing:
    """Four machines that do both; three that read, and one that writes."""
    one = d.Box(
        "one pool",
        [
            d.line("one pool: each reads and writes", bold=True),
            ("between two tokens, at the worst ", d.Shown(_worst(page.ONE), "ms", 3)),
        ],
        _machines("machines of one pool", page.MACHINES, "layer-6"),
        role="layer-6",
    )
    rails, memory = page.link(), hardware.get(page.DEVICE).memory_bandwidth.across(1)
    way = d.Pipe(
        "readers",
        "writers",
        rails.named("rails of a machine"),
        memory,
        [
            (d.Shown(rails.named("eight rails"), "GB/s", 3), ","),
            ("a cache in ", d.Shown(page.crossing(), "ms", 3)),
        ],
        down=(True, True),
        least=46.0,
    )
    first = d.Box(
        "readers",
        [d.line("three read", bold=True), ("a prompt in ", page.reading())],
        _machines("machines that read", 3, "layer-4"),
        role="layer-4",
    )
    second = d.Box(
        "writers",
        [
            d.line("one writes", bold=True),
            ("between two tokens, at the worst ", d.Shown(_worst(page.BEST), "ms", 3)),
        ],
        _machines("machines that write", 1, "layer-6"),
        role="layer-6",
        lit=True,
    )
    title = "In one pool prompts stand in the way of answers; in two, caches move."
    two = d.below(first, way, second, gap=0)
    return d.draw(
        d.flow(one, two, gap=16, even=True),
        name="pools-two",
        title=title,
        devices=[page.DEVICE],
    )


def _worst(layout: str) -> Quantity:
    """The 99th percentile of the times between tokens."""
    return page.waited(layout)


def _machines(name: str, count: int, role: str) -> d.Node:
    words = "a cell for each machine of eight chips"
    return d.Cells(name, count, side=18.0, gap=4.0, role=role, words=words)
