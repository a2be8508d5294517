"""A DRAM channel, live: pattern, policy, queue and mapping, and what comes through.

Each move runs the simulator on a short trace in plain Python, beside the closed form.
The trace is too short for a refresh; what refreshes take is a readout of its own.
"""

from __future__ import annotations

from typing import Any

from stacklib.memory import DramChannel, dram_part, stream_share
from stacklib.memory.dram.traffic import PATTERNS, told
from stacklib.plots.live import choices
from stacklib.plots.spec import readout
from stacklib.quantity import Quantity

PARTS = ("ddr4_3200", "ddr5_6400", "hbm2e", "hbm3", "gddr6", "lpddr5")
MAPPINGS = {
    "spread": ("row:bank:column:group", "neighbours in other groups"),
    "kept": ("row:bank:group:column", "neighbours in one row"),
}
QUEUES = (1, 2, 4, 8, 16, 32, 64)
BURSTS = 800


def controls() -> list[dict[str, Any]]:
    """Menus and the slider of ``explore``."""
    names = [[key, dram_part(key).short] for key in PARTS]
    patterns = [[name, name] for name in PATTERNS]
    return [
        choices.select("part", "Memory", names, "ddr5_6400"),
        choices.select("pattern", "Pattern", patterns, "random bursts"),
        choices.select("mapping", "Addresses",
                       [[k, words] for k, (_, words) in MAPPINGS.items()], "spread"),
        choices.select("policy", "Rows",
                       [["open", "stay open"], ["closed", "closed after use"]], "open"),
        choices.slider("queue", "Requests the controller sees", QUEUES, 8),
    ]  # fmt: skip


def explore(
    *, part: str, pattern: str, mapping: str, policy: str, queue: int
) -> dict[str, Any]:
    """Spec of the achieved share against the size of the queue.

    Parameters
    ----------
    part : str
        Key of the channel.
    pattern : str
        One of ``PATTERNS``.
    mapping : str
        One of ``MAPPINGS``.
    policy : str
        ``open`` or ``closed``.
    queue : int
        Requests the controller looks at.

    Returns
    -------
    dict
        A figure spec.
    """
    kind = dram_part(part)

    def channel(size: int) -> DramChannel:
        return DramChannel(kind, mapping=MAPPINGS[mapping][0], policy=policy,
                           queue=size, refresh="none")  # fmt: skip

    trace, stores = PATTERNS[pattern](kind, BURSTS)
    runs = {q: channel(q).run(trace, stores) for q in sorted({1, 8, 64, queue})}
    mine, tick = runs[queue], kind.clock * 1e9
    share = Quantity(mine.steady, "1", label="share of the peak")
    lasted = sorted(mine.latencies())
    middle = Quantity(lasted[len(lasted) // 2] * tick, "ns", label="median latency")
    left = (share * stream_share(kind)).named("share with refreshes of all banks")
    marks = [
        {"kind": "line", "evidence": "simulated", "name": "simulated",
         "x": list(runs), "y": [100 * s.steady for s in runs.values()],
         "label_at": "none"},
        {"kind": "dots", "evidence": "simulated", "name": "this queue", "x": [queue],
         "y": [100 * mine.steady], "series": 4, "label_at": "none"},
        {"kind": "hline", "evidence": "predicted", "name": "closed form",
         "y": [100 * told(channel(queue), pattern)]},
    ]  # fmt: skip
    return {
        "title": f"{kind.short}, {pattern}: {share.text('%')} of the peak.",
        "x": {"label": "Requests the controller sees", "scale": "log",
              "limits": [0.9, 70]},
        "y": {"label": "Share of the peak (%)", "limits": [0, 105]},
        "marks": marks,
        "readouts": [
            readout("share", "Share of the peak", share, "share", unit="%"),
            readout("left", "With refreshes of all banks", left, "share", unit="%"),
            readout("hits", "Rows found open",
                    Quantity(mine.share("hit"), "1", label="hits"), "share", unit="%"),
            readout("latency", "Median time from the queue to the data", middle),
        ],
        "message": None,
    }  # fmt: skip
