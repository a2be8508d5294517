"""The chart of section 6.15: published training steps, predicted over measured."""

from __future__ import annotations

from stacklib.pages.interconnect import layouts as page
from stacklib.plots.marks import Mark, Spec, axis, chart, dots, line, rows


def ratios() -> Spec:
    """Each row by a fit that never saw its source, from least to most."""
    marks: list[Mark] = []
    found = sorted(page.points(), key=lambda p: p[1].si)
    marks.append(
        line((0, len(found) + 1), (1, 1), "as published", "predicted", at="key")
    )
    for series, kind in enumerate(("time or rate", "memory"), 1):
        mine = [(i, ratio) for i, (own, ratio) in enumerate(found, 1) if own == kind]
        x, y = [i for i, _ in mine], rows(ratio for _, ratio in mine)
        marks.append(dots(x, y, kind, "measured", series=series, at="key"))
    return chart(
        "Most published training runs are met; long contexts in rings are not.",
        x=axis(
            "Rows, from the lowest ratio to the highest", limits=[0, len(found) + 1]
        ),
        y=axis("Predicted over published", log=True, limits=[0.5, 2.5]),
        marks=marks,
    )
