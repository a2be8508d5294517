"""Where the cycles of warps went: reasons as Nsight Compute names them, as figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from stacklib.gpu.issue.replay import REASONS, Replayed
from stacklib.gpu.issue.timeline import Stretch, timeline
from stacklib.plots.marks import Mark, Spec, across, axis, cells, chart, down

from ..simt import transposed

ACRONYMS = {"mio": "MIO", "lg": "LG", "gmma": "GMMA"}
# What is drawn alike: a name, the reasons, series and shade.
FAMILIES = {
    "issues": (("selected",), 0, 1.0),
    "waits for memory": (("long_scoreboard", "drain", "membar"), 5, 0.35),
    "queue to memory": (("lg_throttle",), 5, 0.95),
    "waits for shared memory": (("short_scoreboard",), 2, 0.35),
    "queue to shared memory": (("mio_throttle",), 2, 0.95),
    "barrier": (("barrier",), 1, 0.75),
    "arithmetic": (("wait", "branch_resolving", "gmma"), 3, 0.55),
    "port full": (("math_pipe_throttle",), 4, 0.8),
    "not selected": (("not_selected",), 4, 0.25),
}
FAMILY = {reason: name for name, (own, _, _) in FAMILIES.items() for reason in own}
COLUMNS, ROWS = 48, 16  # of a timeline, at most
Place = tuple[float, float]
Found = dict[str, list[Place]]


def named(reason: str) -> str:
    """``mio_throttle`` as a profiler writes it: MIO throttle."""
    return " ".join(ACRONYMS.get(word, word) for word in reason.split("_"))


def share(reason: str, kernel: str, *pad: int, side: int) -> float:
    """What a reason took of the warps' time in a transpose."""
    stalls = transposed(kernel, *pad, side=side).times.replayed.stalls
    return stalls[reason] / sum(stalls.values())


def _cells(found: Mapping[str, Sequence[Place]]) -> list[Mark]:
    return [
        cells(found.get(name, ()), name, "simulated", shade=shade, series=series)
        for name, (_, series, shade) in FAMILIES.items()
    ]


def shared_out(counts: Mapping[str, float], whole: int) -> dict[str, int]:
    """So many cells in proportion; the largest remainders are rounded up."""
    total = sum(counts.values())
    exact = {name: whole * n / total for name, n in counts.items()}
    given = {name: int(share) for name, share in exact.items()}
    by_rest = sorted(exact, key=lambda name: given[name] - exact[name])
    for name in by_rest[: whole - sum(given.values())]:
        given[name] += 1
    return given


def families(stalls: Mapping[str, float]) -> dict[str, float]:
    """Cycles by what is drawn alike, in the order of ``FAMILIES``."""
    found: Counter[str] = Counter()
    for reason, cycles in stalls.items():
        found[FAMILY[reason]] += int(cycles)
    return {name: found[name] for name in FAMILIES if found[name]}


def stalls_spec(runs: Mapping[str, Replayed], *, title: str, each: int) -> Spec:
    """A row a kernel, a cell for ``each`` cycles, by what the warps did in them.

    A row is as long as its kernel took; its cells are divided as the cycles of its
    warps were.
    """
    found: Found = {}
    longest = 0
    for row, done in enumerate(runs.values()):
        wide = max(1, round(done.cycles / each))
        longest, column = max(longest, wide), 0
        for name, count in shared_out(families(done.stalls), wide).items():
            found.setdefault(name, []).extend((column + n, row) for n in range(count))
            column += count
    step = 10 * -(-longest // 60)
    ticks = range(0, longest + 1, step)
    return chart(
        title,
        x=axis(
            "Cycles of one multiprocessor",
            ticks=ticks,
            names=[f"{each * tick:,}" for tick in ticks],
            limits=across(longest),
        ),
        y=axis(
            "Kernel", ticks=range(len(runs)), names=list(runs), limits=down(len(runs))
        ),
        marks=_cells(found),
    )


def timeline_marks(parts: Mapping[int, Sequence[Stretch]], width: int) -> list[Mark]:
    """A row a warp, a cell for ``width`` cycles: issues, or what it waited for most."""
    found: Found = {}
    for row, stretches in parts.items():
        spent: dict[int, Counter[str]] = {}
        for part in stretches:
            for column in range(part.start // width, (part.end - 1) // width + 1):
                begin, end = column * width, (column + 1) * width
                cycles = min(part.end, end) - max(part.start, begin)
                spent.setdefault(column, Counter())[part.reason] += cycles
        for column, reasons in spent.items():
            found.setdefault(_shown(reasons), []).append((column, row))
    return _cells(found)


def _shown(reasons: Counter[str]) -> str:
    """What a cell says: a cycle in which the warp issues is never hidden."""
    return FAMILY["selected" if reasons["selected"] else reasons.most_common(1)[0][0]]


def timeline_spec(
    done: Replayed, *, title: str, warps: int = ROWS, **more: Any
) -> Spec:
    """What the first warps of a replay do when, until the last of them is gone."""
    rows = range(min(warps, done.streams.warps))
    parts = {warp: timeline(done, [warp]) for warp in rows}
    end = max(stretches[-1].end for stretches in parts.values())
    width = -(-end // COLUMNS)
    columns = -(-end // width)
    ticks = range(0, columns, 12 if columns > 24 else 6)
    every = "a cycle" if width == 1 else f"{width:,} cycles"
    return chart(
        title,
        x=axis(
            f"Cycle; a cell is {every}",
            ticks=ticks,
            names=[f"{width * tick:,}" for tick in ticks],
            limits=across(columns),
        ),
        y=axis(
            "Warp", ticks=rows[:: 1 if len(rows) <= 8 else 4], limits=down(len(rows))
        ),
        marks=timeline_marks(parts, width),
        **more,
    )


def reasons_of(done: Replayed) -> list[tuple[str, int, int]]:
    """Reason, cycles of all warps, and the line that they were most spent at."""
    lines = done.by_line
    found = []
    for reason in REASONS:
        at = {line: cycles.get(reason, 0) for line, cycles in lines.items()}
        if total := sum(at.values()):
            found.append((reason, total, max(at, key=lambda line: at[line])))
    return sorted(found, key=lambda one: -one[1])
