"""Drawing of section 6.15: which chips a chip exchanges with, by layout."""

from stacklib.interconnect.parallelism.layout import Layout
from stacklib.pages.interconnect import layouts as page
from stacklib.plots import drawing as d
from stacklib.quantity import counted

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


def grid_of_chips() -> d.Drawing:
    """Eight servers of eight chips, three layouts."""
    page.ranking()
    steps = [(words, _scene(name)) for name, words in SCENES.items()]
    title = "Neighbours exchange over NVLink, the others through a port each."
    return d.draw(steps, name="layouts-grid", title=title)


def _scene(name: str) -> d.Node:
    layout = page.LAYOUTS[name]
    groups = {k: v for k, v in members(layout).items() if len(v) > 1}
    rates = [page.rate(way).to("GB/s") for way in WAYS]
    link, port = (
        d.Box(way, [way, (d.Shown(rate, "GB/s"), " a chip")], role="muted")
        for way, rate in zip(WAYS.values(), rates, strict=True)
    )
    over = [
        d.Edge(kind, way.name, rate=rate, full=2 * rates[0], arrow="both")
        for kind, chips in groups.items()
        for servers in [len({chip // BOX for chip in chips})]
        for way, rate, used in zip(
            (link, port), rates, (servers < len(chips), servers > 1), strict=True
        )
        if used
    ]
    kinds = d.right_of(*(_box(*group, name) for group in groups.items()), even=True)
    told = d.line("a row: a server; lit: exchange with the first chip", bold=True)
    return d.below(
        d.joined(d.below(link, kinds, port, gap=40), *over), d.Words(told), gap=6
    )


def _box(kind: str, chips: frozenset[int], name: str) -> d.Box:
    cells = d.Cells(
        f"{kind}, {SCENES[name]}",
        page.CHIPS,
        BOX,
        side=(10.0, 10.0),
        gap=1.5,
        role=ROLES[kind],
        lit=chips,
        words=f"{kind} group, lit",
    )
    many = counted(len, sorted(chips), label=f"{kind} group, {name}")
    return d.Box(
        kind, [d.line(kind, bold=True), d.line(many, " chips")], cells, role=ROLES[kind]
    )
