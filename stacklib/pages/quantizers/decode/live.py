"""Tokens a second by width of the weights, live: device, batch and context."""

from __future__ import annotations

from typing import Any

from stacklib import hardware
from stacklib.pages.quantizers import decode as page
from stacklib.plots.live import choices
from stacklib.plots.live.parts import here
from stacklib.plots.marks import Spec, axis, chart, line
from stacklib.plots.spec import readout

DEVICES = ("h100_sxm", "h200_sxm", "b200_sxm", "a100_sxm_80gb")
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
CONTEXTS = (512, 1024, 2048, 4096, 8192, 16_384, 32_768)


def controls() -> list[dict[str, Any]]:
    """Device, width, sequences and their length."""
    ways = [[key, way.words] for key, way in page.WAYS.items()]
    return [
        choices.select("device", "Eight of", choices.short(DEVICES), "h100_sxm"),
        choices.select("way", "Weights and inputs", ways, "w4a16"),
        choices.slider("batch", "Sequences", BATCHES, 1),
        choices.slider("context", "Tokens in each cache", CONTEXTS, 1024),
    ]


def has(way: str, device: str) -> bool:
    """Whether a device multiplies in that format."""
    try:
        page.peak(way, device)
    except LookupError:
        return False
    return True


def explore(*, device: str, way: str, batch: int, context: int) -> Spec:
    """Tokens a second against sequences, a line for each width."""
    marks = []
    for key, made in page.WAYS.items():
        if has(key, device):
            held = [b for b in BATCHES if page.fit(key, context, b, device).fits]
            rates = [b / page.step(key, context, b, device).si for b in held]
            if held:
                marks.append(line(held, rates, made.words, "predicted", at="key"))
    name = hardware.get(device).short
    said = []
    message: str | None = f"An {name} has no products in {page.WAYS[way].peak}."
    title = f"{page.WAYS[way].words} on eight {name}"
    mine = page.fit(way, context, batch, device)
    if has(way, device) and not mine.fits:
        message = f"{mine.explanation}."
    elif has(way, device):
        message = None
        step = page.step(way, context, batch, device)
        by_bytes = page.bound(way, context, batch, device).bound == "memory"
        limit = "bytes" if by_bytes else "multiply-adds"
        marks.append(here(batch, batch / step.si, "your step"))
        title = f"{title}: limited by {limit}."
        said = [
            readout("bytes", "Bytes of a step", page.work(way, context, batch).bytes),
            readout("step", "Step", step, unit="ms"),
        ]
        if page.fit("bf16", context, batch, device).fits:
            gain = page.gain(way, context, batch, device)
            said.append(readout("gain", "Tokens a second over BF16", gain, "ratio"))
    return chart(
        title,
        x=axis("Sequences", log=True),
        y=axis("Tokens a second", log=True),
        marks=marks,
        readouts=said,
        message=message,
        about={"device": device, "chips": page.CHIPS},
    )
