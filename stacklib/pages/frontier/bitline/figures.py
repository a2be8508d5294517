"""Bits of a converter against what it costs the small model, at three ranges."""

from __future__ import annotations

from stacklib.pages.frontier import bitline as page
from stacklib.plots.marks import Spec, axis, chart, dots, line, rows, rule

LIMITS = [2e-4, 4]


def costs_spec(*, title: str) -> Spec:
    """Bits a byte by bits of the converter: foretold, and run at each range."""
    told = [page.told_cost(adc).si for adc in page.WIDTHS]
    marks = [line(page.WIDTHS, told, "foretold, 4 deviations", "predicted", at="key")]
    for series, reach in enumerate((page.NARROW, page.WIDE, page.WHOLE)):
        ends = [rows(page.cost(n, reach, at) for at in (1, 2)) for n in page.WIDTHS]
        marks.append(
            dots(
                page.WIDTHS,
                rows(page.cost(adc, reach) for adc in page.WIDTHS),
                f"run, {reach} deviations",
                "measured",
                spread=ends,
                at="key",
                series=series,
            )
        )
    most = page.BREAKS * page.plain().si
    marks.append(rule("breaks", "predicted", y=most, series=4))
    for mark in marks:
        mark |= {"role": "ratio"}
    return chart(
        title,
        x=axis("Bits of the converter", limits=[1.5, 10.5]),
        y=axis("Cost (bits a byte)", log=True, limits=LIMITS),
        marks=marks,
    )
