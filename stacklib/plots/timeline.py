"""A schedule of warps as a figure: who issues when, and who waits meanwhile."""

from __future__ import annotations

from typing import Any

from stacklib.gpu.issue.schedule import Schedule

LOOKS = {"load": ("load", 1), "work": ("arithmetic", 0), "wait": ("waits", 2)}


def _bar(kind: str, start: float, end: float, row: float) -> dict[str, Any]:
    name, series = LOOKS[kind]
    bar = {"kind": "line", "evidence": "simulated", "name": name, "x": [start, end],
           "y": [row, row], "series": series, "label_at": "none"}  # fmt: skip
    return bar if kind == "wait" else bar | {"thick": True}


def _legend(cycles: int, row: float) -> list[dict[str, Any]]:
    """One of each kind above the rows, with its name."""
    third = cycles / 3
    return [
        _bar(kind, i * third, i * third + cycles / 30, row) | {"label_at": "end"}
        for i, kind in enumerate(LOOKS)
    ]


def timeline_spec(
    done: Schedule, *, title: str, cycles: int, rows: int | None = None
) -> dict[str, Any]:
    """Spec of a timeline: a row a warp, the first at the bottom.

    Parameters
    ----------
    done : Schedule
        From ``gpu.schedule``.
    title : str
        Sentence that says what is seen.
    cycles : int
        Cycles shown.
    rows : int, optional
        Rows drawn; default one a warp.
    """
    top = max(rows or 0, done.warps)
    marks = _legend(cycles, top + 1.2)
    for part in done.timeline():
        start, end = part.start, min(part.end, cycles)
        if start < end and part.kind != "done":
            marks.append(_bar(part.kind, start, end, part.warp + 1))
    return {
        "title": title,
        "x": {"label": "Cycle", "limits": [0, cycles]},
        "y": {"label": "Warp", "limits": [0.3, top + 1.9]},
        "marks": marks,
    }
