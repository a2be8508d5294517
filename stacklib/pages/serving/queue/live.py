"""A line, live: the rate of arrivals and the machine, and percentiles with interval."""

from __future__ import annotations

import math
from typing import Any

from stacklib.pages.serving import queue as page
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import Mark, Spec, axis, chart, dots
from stacklib.plots.spec import readout
from stacklib.serving import simulate
from stacklib.serving.simulation.results import (
    SHOWN,
    OverCapacity,
    Percentiles,
    Simulation,
)
from stacklib.serving.simulation.rows import SCHEDULERS

REQUESTS = 800
RATES = (1, 2, 4, 6, 8, 9, 10, 11, 12, 14, 18, 24)
TIMES = {"ttft": "first token (TTFT)", "itl": "next token (ITL)", "e2e": "last token"}
WORDS = {"static": "static", "continuous": "whole prompts", "chunked": "in pieces"}
ENDS = {"ttft": (0.01, 1000.0), "itl": (0.003, 10.0), "e2e": (0.5, 1000.0)}


def controls() -> list[dict[str, Any]]:
    """Sliders and menus of ``explore``."""
    return [
        choices.slider("rate", "Requests per second", RATES, int(page.RATE)),
        choices.select("of", "Time until the", TIMES, "ttft"),
        choices.slider(
            "prompt", "Tokens of a prompt", (256, 512, 1024, 2048), page.PROMPT
        ),
        choices.select(
            "scheduler", "Prompts", {k: WORDS[k] for k in SCHEDULERS}, "chunked"
        ),
        choices.slider("chunk", "Tokens of a step", (256, 512, 1024, 2048), page.CHUNK),
        choices.slider("machines", "Machines", (1, 2, 3), 1),
    ]


def served(
    rate: int, prompt: int, scheduler: str, chunk: int, machines: int
) -> Simulation:
    """Requests as they come, on so many machines."""
    return simulate(
        page.MODEL,
        page.DEVICE,
        page.traffic(rate, REQUESTS, prompt=prompt),
        tp=page.TP,
        replicas=machines,
        router="least-loaded",
        scheduler=scheduler,
        chunk=chunk,
        max_batch=page.SLOTS,
    )


def explore(
    *, rate: int, of: str, prompt: int, scheduler: str, chunk: int, machines: int
) -> Spec:
    """Percentiles of a time, each with the interval that steps' error leaves it."""
    run = served(rate, prompt, scheduler, chunk, machines)
    low, high = ENDS[of]
    told = [readout("busy", "Tokens written in a second", f"{run.tokens_per_s:,.0f}")]
    marks: list[Mark] = []
    message = None
    try:
        found = run.percentiles(of, band=True)
    except OverCapacity as over:
        message, title = str(over), f"A rate of {rate} per second: a line without end."
    else:
        marks = _marks(found, high)
        title = (
            f"A rate of {rate} per second: one in a hundred waits {found[99]:.3g} s or "
            f"longer for the {TIMES[of]}."
        )
        told += [
            readout(f"p{at}", f"p{at}", f"{found[at]:.3g} s, {_interval(found, at)}")
            for at in SHOWN
        ]
        told += [readout("count", "Requests", counted(found.counted, "times"))]
    return chart(
        title,
        x=axis(
            "Percentile",
            limits=[-0.5, len(SHOWN) - 0.5],
            ticks=range(len(SHOWN)),
            names=[f"p{at}" for at in SHOWN],
        ),
        y=axis("Time (s)", log=True, limits=[low, high]),
        marks=marks,
        readouts=told,
        message=message,
        about={"device": page.DEVICE, "chips": page.TP * machines},
    )


def _marks(found: Percentiles, top: float) -> list[Mark]:
    assert found.low is not None and found.high is not None
    ends = [(found.low[at], min(top, found.high[at])) for at in SHOWN]
    values = [found[at] for at in SHOWN]
    name = "with steps at both ends of the estimate's band"
    return [dots(range(len(SHOWN)), values, name, "predicted", spread=ends, at="key")]


def _interval(found: Percentiles, at: int) -> str:
    assert found.low is not None and found.high is not None
    high = found.high[at]
    if math.isinf(high):
        return f"from {found.low[at]:.3g} s, without end"
    return f"from {found.low[at]:.3g} to {high:.3g} s"
