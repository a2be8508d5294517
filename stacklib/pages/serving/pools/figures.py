"""Goodput of one pool and of two, by the time that a token may take."""

from __future__ import annotations

from stacklib.pages.serving import pools as page
from stacklib.plots.marks import Mark, Spec, axis, chart, line
from stacklib.quantity import chosen

LIMITS = (14, 16, 20, 25, 30, 40, 60, 100)  # ms
TICKS = (15, 20, 30, 50, 100)


def goodput_spec(*, title: str) -> Spec:
    """Simulated, dashed; in closed form, drawn through."""
    limits = [chosen(each, "ms", label="limit") for each in LIMITS]
    told = [page.one_pool(each).to("1/s").value for each in limits]
    marks = [
        line(
            LIMITS,
            [max(0.0, y) for y in told],
            "one pool, closed form",
            "predicted",
            series=0,
            device=page.DEVICE,
        ),
        line(
            LIMITS,
            [page.two_pools().to("1/s").value] * len(LIMITS),
            "three readers, closed form",
            "predicted",
            series=1,
            device=page.DEVICE,
        ),
        _simulated(page.ONE, 0),
        _simulated(page.BEST, 1),
        _simulated(page.EVEN, 2),
    ]
    return chart(
        title,
        x=axis(
            "Limit of a token (ms)",
            log=True,
            limits=[13, 110],
            ticks=TICKS,
            names=[str(tick) for tick in TICKS],
        ),
        y=axis("Requests per second within the limits", limits=[0, 30]),
        marks=marks,
    )


def _simulated(layout: str, series: int) -> Mark:
    rates = [page.rate(layout, each / 1000).si for each in LIMITS]
    return line(LIMITS, rates, layout, "simulated", series=series, device=page.DEVICE)
