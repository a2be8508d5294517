"""A DRAM channel as figures: commands on a time line, bandwidth against bytes asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from stacklib.memory.dram.channel import Served
from stacklib.plots.marks import Mark, Spec, axis, bar, chart, dots, line

NANO = 1e9
# what a bar shows -> name, series
LOOKS = {
    "ACT": ("row opens", 1),
    "READ": ("column", 0),
    "PRE": ("row closes", 3),
    "data": ("data", 4),
}


def _bar(look: str, start: float, end: float, row: float, at: str = "none") -> Mark:
    name, series = LOOKS[look]
    return bar(start, end, row, name, "simulated", at=at, series=series)


def _bars(served: Served) -> Iterator[tuple[str, float, float, int]]:
    """Look, start, end in ns and bank (-1: the bus) of everything that takes time."""
    tick = served.part.clock * NANO
    for look, start, cycles, bank in _cycles(served):
        yield look, start * tick, (start + cycles) * tick, bank


def _cycles(served: Served) -> Iterator[tuple[str, int, int, int]]:
    c = served.clocks
    opened: dict[int, int] = {}
    for command in served.commands():
        at, bank = command.cycle, command.bank
        if command.kind == "ACT":
            opened[bank] = at
            yield "ACT", at, c.rcd, bank
        elif command.kind == "READ":
            yield "READ", at, c.cl, bank
            yield "data", at + c.cl, c.bl, -1
            if served.closes:
                yield "PRE", max(at + c.rtp, opened[bank] + c.ras), c.rp, bank
        elif command.kind == "PRE":
            yield "PRE", at, c.rp, bank


def _legend(until: float, top: float) -> Iterator[Mark]:
    """One bar of each kind above the rows, two and two, with its name."""
    for i, look in enumerate(LOOKS):
        start, row = (i % 2) * until / 2, top + 2.6 - 1.2 * (i // 2)
        yield _bar(look, start, start + until / 30, row, "end")


def _run(name: str, served: Served, base: float, until: float) -> Iterator[Mark]:
    """A row for the bank, one for the bus, and the name of the run above them."""
    for look, start, end, bank in _bars(served):
        if start < until:
            row = base - 1.2 if bank >= 0 else base - 2.4
            yield _bar(look, start, min(end, until), row)
    row = base - 0.2
    yield line([0.0, 0.01 * until], [row, row], name, "simulated", series=5)


def commands_spec(
    runs: Sequence[tuple[str, Served]], *, title: str, until: float
) -> Spec:
    """What a bank and the data bus do for ``until`` ns, a pair of rows a run.

    The first run is drawn on top. Every run uses one bank.
    """
    top = 4 * len(runs)
    rows = [_run(n, run, top - 4 * i, until) for i, (n, run) in enumerate(runs)]
    words, high = "Bank above, data bus below", [0.8, top + 3.4]
    return chart(
        title,
        x=axis("Time (ns)", limits=[0, until]),
        y=axis(words, ticks=(), limits=high),
        marks=chain(*rows, _legend(until, top)),
    )


def in_flight_spec(
    curves: Sequence[tuple[str, Sequence[float], Sequence[float], Sequence[float]]],
    *,
    title: str,
) -> Spec:
    """Share against kilobytes in flight: name, x, predicted and measured percent."""
    marks = []
    for i, (name, x, told, seen) in enumerate(curves):
        marks.append(line(x, told, name, "predicted", series=i))
        dotted = f"{name}, measured"
        marks.append(dots(x, seen, dotted, "measured", at="none", series=i))
    return chart(
        title,
        x=axis("Loads and stores in flight (kB)", log=True),
        y=axis("Share of the bandwidth (%)", limits=[0, 105]),
        marks=marks,
    )
