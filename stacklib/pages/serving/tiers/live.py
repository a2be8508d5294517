"""Tiers and a policy, live: where a block is found, and how long it is waited for."""

from __future__ import annotations

from typing import Any

from stacklib.pages.serving import tiers as page
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import Mark, Spec, axis, bar, chart, down
from stacklib.plots.spec import readout

NEAR = (50, 100, 150, 200, 300, 400)
FAR = (0, 50, 100, 200, 300, 500, 900)
POLICIES = {
    "lru": "LRU",
    "lfu": "LFU",
    "arc": "ARC",
    "regret": "regret",
    "belady": "foresight (Belady)",
}
PLACES = ("in the chip's memory", "in the host's", "on a drive", "computed")


def controls() -> list[dict[str, Any]]:
    """Menu and sliders of ``explore``."""
    return [
        choices.select("policy", "Who leaves", POLICIES, "lru"),
        choices.slider("near", "Blocks that fit the chip's memory", NEAR, page.NEAR),
        choices.slider("far", "Blocks that fit the host's", FAR, 200),
        choices.slider("drive", "Blocks that fit a drive", FAR, 0),
    ]


def explore(*, policy: str, near: int, far: int, drive: int) -> Spec:
    """Where the blocks of a trace are found, policy by policy."""
    rooms = near, far, drive
    shares = {name: _shares(name, *rooms) for name in POLICIES}
    told, wait = page.served(policy, *rooms), page.stall(policy, *rooms)
    first = len(set(page.trace(page.SHORT)))
    return chart(
        f"{POLICIES[policy]}: a block is waited for {wait.text('µs', 3)}.",
        x=axis("Blocks that were asked for (%)", limits=[0, 100]),
        y=axis(
            "Who leaves",
            limits=down(len(POLICIES)),
            ticks=range(len(POLICIES)),
            names=list(POLICIES.values()),
        ),
        marks=[
            mark
            for row, name in enumerate(POLICIES)
            for mark in _row(row, shares[name])
        ],
        readouts=[
            readout("wait", "Mean wait of a block", wait, unit="µs"),
            readout("misses", "Computed", counted(told.misses, "blocks computed")),
            readout(
                "again",
                "Of these, not for the first time",
                counted(told.again, "blocks computed again"),
            ),
            readout(
                "first",
                "Blocks nobody can have before",
                counted(first, "different blocks"),
            ),
            readout(
                "sunk",
                "Written below the chip's memory",
                counted(sum(told.sunk), "blocks written below"),
            ),
        ],
        about={"device": page.DEVICE},
    )


def _shares(policy: str, near: int, far: int, drive: int) -> list[float]:
    told = page.served(policy, near, far, drive)
    hits = dict(
        zip((r for r in range(3) if (near, far, drive)[r]), told.hits, strict=True)
    )
    counts = [hits.get(place, 0) for place in range(3)] + [told.misses]
    return [100 * count / told.accesses for count in counts]


def _row(row: int, shares: list[float]) -> list[Mark]:
    start, marks = 0.0, []
    for series, (name, share) in enumerate(zip(PLACES, shares, strict=True)):
        if share:
            end = min(start + share, 100.0)
            marks.append(
                bar(start, end, row, name, "simulated", at="key", series=series)
            )
            start = end
    return marks
