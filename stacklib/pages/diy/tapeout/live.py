"""Arrays on a tile, live: the area of each, and how full a tile may be."""

from __future__ import annotations

from typing import Any

from stacklib.pages.diy import tapeout as page
from stacklib.plots.live import choices
from stacklib.plots.marks import Spec, axis, bar, chart, down, rows, rule
from stacklib.plots.spec import readout

FILLS = (50, 55, 60, 65, 70, 75, 80, 85, 90)  # percent of the core


def controls() -> list[dict[str, Any]]:
    """A design, and how full placement may make a tile."""
    names = [[name, _words(name)] for name in page.SHOWN]
    return [
        choices.select("design", "Array", names, page.ASKED),
        choices.slider("fill", "Share of a tile that can be routed (%)", FILLS, 75),
    ]


def _words(name: str) -> str:
    side, bits, accumulator = page.sizes(name)
    return f"{side} x {side}, {bits} bits, sums of {accumulator}"


def explore(*, design: str, fill: int) -> Spec:
    """Every design's area beside one tile, and what the chosen one needs."""
    areas = [page.made(name).placed.to("µm^2").value for name in page.SHOWN]
    found = page.made(design)
    core = rows([found.one], "µm^2", evidence="claimed")
    fits = found.placed <= found.one * (fill / 100)
    return chart(
        f"{_words(design)}: {'fits' if fits else 'does not fit'} one tile.",
        x=axis("Area once placed (µm²)", limits=[0, 25_000]),
        y=axis(
            "Array: units, bits, bits of a sum",
            limits=down(len(areas) + 1),
            ticks=range(len(areas)),
            names=page.SHOWN,
        ),
        marks=[
            *(
                bar(
                    0, each, n, name, "predicted", at="none", series=int(name == design)
                )
                for n, (name, each) in enumerate(zip(page.SHOWN, areas, strict=True))
            ),
            rule("routable", "predicted", x=fill / 100 * core[0]),
            rule("one tile", "claimed", x=core),
        ],
        readouts=[
            readout("cells", "Cells", page.count(design)),
            readout("area", "Their area", found.cells, unit="µm^2"),
            readout("share", "Of one tile, placed", page.share(design), "ratio"),
            readout("cycles", "Cycles of a product of four", page.through(design)),
        ],
    )
