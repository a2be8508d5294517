"""A schedule of warps as a figure: who issues when, and who waits meanwhile."""

from __future__ import annotations

from stacklib.gpu.issue.sub_core import Trace
from stacklib.plots.marks import Mark, Spec, axis, bar, chart, line

LOOKS = {"global": ("load", 1), "math": ("arithmetic", 0), "wait": ("waits", 2)}


def _part(kind: str, start: float, end: float, row: float) -> Mark:
    """A bar where something is issued, a thin line where a warp waits."""
    name, series = LOOKS[kind]
    if kind == "wait":
        ends, level = [start, end], [row, row]
        return line(ends, level, name, "simulated", at="key", series=series)
    return bar(start, end, row, name, "simulated", at="key", series=series)


def timeline_spec(
    done: Trace, *, title: str, cycles: int, rows: int | None = None
) -> Spec:
    """A timeline of ``cycles``: a row a warp, the first at the bottom.

    ``rows`` leaves room for more warps than there are.
    """
    top = max(rows or 0, done.warps)
    marks = []
    for part in done.timeline():
        start, end = part.start, min(part.end, cycles)
        if start < end and part.kind != "done":
            marks.append(_part(part.kind, start, end, part.warp + 1))
    return chart(
        title,
        x=axis("Cycle", limits=[0, cycles]),
        y=axis("Warp", ticks=range(1, top + 1), limits=[0.3, top + 0.7]),
        marks=marks,
    )
