"""What policies save of LRU's misses, by the room there is."""

from __future__ import annotations

from stacklib.pages.figures_of import claimed
from stacklib.pages.serving import tiers as page
from stacklib.plots.marks import Spec, axis, chart, line, rule

SHOWN = {
    "belady": "foresight (Belady)",
    "regret": "regret",
    "arc": "ARC",
    "s3fifo": "S3-FIFO",
    "lfu": "LFU",
}


def saved_spec(*, title: str) -> Spec:
    """Share of LRU's misses that each policy saves, against blocks that fit."""
    told = claimed("regret-eviction-gain").to("%").value
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
        marks=[rule("claimed of regret, at least", "claimed", y=told), *curves],
    )  # fmt: skip
