"""A program of a warp, live: written in the page, replayed, its stalls drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stacklib.gpu.issue.replay import Replayed, replay
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import Spec, axis, chart
from stacklib.plots.spec import readout

from .stalls import ROWS, named, reasons_of, timeline_spec
from .warp_text import LEVELS, ProgramFault, streams_of

DEVICE = "h100-sxm"
WARPS = (1, 2, 4, 8, 12, 16, 24, 32)
PROGRAMS = {
    "two loads, two sums": """\
repeat 3
  a = load
  b = load
  c = add a b
  d = add c
  store d
end
""",
    "one chain of multiply-adds": """\
a = fma
repeat 24
  a = fma a
end
""",
    "four chains of multiply-adds": """\
a = fma
b = fma
c = fma
d = fma
repeat 6
  a = fma a
  b = fma b
  c = fma c
  d = fma d
end
""",
    "a tile, read along": """\
repeat 3
  a = load
  store_shared a
  bar
  b = load_shared
  store b
  bar
end
""",
    "a tile, read down one bank": """\
repeat 3
  a = load
  store_shared a
  bar
  b = load_shared 32
  store b
  bar
end
""",
    "a warp loads, the others compute": """\
repeat 3
  if warp == 0
    a = load
    store_shared a
  end
  bar
  if warp >= 1
    b = load_shared
    c = fma b
    d = exp c
  end
  bar
end
""",
}


def controls() -> list[dict[str, Any]]:
    """Slider, menu and program of ``explore``."""
    start = next(iter(PROGRAMS.values()))
    return [
        choices.slider("warps", "Warps of the block", WARPS, 4),
        choices.select("level", "Loads are answered by", LEVELS, "l1"),
        choices.program("program", "What each warp runs", PROGRAMS, start),
    ]


def explore(*, program: str, warps: int, level: str) -> Spec:
    """One multiprocessor of an H100 that runs the program on every warp of a block."""
    try:
        done = replay(streams_of(program, warps, level), DEVICE, resident=1)
    except ProgramFault as fault:
        return _refused(str(fault))
    reasons = reasons_of(done)
    made = {"readouts": _readouts(done), "table": _table(done, reasons, program)}
    return timeline_spec(done, title=_title(done, reasons), warps=ROWS, **made)


def _refused(why: str) -> Spec:
    """A program that cannot run gets the line and the reason, and no number."""
    return chart(
        "This program does not run.",
        x=axis("Cycle", limits=[0, 1], ticks=()),
        y=axis("Warp", limits=[0, 1], ticks=()),
        marks=[],
        message=why[:1].upper() + why[1:] + ("" if why.endswith("`") else "."),
    )


def _title(done: Replayed, reasons: list[tuple[str, int, int]]) -> str:
    """The reason that most cycles went to."""
    total = sum(cycles for _, cycles, _ in reasons)
    reason, most, line = reasons[0]
    if reason == "selected":
        return f"Warps issue in {_percent(most / total)} of their cycles."
    at = f", most of it at line {line}" if line else ""
    share = _percent(most / total)
    return f"Warps spend {share} of their cycles on {named(reason)}{at}."


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _readouts(done: Replayed) -> list[dict[str, Any]]:
    issued = counted(done.issued, "instructions of all warps")
    slots = counted(done.utilisation, "issue slots that were filled")
    return [
        readout("cycles", "Cycles", counted(done.cycles, "cycles")),
        readout("issued", "Instructions, each with an exit", issued),
        readout("slots", "Issue slots filled", slots, "share", unit="%"),
    ]


def _table(
    done: Replayed, reasons: list[tuple[str, int, int]], program: str
) -> Mapping[str, Any]:
    """A row a reason: its cycles, and the line of the program that waits most."""
    total = counted(sum(cycles for _, cycles, _ in reasons), "cycles of all warps")
    text = ["the exit", *(line.strip() for line in program.splitlines())]
    rows = []
    for reason, cycles, line in reasons:
        spent = counted(cycles, f"cycles, {named(reason)}")
        share = (spent / total).text("%", digits=3)
        where = f"{line}: {text[line]}" if line else text[0]
        told = {"text": spent.text(digits=6), "tree": spent.tree()}
        part = {"text": share, "tree": (spent / total).tree()}
        rows.append({"head": named(reason), "cells": [told, part, {"text": where}]})
    head = ["Reason", "Cycles of all warps", "Share", "Most at line"]
    return {"caption": "Where the warps' cycles went", "head": head, "rows": rows}
