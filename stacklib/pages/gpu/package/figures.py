"""Packages by the reticle."""

from __future__ import annotations

from stacklib import cost
from stacklib.plots.marks import Spec, axis, bar, chart, rule
from stacklib.quantity import Quantity

CARRIED = {"CoWoS-S, CoWoS-L 2024": 3.3, "CoWoS-L 2026": 5.5}  # reticles


def reticle_spec(title: str, packages: dict[str, Quantity]) -> Spec:
    """Silicon of packages in reticles, smallest first, and what interposers carry."""
    bars = [
        bar(0, (area / cost.reticle()).si, row, name, "predicted", series=0)
        for row, (name, area) in enumerate(packages.items())
    ]
    known = {q.value.si for q in cost.fact("carries", "cowos_l").quotes}
    carried = {name: x for name, x in CARRIED.items() if x in known}
    rules = [
        rule(name, "claimed", x=x, series=4)
        for name, x in {"one exposure": 1.0, **carried}.items()
    ]
    high = (-0.7, len(packages) - 0.3)
    return chart(
        title,
        x=axis("Area of dies and stacks, in reticles", limits=(0, 6.5)),
        y=axis("Package", limits=high, ticks=()),
        marks=[*bars, *rules],
    )
