"""A peak and its factors, live: units, multiply-adds, two, a clock.

The line is what the chip does at each clock. Sparse doubles it, on paper.
"""

from __future__ import annotations

from typing import Any

from stacklib import gpu, hardware
from stacklib.gpu.tensor.peaks import PeakBuilt
from stacklib.hardware import UnknownSpec
from stacklib.plots.live import choices
from stacklib.plots.live.parts import chosen, here
from stacklib.plots.marks import Spec, axis, chart, line
from stacklib.plots.spec import readout
from stacklib.quantity import Quantity

CLOCKS = (20, 30, 40, 50, 60, 70, 80, 90, 100)  # of the printed clock, in percent
RATE = "Rate (TFLOP/s)"
KINDS = {"dense": "dense", "sparse": "2:4 sparse"}


def controls() -> list[dict[str, Any]]:
    """Menus and slider of ``explore``: GPUs whose rate of 16 bits can be built."""
    known = choices.knowing(lambda device: gpu.peak_of(device, "fp16"), "gpu")
    return [
        choices.select("device", "Device", known, "h100_sxm"),
        choices.select("dtype", "Format", choices.formats(), "bf16"),
        choices.select("kind", "Weights", KINDS, "dense"),
        choices.slider("clock", "Clock (% of the printed one)", CLOCKS, 100),
    ]


def explore(*, device: str, dtype: str, kind: str, clock: int) -> Spec:
    """The rate against the clock, in percent of the printed one.

    A device without the format gets a message and no rate.
    """
    chip = hardware.get(device)
    x = axis("Clock (GHz)", limits=[0, 3])
    try:
        row = gpu.peak_of(chip, dtype)
        if kind == "sparse":
            chip.peak(dtype, sparse=True)
    except UnknownSpec as unknown:
        y, title = axis(RATE, limits=[0, 1000]), f"{chip.short} has no such rate."
        return chart(title, x=x, y=y, marks=[], message=f"{unknown}.")
    factor = chip.peaks[row.name].sparse_factor
    share = chosen(clock, "%", "share of the clock")
    built = (row.built * share).named(f"{chip.short} {dtype}, dense")
    full, ghz = row.built.si / 1e12, row.clock.si / 1e9
    # room for the sparse rate too, so that a change of the weights is seen
    top = 1.1 * row.built.si * factor / 1e12
    if kind == "sparse":
        built, full = built.retag("sparse", factor), row.built.si * factor / 1e12
    clocks, rates = ([part * of / 100 for part in CLOCKS] for of in (ghz, full))
    name = f"{chip.short} {dtype}"
    return chart(
        f"{chip.short}, {dtype}, {kind}: {built.text('TFLOP/s', 4)}.",
        x=x,
        y=axis(RATE, limits=[0, top]),
        marks=[
            line(clocks, rates, name, "predicted"),
            here(ghz * clock / 100, full * clock / 100, "at this clock"),
        ],
        readouts=_readouts(row, share, built),
    )


def _readouts(row: PeakBuilt, share: Quantity, built: Quantity) -> list[dict[str, Any]]:
    words = "Clock, implied by a printed peak" if row.implied else "Clock"
    return [
        readout("units", "Compute units", row.units),
        readout("macs", "Multiply-adds a unit", row.macs, digits=4),
        readout("clock", words, row.clock * share),
        readout("rate", "Rate", built, "spec", unit="TFLOP/s", digits=4),
    ]
