"""Lanes of a warp over the instructions it issues: who takes part."""

from __future__ import annotations

from collections.abc import Sequence

from stacklib.plots.marks import FAINT, Spec, across, axis, cells, chart, down

LANES = 32
WORDS = {  # what a row is called
    "int": "integer",
    "special": "division",
    "load_global": "load",
    "store_global": "store",
    "load_shared": "shared load",
    "store_shared": "shared store",
    "atomic_global": "atomic",
    "atomic_shared": "shared atomic",
}


def divergence_spec(issued: Sequence[tuple[str, int]], *, title: str) -> Spec:
    """A row an instruction of a warp, its kind and mask; a column a lane."""
    found: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
    for row, (_, mask) in enumerate(issued):
        for lane in range(LANES):
            found[bool(mask >> lane & 1)].append((lane, row))
    names = [WORDS.get(kind, kind) for kind, _ in issued]
    rows, deep = range(len(issued)), down(len(issued))
    words = "Instructions, in the order issued"
    return chart(
        title,
        x=axis("Lane of the warp", ticks=[0, 8, 16, 24, 31], limits=across(LANES)),
        y=axis(words, ticks=rows, names=names, limits=deep),
        marks=[
            cells(found[True], "takes part", "simulated", series=0),
            cells(found[False], "waits", "simulated", shade=FAINT, series=5),
        ],
    )
