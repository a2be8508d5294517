"""A chip drawn to the scale of its counts: SMs in clusters."""

from __future__ import annotations

from stacklib.gpu.chip.chips import floor_plan
from stacklib.plots.marks import FAINT, Spec, across, axis, cells, chart, down

GAP = 0.7  # between clusters
At = tuple[float, float]


def chip_spec(device: str, *, title: str) -> Spec:
    """A chip's SMs: a column per GPC, a row per TPC, a cell per SM."""
    found: dict[bool, list[At]] = {True: [], False: []}
    plan = floor_plan(device)
    wide = len(plan[0][0]) + GAP
    for column, gpc in enumerate(plan):
        for row, tpc in enumerate(gpc):
            for i, alive in enumerate(tpc):
                found[bool(alive)].append((column * wide + i, row))
    words = f"{len(plan)} clusters (GPC), two SMs side by side in each"
    return chart(
        title,
        x=axis(words, ticks=(), limits=across(len(plan) * wide - GAP)),
        y=axis("Pairs of SMs (TPC)", ticks=(), limits=down(len(plan[0]))),
        marks=[
            cells(found[True], "on", "predicted", series=0),
            cells(found[False], "switched off", "predicted", shade=FAINT, series=5),
        ],
    )
