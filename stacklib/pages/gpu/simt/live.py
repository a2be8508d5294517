"""Divergence, live: paths of a switch, lanes alike in a row, and what a warp pays."""

from __future__ import annotations

from typing import Any

from stacklib.gpu.issue.divergence import COMMON, WARP, instructions, passes
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import FAINT, Spec, across, axis, cells, chart, down
from stacklib.plots.spec import readout
from stacklib.quantity.times import in_times

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


def explore(*, ways: int, alike: int, work: int) -> Spec:
    """The passes of one warp through a switch, and who takes part in which.

    Lanes take the paths in turn, ``alike`` neighbours the same one; a path is ``work``
    multiply-adds.
    """
    paths = [lane // alike % ways for lane in range(WARP)]
    (taken,) = passes(paths)
    slow = instructions(paths, ways, work) / instructions([0] * WARP, ways, work)
    found: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
    for row in range(taken):
        for lane, path in enumerate(paths):
            found[path == row].append((lane, row))
    deep = down(max(taken, 4))
    return chart(
        _title(taken, slow),
        x=axis("Lane of the warp", ticks=[0, 8, 16, 24, 31], limits=across(WARP)),
        y=axis("Passes, one path each", ticks=(), limits=deep),
        marks=[
            cells(found[True], "works", "simulated", at="none", series=0),
            cells(found[False], "waits", "simulated", shade=FAINT, at="none", series=5),
        ],
        readouts=_readouts(taken, slow),
    )


def _readouts(taken: int, slow: float) -> list[dict[str, Any]]:
    distinct = counted(taken, "distinct paths in the warp")
    active = counted(WARP / taken, "lanes of the warp over its passes")
    common = f"beside {COMMON} instructions that all share"
    over = counted(slow, f"of the switch, {common}")
    return [
        readout("passes", "Passes", distinct),
        readout("active", "Lanes at work in a pass", active),
        readout("slower", "Instructions, over all lanes alike", over),
    ]


def _title(taken: int, slow: float) -> str:
    if taken == 1:
        return "All lanes of the warp agree: one pass, nobody waits."
    more = in_times(slow, "times the instructions|as many instructions|times fewer", 3)
    return f"{taken} passes, one after the other: {more}."
