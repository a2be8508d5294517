"""What a loss scale rescues: accuracy against it, format by format."""

from __future__ import annotations

from stacklib.pages.quantizers import training as page
from stacklib.plots.marks import Spec, axis, chart, line, rule
from stacklib.tinylm.low_precision import runs


def scales_spec(*, title: str) -> Spec:
    """Accuracy of the classifier against the loss scale."""
    marks = [
        line(
            page.swept(fmt), page.sweep(fmt), name, "simulated", at="key", series=series
        )
        for series, (fmt, name) in enumerate(page.FORMATS.items())
    ]
    return chart(
        title,
        x=axis(
            "Exponent of the loss scale, a power of two", limits=[0, page.SWEPT[-1]]
        ),
        y=axis("Samples classified right (%)", limits=[0, 105]),
        marks=[*marks, rule("a guess", "predicted", y=100 / runs.CLASSES, at="key")],
    )
