"""The stack, live: device, format, batch and context to what each input is worth."""

from __future__ import annotations

from typing import Any

from stacklib import hardware
from stacklib.frontier import binding_layer
from stacklib.frontier.binding import Binding
from stacklib.pages.chain.posts import CONTEXT, DEVICE, MODEL, TP
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import Spec, axis, bar, chart
from stacklib.plots.spec import readout
from stacklib.roofline import Infeasible

DEVICES = ("a100_sxm_80gb", "h100_sxm", "h200_sxm", "b200_sxm", "rubin", "mi300x")
FORMATS = {"bf16": "16 bits", "fp8": "8 bits", "nvfp4": "4 bits (NVFP4)"}
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
CONTEXTS = (256, 1024, CONTEXT, 8192, 32768, 131072)
SHORT = {"bits of a weight": "weight bits", "bits of the cache": "cache bits"}
SHORT |= {"memory bandwidth": "memory"}
# Of the stack, by the layer that the room names: amounts have none of their own.
LAYERS = {"serving": 6, "interconnect": 5, "kernels": 4, "silicon": 3, "memory": 2}


def controls() -> list[dict[str, Any]]:
    """Device, format, answers at once, tokens cached."""
    return [
        choices.select("device", "Eight of", choices.short(DEVICES), DEVICE),
        choices.select("dtype", "Weights", FORMATS, "bf16"),
        choices.slider("batch", "Answers at once", BATCHES, 1),
        choices.slider("context", "Tokens cached of each", CONTEXTS, CONTEXT),
    ]


def explore(*, device: str, dtype: str, batch: int, context: int) -> Spec:
    """Elasticity of the token's time to each input, but the context, largest first."""
    case = {"model": MODEL, "on": device, "dtype": dtype, "tp": TP}
    found, why = None, ""
    try:
        found = binding_layer(case | {"batch": batch, "context": context})
    except (Infeasible, LookupError) as miss:
        why = str(miss)
    short = hardware.get(device).short
    moves = sorted(found.moves[:-1], key=lambda m: -m.elasticity) if found else []
    title = f"On eight {short}: {found.binding.name} binds." if found else "No step."
    return chart(
        title,
        x=axis("Time for a per cent of the input (%)", limits=[0, 1]),
        y=axis(
            "Input",
            limits=[7.6, 0.4],
            ticks=tuple(range(1, len(moves) + 1)),
            names=tuple(SHORT.get(move.name, move.name) for move in moves),
        ),
        marks=[
            bar(
                0,
                move.elasticity,
                at,
                move.name,
                "predicted",
                at="none",
                layer=LAYERS.get(move.layer, 1),
            )
            for at, move in enumerate(moves, 1)
        ],
        readouts=_said(found) if found else [],
        message=why or None,
        about={
            "device": device,
            "chips": TP,
            "model": MODEL,
            "dtype": dtype,
            "batch": batch,
            "role": "ratio",
            "feasible": not why,
        },
    )


def _said(found: Binding) -> list[dict[str, Any]]:
    top, rates = found.binding, sum(found.layers.values())
    return [
        readout("token", "A token", counted(found.seconds, "token", "s"), unit="ms"),
        readout("binds", "Buy", top.name),
        readout("worth", "For a per cent of it, %", counted(top.elasticity, "worth")),
        readout("rates", "All five rates together", counted(rates, "all rates")),
    ]
