"""A cache in few bits as a figure: what it loses against what it takes."""

from __future__ import annotations

from stacklib.pages.quantizers import kv as page
from stacklib.plots.marks import Mark, Spec, axis, chart, dots, rows


def losses_spec(*, title: str) -> Spec:
    """Loss of the small model against bits of a number, for three ways to share."""
    marks: list[Mark] = []
    for series, way in enumerate(page.WAYS):
        widths = [b for b in page.WIDTHS[1:] if way in page.ways_of(b)]
        ends = (rows(page.loss(b, way, e) for e in page.ENDS[1:]) for b in widths)
        marks.append(
            dots(
                [page.stored_bits(b).si for b in widths],
                rows(page.loss(b, way) for b in widths),
                way,
                "measured",
                spread=ends,
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
