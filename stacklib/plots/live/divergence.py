"""Divergence, live: paths of a switch, lanes alike in a row, and what a warp pays."""

from __future__ import annotations

from typing import Any

from stacklib.gpu.issue.divergence import COMMON, WARP, instructions, passes
from stacklib.quantity import Quantity

from ..spec import readout
from . import choices

WAYS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
ALIKE = (1, 2, 4, 8, 16, 32)
WORK = (1, 2, 4, 8, 16, 32, 64, 128)


def controls() -> list[dict[str, Any]]:
    """Sliders of ``explore``."""
    return [
        choices.slider("ways", "Paths of the switch", WAYS, 4),
        choices.slider("alike", "Lanes alike in a row", ALIKE, 1),
        choices.slider("work", "Multiply-adds on a path", WORK, 16),
    ]


def explore(*, ways: int, alike: int, work: int) -> dict[str, Any]:
    """Spec of the passes of one warp: who takes part in which.

    Parameters
    ----------
    ways : int
        Paths there are; lanes take them in turn.
    alike : int
        Neighbouring lanes that take the same one.
    work : int
        Multiply-adds of a path.

    Returns
    -------
    dict
        A figure spec.
    """
    paths = [lane // alike % ways for lane in range(WARP)]
    (taken,) = passes(paths)
    slow = instructions(paths, ways, work) / instructions([0] * WARP, ways, work)
    cells: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
    for row in range(taken):
        for lane, path in enumerate(paths):
            cells[path == row].append((lane, row))
    marks = [
        {"kind": "cells", "evidence": "simulated", "name": name, "series": series,
         "x": [x for x, _ in at], "y": [y for _, y in at], "label_at": "none", **look}
        for name, at, series, look in (
            ("works", cells[True], 0, {}),
            ("waits", cells[False], 5, {"shades": [0.16] * len(cells[False])}),
        )
        if at
    ]  # fmt: skip
    common = f"beside {COMMON} instructions that all share"
    return {
        "title": _title(taken, slow),
        "x": {"label": "Lane of the warp", "ticks": [0, 8, 16, 24, 31],
              "limits": [-0.6, WARP - 0.4]},
        "y": {"label": "Passes, one path each", "ticks": [],
              "limits": [max(taken, 4) - 0.4, -0.6]},
        "marks": marks,
        "readouts": [
            readout("passes", "Passes", _count(taken, "distinct paths in the warp")),
            readout("active", "Lanes at work in a pass",
                    _count(WARP / taken, "lanes of the warp over its passes")),
            readout("slower", "Instructions, over all lanes alike",
                    _count(slow, f"of the switch, {common}")),
        ],
        "message": None,
        "about": {},
    }  # fmt: skip


def _count(value: float, label: str) -> Quantity:
    return Quantity(value, label=label, kind="assumption")


def _title(taken: int, slow: float) -> str:
    if taken == 1:
        return "All lanes of the warp agree: one pass, nobody waits."
    return f"{taken} passes, one after the other: {slow:.3g} times the instructions."
