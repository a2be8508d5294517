"""Published joules of a written token beside what its journey explains."""

from __future__ import annotations

from stacklib.pages.frontier import journey as page
from stacklib.plots.marks import Spec, axis, chart, dots, line, rows

ENDS = (0.03, 40.0)  # J, of both axes


def published_spec(*, title: str) -> Spec:
    """Measured over explained joules; on the line, and left of it, all has a name."""
    marks = [line(ENDS, ENDS, "all explained, at the high end", "predicted", at="key")]
    for series, (name, found) in enumerate(page.published().items()):
        marks.append(
            dots(
                [span.high.si for _, span in found],
                rows([row.measured for row, _ in found]),
                name,
                "measured",
                each=[
                    f"{r.model}, {r.chips} x {r.device}, {r.batch}" for r, _ in found
                ],
                at="key",
                series=series,
            )
        )
    for mark in marks:
        mark |= {"role": "part"}
    return chart(
        title,
        x=axis("Explained at most (J per written token)", log=True, limits=ENDS),
        y=axis("Measured (J per written token)", log=True, limits=ENDS),
        marks=marks,
        square=True,
    )
