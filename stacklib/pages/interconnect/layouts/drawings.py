"""Drawing of section 6.15: which chips a chip exchanges with, by layout."""

from typing import Any

from stacklib.interconnect.parallelism.layout import Layout
from stacklib.pages.interconnect import layouts as page
from stacklib.plots import drawing as d
from stacklib.quantity import Quantity, chosen

__all__ = ["grid_of_chips"]

BOX = 8  # chips of a server
WAYS = {"link": "NVLink in a server", "port": "a port each"}
SCENES = {
    page.NAIVE: "every matrix over all chips",
    page.TENSOR: "a copy in each server",
    "best": "the fastest",
}
ROLES = {"tensor": "layer-3", "pipeline": "layer-4", "data": "layer-5"}


def members(layout: Layout) -> dict[str, frozenset[int]]:
    """The chips with which the first chip exchanges, by parallelism."""
    inner = layout.tp * layout.cp
    return {
        "tensor": frozenset(range(layout.tp)),
        "data": frozenset(inner * k for k in range(layout.dp)),
        "pipeline": frozenset(inner * layout.dp * p for p in range(layout.pp)),
    }


def ways_of(chips: frozenset[int]) -> list[str]:
    """``link`` where some share a server, ``port`` where not all do."""
    servers = len({chip // BOX for chip in chips})
    return ["link"] * (servers < len(chips)) + ["port"] * (servers > 1)


def grid_of_chips() -> d.Drawing:
    """Eight servers of eight chips, three layouts."""
    page.ranking()
    steps = [(words, _scene(name)) for name, words in SCENES.items()]
    title = "Neighbours exchange over NVLink, the others through a port each."
    return d.draw(steps, name="layouts-grid", title=title)


def _scene(name: str) -> d.Node:
    groups = {k: v for k, v in members(page.LAYOUTS[name]).items() if len(v) > 1}
    told = d.line("a row: a server; lit: exchange with the first chip", bold=True)
    rates = {way: page.rate(way).to("GB/s") for way in WAYS}
    ways = [_way(WAYS[way], rate) for way, rate in rates.items()]
    drawn: Any = {"full": 2 * rates["link"], "arrow": "both", "straight": True}
    over = list[d.Edge]()
    for way, rate in rates.items():
        users = [kind for kind, chips in groups.items() if way in ways_of(chips)]
        for place, kind in enumerate(users):
            mine = ways_of(groups[kind])
            foot = "foot", (mine.index(way) + 0.5) / len(mine)
            ports = foot, ("top", (place + 0.5) / len(users))
            over.append(d.Edge(kind, WAYS[way], rate=rate, ports=ports, **drawn))
    boxes = [_box(kind, chips, name) for kind, chips in groups.items()]
    parts = d.right_of(*boxes, even=True), d.right_of(*ways, even=True)
    return d.below(d.Words(told), d.joined(d.below(*parts, gap=52), *over), gap=6)


def _way(name: str, rate: Quantity) -> d.Box:
    """A way between chips, and what a chip sends over it in one direction."""
    told = [d.line(name, bold=True), (d.Shown(rate, "GB/s"), " a chip")]
    return d.Box(name, told, role="layer-6")


def _box(kind: str, chips: frozenset[int], name: str) -> d.Box:
    named, role = f"{kind}, {SCENES[name]}", ROLES[kind]
    look: Any = {"side": (10.0, 10.0), "gap": 1.5, "words": f"{kind} group, lit"}
    cells = d.Cells(named, page.CHIPS, BOX, role=role, lit=chips, **look)
    many = chosen(len(chips), label=f"{kind} group, {name}")
    told = [d.line(kind, bold=True), d.line(many, " chips")]
    return d.Box(kind, told, cells, role=role)
