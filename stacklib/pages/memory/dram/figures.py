"""A DRAM channel as figures: commands on a time line, bandwidth against bytes asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from stacklib.memory.dram.channel import Served
from stacklib.plots.marks import Mark, Spec, axis, bar, chart, dots, line, rows
from stacklib.quantity import Quantity

NANO = 1e9
# what a bar shows -> name, series
LOOKS = {
    "ACT": ("row opens", 1),
    "READ": ("column", 0),
    "PRE": ("row closes", 3),
    "data": ("data", 4),
}


def _bar(look: str, start: float, end: float, row: float) -> Mark:
    name, series = LOOKS[look]
    return bar(start, end, row, name, "simulated", at="key", series=series)


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


def _run(served: Served, base: float, until: float) -> Iterator[Mark]:
    """A row for the bank, one for the bus."""
    tick = served.part.clock * NANO
    for look, start, cycles, bank in _cycles(served):
        if start * tick < until:
            end, row = (start + cycles) * tick, base if bank >= 0 else base - 1
            yield _bar(look, start * tick, min(end, until), row)


def commands_spec(
    runs: Sequence[tuple[str, Served]], *, title: str, until: float
) -> Spec:
    """What a bank and the data bus do for ``until`` ns, a pair of rows a run.

    The first run is drawn on top. Every run uses one bank.
    """
    bases = [3 * (len(runs) - i) for i in range(len(runs))]
    drawn = [_run(run, at, until) for (_, run), at in zip(runs, bases, strict=True)]
    ticks = [at - down for at in bases for down in (0, 1)]
    names = [words for name, _ in runs for words in (f"{name}: bank", "data bus")]
    y = axis("Part", ticks=ticks, names=names, limits=[1.3, bases[0] + 0.7])
    return chart(
        title,
        x=axis("Time (ns)", limits=[0, until]),
        y=y,
        marks=chain(*drawn),
    )


def in_flight_spec(
    curves: Sequence[tuple[str, Sequence[float], Sequence[float], Sequence[Quantity]]],
    *,
    title: str,
) -> Spec:
    """Share against kilobytes in flight: name, x, predicted percent, measured share."""
    marks = []
    for i, (name, x, told, seen) in enumerate(curves):
        marks.append(line(x, told, name, "predicted", series=i))
        dotted = f"{name}, measured"
        marks.append(dots(x, rows(seen, "%"), dotted, "measured", at="none", series=i))
    return chart(
        title,
        x=axis("Loads and stores in flight (kB)", log=True),
        y=axis("Share of the bandwidth (%)", limits=[0, 105]),
        marks=marks,
    )
