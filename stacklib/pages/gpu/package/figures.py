"""Packages by the reticle."""

from __future__ import annotations

from stacklib import cost
from stacklib.plots.marks import Spec, axis, bar, chart, rows, rule
from stacklib.quantity import Quantity

CARRIED = {"2024": "CoWoS 2024", "2026": "2026"}  # by the date


def reticle_spec(title: str, packages: dict[str, Quantity]) -> Spec:
    """Silicon of packages in reticles, smallest first, and what interposers carry."""
    bars = [
        bar(0, (area / cost.reticle()).si, row, name, "predicted", at="none", series=0)
        for row, (name, area) in enumerate(packages.items())
    ]
    rules = [rule("one exposure", "predicted", x=1, series=4)]
    for one in cost.fact("carries", "cowos_l").quotes:
        if name := CARRIED.get(one.date):
            at = rows([one.value], evidence="claimed")
            rules.append(rule(name, "claimed", x=at, series=4))
    high = (-0.7, len(packages) - 0.3)
    return chart(
        title,
        x=axis("Area of dies and stacks, in reticles", limits=(0, 6.5)),
        y=axis(
            "Package", limits=high, ticks=range(len(packages)), names=tuple(packages)
        ),
        marks=[*bars, *rules],
    )
