"""A schedule of warps as a figure: who issues when, and who waits meanwhile."""

from __future__ import annotations

from stacklib.gpu.issue.sub_core import Trace
from stacklib.plots.marks import Mark, Spec, axis, bar, chart, line

LOOKS = {"global": ("load", 1), "math": ("arithmetic", 0), "wait": ("waits", 2)}


def _part(kind: str, start: float, end: float, row: float, at: str = "none") -> Mark:
    """A bar where something is issued, a thin line where a warp waits."""
    name, series = LOOKS[kind]
    if kind == "wait":
        return line([start, end], [row, row], name, "simulated", at=at, series=series)
    return bar(start, end, row, name, "simulated", at=at, series=series)


def _legend(cycles: int, row: float) -> list[Mark]:
    """One of each kind above the rows, with its name."""
    third = cycles / 3
    return [
        _part(kind, i * third, i * third + cycles / 30, row, "end")
        for i, kind in enumerate(LOOKS)
    ]


def timeline_spec(
    done: Trace, *, title: str, cycles: int, rows: int | None = None
) -> Spec:
    """A timeline of ``cycles``: a row a warp, the first at the bottom.

    ``rows`` leaves room for more warps than there are.
    """
    top = max(rows or 0, done.warps)
    marks = _legend(cycles, top + 1.2)
    for part in done.timeline():
        start, end = part.start, min(part.end, cycles)
        if start < end and part.kind != "done":
            marks.append(_part(part.kind, start, end, part.warp + 1))
    return chart(
        title,
        x=axis("Cycle", limits=[0, cycles]),
        y=axis("Warp", limits=[0.3, top + 1.9]),
        marks=marks,
    )
