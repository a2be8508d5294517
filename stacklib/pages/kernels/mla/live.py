"""Split KV, live: context, batch, KV heads and a device against the pieces."""

from __future__ import annotations

from typing import Any

from stacklib.pages.kernels.mla import split
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted, here
from stacklib.plots.marks import Spec, axis, chart, line
from stacklib.plots.spec import readout

SPLITS = (1, 2, 4, 8, 16, 32, 64, 128)
CONTEXTS = (512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072)
BATCHES = (1, 2, 4, 8, 16, 32, 64)
HEADS, GROUP = (1, 2, 4, 8), 8  # KV heads; query heads of each
DEVICES = ("a100-sxm-80gb", "h100-sxm", "h200-sxm", "b200-sxm")


def controls() -> list[dict[str, Any]]:
    """Controls of ``explore``."""
    return [
        choices.slider("splits", "Pieces of the keys", SPLITS, 1),
        choices.slider("keys", "Tokens cached in each sequence", CONTEXTS, 4096),
        choices.slider("batch", "Sequences", BATCHES, 1),
        choices.slider("kv_heads", "KV heads on the GPU", HEADS, 1),
        choices.select("on", "GPU", choices.short(DEVICES), "h100-sxm"),
    ]


def explore(*, splits: int, keys: int, batch: int, kv_heads: int, on: str) -> Spec:
    """Predicted time of one layer's decode attention against the pieces."""
    found = split.planned(
        on,
        keys=keys,
        heads=GROUP * kv_heads,
        kv_heads=kv_heads,
        head_dim=128,
        batch=batch,
    )
    able = [n for n in SPLITS if n <= split.most(found)]
    mine = min(splits, able[-1])
    times = {n: split.in_pieces(found, n) for n in able}
    best = min(able, key=lambda n: times[n].time)
    chosen, units = times[mine], int(found.rates.units)
    working = split.working(found, mine)
    cache = batch * kv_heads * found.work.kv_bytes
    said = {
        "time": ("Time with its launches", chosen.time, "s"),
        "memory": ("Of it reading", chosen.memory, "s"),
        "cache": ("Bytes of the cache", cache, "B"),
        "partial": ("Bytes of partial results", split.partial_bytes(found, mine), "B"),
    }
    top = 1e6 * max(t.time for t in times.values())
    low = 1e6 * min(t.memory for t in times.values())
    return chart(
        f"{working} of {units} SMs read; {best} pieces are fastest here.",
        x=axis("Pieces of the keys", log=True, limits=[0.9, 150]),
        y=axis(
            "Time of a layer's attention (µs)", log=True, limits=[0.6 * low, 1.5 * top]
        ),
        marks=[
            line(able, [1e6 * t.time for t in times.values()], "all", "predicted"),
            line(able, [1e6 * t.memory for t in times.values()], "reading", "predicted")
            if len(able) > 1
            else here(mine, 1e6 * chosen.memory, "reading"),
            here(mine, 1e6 * chosen.time, "your split"),
        ],
        readouts=[
            readout("working", "SMs at work", counted(working, "SMs at work")),
            *(
                readout(key, label, counted(value, label, unit))
                for key, (label, value, unit) in said.items()
            ),
        ],
        message=None
        if mine == splits
        else f"{keys} tokens are {split.most(found)} tiles: no more pieces than that.",
        about={"device": on},
    )
