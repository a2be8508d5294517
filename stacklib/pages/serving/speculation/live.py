"""A draft, live: acceptance, tokens drafted and batch, and what they gain or cost."""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib.pages.serving import speculation as page
from stacklib.plots.live import choices
from stacklib.plots.live.parts import here
from stacklib.plots.marks import Spec, axis, chart, line
from stacklib.plots.spec import readout
from stacklib.quantity import chosen
from stacklib.serving.speculation.cost import costs
from stacklib.serving.speculation.formula import speedup

RATES = (0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)
LENGTHS = (1, 2, 3, 4, 5, 6, 8)
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 320)


def controls() -> list[dict[str, Any]]:
    """Sliders of ``explore``."""
    return [
        choices.slider("acceptance", "Chance that a drafted token is kept", RATES, 0.6),
        choices.slider("drafted", "Tokens drafted at a time", LENGTHS, 4),
        choices.slider("batch", "Sequences", BATCHES, 1),
    ]


@cache
def _costs(drafted: int, batch: int) -> tuple[float, float]:
    sizes = page.ASKED | {"batch": float(batch), "context": float(page.CONTEXT)}
    lost = page.lost().si, page.lost(page.DRAFT).si
    return costs(page.MODEL, page.DRAFT, page.DEVICE, drafted, lost=lost, **sizes)


def explore(*, acceptance: float, drafted: int, batch: int) -> Spec:
    """How many times as fast tokens come, against the sequences of a step."""
    gains = [speedup(acceptance, drafted, *_costs(drafted, b)) for b in BATCHES]
    rate, length = chosen(acceptance, label="acceptance"), chosen(drafted, label="g")
    mine = page.gain(rate, batch, length)
    return chart(
        f"{drafted} drafted, {batch} at once: {mine.si:.2f} times as fast.",
        x=axis("Sequences of a step", log=True, limits=[0.9, 350]),
        y=axis("Speed over that without a draft", limits=[0, 4.5]),
        marks=[
            line(BATCHES, gains, "with this draft", "predicted"),
            line(BATCHES, [1.0] * len(BATCHES), "without a draft", "predicted"),
            here(batch, mine.si, "your case"),
        ],
        readouts=[
            readout("tokens", "Tokens a pass", page.tokens(rate, length)),
            readout("check", "A pass over a step", page.cost("check", batch, length)),
            readout("draft", "A proposal over a step", page.cost("draft", batch)),
            readout("gain", "Times as fast", mine),
        ],
        about={"device": page.DEVICE},
    )
