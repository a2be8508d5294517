"""What a memory holds under three ways to hand it out, as bars."""

from __future__ import annotations

from stacklib.paged_kv.reserve import SCHEMES
from stacklib.pages.serving import blocks as page
from stacklib.plots.marks import Mark, Spec, axis, bar, chart, down

PARTS = {
    "tokens": "tokens",
    "later": "reserved, filled later",
    "never": "reserved in vain",
    "free": "free",
}


def shares_spec(*, title: str) -> Spec:
    """Shares of the memory by what lies in it, one row a scheme."""
    marks: list[Mark] = []
    for row, scheme in enumerate(SCHEMES):
        start = 0.0
        for series, (part, name) in enumerate(PARTS.items()):
            end = min(start + 100 * page.told(scheme, part).si, 100.0)
            if end > start:
                marks.append(
                    bar(start, end, row, name, "simulated", at="key", series=series)
                )
            start = end
    return chart(
        title,
        x=axis("Share of the memory (%)", limits=[0, 100]),
        y=axis(
            "Each gets",
            limits=down(len(SCHEMES)),
            names=list(SCHEMES),
            ticks=range(len(SCHEMES)),
        ),
        marks=marks,
    )
