"""Schedules as figures: warps of a sub-core cycle by cycle, commands of streams."""

from __future__ import annotations

from collections.abc import Sequence

from stacklib.gpu.chip.streams import ENGINES, Command, Ran
from stacklib.gpu.issue.sub_core import Trace
from stacklib.plots.marks import Mark, Spec, across, axis, bar, cells, chart, down

ISSUES = {
    "global": ("issues a load", 1),
    "shared": ("issues a shared load", 3),
    "math": ("issues arithmetic", 0),
}
STAGES = ("copies in", "kernels", "copies out")
# what a warp waits for -> series, shade
WAITS = {
    "waits for memory": (5, 0.14),
    "waits for arithmetic": (3, 0.3),
    "could issue, is not picked": (4, 0.25),
}
MEMORY, MATH, READY = WAITS


def _waits(done: Trace, cycles: int) -> dict[str, list[tuple[int, int]]]:
    """Cycles and warps in which nothing is issued, by what the warp waits for."""
    found: dict[str, list[tuple[int, int]]] = {name: [] for name in WAITS}
    there: dict[tuple[int, int], int] = {}
    free = [0] * done.warps
    for one in done.issued:
        op = done.op(one)
        last = max(op.needs, key=lambda n: there[one.warp, n], default=None)
        ready = free[one.warp] if last is None else there[one.warp, last]
        math = last is not None and done.programs[one.warp][last].kind == "math"
        for cycle in range(free[one.warp], min(one.cycle, cycles)):
            name = READY if cycle >= ready else MATH if math else MEMORY
            found[name].append((cycle, one.warp))
        there[one.warp, one.at] = one.cycle + done.core.latency(op.kind)
        free[one.warp] = one.cycle + 1
    return found


def issue_spec(done: Trace, *, title: str, cycles: int) -> Spec:
    """The first ``cycles`` of a sub-core: a row a warp, a cell a cycle.

    For a memory without a limit on its rate: what was issued says when values come.
    """
    issues: dict[str, list[tuple[int, int]]] = {kind: [] for kind in ISSUES}
    for one in done.issued:
        if one.cycle < cycles:
            issues[done.op(one).kind].append((one.cycle, one.warp))
    waits = _waits(done, cycles)
    ticks, wide = range(0, cycles, 8), across(cycles)
    return chart(
        title,
        x=axis("Cycle", ticks=ticks, limits=wide),
        y=axis("Warp", ticks=range(done.warps), limits=down(done.warps)),
        marks=[
            *(
                cells(issues[kind], name, "simulated", series=series)
                for kind, (name, series) in ISSUES.items()
            ),
            *(
                cells(waits[name], name, "simulated", shade=shade, series=series)
                for name, (series, shade) in WAITS.items()
            ),
        ],
    )


def streams_spec(
    rows: Sequence[tuple[Sequence[Command], Sequence[Ran]]],
    *,
    title: str,
    names: Sequence[str],
    end: float,
) -> Spec:
    """Timelines of the same job, one above the other: a bar a command, in ms.

    Each way the job is run has its commands, what became of them, and a name.
    """
    marks: list[Mark] = []
    top = 4 * len(rows)
    middles = [top - 4 * number - 2 for number in range(len(rows))]
    for number, (commands, ran) in enumerate(rows):
        base = top - 4 * number
        for one in ran:
            stage = ENGINES.index(commands[one.command].name)
            marks.append(_command(one, stage, base - 1 - stage))
    return chart(
        title,
        x=axis("Time (ms)", limits=[0, end]),
        y=axis("The same job", ticks=middles, names=names, limits=[0.3, top - 0.3]),
        marks=marks,
    )


def _command(one: Ran, stage: int, row: float) -> Mark:
    start, end = one.start + 0.06, one.end - 0.06  # neighbours can be told apart
    series = (1, 0, 2)[stage]
    return bar(start, end, row, STAGES[stage], "simulated", at="key", series=series)
