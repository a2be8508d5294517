"""A token's journey as a waterfall: a bar an event, in the colour of its layer."""

from __future__ import annotations

from collections.abc import Sequence

from stacklib.models import LanguageModel
from stacklib.plots.marks import Mark, Spec, across, axis, bar, chart
from stacklib.roofline.journey.events import Event
from stacklib.roofline.journey.token_journey import Journey, Stretch, walk

MICRO = 1e6
SHORT = {
    "the word's number goes to the chips": "in over the host link",
    "its row of the embedding is read": "embedding row",
    "the output matrix is read": "output matrix",
    "the chips show each other their scores": "scores exchanged",
    "the new word's number goes back": "back to the host",
    "attention weights are read": "attention weights",
    "keys and values so far are read": "keys and values",
    "its own key and value are written": "its own key and value",
    "attention is computed": "attention computed",
    "the chips add up, after attention": "chips add up",
    "MLP weights are read": "MLP weights",
    "the MLP is computed": "MLP computed",
    "the chips add up, after the MLP": "chips add up again",
}  # names as they fit beside a bar
FIRST = 0.1  # µs, where the log axis begins: everything starts at zero


def _bar(what: str, layer: int, start: float, end: float, row: int) -> Mark:
    return bar(start, end, row, SHORT.get(what, what), "predicted", layer=layer)


def _groups(
    spans: Sequence[Stretch], own: Sequence[Event], layers: int
) -> list[tuple[str, int, float, float]]:
    """The journey in a few bars: name, layer of the stack, start and stop."""
    timed = [s for s in spans if s.event.time is not None and not s.event.under]
    inside = [i for i, s in enumerate(timed) if s.event in own]
    each = len(inside) // layers
    first = timed[inside[0] : inside[0] + each]
    rest = timed[inside[0] + each : inside[-1] + 1]
    bars = [(s.event.what, s.event.layer, s.start, s.stop) for s in timed[: inside[0]]]
    bars.append(("first layer", 2, first[0].start, first[-1].stop))
    if rest:
        bars.append((f"{layers - 1} more layers", 2, rest[0].start, rest[-1].stop))
    after = timed[inside[-1] + 1 :]
    return bars + [(s.event.what, s.event.layer, s.start, s.stop) for s in after]


def waterfall_spec(journey: Journey, model: LanguageModel, title: str) -> Spec:
    """The journey on a logarithmic axis of time; events without a time left out."""
    bars = _groups(list(walk(journey, model)), journey.layer_events, model.layers)
    top, end = len(bars) - 1, bars[-1][3] * MICRO
    unit, span = "µs", (FIRST, end * 300)
    return chart(
        title,
        x=axis("Time since the start (µs)", log=True, unit=unit, limits=span),
        y=axis("Stages, the first on top", ticks=(), limits=across(len(bars))),
        marks=[
            _bar(what, layer, max(start * MICRO, FIRST), stop * MICRO, top - row)
            for row, (what, layer, start, stop) in enumerate(bars)
        ],
    )
