"""What policies miss where LRU misses one, by the room there is."""

from __future__ import annotations

from stacklib.pages.figures_of import claimed
from stacklib.pages.serving import tiers as page
from stacklib.plots.marks import Spec, axis, chart, line, rows, rule

TICKS = (50, 100, 200, 600)
SHOWN = {
    "belady": "foresight (Belady)",
    "regret": "regret",
    "arc": "ARC",
    "s3fifo": "S3-FIFO",
    "lfu": "LFU",
}


def missed_spec(*, title: str) -> Spec:
    """Misses of each policy over those of LRU, against blocks that fit."""
    told = rows([1 - claimed("regret-eviction-gain")], evidence="claimed")
    curves = [
        line(
            page.ROOMS,
            [page.over_lru(policy, room).si for room in page.ROOMS],
            name,
            "simulated",
            series=series,
        )
        for series, (policy, name) in enumerate(SHOWN.items())
    ]
    return chart(
        title,
        x=axis(
            "Blocks that fit",
            log=True,
            limits=[18, 2400],
            ticks=TICKS,
            names=[str(room) for room in TICKS],
        ),
        y=axis("Misses over LRU's", limits=[0.4, 2.1]),
        marks=[rule("as claimed", "claimed", y=told, series=5), *curves],
    )
