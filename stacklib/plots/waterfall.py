"""A token's journey as a waterfall: a bar an event, in the colour of its layer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from stacklib.models import LanguageModel
from stacklib.roofline import Event, Journey, Span, walk
from stacklib.roofline.journey.events import PER_LAYER

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


def _mark(name: str, layer: int, start: float, stop: float, row: int) -> dict[str, Any]:
    return {
        "kind": "line", "evidence": "predicted", "name": SHORT.get(name, name),
        "layer": layer,
        "thick": True, "x": [start * MICRO, stop * MICRO], "y": [row, row],
    }  # fmt: skip


def _groups(
    spans: Sequence[Span], own: Sequence[Event], layers: int
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


def waterfall_spec(
    journey: Journey, model: LanguageModel, title: str
) -> dict[str, Any]:
    """The whole journey on a logarithmic axis of time.

    Parameters
    ----------
    journey : Journey
        What to draw; events without a time are not drawn.
    model : LanguageModel
        Its model.
    title : str
        A sentence saying what is seen.
    """
    bars = _groups(list(walk(journey, model)), journey.layer_events, model.layers)
    marks = []
    for row, (name, layer, start, stop) in enumerate(bars):
        mark = _mark(name, layer, start, stop, len(bars) - 1 - row)
        mark["x"][0] = max(mark["x"][0], FIRST)
        marks.append(mark)
    end = bars[-1][3] * MICRO
    return {
        "title": title,
        "x": {"label": "Time since the start (µs)", "scale": "log",
              "unit": "µs", "limits": (FIRST, end * 300)},
        "y": {"label": "Stages still to come", "limits": (-0.6, len(bars) - 0.4)},
        "marks": marks,
    }  # fmt: skip


def layer_spec(journey: Journey, title: str) -> dict[str, Any]:
    """One layer of the model on a linear axis, arithmetic under what it waits for.

    Parameters
    ----------
    journey : Journey
        What to draw.
    title : str
        A sentence saying what is seen.
    """
    events = [e for e in journey.layer_events[:PER_LAYER] if e.time is not None]
    ends = [0.0]
    marks, begun = [], 0.0
    for row, event in enumerate(events):
        assert event.time is not None
        time = event.time.si
        if event.under:  # it may run as soon as the first bytes are there
            start = begun
        else:
            start = begun = ends[-1]
            ends.append(start + time)
        marks.append(
            _mark(event.what, event.layer, start, start + time, len(events) - 1 - row)
        )
    whole = sum(b - a for a, b in pairwise(ends)) * MICRO
    return {
        "title": title,
        "x": {"label": "Time in one layer of the model (µs)", "unit": "µs",
              "limits": (0.0, whole * 1.55)},
        "y": {"label": "Events still to come", "limits": (-0.6, len(events) - 0.4)},
        "marks": marks,
    }  # fmt: skip
