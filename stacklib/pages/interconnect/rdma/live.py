"""Two producers and a port, live: whose turn it is, and what goes wrong."""

from __future__ import annotations

from typing import Any

from stacklib.interconnect.queues.explore import Move, Plan, explore, replay
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import Spec, axis, cells, chart, down
from stacklib.plots.spec import readout

BATCH, SLOTS, POSTS = 2, 4, 2
ROWS = {"0": 0, "1": 1, "port": 2}
NAMES = {"0": "producer 0", "1": "producer 1", "port": "port"}
SHORT = {  # in a cell, and in words
    "reserve": ("R", "reserves two places by one atomic addition"),
    "look": ("L", "reads how many places are given out"),
    "raise": ("A", "writes that number, raised by two"),
    "room": ("?", "finds room in the ring"),
    "write 0": ("w", "writes its first element"),
    "write 1": ("W", "writes its second element"),
    "publish": ("P", "says that both are written"),
    "ring": ("B", "rings the doorbell"),
    "send": ("S", "reads an element and sends it"),
    "waits": ("-", "waits"),
}
ORDERS = {
    "in turn": "01" * 14 + "pppp" + "01" * 6 + "pppp",
    "one after the other": ("0" * 6 + "1" * 6 + "pppp") * 2,
    "the port at once": "0p1p" * 9,
}
PLANS = {
    "": "nothing",
    "atomic": "the atomic reservation",
    "room": "waiting for room",
    "written_first": "writing before ringing",
    "in_turn": "waiting for one's turn",
    "forward": "ringing only forward",
}
SHOWN, LISTED, TOO_LONG = 22, 6, 60  # steps drawn, steps in words, steps gone


def controls() -> list[dict[str, Any]]:
    """Who steps when, as a text, and what the producers leave out."""
    return [
        choices.program(
            "order", "Who steps: 0, 1, or p for the port", ORDERS, ORDERS["in turn"]
        ),
        choices.select("without", "The producers leave out", PLANS, ""),
        choices.select(
            "search",
            "Go",
            {"mine": "this way", "found": "the shortest to a fault"},
            "mine",
        ),
    ]


def moves(order: str, without: str, search: str) -> list[Move]:
    """The steps of the way that was chosen, or of the shortest one to a fault."""
    plan = Plan(**{without: False}) if without else Plan()
    who = ["port" if letter == "p" else letter for letter in order if letter in "01p"]
    if search == "found":
        ways = explore(2, POSTS, BATCH, SLOTS, plan).faults.values()
        who = [step.split(":")[0] for step in min(ways, key=len, default=())]
    return replay(who[:TOO_LONG], 2, POSTS, BATCH, SLOTS, plan)


def step(*, order: str, without: str, search: str) -> Spec:
    """The steps as a row each for both producers and the port."""
    made = moves(order, without, search)
    fault = made[-1].fault if made else ""
    kind = ["fault" if m.fault else "waits" if m.name == "waits" else "" for m in made]
    marks = [
        _marks(made, kind, "", "goes on", 1, 0.45),
        _marks(made, kind, "waits", "waits", 5, 0.15),
        _marks(made, kind, "fault", "fault", 0, 0.9),
    ]
    ring, last = made[-1].ring if made else None, max(len(made), SHOWN)
    counts = [
        (name, words, getattr(ring, name) if ring else 0)
        for name, words in (
            ("reserved", "Places given out"),
            ("ready", "Written without a gap"),
            ("rung", "Doorbell"),
            ("sent", "Read by the port"),
        )
    ]
    title = f"Step {len(made)}: {fault}." if fault else _title(made, search)
    return chart(
        title,
        x=axis("Step", ticks=(), limits=[last - 0.4 - SHOWN, last - 0.4]),
        y=axis(
            "Who steps",
            limits=down(3),
            ticks=[0, 1, 2],
            names=["0", "1", "port"],
        ),
        marks=marks,
        readouts=[
            readout(name, words, counted(value, words.lower()))
            for name, words, value in counts
        ],
        table=_table(made),
    )


def _table(made: list[Move]) -> dict[str, Any]:
    """The last steps in words."""
    first = max(0, len(made) - LISTED)
    return {
        "caption": "The last steps. In the figure: reserve, room (?), write both, "
        "publish, bell; the port sends.",
        "head": ["Step", "Who", "What"],
        "rows": [
            {
                "head": f"{at + 1}",
                "cells": [
                    {"text": NAMES[move.who]},
                    {"text": move.fault or SHORT[move.name][1]},
                ],
            }
            for at, move in enumerate(made)
            if at >= first
        ],
    }


def _title(made: list[Move], search: str) -> str:
    if search == "found":
        return "No order of steps leads to a fault: all states were visited."
    sent = made[-1].ring.sent if made else 0
    if sent == 2 * POSTS * BATCH:
        return f"No fault on this way: all {sent} elements are sent."
    return f"No fault on this way so far: {sent or 'no'} elements sent."


def _marks(
    made: list[Move], kinds: list[str], kind: str, name: str, series: int, shade: float
) -> dict[str, Any]:
    first = max(0, len(made) - SHOWN)
    at = [i for i, found in enumerate(kinds) if found == kind and i >= first]
    return cells(
        [(i, ROWS[made[i].who]) for i in at],
        name,
        "simulated",
        shade=shade,
        texts=[SHORT[made[i].name][0] for i in at],
        at="key",
        series=series,
    )
