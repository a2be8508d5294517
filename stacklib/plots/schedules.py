"""Schedules as figures: warps of a sub-core cycle by cycle, commands of streams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stacklib.gpu.chip.streams import ENGINES, Command, Ran
from stacklib.gpu.issue.warp_scheduler import Program, SubCore, Trace
from stacklib.gpu.tensor.tile_feed import Feed, Step

__all__ = ["feed_spec", "issue_spec", "streams_spec"]

ISSUES = {"global": ("issues a load", 1), "shared": ("issues a shared load", 3),
          "math": ("issues arithmetic", 0)}  # fmt: skip
WAITS = ("waits for memory", "waits for arithmetic", "could issue, is not picked")


def _waits(
    done: Trace, programs: Sequence[Program], core: SubCore, cycles: int
) -> dict[str, list[tuple[int, int]]]:
    """Cycles and warps in which nothing is issued, by what the warp waits for."""
    found: dict[str, list[tuple[int, int]]] = {name: [] for name in WAITS}
    there: dict[tuple[int, int], int] = {}
    free = [0] * done.warps
    for one in done.issued:
        op = programs[one.warp][one.at]
        last = max(op.needs, key=lambda n: there[one.warp, n], default=None)
        ready = free[one.warp] if last is None else there[one.warp, last]
        math = last is not None and programs[one.warp][last].kind == "math"
        for cycle in range(free[one.warp], min(one.cycle, cycles)):
            name = WAITS[2] if cycle >= ready else WAITS[int(math)]
            found[name].append((cycle, one.warp))
        there[one.warp, one.at] = one.cycle + core.latency(op.kind)
        free[one.warp] = one.cycle + 1
    return found


def issue_spec(
    done: Trace, programs: Sequence[Program], core: SubCore, *, title: str, cycles: int
) -> dict[str, Any]:
    """Spec of a sub-core's cycles: a row a warp, a cell a cycle.

    For a memory without a limit on its rate: what was issued says when values come.

    Parameters
    ----------
    done : Trace
        What the sub-core did.
    programs : sequence of sequence of Op
        What it ran.
    core : SubCore
        Its latencies.
    title : str
        Sentence that says what is seen.
    cycles : int
        Cycles shown, from the first.
    """
    marks = []
    for kind, (name, series) in ISSUES.items():
        at = [(i.cycle, i.warp) for i in done.issued
              if i.cycle < cycles and programs[i.warp][i.at].kind == kind]  # fmt: skip
        marks += _cells(name, at, series=series)
    waits = _waits(done, programs, core, cycles)
    for name, series, shade in zip(WAITS, (5, 3, 4), (0.14, 0.3, 0.25), strict=True):
        at = waits[name]
        marks += _cells(name, at, series=series, shades=[shade] * len(at))
    return {
        "title": title,
        "x": {"label": "Cycle", "ticks": list(range(0, cycles, 8)),
              "limits": [-0.6, cycles - 0.4]},
        "y": {"label": "Warp", "ticks": list(range(done.warps)),
              "limits": [done.warps - 0.4, -0.6]},
        "marks": marks,
    }  # fmt: skip


def _cells(name: str, at: list[tuple[int, int]], **more: Any) -> list[dict[str, Any]]:
    mark = {"kind": "cells", "evidence": "simulated", "name": name,
            "x": [x for x, _ in at], "y": [y for _, y in at], **more}  # fmt: skip
    return [mark] if at else []


def streams_spec(
    rows: Sequence[tuple[Sequence[Command], Sequence[Ran]]], *, title: str,
    names: Sequence[str], end: float,
) -> dict[str, Any]:  # fmt: skip
    """Spec of timelines of the same job, one above the other: a bar a command.

    Parameters
    ----------
    rows : sequence of (commands, ran)
        For each way the job is run; times in ms.
    title : str
        Sentence that says what is seen.
    names : sequence of str
        A few words for each way.
    end : float
        Last time drawn, ms.
    """
    marks: list[dict[str, Any]] = []
    top = 4 * len(rows)
    for number, (commands, ran) in enumerate(rows):
        base = top - 4 * number
        for one in ran:
            stage = ENGINES.index(commands[one.command].name)
            marks.append(_bar(one, stage, base - 1 - stage))
        marks.append(
            {"kind": "line", "evidence": "simulated", "name": names[number],
             "x": [0, max(r.end for r in ran)], "y": [base - 0.25] * 2, "series": 5,
             "label_at": "end"}
        )  # fmt: skip
    return {
        "title": title,
        "x": {"label": "Time (ms)", "limits": [0, end]},
        "y": {"label": "In, kernel, out, from the top", "ticks": [],
              "limits": [0.3, top + 0.3]},
        "marks": marks,
    }  # fmt: skip


def feed_spec(
    rows: Sequence[tuple[Feed, Sequence[Step]]], *, title: str, names: Sequence[str],
    end: float,
) -> dict[str, Any]:  # fmt: skip
    """Spec of tensor cores fed in several ways: loads above, products below.

    Parameters
    ----------
    rows : sequence of (Feed, steps)
        Cycles of a step, and what ``run_feed`` made of them.
    title : str
        Sentence that says what is seen.
    names : sequence of str
        A few words for each way.
    end : float
        Last cycle drawn; later bars are left out.
    """
    marks: list[dict[str, Any]] = []
    top = 3 * len(rows)
    for number, (feed, ran) in enumerate(rows):
        base = top - 3 * number
        latency = float(getattr(feed.latency, "si", feed.latency))
        for step in ran:
            for kind, (start, stop) in enumerate(
                ((step.load, step.there - latency), (step.start, step.end))
            ):
                if start < end:
                    marks.append(_piece(start, min(stop, end), kind, base - 1 - kind))
        marks.append(
            {"kind": "line", "evidence": "simulated", "name": names[number],
             "x": [0, end], "y": [base - 0.3] * 2, "series": 5, "label_at": "end"}
        )  # fmt: skip
    return {
        "title": title,
        "x": {"label": "Cycle", "limits": [0, end]},
        "y": {"label": "Loads (above) and products (below)", "ticks": [],
              "limits": [0.3, top + 0.2]},
        "marks": marks,
    }  # fmt: skip


def _piece(start: float, stop: float, kind: int, row: float) -> dict[str, Any]:
    name = ("loads", "products")[kind]
    gap = min(40.0, (stop - start) / 4)  # so that neighbours can be told apart
    return {"kind": "line", "evidence": "simulated", "name": name, "thick": True,
            "x": [start + gap, stop - gap], "y": [row, row], "series": (1, 0)[kind],
            "label_at": "none"}  # fmt: skip


def _bar(one: Ran, stage: int, row: float) -> dict[str, Any]:
    gap = 0.06
    return {"kind": "line", "evidence": "simulated", "name": "command", "thick": True,
            "x": [one.start + gap, one.end - gap], "y": [row, row],
            "series": (1, 0, 2)[stage], "label_at": "none"}  # fmt: skip
