"""One kernel on its way through the compiler: source, PTX and machine code."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

from stacklib.gpu import compiled
from stacklib.gpu.code.compiled import TARGETS, Compiled
from stacklib.gpu.code.sass import CLASSES
from stacklib.plots.marks import (
    Spec,
    across,
    axis,
    cells,
    chart,
    dots,
    down,
    line,
    rows,
)

from . import timed


def line_rows(made: Compiled) -> list[dict[str, str]]:
    """What each source line became: rows of CUDA, PTX and SASS, first come first."""
    found = []
    for number, text in enumerate(made.source.splitlines(), 1):
        ptx = [at.text for at in made.ptx.code if at.source_line == number]
        code = [at.text for at in made.sass.of_line(number)]
        source = [text.strip()] if ptx or code else []
        found += [
            dict(zip(("CUDA", "PTX", "SASS"), row, strict=True))
            for row in zip_longest(source, ptx, code, fillvalue="")
        ]
    return found


def class_spec(kernel: str, *, title: str) -> Spec:
    """A row a class of machine instructions, a column a target, counts in the cells."""
    counts = [compiled(kernel, t).sass.groups() for t in TARGETS]
    names = [name for name in CLASSES if any(c[name] for c in counts)]
    found = {
        (x, y): c[name]
        for y, name in enumerate(names)
        for x, c in enumerate(counts)
        if c[name]
    }
    shade = [0.1 + 0.3 * n / max(found.values()) for n in found.values()]
    look: dict[str, Any] = {"shade": shade, "texts": map(str, found.values())}
    wide, deep = across(len(TARGETS)), down(len(names))
    places = range(len(names))
    return chart(
        title,
        x=axis("Target", ticks=range(len(TARGETS)), names=list(TARGETS), limits=wide),
        y=axis("Class of instruction", ticks=places, names=names, limits=deep),
        marks=[cells(found, "instructions", "measured", at="none", series=0, **look)],
    )


def time_spec(
    told: list[dict[str, Any]], measured: list[dict[str, Any]], title: str
) -> Spec:
    """Compile times by size, from rows of ``benchmarks/jit_time.py``."""
    sizes = [row["instructions"] for row in measured]
    guess = [1e3 * row["predicted_s"] for row in told[: len(sizes)]]
    seen, own = (
        rows([timed(measured, i, key) for i in range(len(measured))], "ms")
        for key in ("median_s", "own_s")
    )
    return chart(
        title,
        x=axis("PTX instructions", log=True),
        y=axis("Time (ms)", log=True),
        marks=[
            line(sizes, guess, "predicted", "predicted"),
            dots(sizes, seen, "the process", "measured"),
            dots(sizes, own, "the kernel alone", "measured"),
        ],
    )
