"""Checkpoint interval, live: what is left of a cluster's time, and when it is most."""

from __future__ import annotations

import math
from typing import Any

from stacklib.interconnect.failures.cluster import between_failures
from stacklib.interconnect.failures.goodput import best_interval, useful_share
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted, here
from stacklib.plots.marks import Spec, axis, chart, line, rule
from stacklib.plots.spec import readout

YEAR = 365.25 * 86_400
GPUS = (8, 64, 512, 2048, 16_384, 32_768, 65_536, 100_000, 200_000)
YEARS = (1, 2, 4, 5.8, 10, 20, 50)
COSTS = (0.1, 0.5, 1, 3, 10, 30, 100, 300)
RESTARTS = (0.5, 1, 2, 5, 10, 20, 60)
MINUTES = (0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 240, 480)


def controls() -> list[dict[str, Any]]:
    """The cluster, how reliable a GPU is, and what saving and starting take."""
    return [
        choices.slider("gpus", "GPUs", GPUS, 16_384),
        choices.slider("years", "One GPU runs for (years)", YEARS, 5.8),
        choices.slider("cost", "A checkpoint (s)", COSTS, 3),
        choices.slider("restart", "A restart (min)", RESTARTS, 10),
        choices.slider("minutes", "Between checkpoints (min)", MINUTES, 30),
    ]


def explore(
    *, gpus: int, years: float, cost: float, restart: float, minutes: float
) -> Spec:
    """Useful share of the time against the interval."""
    mean = between_failures(1 / (years * YEAR), gpus)
    best = best_interval(cost, mean)

    def share(minutes: float) -> float:
        # Beyond a hundred failures an interval, nothing is ever finished.
        if (minutes * 60 + cost) / mean > 100 or restart * 60 / mean > 100:
            return 0.0
        return 100 * useful_share(
            minutes * 60, cost=cost, restart=restart * 60, between_failures=mean
        )

    low, high = math.log(MINUTES[0]), math.log(MINUTES[-1])
    xs = [math.exp(low + (high - low) * i / 60) for i in range(61)]
    yours, most = share(minutes), share(best / 60)
    told = [
        (
            "mean",
            "Between failures",
            counted(mean / 60, "between failures", "min"),
            "min",
        ),
        ("best", "Best interval", counted(best / 60, "best interval", "min"), "min"),
        ("useful", "Useful, yours", counted(yours / 100, "useful share"), "%"),
        ("most", "Useful, best", counted(most / 100, "useful, at best"), "%"),
    ]
    lead = "Another interval hardly helps"
    if most - yours >= 1:
        lead = f"Checkpoints are too {'rare' if minutes * 60 > best else 'frequent'} on"
    return chart(
        f"{lead} this cluster.",
        x=axis("Between checkpoints (min)", log=True),
        y=axis("Useful time (%)"),
        marks=[
            line(xs, [share(x) for x in xs], "useful", "predicted", at="key"),
            rule("best interval", "predicted", x=best / 60),
            here(minutes, yours, "your interval"),
        ],
        readouts=[readout(key, words, q, unit=unit) for key, words, q, unit in told],
    )
