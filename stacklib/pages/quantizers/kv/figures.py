"""A cache in few bits as a figure: what it loses against what it takes."""

from __future__ import annotations

from stacklib.pages.quantizers import kv as page
from stacklib.plots.marks import Mark, Spec, axis, chart, dots


def losses_spec(*, title: str) -> Spec:
    """Loss of the small model against bits of a number, for three ways to share."""
    marks: list[Mark] = []
    for series, way in enumerate(page.WAYS):
        widths = [b for b in page.WIDTHS[1:] if way in page.ways_of(b)]
        ends = {e: [page.loss(b, way, e).si for b in widths] for e in _ENDS}
        marks.append(
            dots(
                [page.stored_bits(b).si for b in widths],
                ends["value"],
                way,
                "measured",
                spread=zip(ends["low"], ends["high"], strict=True),
                at="key",
                series=series,
            )
        )
    return chart(
        title,
        x=axis("Bits of a number, scales counted", limits=[2, 10]),
        y=axis("Loss (bits a byte)", limits=[-0.01, 0.2]),
        marks=marks,
    )


_ENDS = ("value", "low", "high")
