"""Bits a weight against bits a byte, with the schemes that none beats."""

from __future__ import annotations

from stacklib.pages.quantizers import quality as page
from stacklib.plots.marks import Mark, Spec, axis, chart, dots, rows
from stacklib.tinylm.quantized import Measured

WORDS = {"round": "rounded", "gptq": "GPTQ", "awq": "AWQ"}


def ladder_spec(*, title: str) -> Spec:
    """Loss of the small model against bits of a weight, intervals by document."""
    best = page.on_the_front()
    groups: dict[str, list[Measured]] = {}
    for row in sorted(page.rounded_rows(), key=lambda row: (row.bits, row.loss.value)):
        front = (row.scheme, row.method) in best
        name = "beaten by none" if front else WORDS[row.method]
        groups.setdefault(name, []).append(row)
    marks: list[Mark] = []
    for series, name in enumerate(("beaten by none", *WORDS.values())):
        if found := groups.get(name):
            y = rows(page.of(row.scheme, method=row.method) for row in found)
            ends = [(row.loss.low, row.loss.high) for row in found]
            x = [row.bits for row in found]
            marks.append(
                dots(x, y, name, "measured", spread=ends, at="key", series=series)
            )
    return chart(
        title,
        x=axis("Bits of a weight, scales counted", limits=[2.5, 9]),
        y=axis("Loss (bits a byte)", log=True, limits=[1e-5, 0.3]),
        marks=marks,
    )
