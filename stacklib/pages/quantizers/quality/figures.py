"""Bits a weight against bits a byte, with the schemes that none beats."""

from __future__ import annotations

from stacklib.pages.quantizers import quality as page
from stacklib.plots.marks import Mark, Spec, axis, chart, dots

WORDS = {"round": "rounded", "gptq": "GPTQ", "awq": "AWQ"}


def ladder_spec(*, title: str) -> Spec:
    """Loss of the small model against bits of a weight, intervals by document."""
    best = page.on_the_front()
    groups: dict[str, list[tuple[float, float, float, float]]] = {}
    for row in page.rounded_rows():
        front = (row.scheme, row.method) in best
        name = "beaten by none" if front else WORDS[row.method]
        loss = row.loss
        groups.setdefault(name, []).append((row.bits, loss.value, loss.low, loss.high))
    marks: list[Mark] = []
    for series, name in enumerate(("beaten by none", *WORDS.values())):
        if name in groups:
            x, y, low, high = zip(*sorted(groups[name]), strict=True)
            ends = zip(low, high, strict=True)
            marks.append(
                dots(x, y, name, "measured", spread=ends, at="key", series=series)
            )
    return chart(
        title,
        x=axis("Bits of a weight, scales counted", limits=[2.5, 9]),
        y=axis("Loss (bits a byte)", log=True, limits=[1e-5, 0.3]),
        marks=marks,
    )
