"""What policies save of LRU's misses, by the room there is."""

from __future__ import annotations

from stacklib.pages.serving import tiers as page
from stacklib.plots.marks import Spec, axis, band, chart, line

SHOWN = {
    "belady": "foresight (Belady)",
    "regret": "regret",
    "arc": "ARC",
    "s3fifo": "S3-FIFO",
    "lfu": "LFU",
}


def saved_spec(*, title: str) -> Spec:
    """Share of LRU's misses that each policy saves, against blocks that fit."""
    low, high = 30, 40  # what a document says of eviction by regret
    curves = [
        line(
            page.ROOMS,
            [100 * page.saved(policy, room).si for room in page.ROOMS],
            name,
            "simulated",
            series=series,
        )
        for series, (policy, name) in enumerate(SHOWN.items())
    ]
    return chart(
        title,
        x=axis("Blocks that fit", log=True, limits=[45, 1100], ticks=page.ROOMS,
               names=[str(room) for room in page.ROOMS]),
        y=axis("Misses of LRU that are saved (%)", limits=[-100, 50]),
        marks=[band("claimed for regret", "claimed", y=[low, high], at="key"), *curves],
    )  # fmt: skip
