"""Lanes of a warp over the instructions it issues: who takes part."""

from __future__ import annotations

from stacklib.gpu.simt.report import Report
from stacklib.plots.marks import FAINT, Spec, across, axis, cells, chart, down

LANES = 32
WORDS = {  # what a row is called
    "special": "division",
    "load_global": "load",
    "store_global": "store",
    "load_shared": "shared load",
    "store_shared": "shared store",
    "atomic_global": "atomic",
    "atomic_shared": "shared atomic",
}


def divergence_spec(report: Report, *, title: str, most: int = 24) -> Spec:
    """A row an instruction of the first warp, up to ``most``; a column a lane."""
    issued = report.counters.first_warp[:most]
    found: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
    for row, (_, _, lanes) in enumerate(issued):
        for lane, on in enumerate(lanes):
            found[bool(on)].append((lane, row))
    names = [WORDS.get(kind, kind) for _, kind, _ in issued]
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
