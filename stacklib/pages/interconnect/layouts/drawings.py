"""Drawing of section 6.15: which chips a chip exchanges with, by layout."""

from stacklib.interconnect.parallelism.layout import Layout
from stacklib.pages.interconnect import layouts as page
from stacklib.plots import drawing as d
from stacklib.quantity import chosen

__all__ = ["grid_of_chips"]

BOX = 8  # chips of a server
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


def grid_of_chips() -> d.Drawing:
    """Eight servers of eight chips, three layouts."""
    page.ranking()
    steps = [(words, _scene(name)) for name, words in SCENES.items()]
    title = "Neighbours exchange over NVLink, the others through a port each."
    return d.draw(steps, name="layouts-grid", title=title)


def _scene(name: str) -> d.Node:
    layout = page.LAYOUTS[name]
    groups = {k: v for k, v in members(layout).items() if len(v) > 1}
    told = [d.line("a row: a server; lit: exchange with the first chip", bold=True)]
    link, port = page.rate("link").to("GB/s"), page.rate("port").to("GB/s")
    told.append(
        d.line(
            "a chip sends ", d.Shown(link, "GB/s"), " inside, ", d.Shown(port, "GB/s")
        )
    )
    told.append(d.line("to other servers, one direction"))
    boxes = [_box(kind, chips, name) for kind, chips in groups.items()]
    return d.below(
        d.grid(boxes, (len(boxes), min(2, len(boxes)))), d.Words(told), gap=6
    )


def _box(kind: str, chips: frozenset[int], name: str) -> d.Box:
    cells = d.Cells(
        f"{kind}, {SCENES[name]}",
        page.CHIPS,
        BOX,
        side=(14.0, 14.0),
        gap=1.5,
        role=ROLES[kind],
        lit=chips,
        words=f"{kind} group, lit",
    )
    many = chosen(len(chips), label=f"{kind} group, {name}")
    return d.Box(
        kind, [d.line(kind, bold=True), d.line(many, " chips")], cells, role=ROLES[kind]
    )
