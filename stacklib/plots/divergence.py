"""Lanes of a warp over the instructions it issues: who takes part."""

from __future__ import annotations

from typing import Any

from stacklib.gpu.simt.report import Report

LANES = 32
# What a row is called.
WORDS = {
    "special": "division", "load_global": "load", "store_global": "store",
    "load_shared": "shared load", "store_shared": "shared store",
    "atomic_global": "atomic", "atomic_shared": "shared atomic",
}  # fmt: skip


def divergence_spec(report: Report, *, title: str, most: int = 24) -> dict[str, Any]:
    """Spec of a grid: a row an instruction of the first warp, a column a lane.

    Parameters
    ----------
    report : Report
        Of the launch.
    title : str
        What the figure shows.
    most : int
        Instructions shown, from the first.
    """
    issued = report.counters.first_warp[:most]
    active: list[tuple[int, int]] = []
    asleep: list[tuple[int, int]] = []
    for row, (_, _, lanes) in enumerate(issued):
        for lane, on in enumerate(lanes):
            (active if on else asleep).append((lane, row))
    marks = [
        {
            "kind": "cells", "evidence": "simulated", "name": name,
            "x": [x for x, _ in at], "y": [y for _, y in at], "series": series, **look,
        }
        for name, at, series, look in (
            ("takes part", active, 0, {}),
            ("waits", asleep, 5, {"shades": [0.16] * len(asleep)}),
        )
        if at
    ]  # fmt: skip
    return {
        "title": title,
        "x": {"label": "Lane of the warp", "ticks": [0, 8, 16, 24, 31],
              "limits": [-0.6, LANES - 0.4]},
        "y": {"label": "Instructions, in the order issued",
              "ticks": list(range(len(issued))),
              "names": [WORDS.get(kind, kind) for _, kind, _ in issued],
              "limits": [len(issued) - 0.4, -0.6]},
        "marks": marks,
    }  # fmt: skip
