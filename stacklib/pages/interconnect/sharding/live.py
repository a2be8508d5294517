"""Sharding, live: memory and bytes of a chip by world size, stage and model."""

from __future__ import annotations

from typing import Any

from stacklib import hardware, models
from stacklib.interconnect.sharding.held import shard_bytes, shard_memory
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted, here
from stacklib.plots.marks import Spec, axis, chart, line, rule
from stacklib.plots.spec import readout

SHOWN = (1, 4, 16, 64, 256, 1024)
RANKS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
MODELS = [
    ["llama-3-8b", "Llama-3-8B"],
    ["llama-3-70b", "Llama-3-70B"],
    ["llama-3.1-405b", "Llama-3.1-405B"],
]
NAMES = ("data parallel", "ZeRO-1", "ZeRO-2", "ZeRO-3, FSDP")
STAGES = [[str(zero), name] for zero, name in enumerate(NAMES)]
DEVICE = "h100_sxm"


def controls() -> list[dict[str, Any]]:
    """How many chips, which stage, which model."""
    return [
        choices.slider("ranks", "Chips", RANKS, 64),
        choices.select("zero", "Split", STAGES, "3"),
        choices.select("model", "Model", MODELS, "llama-3-70b"),
    ]


def held(model: str, ranks: int, zero: int) -> float:
    """Gigabytes that a chip holds."""
    count = models.get(model).parameters.si
    return float(shard_memory(count, ranks, zero).total / 1e9)


def explore(*, ranks: int, zero: str, model: str) -> Spec:
    """Memory of a chip against the number of chips, every stage."""
    stage, count = int(zero), models.get(model).parameters.si
    mine = held(model, ranks, stage)
    sent = shard_bytes(count, ranks, stage) / 1e9
    room = hardware.get(DEVICE).memory_capacity.si / 1e9
    fits = "fits" if mine <= room else "does not fit"
    marks = [
        line(RANKS, [held(model, n, z) for n in RANKS], name, "predicted", at="key")
        for z, name in enumerate(NAMES)
    ]
    return chart(
        f"What lasts from step to step {fits} an H100, activations left out.",
        x=axis(
            "Chips", log=True, ticks=RANKS[::2], names=[f"{n:,}" for n in RANKS[::2]]
        ),
        y=axis("Held by a chip (GB)", log=True),
        marks=[
            *marks,
            rule("an H100", "data sheet", y=room),
            here(ranks, mine, "your chips"),
        ],
        readouts=[
            readout(key, words, counted(value, key, "GB"), "part", unit="GB")
            for key, words, value in (
                ("held", "Held by a chip", mine),
                ("sent", "Sent in a step, one direction", sent),
            )
        ],
    )
