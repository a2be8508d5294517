"""The chart of section 4.6: others' attention kernels, predicted over published."""

from __future__ import annotations

from stacklib.pages.kernels import generations as page
from stacklib.plots.marks import Mark, Spec, axis, chart, dots, line, rows

CLASSES = {
    "library": "before warp groups: FlashAttention-2, Triton",
    "tuned": "FlashAttention-3 and 4, cuDNN, engines",
}
ENDS = (1e-5, 3000.0)  # TFLOP/s


def kernels_spec(title: str) -> Spec:
    """Each kernel by a fit that never saw its source."""
    points = page.flop_rates()
    marks: list[Mark] = [line(ENDS, ENDS, "as published", "predicted", at="key")]
    for series, (kind, name) in enumerate(CLASSES.items(), 1):
        mine = sorted((x, at) for at, (own, _, x) in enumerate(points) if own == kind)
        y = rows((points[at][1] for _, at in mine), "TFLOP/s")
        x = [x / 1e12 for x, _ in mine]
        marks.append(dots(x, y, name, "measured", series=series, at="key"))
    return chart(
        title,
        x=axis("Predicted (TFLOP/s)", log=True, limits=ENDS),
        y=axis("Published (TFLOP/s)", log=True, limits=ENDS),
        marks=marks,
        square=True,
    )
