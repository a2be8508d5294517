"""The drawing of section 10.4: one netlist on its tiles, before and after the swaps."""

from __future__ import annotations

from stacklib.pages.frontier import layout as page
from stacklib.plots import drawing as d

__all__ = ["netlist_on_tiles"]
GATES, TILE, WIRE = "layer-5", "layer-4", "layer-2"
ACROSS, DOWN = 22, 24  # tiles shown of the floor


def netlist_on_tiles() -> d.Drawing:
    """Arrows as wide as the wire is long; tiles of the worst path lit."""
    netlist = d.Box(
        "netlist",
        [
            d.line("the netlist", bold=True),
            d.line(page.cells("SB_LUT4"), " tables"),
            d.line(page.cells("SB_DFF"), " registers"),
            d.line(page.cells("SB_CARRY"), " carries"),
        ],
        role=GATES,
        grow=0,
    )
    full = page.wire(False)
    edges = [
        d.Edge("netlist", "start", rate=full, full=full, arrow="end", role=WIRE),
        d.Edge("start", "end", rate=page.wire(), full=full, arrow="end", role=WIRE),
    ]
    row = netlist, _floor("start", False), _floor("end", True)
    title = "Both take as little room: the swaps change who stands beside whom."
    scene = d.joined(d.flow(*row, gap=44), *edges, margin=6)
    return d.draw(scene, name="layout-tiles", title=title)


def _floor(name: str, annealed: bool) -> d.Box:
    here, worst = page.placed(annealed), page.timed(annealed).worst

    def index(site: tuple[int, ...]) -> int:
        return (DOWN - site[1]) * ACROSS + site[0] - 1

    pairs = zip(here.packed.blocks, here.sites, strict=True)
    used = {index(site) for block, site in pairs if not block.pad}
    path = {index(here.at[step.cell]) for step in worst.steps}
    tiles = d.Cells(
        f"tiles at the {name}",
        ACROSS * DOWN,
        ACROSS,
        side=6.4,
        gap=1.0,
        role=TILE,
        lit=frozenset(path & used),
        dark=frozenset(range(ACROSS * DOWN)) - used,
        words=f"tiles at the {name}, those of the worst path lit",
    )
    words = "after the swaps" if annealed else "as listed"
    told = [
        d.line(words, bold=True),
        d.line(page.wire(annealed), " tiles of wire"),
    ]
    return d.Box(name, told, tiles, role=TILE, grow=0)
