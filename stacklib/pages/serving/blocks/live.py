"""A pool of blocks, live: who owns which block, step by step."""

from __future__ import annotations

from typing import Any

from stacklib.pages.serving import blocks as page
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import Spec, axis, cells, chart, down
from stacklib.plots.spec import readout

OWNERS = ("A", "B", "C", "D")
SHARED, KEPT = "shared", "free, still findable"


def controls() -> list[dict[str, Any]]:
    """Sliders of ``explore``."""
    return [
        choices.slider("step", "Step", range(page.STEPS + 1), 12),
        choices.slider("size", "Tokens of a block", (2, 4, 8), 4),
    ]


def explore(*, step: int, size: int) -> Spec:
    """The blocks of a pool, each slot that holds a token, after so many steps."""
    pool, live, last = page.replay(step, size)
    stats, found = pool.stats(), _owned(pool)
    tables = [
        readout(
            f"table_{who}",
            f"Table of {who}",
            " ".join(map(str, live[who].blocks)) if who in live else "none",
        )
        for who in OWNERS
    ]
    share = counted(stats.utilisation, "share of owned slots with a token")
    return chart(
        f"Step {step}: {last}.",
        x=axis("Block of the pool", limits=[-0.5, page.POOL - 0.5]),
        y=axis("Slot of the block", limits=down(8), ticks=range(8)),
        marks=[
            cells(found[name], name, "simulated", shade=0.9, series=number, at="key")
            for number, name in enumerate(found)
        ],
        readouts=[
            *tables,
            readout("owned", "Blocks owned", counted(stats.owned, "blocks owned")),
            readout(
                "kept", "Free, still findable", counted(stats.cached, "blocks findable")
            ),
            readout(
                "copied", "Blocks copied so far", counted(stats.copied, "blocks copied")
            ),
            readout("filled", "Owned slots with a token", share, "share", unit="%"),
        ],
    )


def _owned(pool: Any) -> dict[str, list[tuple[float, float]]]:
    """The slots with a token, by who may read them."""
    found: dict[str, list[tuple[float, float]]] = {
        n: [] for n in (*OWNERS, SHARED, KEPT)
    }
    for block in range(pool.blocks):
        seen = pool.table(block)
        name = SHARED if len(seen.owners) > 1 else (*seen.owners, KEPT)[0]
        found[name] += [(block, slot) for slot in range(len(seen.tokens))]
    return found
