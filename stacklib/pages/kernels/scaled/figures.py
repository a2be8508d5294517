"""Figure of section 4.8: what a promotion costs, and what it saves."""

from __future__ import annotations

from stacklib.pages.kernels import scaled as page
from stacklib.plots.marks import Spec, axis, chart, dots, line


def promotion_spec() -> Spec:
    """Loss of a sum and time on the CUDA cores, against the interval."""
    every = list(page.INTERVALS)
    foretold = [100 * page.foretold(n) for n in every]
    lost = [100 * page.lost(n) for n in every]
    cores = [100 * float(page.on_cores(n).si) for n in every]
    return chart(
        "Rarer promotions cost less time and lose more of the sum.",
        x=axis("Products between promotions", log=True, ticks=every[::2]),
        y=axis("Share (%)", log=True),
        marks=[
            line(every, foretold, "lost, formula", "predicted", at="key", series=0),
            dots(every, lost, "lost, emulated", "simulated", at="key", series=0),
            line(every, cores, "time on cores", "predicted", at="key", series=1),
        ],
    )
