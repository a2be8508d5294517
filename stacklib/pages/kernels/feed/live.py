"""A pipeline, live: loads, products, buffers, and who waits for whom."""

from __future__ import annotations

from typing import Any

from stacklib.kernels.schedule.pipeline import Event, Stage, pipeline, steady_state
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import Mark, Spec, axis, bar, chart
from stacklib.plots.spec import readout

CYCLES = (256, 384, 512, 664, 768, 886, 1024, 1280, 1536, 2048)
LATENCIES = (0, 130, 259, 520, 1040)
TILES = (4, 8, 16, 32, 64)


def controls() -> list[dict[str, Any]]:
    """A step's loads and products, its buffers, and how many steps there are."""
    return [
        choices.slider("load", "Loads of a step (cycles)", CYCLES, 886),
        choices.slider("latency", "Until they arrive (cycles)", LATENCIES, 259),
        choices.slider("multiply", "Products of a step (cycles)", CYCLES, 1024),
        choices.slider("buffers", "Buffers", range(1, 7), 2),
        choices.slider("tiles", "Steps", TILES, 8),
    ]


def stages(load: float, latency: float, multiply: float) -> tuple[Stage, Stage]:
    """The producer and the consumer."""
    return (
        Stage("load", load, "TMA", (), latency),
        Stage("multiply", multiply, "tensor cores"),
    )


def explore(
    *, load: float, latency: float, multiply: float, buffers: int, tiles: int
) -> Spec:
    """Loads over products, in cycles, the first steps of a loop."""
    made = stages(load, latency, multiply)
    ran = pipeline(made, tiles, buffers)
    pace = steady_state(made, buffers)
    shown = ran.events if tiles <= 16 else ran.events[:32]
    end = max(event.end for event in shown)
    waits = {name: _waited(ran.of(name)) for name in ("load", "multiply")}
    return chart(
        _title(pace, load, multiply),
        x=axis("Cycle", limits=[0, end]),
        y=axis(
            "Who works", ticks=[2, 1], names=["loads", "products"], limits=[0.4, 2.6]
        ),
        marks=[_piece(event, end) for event in shown],
        readouts=[
            readout("time", "Time", counted(ran.time, "time", "cycle"), digits=5),
            readout(
                "busy",
                "Tensor cores multiply",
                counted(ran.busy("tensor cores"), "busy"),
                "share",
                unit="%",
            ),
            readout(
                "pace", "A step, once full", counted(pace, "pace", "cycle"), digits=4
            ),
            readout(
                "slot", "Loads that waited for a slot", counted(waits["load"], "loads")
            ),
            readout(
                "input",
                "Products that waited for loads",
                counted(waits["multiply"], "products"),
            ),
        ],
    )


def _waited(events: tuple[Event, ...]) -> int:
    """Events that came last to something else than their own unit."""
    return sum(event.waited_for in ("slot", "input") for event in events)


def _piece(event: Event, end: float) -> Mark:
    first = event.stage == "load"
    gap = min(end / 250, (event.end - event.start) / 4)
    name = "loads" if first else "products"
    where = (event.start + gap, event.end - gap, 2.0 if first else 1.0)
    return bar(*where, name, "simulated", at="key", series=int(first))


def _title(pace: float, load: float, multiply: float) -> str:
    if pace > max(load, multiply) * (1 + 1e-9):
        return "Buffers are too few: loads wait for products, and products for loads."
    if load > multiply:
        return "Products wait for loads: no number of buffers can help."
    return "The tensor cores never wait once the first step is there."
