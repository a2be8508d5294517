"""Charts of section 6.4: candidates by size; others' collectives, predicted."""

from __future__ import annotations

from stacklib.pages.interconnect import selection as page
from stacklib.plots.marks import Mark, Spec, axis, chart, dots, line, rows, sizes

SIZES = tuple(2.0**power for power in range(10, 31))  # 1 KiB to 1 GiB
SHOWN = {
    page.LL: "ring, LL",
    ("ring", "ll128"): "ring, LL128",
    ("ring", "simple"): "ring, Simple",
    ("tree", "simple"): "tree, Simple",
    page.NVLS: "in the switches",
}
CLASSES = {"node": "one node", "nodes": "several nodes", "experts": "experts"}
ENDS, TICKS = (2.0, 2e6), (10.0, 1e3, 1e5)  # microseconds


def by_size() -> Spec:
    """What the cost model says of five candidates on eight H100."""
    marks: list[Mark] = []
    for series, (name, words) in enumerate(SHOWN.items()):
        times = [page.chosen_by(s).of(*name).time or 0.0 for s in SIZES]
        micro = [t * 1e6 for t in times]
        marks.append(line(SIZES, micro, words, "predicted", at="key", series=series))
    return chart(
        "The ring with flags is least for small arrays, the switches for large ones.",
        x=sizes("Array", SIZES[0], SIZES[-1]),
        y=axis("All-reduce (µs)", log=True),
        marks=marks,
    )


def published() -> Spec:
    """Each published time by a fit that never saw its source."""
    found = page.points()
    marks: list[Mark] = [line(ENDS, ENDS, "as predicted", "predicted", at="key")]
    for series, (kind, name) in enumerate(CLASSES.items(), 1):
        mine = [(b.to("us").value, a) for own, a, b in found if own == kind]
        mine.sort(key=lambda pair: (pair[0], pair[1].si))
        x, y = [a for a, _ in mine], rows([b for _, b in mine], "us")
        marks.append(dots(x, y, name, "measured", series=series, at="key"))
    return chart(
        "Most collectives lie near their predictions; an unknown network does not.",
        x=axis("Predicted (µs)", log=True, limits=ENDS, ticks=TICKS),
        y=axis("Measured (µs)", log=True, limits=ENDS, ticks=TICKS),
        marks=marks,
        square=True,
    )
