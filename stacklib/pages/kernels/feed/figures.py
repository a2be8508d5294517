"""Figure of section 4.4: a published ladder beside the machine's clock."""

from __future__ import annotations

from stacklib.pages.kernels import feed as page
from stacklib.plots.marks import Mark, Spec, axis, chart, dots


def ladder_spec() -> Spec:
    """Versions in the order of their published rates: both rates of each."""
    found = sorted(page.versions().values(), key=lambda one: one.published)
    marks: list[Mark] = []
    for at, one in enumerate(found):
        marks.append(
            dots(one.published / 1e12, at, "published", "measured", at="key", series=0)
        )
        assert one.predicted is not None
        marks.append(
            dots(
                one.predicted / 1e12,
                at,
                "the machine's clock",
                "predicted",
                at="key",
                series=1,
            )
        )
    return chart(
        "Both climb the ladder; at its top the clock is too fast.",
        x=axis("TFLOP/s in FP32", log=True, unit="TFLOP/s", limits=[0.2, 50]),
        y=axis(
            "Version",
            ticks=range(len(found)),
            names=[page.short(one.kernel) for one in found],
            limits=[-0.6, len(found) - 0.4],
        ),
        marks=marks,
    )
