"""Placement, live: a small adder, its tiles and its worst path."""

from __future__ import annotations

from typing import Any

from stacklib.frontier import place, timing
from stacklib.frontier.layout.placing import Floor
from stacklib.pages.frontier import layout as page
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import Spec, across, axis, cells, chart, line
from stacklib.plots.spec import readout

SIDE, DELAYS = 6, {"XOR": 0.4, "AND": 0.3, "OR": 0.3, "DFF": 0.54}  # ns
EFFORTS = (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)


def controls() -> list[dict[str, Any]]:
    """Swaps, seed, and bits of the adder."""
    return [
        choices.slider("effort", "Swaps, over the usual number", EFFORTS, 0.3),
        choices.slider("seed", "Seed of the swaps", tuple(range(10)), 2),
        choices.slider("bits", "Bits of the adder", (2, 4, 6, 8), 6),
    ]


def explore(*, effort: float, seed: int, bits: int) -> Spec:
    """Where the cells stand, and the way of the slowest signal."""
    here = place(page.adder(bits), seed, effort=effort, grid=Floor(SIDE, SIDE, ()))
    paths = timing(here, DELAYS)
    pairs = zip(here.packed.blocks, here.sites, strict=True)
    tiles = sorted({site[:2] for block, site in pairs if not block.pad})
    xs, ys = zip(*(here.at[s.cell][:2] for s in paths.worst.steps), strict=True)
    wires = sum(step.wire for step in paths.worst.steps)
    return chart(
        f"{here.wire_length} tiles of wire, {paths.least:.2f} ns.",
        x=axis("Column", limits=across(SIDE + 2), ticks=range(SIDE + 2)),
        y=axis("Row", limits=across(SIDE + 2), ticks=range(SIDE + 2)),
        marks=[
            cells(tiles, "tiles in use", "simulated", shade=0.4, series=0),
            line(xs, ys, "worst path", "simulated", at="key", series=1),
        ],
        readouts=[
            readout("wire", "Wire, tiles", counted(here.wire_length, "wire")),
            readout("start", "At the start", counted(here.start, "start")),
            readout("period", "Period", counted(paths.least, "period", "ns")),
            readout("wires", "Of it in wires", counted(wires, "in wires", "ns")),
        ],
        square=True,
    )
