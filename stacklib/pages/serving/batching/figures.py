"""What continuous batching gains, as a figure: a formula, slots, and the engine."""

from __future__ import annotations

from stacklib.pages.serving import batching as page
from stacklib.plots.marks import Spec, axis, chart, dots, line, rows

COUNTS = (1, 2, 4, 8, 16, 32, 64)
MANY = 20_000  # requests, so that the last batch does not count


def gain_spec(*, title: str) -> Spec:
    """Gain against the slots of a batch."""
    few = [page.slots_gain(count).si for count in COUNTS]
    many = [page.slots_gain(count, MANY).si for count in COUNTS]
    ran = page.engine_steps("static") / page.engine_steps("fcfs")
    return chart(
        title,
        x=axis("Slots of a batch", log=True, limits=[0.9, 90], ticks=COUNTS),
        y=axis("Continuous over static", limits=[0, 5.4]),
        marks=[
            line(COUNTS, [page.gain(c).si for c in COUNTS], "formula", "predicted"),
            line(COUNTS, many, f"slots, {MANY:,} requests", "simulated", at="key"),
            line(COUNTS, few, f"slots, {page.REQUESTS} requests", "simulated"),
            dots(page.SLOTS, rows([ran]), "engine, steps", "measured", at="key"),
            dots(
                page.SLOTS,
                rows([page.engine_gain()]),
                "engine, tokens a second",
                "measured",
                at="key",
                this_machine=True,
            ),
        ],
    )
