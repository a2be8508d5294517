"""Strides as figures: what a warp moves, and how long this machine walks."""

from __future__ import annotations

from stacklib.memory.warp.coalescing import pieces, strided_pieces
from stacklib.memory.warp.lanes import WARP, strided
from stacklib.plots.marks import About, Mark, Spec, axis, chart, dots, line, rows

from . import alone, walks

DRAWN = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
SIZES, WIDTH = (32, 64, 128), 4  # bytes of a piece, of a number


def stride_spec(*, title: str) -> Spec:
    """A warp's traffic against its stride, for pieces of three sizes."""
    marks: list[Mark] = []
    for i, size in enumerate(SIZES):
        over = size / (WIDTH * WARP)  # of what was asked for, a piece
        closed = [strided_pieces(WIDTH * s, size=size) * over for s in DRAWN]
        counted = [pieces(strided(s), WIDTH, size) * over for s in DRAWN]
        words = f"{size}, counted"
        marks += [
            line(DRAWN, closed, f"{size} bytes", "predicted", series=i),
            dots(DRAWN, counted, words, "simulated", at="none", series=i),
        ]
    return chart(
        title,
        x=axis("Stride (fp32 numbers)", log=True),
        y=axis("Bytes moved over asked for", log=True),
        marks=marks,
    )


def walk_spec(*, title: str) -> Spec:
    """The time of a walk against its stride, in ms."""
    runs = walks()
    strides = [float(run.case["stride"]) for run in runs]
    single = [alone(run.case["stride"]).si * 1e3 for run in runs]
    ends = [rows((run.low, run.high), "ms") for run in runs]
    moved = [run.predicted.si * 1e3 for run in runs]
    seen = rows((run.measured for run in runs), "ms")
    core = About(level="memory, one core")
    own = About(this_machine=True, **core)
    return chart(
        title,
        x=axis("Stride (numbers of four bytes)", log=True),
        y=axis("Time of a walk (ms)", log=True, unit="ms", limits=[4, 120]),
        marks=[
            line(strides, moved, "lines moved", "predicted", **core),
            line(strides, single, "lines alone", "predicted", **core),
            dots(strides, seen, "measured", "measured", spread=ends, at="none", **own),
        ],
    )
