"""A DRAM channel, live: pattern, policy, queue and mapping, and what comes through.

Each move runs the simulator on a short trace in plain Python, beside the closed form.
The trace is too short for a refresh; what refreshes take is a readout of its own.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib.memory import DramChannel, dram_part
from stacklib.memory.dram.channel import Served
from stacklib.memory.dram.rates import stream_share
from stacklib.memory.dram.traffic import PATTERNS, told
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted, here
from stacklib.plots.marks import Spec, axis, chart, line, rule
from stacklib.plots.spec import readout
from stacklib.quantity import Quantity

PARTS = (
    "ddr4_3200", "ddr5_6400", "hbm2e", "hbm3", "hbm3e", "hbm4", "gddr6", "lpddr5"
)  # fmt: skip
MAPPINGS = {
    "spread": ("row:bank:column:group", "neighbours in other groups"),
    "kept": ("row:bank:group:column", "neighbours in one row"),
}
POLICIES = {"open": "stay open", "closed": "closed after use"}
QUEUES = (1, 2, 4, 8, 16, 32, 64)
BURSTS = 800


def controls() -> list[dict[str, Any]]:
    """Menus and the slider of ``explore``."""
    parts = [[key, dram_part(key).short] for key in PARTS]
    maps = {key: words for key, (_, words) in MAPPINGS.items()}
    patterns = {name: name for name in PATTERNS}
    return [
        choices.select("part", "Memory", parts, "ddr5_6400"),
        choices.select("pattern", "Pattern", patterns, "random bursts"),
        choices.select("mapping", "Addresses", maps, "spread"),
        choices.select("policy", "Rows", POLICIES, "open"),
        choices.slider("queue", "Requests the controller sees", QUEUES, 8),
    ]


def explore(*, part: str, pattern: str, mapping: str, policy: str, queue: int) -> Spec:
    """The achieved share against the size of the controller's queue."""
    kind = dram_part(part)
    sizes = sorted({1, 8, 64, queue})
    runs = {q: served(part, pattern, mapping, policy, q) for q in sizes}
    reached = [100 * run.steady for run in runs.values()]
    mine = runs[queue]
    share = counted(mine.steady, "share of the peak")
    law = 100 * told(channel(part, mapping, policy, queue), pattern)
    return chart(
        f"{kind.short}, {pattern}: {share.text('%')} of the peak.",
        x=axis("Requests the controller sees", log=True, limits=[0.9, 70]),
        y=axis("Share of the peak (%)", limits=[0, 105]),
        marks=[
            line(runs, reached, "simulated", "simulated"),
            here(queue, 100 * mine.steady, "this queue"),
            rule("closed form", "predicted", y=law),
        ],
        readouts=_readouts(mine, share),
    )


def channel(part: str, mapping: str, policy: str, queue: int) -> DramChannel:
    """The channel that is asked for."""
    order = MAPPINGS[mapping][0]
    return DramChannel(
        dram_part(part), mapping=order, policy=policy, queue=queue, refresh="none"
    )


@cache  # a step of the slider runs one queue anew, not those it is compared with
def served(part: str, pattern: str, mapping: str, policy: str, queue: int) -> Served:
    """The trace, served."""
    trace, stores = PATTERNS[pattern](dram_part(part), BURSTS)
    return channel(part, mapping, policy, queue).run(trace, stores)


def _readouts(mine: Served, share: Quantity) -> list[dict[str, Any]]:
    lasted = sorted(mine.latencies())
    tick = mine.part.clock * 1e9
    middle = counted(lasted[len(lasted) // 2] * tick, "median latency", "ns")
    name = "share with refreshes of all banks"
    left = (share * stream_share(mine.part)).named(name)
    hits = counted(mine.share("hit"), "hits")
    return [
        readout("share", "Share of the peak", share, "share", unit="%"),
        readout("left", "With refreshes of all banks", left, "share", unit="%"),
        readout("hits", "Rows found open", hits, "share", unit="%"),
        readout("latency", "Median time from the queue to the data", middle),
    ]
