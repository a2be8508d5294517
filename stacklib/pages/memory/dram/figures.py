"""A DRAM channel as figures: commands on a time line, bandwidth against bytes asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stacklib.memory import Served

NANO = 1e9
# what a bar shows -> name, series
LOOKS = {
    "ACT": ("row opens", 1),
    "READ": ("column", 0),
    "PRE": ("row closes", 3),
    "data": ("data", 4),
}


def _bar(look: str, start: float, end: float, row: float) -> dict[str, Any]:
    name, series = LOOKS[look]
    return {"kind": "line", "evidence": "simulated", "name": name, "thick": True,
            "x": [start, end], "y": [row, row], "series": series,
            "label_at": "none"}  # fmt: skip


def _bars(served: Served) -> list[tuple[str, float, float, int]]:
    """Look, start, end in ns and bank (-1: the bus) of everything that takes time."""
    c, tick = served.clocks, served.part.clock * NANO
    found = []
    opened: dict[int, int] = {}
    for command in served.commands():
        at, bank = command.cycle, command.bank
        if command.kind == "ACT":
            opened[bank] = at
            found.append(("ACT", at * tick, (at + c.rcd) * tick, bank))
        elif command.kind == "READ":
            found.append(("READ", at * tick, (at + c.cl) * tick, bank))
            start = (at + c.cl) * tick
            found.append(("data", start, start + c.bl * tick, -1))
            if served.closes:
                shut = max(at + c.rtp, opened[bank] + c.ras)
                found.append(("PRE", shut * tick, (shut + c.rp) * tick, bank))
        elif command.kind == "PRE":
            found.append(("PRE", at * tick, (at + c.rp) * tick, bank))
    return found


def commands_spec(
    runs: Sequence[tuple[str, Served]], *, title: str, until: float
) -> dict[str, Any]:
    """Spec of what a bank and the data bus do, one pair of rows for each run.

    Parameters
    ----------
    runs : sequence of (str, Served)
        Name and run; the first is drawn on top. Every run uses one bank.
    title : str
        Sentence that says what is seen.
    until : float
        Nanoseconds shown.
    """
    marks: list[dict[str, Any]] = []
    top = 4 * len(runs)
    for i, (name, served) in enumerate(runs):
        base = top - 4 * i
        for look, start, end, bank in _bars(served):
            if start < until:
                row = base - 1.2 if bank >= 0 else base - 2.4
                marks.append(_bar(look, start, min(end, until), row))
        marks.append({"kind": "line", "evidence": "simulated", "name": name,
                      "x": [0.0, 0.01 * until], "y": [base - 0.2, base - 0.2],
                      "series": 5, "label_at": "end"})  # fmt: skip
    for i, look in enumerate(LOOKS):  # the legend, two and two
        start, row = (i % 2) * until / 2, top + 2.6 - 1.2 * (i // 2)
        key = _bar(look, start, start + until / 30, row)
        marks.append({**key, "label_at": "end"})
    return {
        "title": title,
        "x": {"label": "Time (ns)", "limits": [0, until]},
        "y": {"label": "Bank above, data bus below", "ticks": [],
              "limits": [0.8, top + 3.4]},
        "marks": marks,
    }  # fmt: skip


def in_flight_spec(
    curves: Sequence[tuple[str, Sequence[float], Sequence[float], Sequence[float]]],
    *,
    title: str,
) -> dict[str, Any]:
    """Spec of share against bytes in flight: predicted lines, measured dots.

    Parameters
    ----------
    curves : sequence of (str, x, y, y)
        Name, kilobytes in flight, predicted and measured percent of the bandwidth.
    title : str
        Sentence that says what is seen.
    """
    marks: list[dict[str, Any]] = []
    for i, (name, x, told, seen) in enumerate(curves):
        marks.append({"kind": "line", "evidence": "predicted", "name": name,
                      "x": list(x), "y": list(told), "series": i})  # fmt: skip
        marks.append({"kind": "dots", "evidence": "measured",
                      "name": f"{name}, measured", "x": list(x), "y": list(seen),
                      "series": i, "label_at": "none"})  # fmt: skip
    return {
        "title": title,
        "x": {"label": "Loads and stores in flight (kB)", "scale": "log"},
        "y": {"label": "Share of the bandwidth (%)", "limits": [0, 105]},
        "marks": marks,
    }
