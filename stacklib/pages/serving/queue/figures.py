"""Waits against the rate of arrivals: by hand, simulated, and with their interval."""

from __future__ import annotations

import math

from stacklib.pages.serving import queue as page
from stacklib.plots.marks import Spec, axis, chart, dots, line, rule
from stacklib.quantity import chosen

LOW, HIGH = 0.004, 100.0  # seconds that the figure shows
CURVE = 60  # points of a curve


def waits_spec(*, title: str) -> Spec:
    """Mean wait and 99th percentile of TTFT against requests a second."""
    rates = sorted((page.RATE, *map(page.rate_at, page.LOADS)))
    most = page.by_hand().si
    curve = [1 + (0.995 * most - 1) * step / CURVE for step in range(CURVE + 1)]
    by_hand = [page.wait(chosen(rate, "1/s", label="rate")).si for rate in curve]
    hidden = sum(wait < LOW for wait in by_hand)
    ends = [
        (page.shortest(99, rate=rate).si, _seen(page.longest(99, rate=rate)))
        for rate in rates
    ]
    return chart(
        title,
        x=axis("Requests per second", limits=[0, 13]),
        y=axis("Time (s)", log=True, limits=[LOW, HIGH]),
        marks=[
            rule("all it can do", "simulated", x=page.capacity().si),
            line(
                curve[hidden:],
                by_hand[hidden:],
                "mean wait, by hand",
                "predicted",
                at="key",
                series=2,
            ),
            dots(
                rates,
                [page.waited(rate).si for rate in rates],
                "mean wait, simulated",
                "simulated",
                at="key",
                series=2,
            ),
            dots(
                rates,
                [page.percentile(99, rate=rate).si for rate in rates],
                "p99 of TTFT, with its interval",
                "predicted",
                spread=ends,
                at="key",
                series=1,
            ),
        ],
        about={"device": page.DEVICE, "chips": page.TP, "model": page.MODEL},
    )


def _seen(seconds: float) -> float:
    """To the top of the figure where there is no end."""
    return HIGH if math.isinf(seconds) else seconds
