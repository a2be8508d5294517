"""By how much a sum of percentiles is too large, against the hops that are added up."""

from __future__ import annotations

from stacklib.pages.serving.agents import calls
from stacklib.plots.marks import Spec, axis, chart, dots, line
from stacklib.quantity import chosen

COUNTS = (1, 2, 3, 5, 7, 10, 15, 20)
AT_ONCE = {1: "engine, one chain at a time", 40: "engine, forty in line"}


def ratios_spec(*, title: str) -> Spec:
    """Sum of the hops' 99th percentiles over the chain's."""
    drawn = [calls.drawn_ratio("lognormal", hops).si for hops in COUNTS]
    engine = [
        dots(
            calls.HOPS,
            calls.engine_ratio(many).si,
            name,
            "simulated",
            spread=[[calls.engine_ratio(many, end).si for end in (0, 1)]],
            at="key",
        )
        for many, name in AT_ONCE.items()
    ]
    told = chosen(1, label="as if percentiles added").si
    return chart(
        title,
        x=axis("Hops in a row", limits=[0, 25], ticks=(1, 5, 7, 10, 15, 20)),
        y=axis("Sum of p99s over p99 of the sum", limits=[0.8, 3.1]),
        marks=[
            line(COUNTS, [calls.overstated(n) for n in COUNTS], "formula", "predicted"),
            line(COUNTS, drawn, "drawn, lognormal", "simulated", at="key"),
            *engine,
            dots(calls.HOPS, told, "as added up", "predicted", at="key"),
        ],
    )
