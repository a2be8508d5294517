"""A program for four engines that the reader writes: its tiles over time."""

from __future__ import annotations

from typing import Any

from stacklib.accelerators.scratchpad.engines import (
    ENGINES,
    Instruction,
    Overlap,
    engines,
)
from stacklib.pages.accelerators import engines as page
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import Mark, Spec, axis, bar, chart
from stacklib.plots.spec import readout

MICRO = 1e6
SHOWN = 40  # pieces that are drawn
STARTS = {
    "attention": "scores tensor 512 4 fp32\nmaximum vector 512 4\n"
    "exponentials scalar 512 4\ntranspose tensor 512 4\ncopy scalar 512 4\n"
    "values tensor 512 4\ndivide vector 128\nstore dma 128 1 fp32",
    "two layers": "load dma 512 4\nup tensor 512 4\nact scalar 512 4\n"
    "down tensor 512 4\nstore dma 512 1",
    "all on one engine": "max vector 512 4\nexp vector 512 4\nsum vector 512 4",
    "too wide a sum": "scores tensor 2048",
}


def controls() -> list[dict[str, Any]]:
    """The program, its tiles, and places for what a row makes."""
    return [
        choices.program(
            "program",
            "Rows: name, engine, columns, pieces",
            STARTS,
            STARTS["attention"],
        ),
        choices.slider("tiles", "Tiles", (1, 2, 4, 8, 16), 4),
        choices.slider("buffers", "Places for what a row makes", range(1, 5), 2),
    ]


def read(text: str) -> list[Instruction]:
    """Rows of ``name engine columns [pieces [format]]``; the first needs nothing."""
    rows: list[Instruction] = []
    for at, words in enumerate(text.splitlines(), 1):
        parts = words.partition("#")[0].split()
        if not parts:
            continue
        if not 3 <= len(parts) <= 5 or not all(p.isdecimal() for p in parts[2:4]):
            raise ValueError(
                f"line {at}: {words.strip()!r}; write name, engine, columns, and how "
                "many such pieces, as in: max vector 512 4"
            )
        name, engine, columns, *more = parts
        rows.append(
            Instruction(
                name,
                engine,
                int(columns),
                pieces=int(more[0]) if more else 1,
                dtype=more[1] if len(more) > 1 else "bf16",
                needs=None if rows else (),
            )
        )
    return rows


def explore(*, program: str, tiles: int, buffers: int) -> Spec:
    """The program's tiles on one core of a Trainium 2."""
    try:
        run = engines(read(program), page.CHIP, tiles=tiles, buffers=buffers)
    except (ValueError, LookupError) as fault:
        return chart(
            "No core takes this program.",
            x=axis("Time (µs)", limits=[0, 1], ticks=()),
            y=axis("Engine", limits=[0, 1], ticks=()),
            marks=[],
            message=str(fault).splitlines()[0] + ".",
        )
    return _drawn(run)


def _drawn(run: Overlap) -> Spec:
    used = [engine for engine in ENGINES if engine in run.work]
    end = run.time * MICRO
    hidden = run.sum - run.time
    title = (
        f"The {run.busiest} engine is the longest; the others work beside it."
        if hidden > 0.01 * run.sum
        else "Nothing overlaps: one engine does everything, or each waits for the last."
    )
    return chart(
        title,
        x=axis("Time (µs)", limits=[0, end]),
        y=axis(
            "Engine",
            ticks=list(range(len(used))),
            names=used,
            limits=[-0.6, len(used) - 0.4],
        ),
        marks=_pieces(run, used, end),
        readouts=[
            readout("sum", "One row after another", _time(run.sum, "sum")),
            readout("most", "The busiest engine", _time(run.most, "most")),
            readout("time", "Side by side", _time(run.time, "time")),
            readout("gain", "Times sooner", counted(run.gain, "gain"), digits=3),
        ],
        about={"device": page.CHIP},
    )


def _time(seconds: float, label: str) -> Any:
    return counted(seconds, label, "s").to("us")


def _pieces(run: Overlap, used: list[str], end: float) -> list[Mark]:
    made = []
    for event in run.timeline.events[:SHOWN]:
        start, stop = event.start * MICRO, event.end * MICRO
        gap = min(end / 400, (stop - start) / 4)
        row = float(used.index(event.unit))
        first = event.tile % 2 == 0
        name = "even tiles" if first else "odd tiles"
        where = (start + gap, stop - gap, row)
        on, which = page.CHIP, int(not first)
        made.append(bar(*where, name, "simulated", at="key", series=which, device=on))
    return made
