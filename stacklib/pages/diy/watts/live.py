"""The machine, live: tokens a second over the hours behind a closed door."""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib.diy import chain
from stacklib.pages.diy import watts as page
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import Spec, axis, chart, line
from stacklib.plots.spec import readout
from stacklib.roofline import Infeasible

LIMITS = tuple(range(120, 351, 10))
EVERY = 8  # of the curve's points, one is drawn


@cache
def rate() -> float:
    """Tokens a second of a pair that nothing limits."""
    return float(page.tokens().si)


def controls() -> list[dict[str, Any]]:
    """Limit, cards, hours, degrees outside, and the room."""
    return [
        choices.slider("limit", "Power limit of each card (W)", LIMITS, 350),
        choices.slider("cards", "RTX 3090s, two for each copy", (2, 4, 6), 6),
        choices.slider("hours", "Hours", tuple(range(1, 9)), page.HOURS),
        choices.slider("ambient", "Outside (°C)", tuple(range(5, 41)), page.OUTSIDE),
        choices.slider("room", "Room (m²)", (6, 8, 10, 12, 16, 20, 30), page.ROOM),
    ]


def explore(*, limit: int, cards: int, hours: int, ambient: int, room: int) -> Spec:
    """Tokens a second of all copies on one outlet, hour by hour."""
    build = page.build(cards, float(limit))
    try:
        found = chain(build, hours=hours, ambient=ambient, room=room)
    except Infeasible as sum_:
        found, why = None, str(sum_)
    free = rate() * cards / page.PAIR
    marks, said, title = [], [], f"{cards} cards at {limit} W: more than is there."
    if found is not None:
        curve, why = found.curve, ""
        times = [seconds / 3600 for seconds in curve.times[::EVERY]]
        told = [free * share for share in curve.speed[::EVERY]]
        marks = [line(times, told, "all copies", "predicted", series=0)]
        last = told[-1]
        title = f"{last:.1f} tokens a second after {hours} h: {found.binds} binds."
        said = [
            readout("rate", "Tokens a second", counted(last, "tokens", "token/s")),
            readout("wall", "The node, at the wall", counted(found.wall, "wall", "W")),
            readout("die", "Dies, °C", counted(curve.die[-1], "dies")),
            readout("air", "Room, °C", counted(curve.room[-1], "room")),
        ]
        each = counted(found.wall / last, "a token", "J/token")
        said.append(readout("token", "A token", each))
    return chart(
        title,
        x=axis("Hours", limits=[0, hours]),
        y=axis("Tokens a second", limits=[0, 1.1 * free]),
        marks=marks,
        readouts=said,
        message=why or None,
        about={
            "device": page.CARD,
            "chips": cards,
            "feasible": not why,
            "model": "llama-3-70b",
            "dtype": "q4_k",
            "batch": cards // page.PAIR,
        },
    )
