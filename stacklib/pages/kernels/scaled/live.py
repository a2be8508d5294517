"""Quantization, live: its share of a product's time, by device and columns."""

from __future__ import annotations

from typing import Any

from stacklib import hardware
from stacklib.kernels.scaled.fused_quantization import quantizing_share
from stacklib.plots.live import choices
from stacklib.plots.live.parts import chosen, here
from stacklib.plots.marks import About, Spec, axis, chart, line
from stacklib.plots.spec import readout
from stacklib.quantity import Quantity

DEVICES = ("h100_sxm", "h200_sxm", "b200_sxm")
COLUMNS = (256, 512, 1024, 2048, 4096, 7168, 14336, 28672)
WAYS = {  # reads of the input, copies that are written
    "one copy": (1, 1),
    "two copies, one kernel": (1, 2),
    "two copies, a kernel each": (2, 2),
}
REACHED = (50, 60, 70, 80, 90, 100)


def controls() -> list[dict[str, Any]]:
    """Device, columns of the product, copies, and the bandwidth that is reached."""
    return [
        choices.select("device", "Device", choices.short(DEVICES), "b200_sxm"),
        choices.slider("columns", "Columns of the product", COLUMNS, 2048),
        choices.select("way", "Quantized", [[w, w] for w in WAYS], "one copy"),
        choices.slider("reached", "Bandwidth reached (%)", REACHED, 100),
    ]


def share(device: str, columns: int, way: str, reached: int) -> Quantity:
    """Time to quantize over the time of the product."""
    chip = hardware.get(device)
    reads, copies = WAYS[way]
    part = chosen(reached / 100, "", "bandwidth reached")
    return quantizing_share(
        chip,
        chosen(columns, "", "columns"),
        reads=reads,
        copies=copies,
        bandwidth=(chip.memory_bandwidth * part).named("bandwidth reached"),
    )


def explore(*, device: str, columns: int, way: str, reached: int) -> Spec:
    """The share of the product's time against its columns, for the three ways."""
    mine = About(device=device)
    found = share(device, columns, way, reached)
    marks = [
        line(
            COLUMNS,
            [100 * float(share(device, n, one, reached).si) for n in COLUMNS],
            one,
            "predicted",
            at="key",
            **mine,
        )
        for one in WAYS
    ]
    name = hardware.get(device).short
    return chart(
        f"On {name} quantizing takes {found:.3 %} of the product's time.",
        x=axis("Columns of the product", log=True),
        y=axis("Quantizing over the product (%)", log=True),
        marks=[*marks, here(columns, 100 * float(found.si), "this product", **mine)],
        readouts=[
            readout("share", "Quantizing over the product", found, "ratio", unit="%")
        ],
        about=mine,
    )
