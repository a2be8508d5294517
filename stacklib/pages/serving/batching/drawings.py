"""The drawing of section 8.5: slots over steps, a batch that waits and one refilled."""

from __future__ import annotations

from collections.abc import Sequence

from stacklib.pages.serving import batching as page
from stacklib.plots import drawing as d
from stacklib.serving.slots.batches import Stay, drawn_lengths, steps

__all__ = ["slots_over_steps"]
DRAWN, MEAN, SEED = 24, 5.0, 4  # requests of the drawing; their mean length
WORDS = {
    "static": "a batch waits for its longest",
    "fcfs": "a slot is refilled at once",
}


def slots_over_steps() -> d.Drawing:
    """Slots down, steps across: the same requests both ways."""
    title = "The same requests, in batches that wait and in slots that are refilled."
    lengths = drawn_lengths(DRAWN, MEAN, SEED)
    made = {name: way(lengths, page.SLOTS) for name, way in page.WAYS.items()}
    most = max(map(steps, made.values()))
    parts = [_way(name, stays, most) for name, stays in made.items()]
    return d.draw(d.flow(*parts, gap=14, even=True), name="batching-slots", title=title)


def _way(name: str, stays: Sequence[Stay], most: int) -> d.Node:
    at = {stay.slot * most + step: stay for stay in stays for step in _steps(stay)}
    every = page.SLOTS * most
    cells = d.Cells(
        f"slots, {name}",
        every,
        most,
        side=(6.0, 9.0),
        gap=1.2,
        role="layer-6",
        lit=frozenset(i for i, stay in at.items() if stay.start == i % most),
        dark=frozenset(range(every)) - at.keys(),
        words="slots down, steps across; the first step of each request lit",
    )
    took = page.drawn_steps(name, DRAWN, MEAN, SEED)
    label = [d.line(WORDS[name], bold=True), ("done after ", took, " steps")]
    return d.Box(name, label, cells, role="layer-6")


def _steps(stay: Stay) -> range:
    return range(stay.start, stay.end)
