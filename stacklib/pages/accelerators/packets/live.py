"""Packets, live: packets of a tile by how many tiles are packed together."""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib.accelerators import pack
from stacklib.accelerators.packets.organisations import unrolled
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted, here
from stacklib.plots.marks import Spec, axis, chart, line, rule
from stacklib.plots.spec import readout

MACHINES = [
    ["hexagon", "Hexagon's four slots"],
    ["tpu", "TPU's bundle, results late"],
    *([str(n), f"{n} slots that take anything"] for n in (1, 2, 4, 8)),
]
TILES = (1, 2, 3, 4, 6, 8)


def controls() -> list[dict[str, Any]]:
    """A machine, and tiles in one stretch of code."""
    return [
        choices.select("machine", "Machine", MACHINES, "hexagon"),
        choices.slider("tiles", "Tiles packed together", TILES, 1),
    ]


@cache
def packed(machine: str, tiles: int) -> tuple[int, int, float]:
    """Packets, the bound, and the share of slots filled."""
    slots = int(machine) if machine.isdigit() else machine
    found = pack(unrolled(tiles), slots)
    return found.cycles, found.bound, found.filled


def explore(*, machine: str, tiles: int) -> Spec:
    """Packets of each tile against the tiles that are packed together."""
    all_of = {n: packed(machine, n) for n in TILES}
    cycles, bound, filled = all_of[tiles]
    each = cycles / tiles
    told = [
        ("packets", "Packets", counted(cycles, "packets")),
        ("bound", "Bound", counted(bound, "bound on packets")),
        ("each", "Packets of a tile", counted(each, "packets of a tile")),
        ("filled", "Slots filled (%)", counted(100 * filled, "slots filled, %")),
    ]
    first = packed(machine, 1)[0]
    return chart(
        "More tiles fill slots that one leaves empty."
        if each < first
        else "One tile leaves slots empty while it waits.",
        x=axis("Tiles packed together"),
        y=axis("Packets of a tile", limits=(0, first + 1)),
        marks=[
            line(TILES, [all_of[n][0] / n for n in TILES], "the packer", "simulated"),
            line(TILES, [all_of[n][1] / n for n in TILES], "the bound", "predicted"),
            rule("one tile", "simulated", y=first),
            here(tiles, each, "your tiles"),
        ],
        readouts=[readout(key, words, q) for key, words, q in told],
    )
