"""The chart of section 4.5: memory of attention against the length, measured."""

from __future__ import annotations

from stacklib.evidence import results
from stacklib.plots.marks import About, Mark, Spec, axis, chart, dots, line, sizes

HEADS, WIDTH = 8, 8  # of the run of the formula, and bytes of a float64
NAMES = {
    "numpy": "tiles in NumPy",
    "sdpa": "torch's own, in C++",
    "naive": "the formula, in float64",
}
ABOUT = About(device="this_machine")


def memory_spec(title: str) -> Spec:
    """What a call takes beyond its inputs and its result."""
    rows = results.need("flash_attention_numpy")["memory"]
    lengths = sorted({r["tokens"] for r in rows})
    scores = [HEADS * WIDTH * n * n for n in lengths]
    marks: list[Mark] = [line(lengths, scores, "the scores alone", "predicted")]
    for series, (which, name) in enumerate(NAMES.items(), 1):
        mine = [(r["tokens"], r["growth_bytes"]) for r in rows if r["which"] == which]
        x, y = zip(*sorted(mine), strict=True)
        marks.append(dots(x, y, name, "measured", at="key", series=series, **ABOUT))
    names = [f"{n:,}" for n in lengths]
    low, high = min(r["growth_bytes"] for r in rows) / 2, max(scores) * 2
    return chart(
        title,
        x=axis("Tokens", log=True, ticks=lengths, names=names),
        y=sizes("Memory beyond inputs and result", low, high),
        marks=marks,
    )
