"""Figure of section 4.4: a published ladder beside the machine's clock."""

from __future__ import annotations

from stacklib.pages.kernels import feed as page
from stacklib.plots.marks import Mark, Spec, axis, chart, dots, rows


def ladder_spec() -> Spec:
    """Versions in the order of their published rates: both rates of each."""
    found = sorted(page.versions(), key=lambda name: page.rate(name).si)
    marks: list[Mark] = []
    for at, name in enumerate(found):
        told = rows([page.rate(name)], "TFLOP/s")
        clock = page.rate(name, by_clock=True).value
        marks += [
            dots(told, at, "published", "measured", at="key", series=0),
            dots(clock, at, "the machine's clock", "predicted", at="key", series=1),
        ]
    return chart(
        "Both climb the ladder; at its top the clock is too fast.",
        x=axis("TFLOP/s in FP32", log=True, unit="TFLOP/s", limits=[0.2, 50]),
        y=axis(
            "Version",
            ticks=range(len(found)),
            names=list(map(page.short, found)),
            limits=[-0.6, len(found) - 0.4],
        ),
        marks=marks,
    )
