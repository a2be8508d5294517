"""The chart of section 4.5: memory of attention against the length, measured."""

from __future__ import annotations

from stacklib.evidence import results
from stacklib.pages.kernels import attention as page
from stacklib.plots.marks import About, Mark, Spec, axis, chart, dots, line, rows, sizes

HEADS, WIDTH = 8, 8  # of the run of the formula, and bytes of a float64
NAMES = {
    "numpy": "tiles in NumPy",
    "sdpa": "torch's own, in C++",
    "naive": "the formula, in float64",
}
ABOUT = About(device="this_machine")


def memory_spec(title: str) -> Spec:
    """What a call takes beyond its inputs and its result."""
    runs = results.need(results.by_kind(page.FORWARD)[-1])["memory"]
    lengths = sorted({r["tokens"] for r in runs})
    scores = [HEADS * WIDTH * n * n for n in lengths]
    marks: list[Mark] = [line(lengths, scores, "the scores alone", "predicted")]
    for series, (which, name) in enumerate(NAMES.items(), 1):
        x = sorted(r["tokens"] for r in runs if r["which"] == which)
        y = rows((page.growth(which, n) for n in x), "B")
        marks.append(dots(x, y, name, "measured", at="key", series=series, **ABOUT))
    names = [f"{n:,}" for n in lengths]
    low, high = min(r["growth_bytes"] for r in runs) / 2, max(scores) * 2
    return chart(
        title,
        x=axis("Tokens", log=True, ticks=lengths, names=names),
        y=sizes("Memory beyond inputs and result", low, high),
        marks=marks,
    )
